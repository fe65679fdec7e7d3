//! The server's side of the handshake.

use alloc::boxed::Box;

use super::{HELLO, INITIATE, PlainCredentials, READY, WELCOME, established};
use crate::error::{Error, HandshakeError, Step, WireError};
use crate::mechanism::{Claim, HandshakeFrame, Local, Progress};
use crate::wire::command;
use crate::wire::metadata::Metadata;

/// A server between two commands.
pub(crate) struct Server {
    step: Step,
}

impl Server {
    pub(crate) const fn start() -> Self {
        Self { step: Step::Hello }
    }

    pub(crate) const fn step(&self) -> Step {
        self.step
    }

    pub(crate) fn receive(
        &mut self,
        local: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress, Error> {
        match (self.step, frame.name) {
            (Step::Hello, name) if name == HELLO.as_bytes() => {
                let shown = PlainCredentials::parse(frame.data)
                    .ok_or(WireError::MalformedCommand { command: HELLO })?;
                self.step = Step::Authorization;
                Ok(Progress::Ask(Claim::Password(Box::new(shown))))
            }
            (Step::Initiate, name) if name == INITIATE.as_bytes() => {
                let metadata = Metadata::parse(frame.data)?;
                local.check_metadata(&metadata)?;
                Ok(Progress::Done {
                    reply: Some((READY, local.metadata_frame(READY))),
                    established: established(metadata),
                })
            }
            (expected, _) => Err(HandshakeError::UnexpectedCommand { expected }.into()),
        }
    }

    /// Answers HELLO with WELCOME; `None` when nothing was asked.
    pub(crate) fn authorized(&mut self) -> Option<Progress> {
        if self.step != Step::Authorization {
            return None;
        }
        self.step = Step::Initiate;
        Some(Progress::Reply {
            command: WELCOME,
            frame: command::frame(WELCOME.as_bytes(), &[]),
        })
    }
}
