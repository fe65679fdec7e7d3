//! The file for the owner of a public key: a key of its own, sealed with [`hpke`](crate::schemes::hpke), then the blocks of
//! a sealed file under it.
//!
//! ```text
//! header (88) = magic (7) || version (1) || sealed key of the file (80)
//! blocks, end = as in a sealed file
//! ```
//!
//! The scheme shows the receiver who made it. The receiver could have made it as well, and can prove
//! nothing to others. Source: `docs/spec/newplex-files.md`.

use super::SYMMETRIC_KEY_SIZE;
use super::blocks::{open_blocks, seal_blocks};
use super::format::{Format, PREFIX_SIZE};
use super::sealed::{SealedFileError, read_header};
use crate::Protocol;
use crate::schemes::hpke::{OVERHEAD, Receiver, Sender};
use crate::schemes::randomness::Randomness;
use std::io::{Read, Write};
use zeroize::Zeroizing;

const HEADER_SIZE: usize = PREFIX_SIZE + OVERHEAD + SYMMETRIC_KEY_SIZE;
const DOMAIN: &str = "sealwire.newplex.hpke-file";

/// Seals `input` into `output` under `key`, which is random and used for this file alone.
///
/// # Errors
///
/// [`SealedFileError::Read`] and [`Write`](SealedFileError::Write).
pub fn seal(
    sender: &Sender,
    randomness: Randomness,
    key: &[u8; SYMMETRIC_KEY_SIZE],
    input: impl Read,
    output: &mut (impl Write + ?Sized),
) -> Result<(), SealedFileError> {
    let mut header = [0; HEADER_SIZE];
    let (prefix, sealed) = header.split_at_mut(PREFIX_SIZE);
    prefix.copy_from_slice(&Format::ToKey.prefix());
    sealed.copy_from_slice(&sender.seal_with(randomness, key));
    output.write_all(&header).map_err(SealedFileError::Write)?;
    seal_blocks(begin(key, &header), input, output)
}

/// Opens what [`seal`] made. Only verified plaintext reaches `output`; all of it did if there is no
/// error.
///
/// # Errors
///
/// [`SealedFileError`].
pub fn open(
    receiver: &Receiver,
    mut input: impl Read,
    output: &mut (impl Write + ?Sized),
) -> Result<(), SealedFileError> {
    let header = read_header::<HEADER_SIZE>(Format::ToKey, &mut input)?;
    let (ephemeral, rest) = header[PREFIX_SIZE..]
        .split_first_chunk()
        .ok_or(SealedFileError::Recipient)?;
    let (sealed, tag) = rest.split_last_chunk().ok_or(SealedFileError::Recipient)?;
    let mut key = Zeroizing::new([0; SYMMETRIC_KEY_SIZE]);
    key.copy_from_slice(sealed);
    receiver
        .open_detached(ephemeral, &mut *key, tag)
        .map_err(|_| SealedFileError::Recipient)?;
    open_blocks(begin(&key, &header), input, output)
}

/// The protocol that the stream goes on from.
fn begin(key: &[u8; SYMMETRIC_KEY_SIZE], header: &[u8; HEADER_SIZE]) -> Protocol {
    let mut protocol = Protocol::new(DOMAIN);
    protocol.mix("key", key);
    protocol.mix("header", header);
    protocol
}
