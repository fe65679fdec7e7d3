//! The client's side of the handshake.

use super::{HELLO, INITIATE, READY, WELCOME, established};
use crate::error::{Error, HandshakeError, Incompatible, Step, WireError};
use crate::mechanism::{HandshakeFrame, Local, PlainClient, Progress};
use crate::wire::command;
use crate::wire::metadata::Metadata;

/// A client between two commands.
pub(crate) struct Client {
    step: Step,
}

impl Client {
    pub(crate) fn start(settings: &PlainClient) -> (Self, Progress) {
        let credentials = &settings.credentials;
        let mut hello = command::begin(HELLO.as_bytes(), credentials.size());
        credentials.encode(&mut hello);
        let progress = Progress::Reply {
            command: HELLO,
            frame: hello,
        };
        (
            Self {
                step: Step::Welcome,
            },
            progress,
        )
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
            (Step::Welcome, name) if name == WELCOME.as_bytes() => {
                if !frame.data.is_empty() {
                    return Err(WireError::MalformedCommand { command: WELCOME }.into());
                }
                self.step = Step::Ready;
                Ok(Progress::Reply {
                    command: INITIATE,
                    frame: local.metadata_frame(INITIATE),
                })
            }
            (Step::Ready, name) if name == READY.as_bytes() => {
                let metadata = Metadata::parse(frame.data)?;
                local.check_metadata(&metadata)?;
                Ok(Progress::Done {
                    reply: None,
                    established: established(metadata),
                })
            }
            // libzmq does not say in its greeting which side it is.
            (Step::Welcome, name) if name == HELLO.as_bytes() => {
                Err(Incompatible::BothClients.into())
            }
            (expected, _) => Err(HandshakeError::UnexpectedCommand { expected }.into()),
        }
    }
}
