//! Sequences of messages whose nonces begin with the same 16 bytes, in batches.

use core::fmt;

use zeroize::Zeroize;

use crate::portable::hsalsa20;
use crate::{KEY_SIZE, PREFIX_SIZE, TAG_SIZE, engine};

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
    /// Whether it verified; written by [`CounterBox::open_batch`].
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

/// XSalsa20-Poly1305 under one key and one prefix of 16 bytes, such as `CurveZMQMESSAGEC`.
///
/// What a [`SecretBox`](crate::SecretBox) derives for each message is derived here once. The subkey
/// is wiped on drop.
#[derive(Clone)]
pub struct CounterBox {
    subkey: [u32; 8],
}

impl CounterBox {
    pub(crate) fn new(key: &[u8; KEY_SIZE], prefix: &[u8; PREFIX_SIZE]) -> Self {
        let subkey = hsalsa20(key, prefix);
        let words = subkey.as_chunks::<4>().0;
        Self {
            subkey: core::array::from_fn(|i| u32::from_le_bytes(words[i])),
        }
    }

    /// Seals every job under its own nonce. Allocates nothing.
    pub fn seal_batch(&self, jobs: &mut [SealJob<'_>]) {
        engine::seal_batch(&self.subkey, jobs);
    }

    /// Gives every job its verdict and decrypts exactly those that verified. Allocates nothing.
    pub fn open_batch(&self, jobs: &mut [OpenJob<'_>]) {
        engine::open_batch(&self.subkey, jobs);
    }
}

impl Drop for CounterBox {
    fn drop(&mut self) {
        self.subkey.zeroize();
    }
}

impl fmt::Debug for CounterBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CounterBox").finish_non_exhaustive()
    }
}
