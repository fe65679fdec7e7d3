//! The one-shot cipher: one key, a nonce of the caller's choice for each message.

use crate::batch::{OpenJob, SealJob, Verdict};
use crate::keys::Keying;
use crate::{DecryptionError, KEY_SIZE, Key, NONCE_SIZE, PieceSealer, TAG_SIZE, engine};
use alloc::vec::Vec;
use core::fmt;

/// ChaCha20-BLAKE3 under one key.
///
/// Each message derives keys of its own from its 24-byte nonce, so random nonces are safe for any
/// number of messages that can be sent. A nonce must not be used for two messages under one key: it
/// would show the XOR of the two plaintexts. Where a counter is at hand, [`Stream`](crate::Stream)
/// rules that out.
///
/// Messages may have any length that fits in memory. Sealed messages are [`TAG_SIZE`] bytes longer.
/// The key is wiped on drop.
///
/// Source: `blake3zmq` specification, section 2.
#[derive(Clone)]
pub struct Cipher {
    key: Key,
}

impl Cipher {
    /// A cipher under this key.
    #[must_use]
    pub fn new(key: &[u8; KEY_SIZE]) -> Self {
        Self {
            key: Key::from_bytes(*key),
        }
    }

    /// Seals `plaintext`; the tag is appended.
    #[must_use]
    pub fn encrypt(&self, nonce: &[u8; NONCE_SIZE], plaintext: &[u8]) -> Vec<u8> {
        self.encrypt_with_aad(nonce, b"", plaintext)
    }

    /// Opens a message sealed by [`encrypt`](Self::encrypt).
    ///
    /// # Errors
    /// [`DecryptionError`] if it is not authentic, or too short to hold a tag.
    pub fn decrypt(
        &self,
        nonce: &[u8; NONCE_SIZE],
        ciphertext: &[u8],
    ) -> Result<Vec<u8>, DecryptionError> {
        self.decrypt_with_aad(nonce, b"", ciphertext)
    }

    /// Seals `plaintext` and binds `aad` to it; the tag is appended, `aad` is not.
    #[must_use]
    pub fn encrypt_with_aad(
        &self,
        nonce: &[u8; NONCE_SIZE],
        aad: &[u8],
        plaintext: &[u8],
    ) -> Vec<u8> {
        let mut buffer = Vec::with_capacity(plaintext.len() + TAG_SIZE);
        buffer.extend_from_slice(plaintext);
        self.encrypt_in_place(nonce, aad, &mut buffer);
        buffer
    }

    /// Opens a message sealed by [`encrypt_with_aad`](Self::encrypt_with_aad) with the same `aad`.
    ///
    /// # Errors
    /// [`DecryptionError`] if it is not authentic, or too short to hold a tag.
    pub fn decrypt_with_aad(
        &self,
        nonce: &[u8; NONCE_SIZE],
        aad: &[u8],
        ciphertext: &[u8],
    ) -> Result<Vec<u8>, DecryptionError> {
        let (text, tag) = ciphertext
            .split_last_chunk::<TAG_SIZE>()
            .ok_or(DecryptionError)?;
        self.decrypt_detached(nonce, aad, text, tag)
    }

    /// Seals `plaintext` and returns ciphertext and tag apart.
    #[must_use]
    pub fn encrypt_detached(
        &self,
        nonce: &[u8; NONCE_SIZE],
        aad: &[u8],
        plaintext: &[u8],
    ) -> (Vec<u8>, [u8; TAG_SIZE]) {
        let mut buffer = plaintext.to_vec();
        let tag = self.encrypt_in_place_detached(nonce, aad, &mut buffer);
        (buffer, tag)
    }

