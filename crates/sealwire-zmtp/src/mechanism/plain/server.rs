//! The server's side of the handshake.

use alloc::boxed::Box;

use super::{HELLO, INITIATE, PlainCredentials, READY, WELCOME, established};
use crate::error::{Error, Step, WireError};
use crate::mechanism::{
    AwaitCommand, AwaitDecision, Claim, HandshakeFrame, Local, Progress, Waiting,
};
use crate::wire::command;

/// Waits for the password.
pub(super) fn start() -> Progress {
    Progress::Wait(Waiting::Command(Box::new(AwaitHello)))
}

struct AwaitHello;

struct AwaitAnswer;

struct AwaitInitiate;

impl AwaitCommand for AwaitHello {
    fn step(&self) -> Step {
        Step::Hello
    }

    fn receive(
        self: Box<Self>,
        _: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress, Error> {
        frame.expect(HELLO, Step::Hello)?;
        let shown = PlainCredentials::parse(frame.data)
            .ok_or(WireError::MalformedCommand { command: HELLO })?;
        Ok(Progress::Ask {
            claim: Claim::Password(Box::new(shown)),
            next: Waiting::Decision(Box::new(AwaitAnswer)),
        })
    }
}

impl AwaitDecision for AwaitAnswer {
    fn allowed(self: Box<Self>, _: &Local<'_>) -> Progress {
        Progress::Reply {
            command: WELCOME,
            frame: command::frame(WELCOME.as_bytes(), &[]),
            next: Box::new(AwaitInitiate),
        }
    }
}

impl AwaitCommand for AwaitInitiate {
    fn step(&self) -> Step {
        Step::Initiate
    }

    fn receive(
        self: Box<Self>,
        local: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress, Error> {
        frame.expect(INITIATE, Step::Initiate)?;
        let metadata = local.read_metadata(frame.data)?;
        Ok(Progress::Done {
            reply: Some((READY, local.metadata_frame(READY))),
            established: established(metadata),
        })
    }
}
