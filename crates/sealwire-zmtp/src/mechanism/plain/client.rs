//! The client's side of the handshake.

use alloc::boxed::Box;
use alloc::sync::Arc;

use super::{HELLO, INITIATE, READY, WELCOME, established, misspelt_error};
use crate::error::{ConfigError, Error, Incompatible, Step, WireError};
use crate::mechanism::{
    AwaitCommand, Entropy, Greetings, HandshakeFrame, Local, MechanismSettings, PlainClient,
    Progress, Unprotected,
};
use crate::mechanism_type::Mechanism;
use crate::wire::command;

impl<P: From<Unprotected>> MechanismSettings<P> for PlainClient {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Plain
    }

    fn other_error<'a>(&self, body: &'a [u8]) -> Option<&'a [u8]> {
        misspelt_error(body)
    }

    fn validate(&self) -> Result<(), ConfigError> {
        if self.credentials.fits() {
            return Ok(());
        }
        Err(ConfigError::CredentialTooLong)
    }

    fn start(
        self: Arc<Self>,
        _: &Local<'_>,
        _: &Entropy,
        _: &Greetings<'_>,
    ) -> Result<Progress<P>, Error> {
        Ok(start(&self))
    }
}

/// Shows the password.
fn start<P: From<Unprotected>>(settings: &PlainClient) -> Progress<P> {
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

impl<P: From<Unprotected>> AwaitCommand<P> for AwaitWelcome {
    fn step(&self) -> Step {
        Step::Welcome
    }

    fn receive(
        self: Box<Self>,
        local: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress<P>, Error> {
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

impl<P: From<Unprotected>> AwaitCommand<P> for AwaitReady {
    fn step(&self) -> Step {
        Step::Ready
    }

    fn receive(
        self: Box<Self>,
        local: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress<P>, Error> {
        frame.expect(READY, Step::Ready)?;
        Ok(Progress::Done {
            reply: None,
            established: established(local.read_metadata(frame.data)?),
        })
    }
}
