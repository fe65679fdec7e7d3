//! Encryption and signature in one: only the receiver can read it, only the sender can have sent it.
//!
//! ```text
//! init(domain)  mix("receiver")  mix("sender")  fork("role", "sender", "receiver")
//! sender:   mix("sender-private")  mix("rand")  mix("message")
//!           derive("ephemeral-private", 64)  derive("commitment", 64) -> k
//! receiver: mix("ephemeral")  mix("ecdh")  mask("message")  mask("commitment", [k]G)
//!           derive("challenge", 64) -> c  mask("proof", k + c * secret key)
//! sealed: ephemeral key (32), masked message, masked commitment (32), masked proof (32)
//! ```
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use sealwire_newplex::schemes::keys::SecretKey;
//! use sealwire_newplex::schemes::signcrypt::{Receiver, Sender};
//!
//! let (alice, bea) = (SecretKey::generate()?, SecretKey::generate()?);
//! let sender = Sender::new("com.example.orders", &alice, bea.public_key());
//! let receiver = Receiver::new("com.example.orders", &bea, alice.public_key());
//! let sealed = sender.seal(b"a dozen")?;
//! assert_eq!(receiver.open(&sealed)?, b"a dozen");
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Insider-secure: who stole the sender's key cannot read what was sent, who stole the receiver's
//! cannot forge what the sender sends. The ciphertext shows neither of them. Ephemeral key and nonce
//! depend on the key and the message as well as on the randomness, which may therefore be bad.

use super::group::{ENCODED_SIZE, decode_scalar, derive_scalar, encode};
use super::keys::{PUBLIC_KEY_SIZE, PublicKey, SecretKey};
#[cfg(feature = "std")]
use super::randomness::{Randomness, RandomnessError};
use crate::{InvalidCiphertext, Protocol};
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use curve25519_dalek::{RistrettoPoint, Scalar};
use subtle::ConstantTimeEq as _;
use zeroize::{Zeroize as _, Zeroizing};

/// Bytes that sealing adds to a message: an ephemeral key and a signature.
pub const OVERHEAD: usize = PUBLIC_KEY_SIZE + SIGNATURE_SIZE;

/// Size of the masked signature in bytes.
pub const SIGNATURE_SIZE: usize = 64;

/// The branches of the sender and of the receiver.
fn begin(domain: &[u8], sender: &PublicKey, receiver: &PublicKey) -> (Protocol, Protocol) {
    let mut protocol = Protocol::new(domain);
    protocol.mix("receiver", receiver.as_bytes());
    protocol.mix("sender", sender.as_bytes());
    protocol.fork("role", b"sender", b"receiver")
}

/// Seals and signs messages for one receiver.
#[derive(Clone, Debug)]
pub struct Sender {
    secret: SecretKey,
    receiver: PublicKey,
    /// The sender's branch, after its secret key.
    sending: Protocol,
    /// The receiver's branch, before the ephemeral key.
    receiving: Protocol,
}

impl Sender {
    /// For messages of the purpose `domain`, from the owner of `secret` to that of `receiver`.
    #[must_use]
    pub fn new(domain: impl AsRef<[u8]>, secret: &SecretKey, receiver: &PublicKey) -> Self {
        let (mut sending, receiving) = begin(domain.as_ref(), secret.public_key(), receiver);
        sending.mix("sender-private", &*secret.to_bytes());
        Self {
            secret: secret.clone(),
            receiver: *receiver,
            sending,
            receiving,
        }
    }

    /// Encrypts `text` in place; returns the ephemeral key that belongs before it and the masked
    /// signature that belongs behind it.
    ///
    /// `random` may be of any length, best 64 random bytes. Where it is always the same, who sees
    /// two ciphertexts learns whether the messages are the same, and nothing else.
    #[must_use = "without the ephemeral key and the signature, nobody can open the message"]
    pub fn seal_detached(
        &self,
        random: &[u8],
        text: &mut [u8],
    ) -> ([u8; PUBLIC_KEY_SIZE], [u8; SIGNATURE_SIZE]) {
        let mut sending = self.sending.clone();
        sending.mix("rand", random);
        sending.mix("message", text);
        let ephemeral = SecretKey::new(*derive_scalar(&mut sending, "ephemeral-private"));
        let nonce = derive_scalar(&mut sending, "commitment");

        let mut receiving = self.receiving.clone();
        receiving.mix("ephemeral", ephemeral.public_key().as_bytes());
        receiving.mix("ecdh", &*ephemeral.agree(&self.receiver));
        receiving.mask("message", text);
        let mut signature = [0; SIGNATURE_SIZE];
        let (commitment, proof) = signature.split_at_mut(ENCODED_SIZE);
        commitment.copy_from_slice(&encode(&RistrettoPoint::mul_base(&nonce)));
        receiving.mask("commitment", commitment);
        let challenge = derive_scalar(&mut receiving, "challenge");
        let product = Zeroizing::new(self.secret.scalar() * *challenge);
        proof.copy_from_slice((*nonce + *product).as_bytes());
        receiving.mask("proof", proof);
        (ephemeral.public_key().to_bytes(), signature)
    }

