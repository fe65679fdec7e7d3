//! The sealed file: a header, then a stream of `aestream`.
//!
//! ```text
//! header (40) = magic (7) || version (1) || nonce (32)
//! block  (at most 65,553) = masked length (2) || ciphertext (at most 65,535) || tag (16)
//! end    (18)             = a block that carries nothing
//! ```
//!
//! Source: `docs/spec/newplex-files.md`.

use super::SYMMETRIC_KEY_SIZE;
use crate::schemes::aestream::{MAX_BLOCK_SIZE, Reader, Writer};
use crate::{InvalidCiphertext, Protocol};
use std::io::{self, BufReader, Read, Write};
use std::vec;
use std::vec::Vec;
use thiserror::Error;
use zeroize::Zeroizing;

/// Size of the nonce in bytes.
pub const NONCE_SIZE: usize = 32;
const MAGIC: [u8; 7] = *b"\xd5NPSEAL";
/// That of the files of `sealwire seal`.
const OTHER_MAGIC: [u8; 7] = *b"\xd5SEALED";
const VERSION: u8 = 1;
const HEADER_SIZE: usize = MAGIC.len() + 1 + NONCE_SIZE;
const DOMAIN: &str = "sealwire.newplex.sealed-file";

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
    /// The magic is missing.
    #[error("not a file that 'sealwire newplex seal' made")]
    NotSealed,
    /// The magic is that of `sealwire seal`.
    #[error("made by 'sealwire seal': open it with 'sealwire open'")]
    Other,
    /// The header is not complete.
    #[error("cut short: it ends within its header")]
    HeaderCutShort,
    /// The version, which is not 1.
    #[error(
        "sealed in version {0} of the format, and this program knows version 1: use a later program"
    )]
    Version(u8),
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

/// Seals `input` into `output` under `nonce`, which is random and used once.
///
/// # Errors
///
/// [`SealedFileError::Read`] and [`Write`](SealedFileError::Write).
pub fn seal(
    key: &[u8; SYMMETRIC_KEY_SIZE],
    nonce: &[u8; NONCE_SIZE],
    mut input: impl Read,
    output: &mut (impl Write + ?Sized),
) -> Result<(), SealedFileError> {
    let header = header(nonce);
    output.write_all(&header).map_err(SealedFileError::Write)?;
    let mut writer = Writer::new(begin(key, &header), output);
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

/// Opens what [`seal`] made. Only verified plaintext reaches `output`; all of it did if there is no
/// error.
///
/// Holds two blocks of 64 KiB.
///
/// # Errors
///
/// [`SealedFileError`].
pub fn open(
    key: &[u8; SYMMETRIC_KEY_SIZE],
    mut input: impl Read,
    output: &mut (impl Write + ?Sized),
) -> Result<(), SealedFileError> {
    let header = read_header(&mut input)?;
    let mut reader = Reader::new(begin(key, &header), BufReader::new(input));
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

/// The protocol that the stream goes on from.
fn begin(key: &[u8; SYMMETRIC_KEY_SIZE], header: &[u8; HEADER_SIZE]) -> Protocol {
    let mut protocol = Protocol::new(DOMAIN);
    protocol.mix("key", key);
    protocol.mix("header", header);
    protocol
}

fn header(nonce: &[u8; NONCE_SIZE]) -> [u8; HEADER_SIZE] {
    let mut header = [0; HEADER_SIZE];
    let (kind, rest) = header.split_at_mut(MAGIC.len());
    kind.copy_from_slice(&MAGIC);
    rest[0] = VERSION;
    rest[1..].copy_from_slice(nonce);
    header
}

fn read_header(input: &mut impl Read) -> Result<[u8; HEADER_SIZE], SealedFileError> {
    let mut bytes = Vec::with_capacity(HEADER_SIZE);
    input
        .take(HEADER_SIZE as u64)
        .read_to_end(&mut bytes)
        .map_err(SealedFileError::Read)?;
    if bytes.starts_with(&OTHER_MAGIC) {
        return Err(SealedFileError::Other);
    }
    if bytes.is_empty() || !MAGIC.iter().zip(&bytes).all(|(magic, byte)| magic == byte) {
        return Err(SealedFileError::NotSealed);
    }
    match bytes.get(MAGIC.len()) {
        Some(&VERSION) | None => {}
        Some(&other) => return Err(SealedFileError::Version(other)),
    }
    bytes
        .try_into()
        .map_err(|_| SealedFileError::HeaderCutShort)
}
