//! Authenticated encryption with associated data.
//!
//! ```text
//! init(domain)  mix("key")  mix("nonce")  mix("ad")  seal("message")
//! ```
//!
//! ```
//! use sealwire_newplex::schemes::aead::Aead;
//!
//! let cipher: Aead = Aead::new("com.example.files", &[7; 32]);
//! let nonce = [1; 16].into(); // in earnest: never the same twice under one key
//! let sealed = cipher.seal(&nonce, b"header", b"message");
//! assert_eq!(cipher.open(&nonce, b"header", &sealed)?, b"message");
//! assert!(cipher.open(&nonce, b"another", &sealed).is_err());
//! # Ok::<(), sealwire_newplex::InvalidCiphertext>(())
//! ```

mod batch;

use super::nonce::{ArraySize, LongEnough, Nonce};
use crate::{InvalidCiphertext, Protocol, TAG_SIZE, Tag};
use aead::consts::U16;
use aead::inout::InOutBuf;
use aead::{AeadCore, AeadInOut, TagPosition};
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
pub use batch::{OpenJob, SealJob};
use core::marker::PhantomData;

/// A key for authenticated encryption with nonces of `N` bytes, 16 or more.
///
/// A nonce that is used for two messages shows how these differ; use [`Siv`](super::siv::Siv) where
/// that can happen.
///
/// ```compile_fail
/// use sealwire_newplex::schemes::aead::Aead;
/// let cipher = Aead::<aead::consts::U12>::new("nonces of 12 bytes are too short", &[0; 32]);
/// ```
#[derive(Clone, Debug)]
pub struct Aead<N: ArraySize = U16> {
    keyed: Protocol,
    nonce_size: PhantomData<N>,
}

impl<N: ArraySize> Aead<N> {
    /// For `key` of any length and the purpose `domain`.
    #[must_use]
    pub fn new(domain: impl AsRef<[u8]>, key: &[u8]) -> Self {
        let () = LongEnough::<N>::CHECK;
        let mut keyed = Protocol::new(domain);
        keyed.mix("key", key);
        Self {
            keyed,
            nonce_size: PhantomData,
        }
    }

    /// The protocol just before the message.
    #[inline]
    fn begin(&self, nonce: &Nonce<N>, associated_data: &[u8]) -> Protocol {
        let mut protocol = self.keyed.clone();
        protocol.mix("nonce", nonce);
        protocol.mix("ad", associated_data);
        protocol
    }

    /// Encrypts `text` in place and returns its tag.
    #[inline]
    #[must_use = "without the tag, nobody can open the message"]
    pub fn seal_detached(&self, nonce: &Nonce<N>, associated_data: &[u8], text: &mut [u8]) -> Tag {
        self.begin(nonce, associated_data)
            .seal_detached("message", text)
    }

    /// Decrypts `text` in place.
    ///
    /// # Errors
    ///
    /// [`InvalidCiphertext`] unless nonce, associated data, ciphertext and tag belong together; then
    /// `text` is all zeros.
    #[inline]
    pub fn open_detached(
        &self,
        nonce: &Nonce<N>,
        associated_data: &[u8],
        text: &mut [u8],
        tag: &Tag,
    ) -> Result<(), InvalidCiphertext> {
        self.begin(nonce, associated_data)
            .open_detached("message", text, tag)
    }

    /// The ciphertext of `plaintext`, followed by its tag.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn seal(&self, nonce: &Nonce<N>, associated_data: &[u8], plaintext: &[u8]) -> Vec<u8> {
        self.begin(nonce, associated_data)
            .seal("message", plaintext)
    }

    /// The plaintext of `sealed`, a ciphertext followed by its tag.
    ///
    /// # Errors
    ///
    /// [`InvalidCiphertext`] unless nonce, associated data, ciphertext and tag belong together.
    #[cfg(feature = "alloc")]
    pub fn open(
        &self,
        nonce: &Nonce<N>,
        associated_data: &[u8],
        sealed: &[u8],
    ) -> Result<Vec<u8>, InvalidCiphertext> {
        self.begin(nonce, associated_data).open("message", sealed)
    }
}

impl<N: ArraySize> AeadCore for Aead<N> {
    type NonceSize = N;
    type TagSize = U16;
    const TAG_POSITION: TagPosition = TagPosition::Postfix;
}

impl<N: ArraySize> AeadInOut for Aead<N> {
    fn encrypt_inout_detached(
        &self,
        nonce: &aead::Nonce<Self>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
    ) -> aead::Result<aead::Tag<Self>> {
        // The kernels work in place, so input elsewhere is first copied to the output.
        let text = buffer.into_out_with_copied_in();
        let tag: [u8; TAG_SIZE] = self.seal_detached(nonce, associated_data, text);
        Ok(tag.into())
    }

    fn decrypt_inout_detached(
        &self,
        nonce: &aead::Nonce<Self>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
        tag: &aead::Tag<Self>,
    ) -> aead::Result<()> {
        let text = buffer.into_out_with_copied_in();
        self.open_detached(nonce, associated_data, text, &tag.0)
            .map_err(|_| aead::Error)
    }
}

#[cfg(test)]
mod tests;
