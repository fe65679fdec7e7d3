//! The handshake: three messages of fixed sizes, of which a channel comes.

use std::sync::Arc;

use sealwire_newplex::schemes::handshake::{
    CONFIRMATION_SIZE, Established, Initiator, REQUEST_SIZE, RESPONSE_SIZE, Responder,
};

use crate::{
    Incoming, InvalidMessage, Outgoing, PublicKey, Randomness, RandomnessError, SecretKey,
};

/// What both sides of every handshake have: who they are, and what for.
#[derive(Debug)]
pub struct Identity {
    domain: String,
    secret: SecretKey,
}

impl Identity {
    /// The domain says application and purpose, and is the same on both sides; `sealwire tunnel` has
    /// `sealwire.newplex.tunnel` unless it is told otherwise.
    #[must_use]
    pub fn new(domain: impl Into<String>, secret: SecretKey) -> Self {
        Identity {
            domain: domain.into(),
            secret,
        }
    }

    /// What the other side knows us by.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        self.secret.public_key()
    }
}

/// Why a handshake failed. Close the connection; the peer is told nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandshakeError {
    /// A message that is not what comes next.
    #[error(transparent)]
    Invalid(#[from] InvalidMessage),
    /// The listener proved a key, and it is not the one that was expected. It did not learn ours.
    #[error("the listener's key is not the one that was expected")]
    OtherListener(Box<PublicKey>),
}

/// What a handshake ends in.
#[derive(Debug)]
pub struct Channel {
    /// The other side's static key, whose secret key it has. A listener decides here.
    pub peer: PublicKey,
    /// To the peer. A connector's begins with the confirmation.
    pub outgoing: Outgoing,
    /// From the peer.
    pub incoming: Incoming,
}

/// A handshake under way, on either side.
///
/// Send what is [`unsent`](Self::unsent), receive into [`room`](Self::room), until
/// [`received`](Self::received) has a [`Channel`].
#[derive(Debug)]
pub struct Handshake {
    state: State,
    /// As much as there is of the message that is awaited.
    message: [u8; RESPONSE_SIZE],
    received: usize,
    unsent: Vec<u8>,
}

/// Which message is awaited.
#[derive(Debug)]
enum State {
    /// The listener, before the request.
    Request(Arc<Identity>, Randomness),
    /// The listener, before the confirmation.
    Confirmation(Box<Responder>),
    /// The connector, before the response of the owner of this key.
    Response(Box<Initiator>, Box<PublicKey>),
    /// Of neither side any more.
    Over,
}

impl State {
    /// Size of the message in bytes.
    const fn awaits(&self) -> usize {
        match self {
            State::Request(..) => REQUEST_SIZE,
            State::Confirmation(_) => CONFIRMATION_SIZE,
            State::Response(..) => RESPONSE_SIZE,
            State::Over => 0,
        }
    }
}

impl Handshake {
    /// Begins as the connector, with the owner of `listener` and nobody else: who has another key is not told
    /// ours.
    ///
    /// # Errors
    ///
    /// [`RandomnessError`] when the operating system has no randomness.
    pub fn connect(identity: &Identity, listener: PublicKey) -> Result<Self, RandomnessError> {
        let randomness = Randomness::from_os()?;
        Ok(Self::connect_with_randomness(
            identity, listener, randomness,
        ))
    }

    /// [`connect`](Self::connect) with the ephemeral key that `randomness` stands for.
    #[must_use]
    pub fn connect_with_randomness(
        identity: &Identity,
        listener: PublicKey,
        randomness: Randomness,
    ) -> Self {
        let secret = identity.secret.clone();
        let (initiator, request) = Initiator::with_randomness(&identity.domain, secret, randomness);
        let state = State::Response(Box::new(initiator), Box::new(listener));
        Self::new(state, request.to_vec())
    }

    /// Begins as the listener: anybody can finish the handshake, and [`Channel::peer`] says who did.
    ///
    /// # Errors
    ///
    /// [`RandomnessError`] when the operating system has no randomness.
    pub fn listen(identity: &Arc<Identity>) -> Result<Self, RandomnessError> {
        let randomness = Randomness::from_os()?;
        Ok(Self::listen_with_randomness(identity, randomness))
    }

    /// [`listen`](Self::listen) with the ephemeral key that `randomness` stands for.
    #[must_use]
    pub fn listen_with_randomness(identity: &Arc<Identity>, randomness: Randomness) -> Self {
        let state = State::Request(Arc::clone(identity), randomness);
        Self::new(state, Vec::new())
    }

    const fn new(state: State, unsent: Vec<u8>) -> Self {
        Handshake {
            state,
            message: [0; RESPONSE_SIZE],
            received: 0,
            unsent,
        }
    }

    /// The bytes to send next; empty when all was sent.
    #[must_use]
    pub fn unsent(&self) -> &[u8] {
        &self.unsent
    }

    /// The first `count` bytes of [`unsent`](Self::unsent) were sent.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    pub fn sent(&mut self, count: usize) {
        self.unsent.drain(..count);
    }

    /// Where bytes of the peer go: what is missing of the message that is awaited, and not a byte more. What
    /// follows it belongs to the channel. Empty once the handshake is over.
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.message[self.received..self.state.awaits()]
    }

    /// The peer's bytes are the first `count` of [`room`](Self::room). Returns the channel when the handshake
    /// is done.
    ///
    /// # Errors
    ///
    /// [`HandshakeError`] if the whole message is not what comes next; the handshake is then over.
    ///
    /// # Panics
    ///
    /// If there was less room.
    pub fn received(&mut self, count: usize) -> Result<Option<Channel>, HandshakeError> {
        let awaited = self.state.awaits();
        assert!(
            count <= awaited - self.received,
            "more than there was room for"
        );
        self.received += count;
        if self.received < awaited || awaited == 0 {
            return Ok(None);
        }
        self.received = 0;
        let message = &self.message[..awaited];
        match std::mem::replace(&mut self.state, State::Over) {
            State::Request(identity, randomness) => {
                let secret = identity.secret.clone();
                let begun =
                    Responder::with_randomness(&identity.domain, secret, randomness, message);
                let (responder, response) = begun?;
                self.unsent.extend(response);
                self.state = State::Confirmation(Box::new(responder));
                Ok(None)
            }
            State::Confirmation(responder) => {
                let established = responder.finish(message)?;
                Ok(Some(Channel::new(
                    established,
                    &std::mem::take(&mut self.unsent),
                )))
            }
            State::Response(initiator, listener) => {
                let (established, confirmation) = initiator.finish(message)?;
                if *listener != established.peer {
                    return Err(HandshakeError::OtherListener(Box::new(established.peer)));
                }
                self.unsent.extend(confirmation);
                Ok(Some(Channel::new(
                    established,
                    &std::mem::take(&mut self.unsent),
                )))
            }
            State::Over => Ok(None),
        }
    }
}

impl Channel {
    /// `unsent` is what the handshake still has to send.
    fn new(established: Established, unsent: &[u8]) -> Self {
        Channel {
            peer: established.peer,
            outgoing: Outgoing::new(established.sender, unsent),
            incoming: Incoming::new(established.receiver),
        }
    }
}
