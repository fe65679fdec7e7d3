//! The cryptographic primitives behind a trait, so that a user can replace them.
//!
//! A provider gets whole batches and knows nothing about ZMTP. Section 2 of the wire reference
//! defines what it must compute. The crate's own is [`DefaultProvider`].

mod default;

use alloc::boxed::Box;
use core::fmt::Debug;

pub use sealwire_aead::batch::{OpenJob, SealJob, Verdict};
use thiserror::Error;
use zeroize::{Zeroize, ZeroizeOnDrop};

pub use self::default::DefaultProvider;
use crate::keys::{PublicKey, SecretKey};

/// X25519, BLAKE3 and ChaCha20-BLAKE3.
///
/// # What it replaces
///
/// | primitive | used by |
/// |---|---|
/// | X25519 (`public_key`, `diffie_hellman`) | BLAKE3 and CURVE: every agreement and ephemeral key of a handshake |
/// | BLAKE3 (`hash`, `derive_key`) | BLAKE3: transcript and keys; CURVE: the key of its cookies |
/// | ChaCha20-BLAKE3 (`cipher`, `seal_once`, `open_once`, `continuous_cipher`) | BLAKE3: boxes, cookies and frames |
///
/// It does not replace CURVE's boxes and frames (XSalsa20-Poly1305, of `sealwire-nacl`), random
/// numbers ([`Entropy`](crate::Entropy)), and the public half that
/// [`KeyPair::from_secret`](crate::KeyPair::from_secret) computes. NULL and PLAIN use none of it.
///
/// # What it must guarantee
///
/// * Every result is that of [`DefaultProvider`], byte for byte, or peers do not understand each
///   other. The files in `vectors/` have known answers.
/// * No operation on a secret takes a time, or accesses memory, that depends on the secret. X25519
///   clamps the scalar and ignores the highest bit of the public key (RFC 7748).
/// * `diffie_hellman` refuses the all-zero result, which [`SharedSecret::new`] does. Public keys
///   that come from peers are canonical; low order is left to this check.
/// * `open` and `open_once` compare the tag in constant time, before they decrypt, and leave the
///   buffer of what did not verify as it was. Tags have all of their 32 bytes compared.
/// * Copies of secrets, keystream included, are wiped.
/// * Nothing blocks or panics: it is called on the I/O thread, for whatever peers send. It is called from
///   several threads at once.
///
/// A provider that keeps less than this gives up the security of every connection.
pub trait Provider: Send + Sync + Debug {
    /// The public key that belongs to `secret` (X25519 with the base point).
    fn public_key(&self, secret: &SecretKey) -> PublicKey;

    /// X25519 of `secret` and `public`, in constant time.
    ///
    /// # Errors
    ///
    /// [`WeakKey`] when the result is all zeros, which only a key of low order gives.
    fn diffie_hellman(
        &self,
        secret: &SecretKey,
        public: &PublicKey,
    ) -> Result<SharedSecret, WeakKey>;

    /// BLAKE3 of the parts one after the other.
    fn hash(&self, parts: &[&[u8]]) -> [u8; 32];

    /// Fills `output` from BLAKE3 in derive-key mode, over the parts of `material` one after the
    /// other.
    fn derive_key(&self, context: &str, material: &[&[u8]], output: &mut [u8]);

    /// ChaCha20-BLAKE3 with a nonce for each message: handshake boxes and the data phase of
    /// section 5.
    fn cipher(&self, key: &[u8; 32]) -> Box<dyn MessageCipher>;

    /// Seals one message under a key of its own, as every box of the handshake has: what
    /// [`cipher`](Self::cipher) would do, for providers that can without memory for the cipher.
    fn seal_once(&self, key: &[u8; 32], job: SealJob<'_>) {
        self.cipher(key).seal(&mut [job]);
    }

    /// Opens what [`seal_once`](Self::seal_once) sealed.
    fn open_once(&self, key: &[u8; 32], job: &mut OpenJob<'_>) {
        self.cipher(key).open(core::slice::from_mut(job));
    }

    /// ChaCha20-BLAKE3 as one keystream that runs on from message to message: the data phase of
    /// section 6. The nonce fields of its jobs are not used.
    fn continuous_cipher(
        &self,
        encryption_key: &[u8; 32],
        authentication_key: &[u8; 32],
        nonce: &[u8; 8],
    ) -> Box<dyn ContinuousCipher>;
}

/// ChaCha20-BLAKE3 under one key, in batches.
pub trait MessageCipher: Send {
    /// Encrypts each job's buffer in place and writes its tag.
    fn seal(&self, jobs: &mut [SealJob<'_>]);

    /// Gives each job its verdict and decrypts in place exactly those that verified.
    ///
    /// Tags are compared in constant time, before a byte of that job is decrypted.
    fn open(&self, jobs: &mut [OpenJob<'_>]);

    /// Begins to seal one message that is given in pieces; the result is that of sealing it at once.
    ///
    /// `None`, as here, where that cannot be done. Large messages are sealed at once then, in a copy
    /// if anybody else holds them.
    fn seal_in_pieces(&self, _nonce: &[u8; 24], _aad: &[u8]) -> Option<Box<dyn PieceSealer>> {
        None
    }
}

/// Seals one message in pieces.
pub trait PieceSealer: Send {
    /// Encrypts the next piece in place.
    fn seal(&mut self, piece: &mut [u8]);

    /// The tag, once the whole message was given.
    fn finish(self: Box<Self>) -> [u8; 32];
}

/// One direction of a continuous keystream, in batches. It owns the block counter.
pub trait ContinuousCipher: Send {
    /// Encrypts each job's buffer in place, in order, and writes its tag.
    fn seal(&mut self, jobs: &mut [SealJob<'_>]);

    /// Opens the jobs in order and stops at the first that does not verify: that one and those
    /// behind it are not decrypted, and the block counter stands where that one began.
    fn open(&mut self, jobs: &mut [OpenJob<'_>]);
}

/// The result of X25519, never all zeros. Wiped on drop, without `Debug`.
#[derive(ZeroizeOnDrop)]
pub struct SharedSecret([u8; 32]);

impl SharedSecret {
    /// Takes a result of X25519 and wipes the caller's copy.
    ///
    /// # Errors
    ///
    /// [`WeakKey`] when all 32 bytes are zero; looked at in constant time.
    pub fn new(mut bytes: [u8; 32]) -> Result<Self, WeakKey> {
        use subtle::ConstantTimeEq;
        let secret = Self(bytes);
        bytes.zeroize();
        if bool::from(secret.0.ct_eq(&[0; 32])) {
            Err(WeakKey)
        } else {
            Ok(secret)
        }
    }

    /// The 32 secret bytes, as input to key derivation.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// A public key of low order: every secret gives the same, all-zero result with it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("the public key has low order, so nothing agreed with it is secret")]
pub struct WeakKey;
