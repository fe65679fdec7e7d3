//! A handshake in three messages that authenticates both sides by static keys.
//!
//! The pattern XX of the Noise protocol framework, in Newplex:
//!
//! ```text
//! initiator                                responder
//!     e                            ──▶                     request, 32 bytes
//!                                  ◀──   e, ee, s, es      response, 80 bytes
//!     s, se                        ──▶                     confirmation, 48 bytes
//!
//! init(domain)  mix("ie")  mix("re")  mix("ie-re")  seal("rs")  mix("ie-rs")  seal("is")
//! mix("is-re")  ratchet("handshake")  fork("sender", "responder", "initiator")
//! ```
//!
//! Both static keys are encrypted; an active attacker who takes the responder's place learns that of
//! nobody, one who takes the initiator's place that of the responder. Past sessions stay secret when
//! static keys are stolen later.
//!
//! Whom to trust is the caller's business: each side gets the static key of the other and decides.
//! The responder has sent its key, but knows the initiator only after the confirmation.
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use sealwire_newplex::schemes::handshake::{Initiator, Responder};
//! use sealwire_newplex::schemes::keys::SecretKey;
//!
//! let (alice, bea) = (SecretKey::generate()?, SecretKey::generate()?);
//! let domain = "com.example.chat";
//! let (initiator, request) = Initiator::new(domain, alice.clone())?;
//! let (responder, response) = Responder::new(domain, bea.clone(), &request)?;
//! let (mut ours, confirmation) = initiator.finish(&response)?;
//! let mut theirs = responder.finish(&confirmation)?;
//! assert_eq!((&ours.peer, &theirs.peer), (bea.public_key(), alice.public_key()));
//!
//! let sealed = ours.sender.seal("message", b"hello");
//! assert_eq!(theirs.receiver.open("message", &sealed)?, b"hello");
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::keys::{InvalidEncoding, PublicKey, SecretKey};
use super::randomness::Randomness;
#[cfg(feature = "std")]
use super::randomness::RandomnessError;
use crate::{Protocol, TAG_SIZE};
use thiserror::Error;

/// Size of the initiator's request in bytes: its ephemeral key.
pub const REQUEST_SIZE: usize = 32;

/// Size of the responder's response in bytes: its ephemeral key, its sealed static key.
pub const RESPONSE_SIZE: usize = 32 + SEALED_KEY_SIZE;

/// Size of the initiator's confirmation in bytes: its sealed static key.
pub const CONFIRMATION_SIZE: usize = SEALED_KEY_SIZE;

const SEALED_KEY_SIZE: usize = 32 + TAG_SIZE;

/// Why a handshake failed. It cannot be continued; begin another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HandshakeError {
    /// The message has another length than its place in the handshake asks for.
    #[error("a handshake message of {expected} bytes was expected, not of {actual}")]
    Length {
        /// Bytes that it must have.
        expected: usize,
        /// Bytes that it has.
        actual: usize,
    },
    /// The peer's ephemeral key is none.
    #[error("the peer's ephemeral key is invalid: {0}")]
    EphemeralKey(InvalidEncoding),
    /// The peer's static key could not be opened: the message was changed, answers another
    /// handshake, or the domains differ.
    #[error("the peer's message is not authentic; do both sides use the same domain?")]
    NotAuthentic,
    /// The peer sealed something as its static key that is none.
    #[error("the peer's static key is invalid: {0}")]
    StaticKey(InvalidEncoding),
    /// There was no randomness for an ephemeral key.
    #[cfg(feature = "std")]
    #[error(transparent)]
    Randomness(#[from] RandomnessError),
}

/// The outcome of a handshake.
#[derive(Debug)]
pub struct Established {
    /// For what is sent; in the state of the peer's receiver.
    pub sender: Protocol,
    /// For what is received; in the state of the peer's sender.
    pub receiver: Protocol,
    /// The peer's static key, whose secret key the peer has.
    pub peer: PublicKey,
}

/// An initiator that waits for the response. Finishing consumes it, whether it succeeds or not:
///
/// ```compile_fail,E0382
/// # use sealwire_newplex::schemes::handshake::Initiator;
/// fn try_twice(initiator: Initiator, forged: &[u8], response: &[u8]) {
///     let _ = initiator.finish(forged);
///     let _ = initiator.finish(response);
/// }
/// ```
#[derive(Debug)]
pub struct Initiator {
    protocol: Protocol,
    secret: SecretKey,
    ephemeral: SecretKey,
}

impl Initiator {
    /// Begins a handshake; the request goes to the responder.
    ///
    /// # Errors
    ///
    /// [`RandomnessError`] when the operating system has no randomness.
    #[cfg(feature = "std")]
    pub fn new(
        domain: impl AsRef<[u8]>,
        secret: SecretKey,
    ) -> Result<(Self, [u8; REQUEST_SIZE]), RandomnessError> {
        Ok(Self::with_randomness(
            domain,
            secret,
            Randomness::from_os()?,
        ))
    }

    /// [`new`](Self::new) with the ephemeral key that `randomness` stands for.
    #[must_use]
    pub fn with_randomness(
        domain: impl AsRef<[u8]>,
        secret: SecretKey,
        randomness: Randomness,
    ) -> (Self, [u8; REQUEST_SIZE]) {
        let ephemeral = SecretKey::from_randomness(randomness);
        let request = ephemeral.public_key().to_bytes();
        let mut protocol = Protocol::new(domain);
        protocol.mix("ie", &request);
        let initiator = Self {
            protocol,
            secret,
            ephemeral,
        };
        (initiator, request)
    }

