//! The handshake as bytes in and bytes out. Says nothing about whom to let in: that is
//! [`server`](super::server)'s.

use sealwire_newplex::schemes::handshake::{
    CONFIRMATION_SIZE, HandshakeError, Initiator, REQUEST_SIZE, RESPONSE_SIZE, Responder, Session,
};
use sealwire_newplex::schemes::keys::{PublicKey, SecretKey};
use sealwire_newplex::schemes::randomness::RandomnessError;

use super::failure::Failed;

/// What both sides of every handshake have in common.
#[derive(Debug)]
pub(super) struct Identity {
    pub(super) domain: String,
    pub(super) secret: SecretKey,
}

/// A handshake that waits for the peer's next message.
#[derive(Debug)]
pub(super) enum Handshake {
    /// The listener, before the request.
    Request,
    /// The listener, before the confirmation.
    Confirmation(Responder),
    /// The connector, before the response.
    Response(Initiator),
}

/// What follows a message.
#[derive(Debug)]
pub(super) enum Step {
    /// This goes to the peer, whose answer is awaited.
    Reply(Vec<u8>, Box<Handshake>),
    /// This goes to the peer, then blocks.
    Done(Vec<u8>, Box<Session>),
}

impl Handshake {
    /// Begins as the connector; the request goes to the listener.
    pub(super) fn connect(identity: &Identity) -> Result<(Vec<u8>, Self), RandomnessError> {
        let (initiator, request) = Initiator::new(&identity.domain, identity.secret.clone())?;
        Ok((request.to_vec(), Handshake::Response(initiator)))
    }

    /// Size of the message that is awaited, in bytes.
    pub(super) const fn awaits(&self) -> usize {
        match self {
            Handshake::Request => REQUEST_SIZE,
            Handshake::Confirmation(_) => CONFIRMATION_SIZE,
            Handshake::Response(_) => RESPONSE_SIZE,
        }
    }

    /// Takes the message that was awaited. A connector expects `server`, and stays anonymous to
    /// anybody else: its own key goes out with what follows.
    pub(super) fn take(
        self,
        identity: &Identity,
        message: &[u8],
        server: Option<&PublicKey>,
    ) -> Result<Step, Failed> {
        match self {
            Handshake::Request => {
                let secret = identity.secret.clone();
                let (responder, response) = Responder::new(&identity.domain, secret, message)?;
                let next = Handshake::Confirmation(responder);
                Ok(Step::Reply(response.to_vec(), Box::new(next)))
            }
            Handshake::Confirmation(responder) => {
                let session = responder.finish(message)?;
                Ok(Step::Done(Vec::new(), Box::new(session)))
            }
            Handshake::Response(initiator) => {
                let (session, confirmation) = initiator.finish(message)?;
                if server.is_some_and(|server| *server != session.peer) {
                    return Err(Failed::WrongServer(Box::new(session.peer)));
                }
                Ok(Step::Done(confirmation.to_vec(), Box::new(session)))
            }
        }
    }
}

impl From<HandshakeError> for Failed {
    fn from(error: HandshakeError) -> Self {
        Failed::Handshake(error)
    }
}
