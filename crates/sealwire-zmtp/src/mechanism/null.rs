//! NULL: both sides send READY with their metadata, and no more.
//!
//! Source: ZMTP 3.1 (RFC 37), "the NULL mechanism". No authentication, no encryption.
//!
//! A side that decides about its peers holds its READY back until it has decided. So nobody takes a
//! connection for established that is about to be refused:
//!
//! ```text
//! deciding side                              peer
//!    |  READY     metadata                      |
//!    | <--------------------------------------- |
//!    |                 asks the application     |
//!    |  READY     metadata, or ERROR            |
//!    | ---------------------------------------> |
//! ```

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::credentials::Claim;
use super::entropy::Entropy;
use super::handshake::{
    AwaitCommand, AwaitDecision, Established, Greetings, HandshakeFrame, Progress, Unprotected,
    Waiting,
};
use super::local::{Local, PeerMetadata};
use super::settings::MechanismSettings;
use crate::error::{Error, Step};
use crate::mechanism_type::Mechanism;

const READY: &str = "READY";

/// The side that lets every peer in. NULL has nothing to set.
#[derive(Debug)]
pub(super) struct Null;

/// The side that decides about its peers.
#[derive(Debug)]
pub(super) struct NullAuthorized;

impl<P: From<Unprotected>> MechanismSettings<P> for Null {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Null
    }

    fn start(
        self: Arc<Self>,
        local: &Local<'_>,
        _: &Entropy,
        _: &Greetings<'_>,
    ) -> Result<Progress<P>, Error> {
        Ok(say_ready(local))
    }
}

impl<P: From<Unprotected>> MechanismSettings<P> for NullAuthorized {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Null
    }

    fn start(
        self: Arc<Self>,
        _: &Local<'_>,
        _: &Entropy,
        _: &Greetings<'_>,
    ) -> Result<Progress<P>, Error> {
        Ok(Progress::Ask {
            claim: Claim::Address,
            next: Waiting::Both(Box::new(Undecided)),
        })
    }
}

/// The local READY was sent.
struct AwaitReady;

/// Neither the answer of the application nor the peer's READY is there.
struct Undecided;

/// The peer's READY came before the answer of the application.
struct AwaitAnswer(PeerMetadata);

impl<P: From<Unprotected>> AwaitCommand<P> for AwaitReady {
    fn step(&self) -> Step {
        Step::Ready
    }

    fn receive(
        self: Box<Self>,
        local: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress<P>, Error> {
        Ok(done(None, read_ready(local, frame)?))
    }
}

impl<P: From<Unprotected>> AwaitCommand<P> for Undecided {
    fn step(&self) -> Step {
        Step::Ready
    }

    fn receive(
        self: Box<Self>,
        local: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress<P>, Error> {
        let next = AwaitAnswer(read_ready(local, frame)?);
        Ok(Progress::Wait(Waiting::Decision(Box::new(next))))
    }
}

impl<P: From<Unprotected>> AwaitDecision<P> for Undecided {
    fn allowed(self: Box<Self>, local: &Local<'_>) -> Progress<P> {
        say_ready(local)
    }
}

impl<P: From<Unprotected>> AwaitDecision<P> for AwaitAnswer {
    fn allowed(self: Box<Self>, local: &Local<'_>) -> Progress<P> {
        done(Some((READY, local.metadata_frame(READY))), self.0)
    }
}

fn say_ready<P: From<Unprotected>>(local: &Local<'_>) -> Progress<P> {
    Progress::Reply {
        command: READY,
        frame: local.metadata_frame(READY),
        next: Box::new(AwaitReady),
    }
}

fn read_ready(local: &Local<'_>, frame: &HandshakeFrame<'_>) -> Result<PeerMetadata, Error> {
    frame.expect(READY, Step::Ready)?;
    local.read_metadata(frame.data)
}

fn done<P: From<Unprotected>>(
    reply: Option<(&'static str, Vec<u8>)>,
    metadata: PeerMetadata,
) -> Progress<P> {
    let established = Established {
        metadata,
        public_key: None,
        local_key: None,
        protection: Unprotected.into(),
    };
    Progress::Done { reply, established }
}