    /// Takes the response; the confirmation goes to the responder.
    ///
    /// # Errors
    ///
    /// [`HandshakeError`] if the response is not what a responder sent for this request.
    pub fn finish(
        self,
        response: &[u8],
    ) -> Result<(Established, [u8; CONFIRMATION_SIZE]), HandshakeError> {
        let Self {
            mut protocol,
            secret,
            ephemeral,
        } = self;
        let response: &[u8; RESPONSE_SIZE] = sized(response)?;
        let (key, sealed) = response.split_at(32);
        let peer_ephemeral = PublicKey::from_bytes(key).map_err(HandshakeError::EphemeralKey)?;
        protocol.mix("re", key);
        protocol.mix("ie-re", &*ephemeral.agree(&peer_ephemeral));
        let peer = open_key(&mut protocol, "rs", sealed)?;
        protocol.mix("ie-rs", &*ephemeral.agree(&peer));
        let confirmation = seal_key(&mut protocol, "is", secret.public_key());
        protocol.mix("is-re", &*secret.agree(&peer_ephemeral));
        let (receiver, sender) = split(protocol);
        let established = Established {
            sender,
            receiver,
            peer,
        };
        Ok((established, confirmation))
    }
}

/// A responder that waits for the confirmation.
#[derive(Debug)]
pub struct Responder {
    protocol: Protocol,
    ephemeral: SecretKey,
}

impl Responder {
    /// Takes a request; the response goes to the initiator.
    ///
    /// # Errors
    ///
    /// [`HandshakeError`] if the request is not an ephemeral key, or when the operating system has no
    /// randomness.
    #[cfg(feature = "std")]
    pub fn new(
        domain: impl AsRef<[u8]>,
        secret: SecretKey,
        request: &[u8],
    ) -> Result<(Self, [u8; RESPONSE_SIZE]), HandshakeError> {
        Self::with_randomness(domain, secret, Randomness::from_os()?, request)
    }

    /// [`new`](Self::new) with the ephemeral key that `randomness` stands for.
    ///
    /// # Errors
    ///
    /// [`HandshakeError`] if the request is not an ephemeral key.
    pub fn with_randomness(
        domain: impl AsRef<[u8]>,
        secret: SecretKey,
        randomness: Randomness,
        request: &[u8],
    ) -> Result<(Self, [u8; RESPONSE_SIZE]), HandshakeError> {
        let request: &[u8; REQUEST_SIZE] = sized(request)?;
        let peer_ephemeral =
            PublicKey::from_bytes(request).map_err(HandshakeError::EphemeralKey)?;
        let ephemeral = SecretKey::from_randomness(randomness);
        let mut protocol = Protocol::new(domain);
        protocol.mix("ie", request);
        protocol.mix("re", ephemeral.public_key().as_bytes());
        protocol.mix("ie-re", &*ephemeral.agree(&peer_ephemeral));
        let mut response = [0; RESPONSE_SIZE];
        response[..32].copy_from_slice(ephemeral.public_key().as_bytes());
        let sealed = seal_key(&mut protocol, "rs", secret.public_key());
        response[32..].copy_from_slice(&sealed);
        protocol.mix("ie-rs", &*secret.agree(&peer_ephemeral));
        let responder = Self {
            protocol,
            ephemeral,
        };
        Ok((responder, response))
    }

    /// Takes the confirmation, after which the initiator is known.
    ///
    /// # Errors
    ///
    /// [`HandshakeError`] if it is not what the initiator sent for this response.
    pub fn finish(self, confirmation: &[u8]) -> Result<Established, HandshakeError> {
        let Self {
            mut protocol,
            ephemeral,
        } = self;
        let confirmation: &[u8; CONFIRMATION_SIZE] = sized(confirmation)?;
        let peer = open_key(&mut protocol, "is", confirmation)?;
        protocol.mix("is-re", &*ephemeral.agree(&peer));
        let (sender, receiver) = split(protocol);
        Ok(Established {
            sender,
            receiver,
            peer,
        })
    }
}

/// What the responder, then what the initiator sends with.
fn split(mut protocol: Protocol) -> (Protocol, Protocol) {
    protocol.ratchet("handshake");
    protocol.fork("sender", b"responder", b"initiator")
}

fn sized<const N: usize>(message: &[u8]) -> Result<&[u8; N], HandshakeError> {
    message.try_into().map_err(|_| HandshakeError::Length {
        expected: N,
        actual: message.len(),
    })
}

fn seal_key(protocol: &mut Protocol, label: &str, key: &PublicKey) -> [u8; SEALED_KEY_SIZE] {
    let mut sealed = [0; SEALED_KEY_SIZE];
    let (text, tag) = sealed.split_at_mut(32);
    text.copy_from_slice(key.as_bytes());
    tag.copy_from_slice(&protocol.seal_detached(label, text));
    sealed
}

fn open_key(
    protocol: &mut Protocol,
    label: &str,
    sealed: &[u8],
) -> Result<PublicKey, HandshakeError> {
    let mut sealed: [u8; SEALED_KEY_SIZE] = *sized(sealed)?;
    let key = protocol
        .open_in_slice(label, &mut sealed)
        .map_err(|_| HandshakeError::NotAuthentic)?;
    PublicKey::from_bytes(key).map_err(HandshakeError::StaticKey)
}

#[cfg(test)]
mod tests;
