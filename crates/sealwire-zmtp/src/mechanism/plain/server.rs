//! The server's side of the handshake.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::settings::PlainServer;
use super::{HELLO, INITIATE, PlainCredentials, READY, WELCOME, established, misspelt_error_frame};
use crate::error::{Error, Step, WireError};
use crate::mechanism::{
    AwaitCommand, AwaitDecision, Claim, Entropy, Greetings, HandshakeFrame, Local,
    MechanismSettings, Progress, Unprotected, Waiting,
};
use crate::mechanism_type::Mechanism;
use crate::wire::command;

impl<P: From<Unprotected>> MechanismSettings<P> for PlainServer {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Plain
    }

    fn as_server(&self) -> bool {
        true
    }

    /// libzmq's clients know no other spelling. They put a length there that is never 0, others leave
    /// zeros.
    fn other_error_frame(&self, padding: [u8; 8], reason: &str) -> Option<Vec<u8>> {
        (padding != [0; 8]).then(|| misspelt_error_frame(reason))
    }

    fn start(
        self: Arc<Self>,
        _: &Local<'_>,
        _: &Entropy,
        _: &Greetings<'_>,
    ) -> Result<Progress<P>, Error> {
        Ok(start())
    }
}

/// Waits for the password.
fn start<P: From<Unprotected>>() -> Progress<P> {
    Progress::Wait(Waiting::Command(Box::new(AwaitHello)))
}

struct AwaitHello;

struct AwaitAnswer;

struct AwaitInitiate;

impl<P: From<Unprotected>> AwaitCommand<P> for AwaitHello {
    fn step(&self) -> Step {
        Step::Hello
    }

    fn receive(
        self: Box<Self>,
        _: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress<P>, Error> {
        frame.expect(HELLO, Step::Hello)?;
        let shown = PlainCredentials::parse(frame.data)
            .ok_or(WireError::MalformedCommand { command: HELLO })?;
        Ok(Progress::Ask {
            claim: Claim::Password(Box::new(shown)),
            next: Waiting::Decision(Box::new(AwaitAnswer)),
        })
    }
}

impl<P: From<Unprotected>> AwaitDecision<P> for AwaitAnswer {
    fn allowed(self: Box<Self>, _: &Local<'_>) -> Progress<P> {
        Progress::Reply {
            command: WELCOME,
            frame: command::frame(WELCOME.as_bytes(), &[]),
            next: Box::new(AwaitInitiate),
        }
    }
}

impl<P: From<Unprotected>> AwaitCommand<P> for AwaitInitiate {
    fn step(&self) -> Step {
        Step::Initiate
    }

    fn receive(
        self: Box<Self>,
        local: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress<P>, Error> {
        frame.expect(INITIATE, Step::Initiate)?;
        let metadata = local.read_metadata(frame.data)?;
        Ok(Progress::Done {
            reply: Some((READY, local.metadata_frame(READY))),
            established: established(metadata),
        })
    }
}