    /// Opens a ciphertext whose tag is kept apart.
    ///
    /// # Errors
    /// [`DecryptionError`] if it is not authentic.
    pub fn decrypt_detached(
        &self,
        nonce: &[u8; NONCE_SIZE],
        aad: &[u8],
        ciphertext: &[u8],
        tag: &[u8; TAG_SIZE],
    ) -> Result<Vec<u8>, DecryptionError> {
        let mut buffer = ciphertext.to_vec();
        self.decrypt_in_place_detached(nonce, aad, &mut buffer, tag)?;
        Ok(buffer)
    }

    /// Seals the content of `buffer` and appends the tag.
    ///
    /// Reserve [`TAG_SIZE`] bytes beforehand: a vector that has to grow may leave a copy of the
    /// plaintext in memory that nobody wipes.
    pub fn encrypt_in_place(&self, nonce: &[u8; NONCE_SIZE], aad: &[u8], buffer: &mut Vec<u8>) {
        let tag = self.encrypt_in_place_detached(nonce, aad, buffer);
        buffer.extend_from_slice(&tag);
    }

    /// Opens a ciphertext with its tag appended, and leaves the plaintext in `buffer`.
    ///
    /// # Errors
    /// [`DecryptionError`] if it is not authentic, or too short to hold a tag. `buffer` is then
    /// unchanged.
    pub fn decrypt_in_place(
        &self,
        nonce: &[u8; NONCE_SIZE],
        aad: &[u8],
        buffer: &mut Vec<u8>,
    ) -> Result<(), DecryptionError> {
        let (text, tag) = buffer
            .split_last_chunk_mut::<TAG_SIZE>()
            .ok_or(DecryptionError)?;
        self.decrypt_in_place_detached(nonce, aad, text, tag)?;
        buffer.truncate(buffer.len() - TAG_SIZE);
        Ok(())
    }

    /// Begins to seal a message whose text comes in pieces.
    #[must_use]
    pub fn seal_in_pieces(&self, nonce: &[u8; NONCE_SIZE], aad: &[u8]) -> PieceSealer {
        PieceSealer::new(&self.key, nonce, aad)
    }

    /// Encrypts `buffer` and returns the tag. Allocates nothing.
    #[must_use = "without its tag the message cannot be opened"]
    pub fn encrypt_in_place_detached(
        &self,
        nonce: &[u8; NONCE_SIZE],
        aad: &[u8],
        buffer: &mut [u8],
    ) -> [u8; TAG_SIZE] {
        let key = &self.key;
        engine::seal(Keying::Nonce { key, nonce }, aad, buffer)
    }

    /// Decrypts `buffer` if the tag is right. Allocates nothing.
    ///
    /// # Errors
    /// [`DecryptionError`] if it is not authentic. The tag is checked before anything is decrypted,
    /// so `buffer` then still holds the ciphertext.
    pub fn decrypt_in_place_detached(
        &self,
        nonce: &[u8; NONCE_SIZE],
        aad: &[u8],
        buffer: &mut [u8],
        tag: &[u8; TAG_SIZE],
    ) -> Result<(), DecryptionError> {
        if engine::open_one(&self.key, nonce, aad, buffer, tag) {
            Ok(())
        } else {
            Err(DecryptionError)
        }
    }

    /// Seals every job under its own nonce. Allocates nothing.
    pub fn seal_batch(&self, jobs: &mut [SealJob<'_>]) {
        engine::batch(&self.key, jobs);
    }

    /// Opens every job under its own nonce and writes each one's verdict. Allocates nothing.
    ///
    /// A forged job does not keep the others from being opened.
    ///
    /// # Errors
    /// [`DecryptionError`] if any job is forged; its buffer still holds the ciphertext.
    pub fn open_batch(&self, jobs: &mut [OpenJob<'_>]) -> Result<(), DecryptionError> {
        engine::batch(&self.key, jobs);
        if jobs.iter().all(|job| job.verdict == Verdict::Verified) {
            Ok(())
        } else {
            Err(DecryptionError)
        }
    }
}

impl fmt::Debug for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cipher").finish_non_exhaustive()
    }
}
