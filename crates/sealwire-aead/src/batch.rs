//! Jobs for sealing or opening many messages in one call.
//!
//! A job borrows everything that belongs to one message: nonce, associated data, the buffer that is
//! encrypted or decrypted in place, and the tag. A slice of jobs goes to
//! [`Cipher::seal_batch`](crate::Cipher::seal_batch) and its siblings on
//! [`Stream`](crate::Stream), [`StreamOpener`](crate::StreamOpener) and
//! [`Session`](crate::Session). The bytes are those that the same messages get one at a time; what a
//! batch buys is speed, since short messages share the work. Nothing is allocated, any mix of
//! lengths is welcome, and so is an empty slice.
//!
//! ```
//! use sealwire_aead::Cipher;
//! use sealwire_aead::batch::{OpenJob, SealJob, Verdict};
//!
//! let cipher = Cipher::new(&[7; 32]);
//! let mut buffers = [*b"one", *b"two"];
//! let mut tags = [[0; 32]; 2];
//!
//! let mut jobs: Vec<SealJob> = buffers
//!     .iter_mut()
//!     .zip(&mut tags)
//!     .zip(0..)
//!     .map(|((buffer, tag), i)| SealJob { nonce: [i; 24], aad: b"", buffer, tag })
//!     .collect();
//! cipher.seal_batch(&mut jobs);
//!
//! tags[1][0] ^= 1;
//! let mut jobs: Vec<OpenJob> = buffers
//!     .iter_mut()
//!     .zip(&tags)
//!     .zip(0..)
//!     .map(|((buffer, tag), i)| OpenJob::new([i; 24], b"", buffer, tag))
//!     .collect();
//! assert!(cipher.open_batch(&mut jobs).is_err());
//! assert_eq!(jobs[0].verdict, Verdict::Verified);
//! assert_eq!(jobs[1].verdict, Verdict::Forged);
//! assert_eq!(&buffers[0], b"one");
//! ```

use crate::{NONCE_SIZE, TAG_SIZE};
use core::fmt;

/// One message to seal.
pub struct SealJob<'a> {
    /// The message's nonce. A [`Stream`](crate::Stream) writes it; a
    /// [`Session`](crate::Session) ignores it.
    pub nonce: [u8; NONCE_SIZE],
    /// Authenticated together with the message, not encrypted.
    pub aad: &'a [u8],
    /// Plaintext on the way in, ciphertext of the same length on the way out.
    pub buffer: &'a mut [u8],
    /// Where the tag is written.
    pub tag: &'a mut [u8; TAG_SIZE],
}

/// One message to open.
pub struct OpenJob<'a> {
    /// The message's nonce. A [`StreamOpener`](crate::StreamOpener) writes it; a
    /// [`Session`](crate::Session) ignores it.
    pub nonce: [u8; NONCE_SIZE],
    /// The associated data that the message was sealed with.
    pub aad: &'a [u8],
    /// Ciphertext on the way in. Plaintext on the way out if the verdict is
    /// [`Verified`](Verdict::Verified), otherwise still the ciphertext.
    pub buffer: &'a mut [u8],
    /// The tag that came with the message.
    pub tag: &'a [u8; TAG_SIZE],
    /// Written by the call; whatever it held before does not matter.
    pub verdict: Verdict,
}

impl<'a> OpenJob<'a> {
    /// A job without a verdict yet.
    #[must_use]
    pub fn new(
        nonce: [u8; NONCE_SIZE],
        aad: &'a [u8],
        buffer: &'a mut [u8],
        tag: &'a [u8; TAG_SIZE],
    ) -> Self {
        Self {
            nonce,
            aad,
            buffer,
            tag,
            verdict: Verdict::Unchecked,
        }
    }
}

/// What became of an [`OpenJob`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// No call has looked at the job yet, or a call that opens in order stopped before it. The
    /// buffer is as it was.
    #[default]
    Unchecked,
    /// The tag is right and the buffer holds the plaintext.
    Verified,
    /// The tag is wrong and the buffer still holds the ciphertext.
    Forged,
}

impl Verdict {
    pub(crate) const fn of(verified: bool) -> Self {
        if verified {
            Self::Verified
        } else {
            Self::Forged
        }
    }
}

impl fmt::Debug for SealJob<'_> {
    /// Prints sizes; the buffer may hold plaintext.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealJob")
            .field("aad_len", &self.aad.len())
            .field("buffer_len", &self.buffer.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for OpenJob<'_> {
    /// Prints sizes and the verdict; the buffer may hold plaintext.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenJob")
            .field("aad_len", &self.aad.len())
            .field("buffer_len", &self.buffer.len())
            .field("verdict", &self.verdict)
            .finish_non_exhaustive()
    }
}
