//! The errors: of the text of a key, of a sealed file, and of reading and writing.

use std::io;

use sealwire_aead::RandomError;

/// The fault of a sealed file. Chunks count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidFile {
    /// The magic is missing.
    #[error("not a file that 'sealwire seal' made")]
    NotSealed,
    /// The header is not complete.
    #[error("cut short: it ends within its header")]
    HeaderCutShort,
    /// The version, which is not 1. Nothing behind it was looked at.
    #[error(
        "sealed in version {0} of the format, and this program knows version 1: use a later program"
    )]
    Version(u8),
    /// Fewer bytes than a tag follow the header.
    #[error("cut short: it ends within its first chunk")]
    NoChunk,
    /// Nothing is authentic: another key, damage, and an end within the first chunk look alike.
    #[error("not authentic: sealed under another key, damaged, or cut short (first chunk)")]
    FirstChunk,
    /// The chunks before this one are authentic, and this one is not.
    #[error("not authentic from chunk {0} on: changed, reordered, or cut short")]
    Chunk(u64),
    /// All up to this chunk is authentic, and more followed it once.
    #[error("cut short: it ends behind chunk {0}, without its end marker")]
    NoEnd(u64),
    /// This chunk is the authentic end, and something follows it.
    #[error("something was appended behind chunk {0}, which is its end")]
    Appended(u64),
}

/// All 2^64 - 1 positions of a file were used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too long for one key and nonce")]
pub struct TooLong;

/// Why [`seal`](crate::seal) or [`open`](crate::open) stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The input failed.
    #[error("cannot be read: {0}")]
    Read(#[source] io::Error),
    /// The output failed.
    #[error("cannot be written: {0}")]
    Write(#[source] io::Error),
    /// The operating system gave no nonce.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// The input has more chunks than there are positions.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// The input is not an authentic sealed file.
    #[error(transparent)]
    Invalid(#[from] InvalidFile),
}

/// The fault of the text of a key file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidKey {
    /// There is no line with the label.
    #[error("not the file of a symmetric key: 'sealwire keygen --symmetric FILE' makes one")]
    NotAKey,
    /// The text is that of a key pair, or of one half.
    #[error(
        "this file is for connections (a key pair or one half of it), and sealing files takes a \
         symmetric key: 'sealwire keygen --symmetric FILE' makes one"
    )]
    KeyPair,
    /// What follows the label is not hexadecimal, too long, or too short.
    #[error("behind 'sealwire-symmetric-key:' there must be 64 hexadecimal digits")]
    Digits,
    /// There is more than one line.
    #[error("more than one line that is not a comment: a key file holds one key")]
    SeveralLines,
}
