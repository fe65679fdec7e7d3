//! A key exchange for parties that share nothing but a password, after CPace.
//!
//! ```text
//! init(domain)  mix("initiator", id)  mix("responder", id)  mix("session", id)  mix("password")
//! derive("generator", 64) -> P
//! messages: [a]P, [b]P
//! mix("initiator-message")  mix("responder-message")  mix("key-element", [ab]P)
//! ```
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use sealwire_newplex::schemes::pake::Exchange;
//!
//! let exchange = Exchange {
//!     initiator: b"phone",
//!     responder: b"door",
//!     session: b"a number used once",
//!     password: b"1234",
//! };
//! let (initiator, message) = exchange.initiate("com.example.door")?;
//! let (mut door, answer) = exchange.respond("com.example.door", &message)?;
//! let mut phone = initiator.finish(&answer)?;
//! let sealed = phone.seal("message", b"open");
//! assert_eq!(door.open("message", &sealed)?, b"open");
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An attacker can try one guess of the password for each exchange that it takes part in, and none on
//! exchanges that it watches: limit how many may fail.
//!
//! **There is no confirmation.** With different passwords both sides end without an error, but in
//! different states: the first message that is opened shows it.

use super::group::{Element, derive_point, shared_secret};
use super::keys::InvalidEncoding;
use super::randomness::Randomness;
#[cfg(feature = "std")]
use super::randomness::RandomnessError;
use crate::Protocol;
use core::fmt;
use curve25519_dalek::Scalar;
use thiserror::Error;
use zeroize::Zeroizing;

/// Size of either message in bytes.
pub const MESSAGE_SIZE: usize = 32;

/// Why an exchange failed. It cannot be continued; begin another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The peer's message is not an element, or the identity.
    #[error("the peer's message is invalid: {0}")]
    Message(#[from] InvalidEncoding),
    /// There was no randomness for the message.
    #[cfg(feature = "std")]
    #[error(transparent)]
    Randomness(#[from] RandomnessError),
}

/// What both parties must have the same of. Byte strings of any length, which may be empty.
#[derive(Clone, Copy)]
pub struct Exchange<'a> {
    /// Name of the initiator.
    pub initiator: &'a [u8],
    /// Name of the responder.
    pub responder: &'a [u8],
    /// A number or a name of the exchange, best one that is never used again.
    pub session: &'a [u8],
    /// The password. Hash it first, if it is not stored as it is.
    pub password: &'a [u8],
}

impl Exchange<'_> {
    /// Begins the exchange; the message goes to the responder.
    ///
    /// # Errors
    ///
    /// [`RandomnessError`] when the operating system has no randomness.
    #[cfg(feature = "std")]
    pub fn initiate(
        &self,
        domain: impl AsRef<[u8]>,
    ) -> Result<(Initiator, [u8; MESSAGE_SIZE]), RandomnessError> {
        Ok(self.initiate_with(domain, Randomness::from_os()?))
    }

    /// [`initiate`](Self::initiate) with the scalar that `randomness` stands for.
    #[must_use]
    pub fn initiate_with(
        &self,
        domain: impl AsRef<[u8]>,
        randomness: Randomness,
    ) -> (Initiator, [u8; MESSAGE_SIZE]) {
        let party = self.party(domain.as_ref(), randomness);
        let message = party.message;
        (Initiator(party), message)
    }

    /// Answers an initiator; the answer goes to it.
    ///
    /// # Errors
    ///
    /// [`ExchangeError`] if `message` is none, or when the operating system has no randomness.
    #[cfg(feature = "std")]
    pub fn respond(
        &self,
        domain: impl AsRef<[u8]>,
        message: &[u8],
    ) -> Result<(Protocol, [u8; MESSAGE_SIZE]), ExchangeError> {
        self.respond_with(domain, Randomness::from_os()?, message)
    }

    /// [`respond`](Self::respond) with the scalar that `randomness` stands for.
    ///
    /// # Errors
    ///
    /// [`ExchangeError`] if `message` is none.
    pub fn respond_with(
        &self,
        domain: impl AsRef<[u8]>,
        randomness: Randomness,
        message: &[u8],
    ) -> Result<(Protocol, [u8; MESSAGE_SIZE]), ExchangeError> {
        let peer = Element::decode(message)?;
        let mut party = self.party(domain.as_ref(), randomness);
        party.protocol.mix("initiator-message", message);
        party.protocol.mix("responder-message", &party.message);
        let answer = party.message;
        Ok((party.finish(&peer), answer))
    }

    fn party(&self, domain: &[u8], randomness: Randomness) -> Party {
        let mut protocol = Protocol::new(domain);
        protocol.mix("initiator", self.initiator);
        protocol.mix("responder", self.responder);
        protocol.mix("session", self.session);
        protocol.mix("password", self.password);
        let generator = derive_point(&mut protocol, "generator");
        let secret = randomness.into_scalar();
        let message = *shared_secret(&secret, &Element::new(*generator));
        Party {
            protocol,
            secret,
            message,
        }
    }
}

/// Shows everything but the password.
impl fmt::Debug for Exchange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("initiator", &self.initiator)
            .field("responder", &self.responder)
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// A party that has made its message.
struct Party {
    protocol: Protocol,
    secret: Zeroizing<Scalar>,
    message: [u8; MESSAGE_SIZE],
}

impl Party {
    /// After both messages.
    fn finish(mut self, peer: &Element) -> Protocol {
        let shared = shared_secret(&self.secret, peer);
        self.protocol.mix("key-element", &*shared);
        self.protocol
    }
}

/// An initiator that waits for the answer.
pub struct Initiator(Party);

impl Initiator {
    /// Takes the answer; the protocol is in the same state as the responder's if both had the same
    /// domain and the same [`Exchange`].
    ///
    /// # Errors
    ///
    /// [`ExchangeError`] if `answer` is none.
    pub fn finish(self, answer: &[u8]) -> Result<Protocol, ExchangeError> {
        let Self(mut party) = self;
        let peer = Element::decode(answer)?;
        party.protocol.mix("initiator-message", &party.message);
        party.protocol.mix("responder-message", answer);
        Ok(party.finish(&peer))
    }
}

/// Shows nothing secret.
impl fmt::Debug for Initiator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Initiator").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
