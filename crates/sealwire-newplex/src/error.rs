//! Errors. A failed opening says nothing about why, since only a forger would profit.

use crate::duplex::ENCODED_SIZE as STATE_SIZE;
use thiserror::Error;

/// The ciphertext, its tag, or something that went into the protocol before is not what it was when
/// the message was sealed.
///
/// Deliberately opaque. The decrypted bytes have been overwritten with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("invalid ciphertext: the message is not authentic in this state of the protocol")]
pub struct InvalidCiphertext;

#[cfg(feature = "std")]
impl From<InvalidCiphertext> for std::io::Error {
    fn from(error: InvalidCiphertext) -> Self {
        Self::new(std::io::ErrorKind::InvalidData, error)
    }
}

/// Why bytes are not the state of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidState {
    /// The length is wrong.
    #[error("a state has {STATE_SIZE} bytes, not {0}")]
    Length(usize),
    /// One of the first two bytes, which are positions in a block, is 94 or more.
    #[error("no state: a position lies outside of the block; these are not the bytes of a state")]
    Position,
}

/// A protocol was to be forked into more than [`MAX_BRANCHES`](crate::MAX_BRANCHES) branches; it is
/// as it was.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0} branches, of which there can be 255 at most: fork some of the branches again")]
pub struct TooManyBranches(pub usize);
