//! A message of a batch.

use crate::sizes::TAG_SIZE;

/// A message to seal in place.
#[derive(Debug)]
pub struct SealJob<'a> {
    /// The last 8 bytes of the nonce, never twice under one key and prefix.
    pub nonce: [u8; 8],
    /// Plaintext that becomes ciphertext.
    pub buffer: &'a mut [u8],
    /// Where the tag goes.
    pub tag: &'a mut [u8; TAG_SIZE],
}

/// A message to open in place.
#[derive(Debug)]
pub struct OpenJob<'a> {
    /// The last 8 bytes of the nonce.
    pub nonce: [u8; 8],
    /// Ciphertext that becomes plaintext if it verifies, and stays as it is if not.
    pub buffer: &'a mut [u8],
    /// The tag that came with it.
    pub tag: &'a [u8; TAG_SIZE],
    /// Whether it verified; written by [`CounterBox::open_batch`](crate::CounterBox::open_batch).
    pub verified: bool,
}

impl<'a> OpenJob<'a> {
    /// A job without a verdict yet.
    #[must_use]
    pub const fn new(nonce: [u8; 8], buffer: &'a mut [u8], tag: &'a [u8; TAG_SIZE]) -> Self {
        Self {
            nonce,
            buffer,
            tag,
            verified: false,
        }
    }
}
