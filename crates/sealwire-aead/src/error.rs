//! Errors. A failed decryption says nothing about why, since only a forger would profit.

use core::fmt;

/// The message, its associated data, its nonce, its key or its tag is not what was sealed.
///
/// Deliberately opaque. Nothing was decrypted; buffers given for decryption in place still hold the
/// ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecryptionError;

impl fmt::Display for DecryptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("decryption failed: the message is not authentic under this key and nonce")
    }
}

impl core::error::Error for DecryptionError {}

/// A [`Stream`](crate::Stream) has no position left: 2^64 - 1 messages were sealed or opened.
///
/// Nothing was sealed. Go on under a new key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamExhausted;

impl fmt::Display for StreamExhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("every nonce of this stream has been used: go on under a new key")
    }
}

impl core::error::Error for StreamExhausted {}

/// Why a [`StreamOpener`](crate::StreamOpener) did not open a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// The message at this position does not verify: forged, or dropped, repeated or reordered on
    /// the way. The position has not moved.
    Decryption,
    /// 2^64 - 1 messages were opened; go on under a new key.
    Exhausted,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decryption => DecryptionError.fmt(f),
            Self::Exhausted => StreamExhausted.fmt(f),
        }
    }
}

impl core::error::Error for OpenError {}

impl From<DecryptionError> for OpenError {
    fn from(_: DecryptionError) -> Self {
        Self::Decryption
    }
}

impl From<StreamExhausted> for OpenError {
    fn from(_: StreamExhausted) -> Self {
        Self::Exhausted
    }
}
