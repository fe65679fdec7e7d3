//! Authenticated encryption that bears nonces used twice, at the price of two passes.
//!
//! ```text
//! init(domain)  mix("key")  mix("nonce")  mix("ad")  fork("role", "auth", "conf")
//! auth: mix("message", plaintext)  derive("tag", 16)
//! conf: mix("tag")  mask("message", plaintext)
//! ```
//!
//! Deterministic: who sees two ciphertexts under the same nonce learns whether the messages and
//! their associated data are the same, and nothing else.
//!
//! ```
//! use sealwire_newplex::schemes::siv::Siv;
//!
//! let cipher: Siv = Siv::new("com.example.records", &[7; 32]);
//! let sealed = cipher.seal(&[0; 16].into(), b"row 4", b"message");
//! assert_eq!(cipher.open(&[0; 16].into(), b"row 4", &sealed)?, b"message");
//! # Ok::<(), sealwire_newplex::InvalidCiphertext>(())
//! ```

use super::nonce::{ArraySize, LongEnough, Nonce};
#[cfg(feature = "alloc")]
use crate::TAG_SIZE;
use crate::{InvalidCiphertext, Protocol, Tag};
use aead::consts::U16;
use aead::inout::InOutBuf;
use aead::{AeadCore, AeadInOut, TagPosition};
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::marker::PhantomData;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

/// A key for deterministic authenticated encryption with nonces of `N` bytes, 16 or more.
#[derive(Clone, Debug)]
pub struct Siv<N: ArraySize = U16> {
    keyed: Protocol,
    nonce_size: PhantomData<N>,
}

impl<N: ArraySize> Siv<N> {
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

    /// The branches for authentication and for confidentiality.
    fn begin(&self, nonce: &Nonce<N>, associated_data: &[u8]) -> (Protocol, Protocol) {
        let mut protocol = self.keyed.clone();
        protocol.mix("nonce", nonce);
        protocol.mix("ad", associated_data);
        protocol.fork("role", b"auth", b"conf")
    }

    /// Encrypts `text` in place and returns its tag.
    #[must_use = "without the tag, nobody can open the message"]
    pub fn seal_detached(&self, nonce: &Nonce<N>, associated_data: &[u8], text: &mut [u8]) -> Tag {
        let (mut authentication, mut confidentiality) = self.begin(nonce, associated_data);
        authentication.mix("message", text);
        let tag = authentication.derive_array("tag");
        confidentiality.mix("tag", &tag);
        confidentiality.mask("message", text);
        tag
    }

    /// Decrypts `text` in place.
    ///
    /// # Errors
    ///
    /// [`InvalidCiphertext`] unless nonce, associated data, ciphertext and tag belong together; then
    /// `text` is all zeros.
    pub fn open_detached(
        &self,
        nonce: &Nonce<N>,
        associated_data: &[u8],
        text: &mut [u8],
        tag: &Tag,
    ) -> Result<(), InvalidCiphertext> {
        let (mut authentication, mut confidentiality) = self.begin(nonce, associated_data);
        confidentiality.mix("tag", tag);
        confidentiality.unmask("message", text);
        authentication.mix("message", text);
        let expected: Tag = authentication.derive_array("tag");
        if expected.ct_eq(tag).into() {
            Ok(())
        } else {
            text.zeroize();
            Err(InvalidCiphertext)
        }
    }

    /// The ciphertext of `plaintext`, followed by its tag.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn seal(&self, nonce: &Nonce<N>, associated_data: &[u8], plaintext: &[u8]) -> Vec<u8> {
        let mut sealed = Vec::with_capacity(plaintext.len() + TAG_SIZE);
        sealed.extend_from_slice(plaintext);
        let tag = self.seal_detached(nonce, associated_data, &mut sealed);
        sealed.extend(tag);
        sealed
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
        let (text, tag) = sealed
            .split_last_chunk::<TAG_SIZE>()
            .ok_or(InvalidCiphertext)?;
        let mut text = text.to_vec();
        self.open_detached(nonce, associated_data, &mut text, tag)?;
        Ok(text)
    }
}

impl<N: ArraySize> AeadCore for Siv<N> {
    type NonceSize = N;
    type TagSize = U16;
    const TAG_POSITION: TagPosition = TagPosition::Postfix;
}

impl<N: ArraySize> AeadInOut for Siv<N> {
    fn encrypt_inout_detached(
        &self,
        nonce: &aead::Nonce<Self>,
        associated_data: &[u8],
        buffer: InOutBuf<'_, '_, u8>,
    ) -> aead::Result<aead::Tag<Self>> {
        // The kernels work in place, so input elsewhere is first copied to the output.
        let text = buffer.into_out_with_copied_in();
        Ok(self.seal_detached(nonce, associated_data, text).into())
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
