//! An asynchronous double ratchet: messages that may be late, lost or out of order, under keys that
//! change with every message and heal with every reply.
//!
//! ```text
//! fork("role", "initiator", "responder"): one chain per direction
//! new key pair: mix("dh", shared secret) into the sending chain
//! message:      mix("n", u32)  clone  ratchet("step");  clone: mix("header")  seal("message")
//! header:       public key (32), number in its chain (4), length of the chain before (4);
//!               numbers little-endian
//! ```
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use sealwire_newplex::Protocol;
//! use sealwire_newplex::schemes::adratchet::DoubleRatchet;
//! use sealwire_newplex::schemes::keys::SecretKey;
//!
//! // Both know the other's public key, and a secret, from a handshake perhaps.
//! let (alice, bea) = (SecretKey::generate()?, SecretKey::generate()?);
//! let mut agreed = Protocol::new("com.example.chat");
//! agreed.mix("key", b"a shared secret");
//!
//! let mut ours = DoubleRatchet::initiator(agreed.clone(), *bea.public_key())?;
//! let mut theirs = DoubleRatchet::responder(agreed, bea, *alice.public_key());
//! let (first, second) = (ours.send(b"one")?, ours.send(b"two")?);
//! assert_eq!(theirs.receive(&second)?, b"two");
//! assert_eq!(theirs.receive(&first)?, b"one");
//! assert!(theirs.receive(&first).is_err(), "a message is received once");
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where it differs from the reference
//!
//! The bytes are the same. But:
//!
//! * **A message that cannot be received changes nothing.** In the reference, one forged or repeated
//!   message puts the receiver a step ahead, and nothing of that direction can be read any more.
//! * **There is no voluntary ratchet.** A new key pair is made with the first message of each turn of
//!   the peer. One that a sender makes without a turn cannot be followed by the receiver, which
//!   counts on one for each turn: in the reference, every message after it is lost. The format has no
//!   room to announce it. Send a message and have it answered instead.
//! * Protocols of skipped messages are kept for the [`MAX_KEPT`] youngest of them, not for all.

use super::keys::{InvalidEncoding, PUBLIC_KEY_SIZE, PublicKey, SecretKey};
use super::randomness::{Randomness, RandomnessError};
use crate::{InvalidCiphertext, Protocol, TAG_SIZE};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;
use thiserror::Error;

/// Messages of one chain that may be missing before one that is received.
pub const MAX_SKIP: u32 = 1000;

/// Skipped messages that can still be received, about 300 bytes of memory each; the oldest gives way.
pub const MAX_KEPT: usize = 2000;

/// Size of a header in bytes.
pub const HEADER_SIZE: usize = PUBLIC_KEY_SIZE + 4 + 4;

/// Bytes that sending adds to a message: a header and a tag.
pub const OVERHEAD: usize = HEADER_SIZE + TAG_SIZE;

