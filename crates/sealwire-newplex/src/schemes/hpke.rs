//! Encryption to a public key, authenticated by the sender's.
//!
//! ```text
//! init(domain)  mix("sender")  mix("receiver")  mix("ephemeral")  mix("ephemeral ecdh")
//! mix("static ecdh")  seal("message")
//! sealed: ephemeral key (32), ciphertext, tag (16)
//! ```
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use sealwire_newplex::schemes::hpke::{Receiver, Sender};
//! use sealwire_newplex::schemes::keys::SecretKey;
//!
//! let (alice, bea) = (SecretKey::generate()?, SecretKey::generate()?);
//! let sender = Sender::new("com.example.mail", &alice, bea.public_key());
//! let receiver = Receiver::new("com.example.mail", &bea, alice.public_key());
//! let sealed = sender.seal(b"hello")?;
//! assert_eq!(receiver.open(&sealed)?, b"hello");
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Not the HPKE of RFC 9180, which it shares the idea with. An attacker with neither secret key can neither
//! read nor forge; one with the sender's cannot read what the sender sealed. But one who has the receiver's
//! can read all of it, and can forge messages of any sender to that receiver: the receiver can prove nothing
//! to others. [`signcrypt`](super::signcrypt) has signatures.

use super::keys::{PUBLIC_KEY_SIZE, PublicKey, SecretKey};
use super::randomness::Randomness;
#[cfg(feature = "std")]
use super::randomness::RandomnessError;
use crate::{InvalidCiphertext, Protocol, TAG_SIZE, Tag};
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt;
use zeroize::{Zeroize as _, Zeroizing};

/// Bytes that sealing adds to a message: an ephemeral key and a tag.
pub const OVERHEAD: usize = PUBLIC_KEY_SIZE + TAG_SIZE;

/// The transcript up to the receiver.
fn begin(domain: &[u8], sender: &PublicKey, receiver: &PublicKey) -> Protocol {
    let mut protocol = Protocol::new(domain);
    protocol.mix("sender", sender.as_bytes());
    protocol.mix("receiver", receiver.as_bytes());
    protocol
}

/// The transcript up to the message.
fn keyed(
    begun: &Protocol,
    ephemeral: &[u8],
    ephemeral_secret: &[u8; 32],
    static_secret: &[u8; 32],
) -> Protocol {
    let mut protocol = begun.clone();
    protocol.mix("ephemeral", ephemeral);
    protocol.mix("ephemeral ecdh", ephemeral_secret);
    protocol.mix("static ecdh", static_secret);
    protocol
}

/// A shared secret, which is not shown.
#[derive(Clone)]
struct StaticSecret(Zeroizing<[u8; 32]>);

impl fmt::Debug for StaticSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(..)")
    }
}

/// Seals messages for one receiver.
#[derive(Clone, Debug)]
pub struct Sender {
    receiver: PublicKey,
    begun: Protocol,
    static_secret: StaticSecret,
}

impl Sender {
    /// For messages of the purpose `domain`, from the owner of `secret` to that of `receiver`.
    #[must_use]
    pub fn new(domain: impl AsRef<[u8]>, secret: &SecretKey, receiver: &PublicKey) -> Self {
        Self {
            receiver: *receiver,
            begun: begin(domain.as_ref(), secret.public_key(), receiver),
            static_secret: StaticSecret(secret.agree(receiver)),
        }
    }

    /// Encrypts `text` in place; returns the ephemeral key that belongs before it and the tag that
    /// belongs behind it.
    #[must_use = "without the ephemeral key and the tag, nobody can open the message"]
    pub fn seal_detached(
        &self,
        randomness: Randomness,
        text: &mut [u8],
    ) -> ([u8; PUBLIC_KEY_SIZE], Tag) {
        let ephemeral = SecretKey::from_randomness(randomness);
        let public = ephemeral.public_key().to_bytes();
        let shared = ephemeral.agree(&self.receiver);
        let mut protocol = keyed(&self.begun, &public, &shared, &self.static_secret.0);
        (public, protocol.seal_detached("message", text))
    }

    /// Seals `plaintext`: [`OVERHEAD`] bytes more than it has.
    ///
    /// # Errors
    ///
    /// [`RandomnessError`] when the operating system has no randomness.
    #[cfg(feature = "std")]
    pub fn seal(&self, plaintext: &[u8]) -> Result<Vec<u8>, RandomnessError> {
        Ok(self.seal_with(Randomness::from_os()?, plaintext))
    }

    /// [`seal`](Self::seal) with the ephemeral key that `randomness` stands for.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn seal_with(&self, randomness: Randomness, plaintext: &[u8]) -> Vec<u8> {
        let mut sealed = Vec::with_capacity(plaintext.len() + OVERHEAD);
        sealed.extend_from_slice(&[0; PUBLIC_KEY_SIZE]);
        sealed.extend_from_slice(plaintext);
        let (key, text) = sealed.split_at_mut(PUBLIC_KEY_SIZE);
        let (ephemeral, tag) = self.seal_detached(randomness, text);
        key.copy_from_slice(&ephemeral);
        sealed.extend_from_slice(&tag);
        sealed
    }
}

/// Opens messages of one sender.
#[derive(Clone, Debug)]
pub struct Receiver {
    secret: SecretKey,
    begun: Protocol,
    static_secret: StaticSecret,
}

impl Receiver {
    /// For messages of the purpose `domain`, from the owner of `sender` to that of `secret`.
    #[must_use]
    pub fn new(domain: impl AsRef<[u8]>, secret: &SecretKey, sender: &PublicKey) -> Self {
        Self {
            secret: secret.clone(),
            begun: begin(domain.as_ref(), sender, secret.public_key()),
            static_secret: StaticSecret(secret.agree(sender)),
        }
    }

    /// Decrypts `text`, which came between `ephemeral` and `tag`, in place.
    ///
    /// # Errors
    ///
    /// [`InvalidCiphertext`] unless the sender sealed this for this receiver and domain; then `text`
    /// is all zeros.
    pub fn open_detached(
        &self,
        ephemeral: &[u8; PUBLIC_KEY_SIZE],
        text: &mut [u8],
        tag: &Tag,
    ) -> Result<(), InvalidCiphertext> {
        let Ok(key) = PublicKey::from_bytes(ephemeral) else {
            text.zeroize();
            return Err(InvalidCiphertext);
        };
        let shared = self.secret.agree(&key);
        keyed(&self.begun, ephemeral, &shared, &self.static_secret.0)
            .open_detached("message", text, tag)
    }

    /// Opens what [`Sender::seal`] gave.
    ///
    /// # Errors
    ///
    /// [`InvalidCiphertext`] unless the sender sealed this for this receiver and domain.
    #[cfg(feature = "alloc")]
    pub fn open(&self, sealed: &[u8]) -> Result<Vec<u8>, InvalidCiphertext> {
        let (ephemeral, rest) = sealed.split_first_chunk().ok_or(InvalidCiphertext)?;
        let (text, tag) = rest.split_last_chunk().ok_or(InvalidCiphertext)?;
        let mut text = text.to_vec();
        self.open_detached(ephemeral, &mut text, tag)?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests;
