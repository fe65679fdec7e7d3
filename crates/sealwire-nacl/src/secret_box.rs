//! Messages under one key, each with a nonce of the caller's choice.

use alloc::vec::Vec;
use core::fmt;

use zeroize::Zeroizing;

use crate::counter_box::CounterBox;
use crate::error::OpenError;
use crate::job::{OpenJob, SealJob};
use crate::sizes::{KEY_SIZE, NONCE_SIZE, PREFIX_SIZE, TAG_SIZE};

/// XSalsa20-Poly1305 under one key: `crypto_secretbox`, and the second step of `crypto_box`.
///
/// A nonce must not be used for two messages under one key: both plaintexts and forgeries could be
/// had from that. Random nonces of 24 bytes do not collide. The key is wiped on drop.
#[derive(Clone)]
pub struct SecretBox {
    key: Zeroizing<[u8; KEY_SIZE]>,
}

impl SecretBox {
    /// Takes a key of 32 random bytes.
    #[must_use]
    pub fn new(key: &[u8; KEY_SIZE]) -> Self {
        Self::from_zeroizing(Zeroizing::new(*key))
    }

    pub(crate) const fn from_zeroizing(key: Zeroizing<[u8; KEY_SIZE]>) -> Self {
        Self { key }
    }

    /// The key, for programs that pass it on.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; KEY_SIZE] {
        &self.key
    }

    /// The same key for nonces that all start with `prefix`: what depends on these 16 bytes alone is
    /// computed once.
    #[must_use]
    pub fn with_prefix(&self, prefix: &[u8; PREFIX_SIZE]) -> CounterBox {
        CounterBox::new(&self.key, prefix)
    }

    /// Seals `plaintext`: tag, then ciphertext (`crypto_secretbox_easy`).
    #[must_use]
    pub fn seal(&self, nonce: &[u8; NONCE_SIZE], plaintext: &[u8]) -> Vec<u8> {
        let mut sealed = Vec::with_capacity(TAG_SIZE + plaintext.len());
        sealed.extend_from_slice(&[0; TAG_SIZE]);
        sealed.extend_from_slice(plaintext);
        let (tag, text) = sealed.split_at_mut(TAG_SIZE);
        tag.copy_from_slice(&self.seal_in_place_detached(nonce, text));
        sealed
    }

    /// Opens tag and ciphertext (`crypto_secretbox_open_easy`).
    ///
    /// # Errors
    ///
    /// [`OpenError`] when it is not authentic, or too short to hold a tag.
    pub fn open(&self, nonce: &[u8; NONCE_SIZE], sealed: &[u8]) -> Result<Vec<u8>, OpenError> {
        let (tag, ciphertext) = sealed.split_first_chunk().ok_or(OpenError)?;
        let mut text = ciphertext.to_vec();
        self.open_in_place_detached(nonce, &mut text, tag)?;
        Ok(text)
    }

    /// Encrypts `buffer` and returns the tag (`crypto_secretbox_detached`). Allocates nothing.
    #[must_use = "without its tag the message cannot be opened"]
    pub fn seal_in_place_detached(
        &self,
        nonce: &[u8; NONCE_SIZE],
        buffer: &mut [u8],
    ) -> [u8; TAG_SIZE] {
        let (prefix, counter) = split(nonce);
        let mut tag = [0; TAG_SIZE];
        self.with_prefix(&prefix).seal_batch(&mut [SealJob {
            nonce: counter,
            buffer,
            tag: &mut tag,
        }]);
        tag
    }

    /// Decrypts `buffer` if the tag is right (`crypto_secretbox_open_detached`). Allocates nothing.
    ///
    /// # Errors
    ///
    /// [`OpenError`] when it is not authentic. The tag is checked before anything is decrypted, so
    /// `buffer` then still holds the ciphertext.
    pub fn open_in_place_detached(
        &self,
        nonce: &[u8; NONCE_SIZE],
        buffer: &mut [u8],
        tag: &[u8; TAG_SIZE],
    ) -> Result<(), OpenError> {
        let (prefix, counter) = split(nonce);
        let mut job = [OpenJob::new(counter, buffer, tag)];
        self.with_prefix(&prefix).open_batch(&mut job);
        if job[0].verified {
            Ok(())
        } else {
            Err(OpenError)
        }
    }
}

fn split(nonce: &[u8; NONCE_SIZE]) -> ([u8; PREFIX_SIZE], [u8; 8]) {
    (
        core::array::from_fn(|i| nonce[i]),
        core::array::from_fn(|i| nonce[PREFIX_SIZE + i]),
    )
}

impl fmt::Debug for SecretBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretBox").finish_non_exhaustive()
    }
}
