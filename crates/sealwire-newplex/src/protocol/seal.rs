//! Authenticated encryption.

use super::{Protocol, code};
use crate::duplex::{TAG_SIZE, Tag};
use crate::error::InvalidCiphertext;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

/// Compares tags in constant time.
pub(crate) fn is_equal(expected: &Tag, tag: &Tag) -> bool {
    let equal = expected.ct_eq(tag).unwrap_u8();
    // The verdict is public from here on.
    #[cfg(all(
        test,
        feature = "std",
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    let equal = crate::constant_time::declassified(equal);
    equal == 1
}

impl Protocol {
    /// Encrypts `text` in place and returns its tag, which also authenticates everything that went
    /// into the protocol before.
    #[inline(always)]
    #[must_use = "without the tag, nobody can open the message"]
    pub fn seal_detached(&mut self, label: impl AsRef<[u8]>, text: &mut [u8]) -> Tag {
        self.begin_sealed(label.as_ref(), text.len());
        self.duplex.seal(text)
    }

    /// Decrypts `text` in place if `tag` is its tag.
    ///
    /// The text is decrypted before the tag is known to be right, which a duplex cannot avoid, but
    /// on failure it is overwritten.
    ///
    /// # Errors
    ///
    /// [`InvalidCiphertext`]; then `text` is all zeros, and the state has moved on as if the message
    /// had been opened. To go on after a forgery, open with a clone.
    #[inline(always)]
    pub fn open_detached(
        &mut self,
        label: impl AsRef<[u8]>,
        text: &mut [u8],
        tag: &Tag,
    ) -> Result<(), InvalidCiphertext> {
        self.begin_sealed(label.as_ref(), text.len());
        let expected = self.duplex.open(text);
        if is_equal(&expected, tag) {
            Ok(())
        } else {
            text.zeroize();
            Err(InvalidCiphertext)
        }
    }

    /// Opens in place a ciphertext that is followed by its tag, and returns the plaintext, which is
    /// all of `sealed` but its last [`TAG_SIZE`] bytes.
    ///
    /// # Errors
    ///
    /// As [`open_detached`](Self::open_detached); if there is no room for a tag, neither the bytes
    /// nor the state change.
    pub fn open_in_slice<'a>(
        &mut self,
        label: impl AsRef<[u8]>,
        sealed: &'a mut [u8],
    ) -> Result<&'a mut [u8], InvalidCiphertext> {
        let (text, tag) = sealed
            .split_last_chunk_mut::<TAG_SIZE>()
            .ok_or(InvalidCiphertext)?;
        self.open_detached(label, text, tag)?;
        Ok(text)
    }

    /// Encrypts `buffer` in place and appends the tag.
    #[cfg(feature = "alloc")]
    pub fn seal_in_place(&mut self, label: impl AsRef<[u8]>, buffer: &mut Vec<u8>) {
        let tag = self.seal_detached(label, buffer);
        buffer.extend(tag);
    }

    /// Decrypts `buffer`, a ciphertext followed by its tag, in place and removes the tag.
    ///
    /// # Errors
    ///
    /// As [`open_in_slice`](Self::open_in_slice); `buffer` is then empty.
    #[cfg(feature = "alloc")]
    pub fn open_in_place(
        &mut self,
        label: impl AsRef<[u8]>,
        buffer: &mut Vec<u8>,
    ) -> Result<(), InvalidCiphertext> {
        let opened = self.open_in_slice(label, buffer).map(|text| text.len());
        buffer.truncate(opened.unwrap_or(0));
        opened.map(|_| ())
    }

    /// The ciphertext of `plaintext`, followed by its tag.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn seal(&mut self, label: impl AsRef<[u8]>, plaintext: &[u8]) -> Vec<u8> {
        let mut buffer = Vec::with_capacity(plaintext.len() + TAG_SIZE);
        buffer.extend_from_slice(plaintext);
        self.seal_in_place(label, &mut buffer);
        buffer
    }

    /// The plaintext of `sealed`, a ciphertext followed by its tag.
    ///
    /// # Errors
    ///
    /// As [`open_in_slice`](Self::open_in_slice).
    #[cfg(feature = "alloc")]
    pub fn open(
        &mut self,
        label: impl AsRef<[u8]>,
        sealed: &[u8],
    ) -> Result<Vec<u8>, InvalidCiphertext> {
        let (text, tag) = sealed
            .split_last_chunk::<TAG_SIZE>()
            .ok_or(InvalidCiphertext)?;
        let mut text = text.to_vec();
        self.open_detached(label, &mut text, tag)?;
        Ok(text)
    }

    /// The header of a sealed message: its label and its length.
    #[inline(always)]
    fn begin_sealed(&mut self, label: &[u8], length: usize) {
        self.duplex.absorb_header(code::AUTH_CRYPT, label);
        self.duplex.absorb_leb128(length as u64);
    }
}
