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
pub use super::blocks::SealedFileError;
use super::blocks::{open_blocks, seal_blocks};
use super::format::{Format, InvalidFormat, PREFIX_SIZE};
use crate::Protocol;
use std::io::{Read, Write};
use std::vec::Vec;

/// Size of the nonce in bytes.
pub const NONCE_SIZE: usize = 32;
const HEADER_SIZE: usize = PREFIX_SIZE + NONCE_SIZE;
const DOMAIN: &str = "sealwire.newplex.sealed-file";

/// Seals `input` into `output` under `nonce`, which is random and used once.
///
/// # Errors
///
/// [`SealedFileError::Read`] and [`Write`](SealedFileError::Write).
pub fn seal(
    key: &[u8; SYMMETRIC_KEY_SIZE],
    nonce: &[u8; NONCE_SIZE],
    input: impl Read,
    output: &mut (impl Write + ?Sized),
) -> Result<(), SealedFileError> {
    let mut header = [0; HEADER_SIZE];
    let (prefix, rest) = header.split_at_mut(PREFIX_SIZE);
    prefix.copy_from_slice(&Format::Sealed.prefix());
    rest.copy_from_slice(nonce);
    output.write_all(&header).map_err(SealedFileError::Write)?;
    seal_blocks(begin(key, &header), input, output)
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
    let header = read_header::<HEADER_SIZE>(Format::Sealed, &mut input)?;
    open_blocks(begin(key, &header), input, output)
}

/// The protocol that the stream goes on from.
fn begin(key: &[u8; SYMMETRIC_KEY_SIZE], header: &[u8; HEADER_SIZE]) -> Protocol {
    let mut protocol = Protocol::new(DOMAIN);
    protocol.mix("key", key);
    protocol.mix("header", header);
    protocol
}

/// The first `N` bytes, of which the prefix is that of `format`.
pub(super) fn read_header<const N: usize>(
    format: Format,
    input: &mut impl Read,
) -> Result<[u8; N], SealedFileError> {
    let mut bytes = Vec::with_capacity(N);
    input
        .take(N as u64)
        .read_to_end(&mut bytes)
        .map_err(SealedFileError::Read)?;
    format.check(&bytes)?;
    Ok(bytes.try_into().map_err(|_| InvalidFormat::CutShort)?)
}
