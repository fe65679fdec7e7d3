//! NULL: both sides say READY with their metadata, and that is all.
//!
//! Source: ZMTP 3.1 (RFC 37), "the NULL mechanism". No authentication, no encryption.

use super::handshake::{Established, HandshakeFrame, Local, Progress};
use super::protection::{Opener, Sealer};
use crate::error::{Error, HandshakeError, Step};
use crate::wire::command;
use crate::wire::metadata::Metadata;

const READY: &str = "READY";

/// Waiting for the peer's READY; the local one was sent.
pub(crate) struct Handshake;

impl Handshake {
    pub(super) fn start(local: &Local<'_>) -> Result<(Self, Progress), Error> {
        let frame = command::frame(READY.as_bytes(), &[&local.metadata()?]);
        Ok((
            Self,
            Progress::Reply {
                command: READY,
                frame,
            },
        ))
    }

    pub(super) fn receive(
        &self,
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
        let established = Established {
            metadata,
            public_key: None,
            sealer: Sealer::Plain,
            opener: Opener::Plain,
        };
        Ok(Progress::Done {
            reply: None,
            established,
        })
    }
}