/// Why a message was not sent or received; the state is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RatchetError {
    /// There is no room for a header and a tag.
    #[error("a message has at least {OVERHEAD} bytes, not {0}")]
    TooShort(usize),
    /// The key in the header is none.
    #[error("the key in the header is invalid: {0}")]
    Key(#[from] InvalidEncoding),
    /// Too many messages are missing before this one.
    #[error("{0} messages are missing before this one, more than {MAX_SKIP}")]
    TooManySkipped(u32),
    /// The message was received before, or skipped so long ago that it is no longer kept.
    #[error("message {0} of this chain was received before, or is too old")]
    Repeated(u32),
    /// The message was changed, or comes from somebody else.
    #[error(transparent)]
    NotAuthentic(#[from] InvalidCiphertext),
    /// A chain has 2^32 - 1 messages at most; the peer's next message begins another.
    #[error("the chain has no numbers left; send no more before the peer has answered")]
    Exhausted,
    /// There was no randomness for a key pair.
    #[error(transparent)]
    Randomness(#[from] RandomnessError),
}

/// The state of the messages of one direction.
#[derive(Clone)]
struct Chain {
    protocol: Protocol,
    /// Number of the next message.
    number: u32,
}

impl Chain {
    /// The protocol of the next message.
    fn step(&mut self) -> Protocol {
        self.protocol.mix("n", &self.number.to_le_bytes());
        let message = self.protocol.clone();
        self.protocol.ratchet("step");
        self.number += 1;
        message
    }

    /// Goes on with a key pair.
    fn renew(&mut self, secret: &SecretKey, peer: &PublicKey) {
        self.protocol.mix("dh", &*secret.agree(peer));
        self.number = 0;
    }

    /// Goes on to message `number`, if it lies ahead, and keeps the protocols of those in between.
    fn skip_to(
        &mut self,
        number: u32,
        key: &PublicKey,
        skipped: &mut Vec<Skipped>,
    ) -> Result<(), RatchetError> {
        let missing = number.saturating_sub(self.number);
        if missing > MAX_SKIP {
            return Err(RatchetError::TooManySkipped(missing));
        }
        skipped.extend((0..missing).map(|_| Skipped {
            key: *key.as_bytes(),
            number: self.number,
            protocol: self.step(),
        }));
        Ok(())
    }
}

/// A message that may still come.
struct Skipped {
    key: [u8; PUBLIC_KEY_SIZE],
    number: u32,
    protocol: Protocol,
}

/// A header, decoded.
struct Header {
    key: PublicKey,
    number: u32,
    previous: u32,
}

impl Header {
    fn encode(&self) -> [u8; HEADER_SIZE] {
        let mut bytes = [0; HEADER_SIZE];
        let (key, numbers) = bytes.split_at_mut(PUBLIC_KEY_SIZE);
        key.copy_from_slice(self.key.as_bytes());
        numbers[..4].copy_from_slice(&self.number.to_le_bytes());
        numbers[4..].copy_from_slice(&self.previous.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; HEADER_SIZE]) -> Result<Self, InvalidEncoding> {
        let [.., n0, n1, n2, n3, p0, p1, p2, p3] = *bytes;
        Ok(Self {
            key: PublicKey::from_bytes(&bytes[..PUBLIC_KEY_SIZE])?,
            number: u32::from_le_bytes([n0, n1, n2, n3]),
            previous: u32::from_le_bytes([p0, p1, p2, p3]),
        })
    }
}

/// One end of a conversation.
pub struct DoubleRatchet {
    local: SecretKey,
    remote: PublicKey,
    sending: Chain,
    receiving: Chain,
    /// Length of the sending chain before this one.
    previous: u32,
    skipped: VecDeque<Skipped>,
}

impl DoubleRatchet {
    /// The end that may send at once: `agreed` is a protocol that both ends have in the same state,
    /// and `remote` the responder's public key.
    ///
    /// # Errors
    ///
    /// [`RandomnessError`] when the operating system has no randomness.
    #[cfg(feature = "std")]
    pub fn initiator(agreed: Protocol, remote: PublicKey) -> Result<Self, RandomnessError> {
        Ok(Self::initiator_with(agreed, remote, Randomness::from_os()?))
    }

    /// [`initiator`](Self::initiator) with the key pair that `randomness` stands for.
    #[must_use]
    pub fn initiator_with(agreed: Protocol, remote: PublicKey, randomness: Randomness) -> Self {
        let local = SecretKey::from_randomness(randomness);
        let (mut sending, receiving) = chains(agreed);
        sending.renew(&local, &remote);
        Self::new(local, remote, sending, receiving)
    }

    /// The other end: `local` is the secret key whose public key the initiator has, and `remote` the
    /// public key that the initiator is known by.
    ///
    /// What it sends before it has received anything is protected by `agreed` alone.
    #[must_use]
    pub fn responder(agreed: Protocol, local: SecretKey, remote: PublicKey) -> Self {
        let (receiving, sending) = chains(agreed);
        Self::new(local, remote, sending, receiving)
    }

    fn new(local: SecretKey, remote: PublicKey, sending: Chain, receiving: Chain) -> Self {
        Self {
            local,
            remote,
            sending,
            receiving,
            previous: 0,
            skipped: VecDeque::new(),
        }
    }

    /// Seals a message: [`OVERHEAD`] bytes more than `plaintext` has.
    ///
    /// # Errors
    ///
    /// [`RatchetError::Exhausted`] after 2^32 - 1 messages without an answer.
    pub fn send(&mut self, plaintext: &[u8]) -> Result<Vec<u8>, RatchetError> {
        if self.sending.number == u32::MAX {
            return Err(RatchetError::Exhausted);
        }
        let header = Header {
            key: *self.local.public_key(),
            number: self.sending.number,
            previous: self.previous,
        };
        let header = header.encode();
        let mut protocol = self.sending.step();
        protocol.mix("header", &header);
        let mut message = Vec::with_capacity(plaintext.len() + OVERHEAD);
        message.extend_from_slice(&header);
        message.extend_from_slice(plaintext);
        let tag = protocol.seal_detached("message", &mut message[HEADER_SIZE..]);
        message.extend_from_slice(&tag);
        Ok(message)
    }

    /// Opens a message of the peer, in whatever order they come.
    ///
    /// A forged message costs up to 2,000 steps of a chain before it is found out, and memory for as
    /// many, which is given back.
    ///
    /// # Errors
    ///
    /// [`RatchetError`], among others if the message was received before. The state is then as if it
    /// had never come.
    #[cfg(feature = "std")]
    pub fn receive(&mut self, message: &[u8]) -> Result<Vec<u8>, RatchetError> {
        self.receive_drawing(message, Randomness::from_os)
    }

    /// [`receive`](Self::receive); `randomness` stands for the key pair of the answer, if the message
    /// begins a turn, and is not used if it does not.
    ///
    /// # Errors
    ///
    /// As [`receive`](Self::receive).
    pub fn receive_with(
        &mut self,
        message: &[u8],
        randomness: Randomness,
    ) -> Result<Vec<u8>, RatchetError> {
        self.receive_drawing(message, || Ok(randomness))
    }

    fn receive_drawing(
        &mut self,
        message: &[u8],
        randomness: impl FnOnce() -> Result<Randomness, RandomnessError>,
    ) -> Result<Vec<u8>, RatchetError> {
        let too_short = RatchetError::TooShort(message.len());
        let (encoded, sealed) = message.split_first_chunk().ok_or(too_short)?;
        if sealed.len() < TAG_SIZE {
            return Err(too_short);
        }
        let header = Header::decode(encoded)?;
        let open = |mut protocol: Protocol| {
            protocol.mix("header", encoded);
            protocol.open("message", sealed)
        };
        if let Some(at) = self.position(&header) {
            let plaintext = open(self.skipped[at].protocol.clone())?;
            self.skipped.remove(at);
            return Ok(plaintext);
        }

        // All that changes is kept apart until the message has proved to be authentic.
        let mut receiving = self.receiving.clone();
        let mut skipped = Vec::new();
        let turned = header.key != self.remote;
        if turned {
            receiving.skip_to(header.previous, &self.remote, &mut skipped)?;
            receiving.renew(&self.local, &header.key);
        }
        // No sender gives a message the last number.
        if header.number < receiving.number || header.number == u32::MAX {
            return Err(RatchetError::Repeated(header.number));
        }
        receiving.skip_to(header.number, &header.key, &mut skipped)?;
        let plaintext = open(receiving.step())?;
        if turned {
            let local = SecretKey::from_randomness(randomness()?);
            self.previous = self.sending.number;
            self.sending.renew(&local, &header.key);
            self.local = local;
            self.remote = header.key;
        }
        self.receiving = receiving;
        self.keep(skipped);
        Ok(plaintext)
    }

    /// Where the protocol of a message that was skipped is kept.
    fn position(&self, header: &Header) -> Option<usize> {
        self.skipped.iter().position(|skipped| {
            skipped.number == header.number && skipped.key == *header.key.as_bytes()
        })
    }

    fn keep(&mut self, skipped: Vec<Skipped>) {
        self.skipped.extend(skipped);
        let excess = self.skipped.len().saturating_sub(MAX_KEPT);
        self.skipped.drain(..excess);
    }
}

/// The initiator's and the responder's chain.
fn chains(mut agreed: Protocol) -> (Chain, Chain) {
    let (initiator, responder) = agreed.fork("role", b"initiator", b"responder");
    let chain = |protocol| Chain {
        protocol,
        number: 0,
    };
    (chain(initiator), chain(responder))
}

/// Shows public keys and numbers.
impl fmt::Debug for DoubleRatchet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DoubleRatchet")
            .field("local", self.local.public_key())
            .field("remote", &self.remote)
            .field("sent", &self.sending.number)
            .field("received", &self.receiving.number)
            .field("skipped", &self.skipped.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
