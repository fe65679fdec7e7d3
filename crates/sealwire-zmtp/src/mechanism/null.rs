//! NULL: both sides say READY with their metadata, and that is all.
//!
//! Source: ZMTP 3.1 (RFC 37), "the NULL mechanism". No authentication, no encryption.
//!
//! A side that decides about its peers holds its READY back until it has decided, so that nobody
//! takes a connection for made that is about to be refused:
//!
//! ```text
//! deciding side                              peer
//!    |  READY     metadata                      |
//!    | <--------------------------------------- |
//!    |                 asks the application     |
//!    |  READY     metadata, or ERROR            |
//!    | ---------------------------------------> |
//! ```

use alloc::vec::Vec;

use super::handshake::{Established, HandshakeFrame, Local, Progress};
use super::protection::{Opener, Sealer};
use super::{Claim, Settings};
use crate::error::{Error, HandshakeError, Step};
use crate::mechanism_type::Mechanism;
use crate::wire::metadata::Metadata;

const READY: &str = "READY";

/// NULL has nothing to set.
pub(super) struct Null;

impl Settings for Null {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Null
    }
}

/// Between the greetings and the later one of both READYs.
pub(crate) enum Handshake {
    /// The local READY was sent.
    AwaitReady,
    /// Neither the answer of the application nor the peer's READY is there.
    AwaitBoth,
    /// The peer's READY came before the answer of the application.
    AwaitDecision(Metadata),
    /// Both are there.
    Over,
}

impl Handshake {
    /// Says READY.
    pub(super) fn start(local: &Local<'_>) -> (Self, Progress) {
        let progress = Progress::Reply {
            command: READY,
            frame: local.metadata_frame(READY),
        };
        (Self::AwaitReady, progress)
    }

    /// Asks the application first.
    pub(super) const fn start_asking() -> (Self, Progress) {
        (Self::AwaitBoth, Progress::Ask(Claim::Address))
    }

    pub(super) const fn step(&self) -> Step {
        match self {
            Self::AwaitReady | Self::AwaitBoth => Step::Ready,
            Self::AwaitDecision(_) | Self::Over => Step::Authorization,
        }
    }

    pub(super) const fn awaits_decision(&self) -> bool {
        matches!(self, Self::AwaitBoth | Self::AwaitDecision(_))
    }

    pub(super) fn receive(
        &mut self,
        local: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress, Error> {
        if frame.name != READY.as_bytes() {
            return Err(HandshakeError::UnexpectedCommand {
                expected: Step::Ready,
            }
            .into());
        }
        let metadata = Metadata::parse(frame.data)?;
        local.check_metadata(&metadata)?;
        if self.awaits_decision() {
            *self = Self::AwaitDecision(metadata);
            return Ok(Progress::Wait);
        }
        *self = Self::Over;
        Ok(done(None, metadata))
    }

    /// Says READY after the application agreed; `None` when it was not asked.
    pub(super) fn authorized(&mut self, local: &Local<'_>) -> Option<Progress> {
        match core::mem::replace(self, Self::Over) {
            Self::AwaitDecision(metadata) => {
                Some(done(Some((READY, local.metadata_frame(READY))), metadata))
            }
            Self::AwaitBoth => {
                let (state, ready) = Self::start(local);
                *self = state;
                Some(ready)
            }
            state => {
                *self = state;
                None
            }
        }
    }
}

fn done(reply: Option<(&'static str, Vec<u8>)>, metadata: Metadata) -> Progress {
    let established = Established {
        metadata,
        public_key: None,
        sealer: Sealer::Plain,
        opener: Opener::Plain,
    };
    Progress::Done { reply, established }
}
