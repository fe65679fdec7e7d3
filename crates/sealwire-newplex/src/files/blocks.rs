//! The blocks of binary files: a stream of `aestream` from a reader to a writer.

use super::format::InvalidFormat;
use crate::schemes::aestream::{MAX_BLOCK_SIZE, Reader, Writer};
use crate::{InvalidCiphertext, Protocol};
use std::io::{self, BufReader, Read, Write};
use std::vec;
use std::vec::Vec;
use thiserror::Error;
use zeroize::Zeroizing;

/// Why sealing or opening stopped.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SealedFileError {
    /// The input failed.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// The output failed.
    #[error("cannot be written: {0}")]
    Write(io::Error),
    /// The header is not that of the format.
    #[error(transparent)]
    Format(#[from] InvalidFormat),
    /// The key of a file in its header is not authentic.
    #[error(
        "not authentic: sealed to another key, by another sender or for another domain, or damaged \
         in its header"
    )]
    Recipient,
    /// Nothing is authentic.
    #[error("not authentic: sealed under another key, damaged, or cut short (first block)")]
    FirstBlock,
    /// Bytes of content that are authentic; what follows is not.
    #[error(
        "not authentic behind the first {0} bytes of content: changed, reordered, or cut short"
    )]
    Damaged(u64),
    /// All content is authentic, and more follows.
    #[error("something was appended behind its end")]
    Appended,
}

/// Seals `input` in blocks, and an end behind them.
pub(super) fn seal_blocks(
    protocol: Protocol,
    mut input: impl Read,
    output: &mut (impl Write + ?Sized),
) -> Result<(), SealedFileError> {
    let mut writer = Writer::new(protocol, output);
    let mut block = Zeroizing::new(Vec::with_capacity(MAX_BLOCK_SIZE));
    loop {
        block.clear();
        let count = input
            .by_ref()
            .take(MAX_BLOCK_SIZE as u64)
            .read_to_end(&mut block)
            .map_err(SealedFileError::Read)?;
        if count == 0 {
            break;
        }
        writer.write_all(&block).map_err(SealedFileError::Write)?;
    }
    writer.finish().map_err(SealedFileError::Write)?;
    Ok(())
}

/// Opens what [`seal_blocks`] made, of which nothing may follow the end.
pub(super) fn open_blocks(
    protocol: Protocol,
    input: impl Read,
    output: &mut (impl Write + ?Sized),
) -> Result<(), SealedFileError> {
    let mut reader = Reader::new(protocol, BufReader::new(input));
    let mut block = Zeroizing::new(vec![0; MAX_BLOCK_SIZE]);
    let mut released = 0;
    let not_read = |error: io::Error, released| {
        let forged = error
            .get_ref()
            .is_some_and(|inner| inner.is::<InvalidCiphertext>());
        match (forged, released) {
            (false, _) => SealedFileError::Read(error),
            (true, 0) => SealedFileError::FirstBlock,
            (true, released) => SealedFileError::Damaged(released),
        }
    };
    loop {
        let count = reader
            .read(&mut block)
            .map_err(|error| not_read(error, released))?;
        if count == 0 {
            break;
        }
        output
            .write_all(&block[..count])
            .map_err(SealedFileError::Write)?;
        released += count as u64;
    }
    let (_, rest) = reader.finish().map_err(SealedFileError::Read)?;
    match rest.bytes().next() {
        None => Ok(()),
        Some(Ok(_)) => Err(SealedFileError::Appended),
        Some(Err(error)) => Err(SealedFileError::Read(error)),
    }
}