    /// Seals `plaintext`: [`OVERHEAD`] bytes more than it has.
    ///
    /// # Errors
    ///
    /// [`RandomnessError`] when the operating system has no randomness.
    #[cfg(feature = "std")]
    pub fn seal(&self, plaintext: &[u8]) -> Result<Vec<u8>, RandomnessError> {
        Ok(self.seal_with(Randomness::from_os()?.as_bytes(), plaintext))
    }

    /// [`seal`](Self::seal) with `random` as in [`seal_detached`](Self::seal_detached).
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn seal_with(&self, random: &[u8], plaintext: &[u8]) -> Vec<u8> {
        let mut sealed = Vec::with_capacity(plaintext.len() + OVERHEAD);
        sealed.extend_from_slice(&[0; PUBLIC_KEY_SIZE]);
        sealed.extend_from_slice(plaintext);
        let (key, text) = sealed.split_at_mut(PUBLIC_KEY_SIZE);
        let (ephemeral, signature) = self.seal_detached(random, text);
        key.copy_from_slice(&ephemeral);
        sealed.extend_from_slice(&signature);
        sealed
    }
}

/// Opens messages of one sender.
#[derive(Clone, Debug)]
pub struct Receiver {
    secret: SecretKey,
    sender: PublicKey,
    /// The receiver's branch, before the ephemeral key.
    receiving: Protocol,
}

impl Receiver {
    /// For messages of the purpose `domain`, from the owner of `sender` to that of `secret`.
    #[must_use]
    pub fn new(domain: impl AsRef<[u8]>, secret: &SecretKey, sender: &PublicKey) -> Self {
        let (_, receiving) = begin(domain.as_ref(), sender, secret.public_key());
        Self {
            secret: secret.clone(),
            sender: *sender,
            receiving,
        }
    }

    /// Decrypts `text`, which came between `ephemeral` and `signature`, in place.
    ///
    /// # Errors
    ///
    /// [`InvalidCiphertext`] unless the sender sealed this for this receiver and domain; then `text`
    /// is all zeros.
    pub fn open_detached(
        &self,
        ephemeral: &[u8; PUBLIC_KEY_SIZE],
        text: &mut [u8],
        signature: &[u8; SIGNATURE_SIZE],
    ) -> Result<(), InvalidCiphertext> {
        let opened = self.try_open(ephemeral, text, signature);
        if opened.is_none() {
            text.zeroize();
        }
        opened.ok_or(InvalidCiphertext)
    }

    fn try_open(
        &self,
        ephemeral: &[u8; PUBLIC_KEY_SIZE],
        text: &mut [u8],
        signature: &[u8; SIGNATURE_SIZE],
    ) -> Option<()> {
        let key = PublicKey::from_bytes(ephemeral).ok()?;
        let mut receiving = self.receiving.clone();
        receiving.mix("ephemeral", ephemeral);
        receiving.mix("ecdh", &*self.secret.agree(&key));
        receiving.unmask("message", text);
        // Both halves identify the sender to anyone who knows the message, so they are secret too.
        let mut signature = Zeroizing::new(*signature);
        let (commitment, proof) = signature.split_at_mut(ENCODED_SIZE);
        receiving.unmask("commitment", commitment);
        let challenge: Zeroizing<Scalar> = derive_scalar(&mut receiving, "challenge");
        receiving.unmask("proof", proof);
        let proof = Zeroizing::new(decode_scalar(proof).ok()?);
        let expected = RistrettoPoint::mul_base(&proof) - self.sender.0.point() * *challenge;
        bool::from(encode(&expected)[..].ct_eq(commitment)).then_some(())
    }

    /// Opens what [`Sender::seal`] gave.
    ///
    /// # Errors
    ///
    /// [`InvalidCiphertext`] unless the sender sealed this for this receiver and domain.
    #[cfg(feature = "alloc")]
    pub fn open(&self, sealed: &[u8]) -> Result<Vec<u8>, InvalidCiphertext> {
        let (ephemeral, rest) = sealed.split_first_chunk().ok_or(InvalidCiphertext)?;
        let (text, signature) = rest.split_last_chunk().ok_or(InvalidCiphertext)?;
        let mut text = text.to_vec();
        self.open_detached(ephemeral, &mut text, signature)?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests;
