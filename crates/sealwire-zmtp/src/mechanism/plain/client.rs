//! The client's side of the handshake.

use alloc::boxed::Box;

use super::{HELLO, INITIATE, READY, WELCOME, established};
use crate::error::{Error, Incompatible, Step, WireError};
use crate::mechanism::{AwaitCommand, HandshakeFrame, Local, PlainClient, Progress};
use crate::wire::command;

/// Shows the password.
pub(super) fn start(settings: &PlainClient) -> Progress {
    let credentials = &settings.credentials;
    let mut hello = command::begin(HELLO.as_bytes(), credentials.size());
    credentials.encode(&mut hello);
    Progress::Reply {
        command: HELLO,
        frame: hello,
        next: Box::new(AwaitWelcome),
    }
}

struct AwaitWelcome;

struct AwaitReady;

impl AwaitCommand for AwaitWelcome {
    fn step(&self) -> Step {
        Step::Welcome
    }

    fn receive(
        self: Box<Self>,
        local: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress, Error> {
        // libzmq does not say in its greeting which side it is.
        if frame.name == HELLO.as_bytes() {
            return Err(Incompatible::BothClients.into());
        }
        frame.expect(WELCOME, Step::Welcome)?;
        if !frame.data.is_empty() {
            return Err(WireError::MalformedCommand { command: WELCOME }.into());
        }
        Ok(Progress::Reply {
            command: INITIATE,
            frame: local.metadata_frame(INITIATE),
            next: Box::new(AwaitReady),
        })
    }
}

impl AwaitCommand for AwaitReady {
    fn step(&self) -> Step {
        Step::Ready
    }

    fn receive(
        self: Box<Self>,
        local: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress, Error> {
        frame.expect(READY, Step::Ready)?;
        Ok(Progress::Done {
            reply: None,
            established: established(local.read_metadata(frame.data)?),
        })
    }
}
