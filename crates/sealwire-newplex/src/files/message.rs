//! Files that are one message, held in memory: signcrypted ones, and deterministic ones.
//!
//! ```text
//! signcrypted   = magic (7) || version (1) || ephemeral key (32) || ciphertext || signature (64)
//! deterministic = magic (7) || version (1) || ciphertext || tag (16)
//! ```
//!
//! Nothing of either is released before all of it was found authentic. Source:
//! `docs/spec/newplex-files.md`.

use super::SYMMETRIC_KEY_SIZE;
use super::format::{Format, InvalidFormat, PREFIX_SIZE};
use crate::schemes::signcrypt::{Receiver, Sender};
use crate::schemes::siv::Siv;
use std::vec::Vec;
use thiserror::Error;
use zeroize::Zeroizing;

/// Associated data and message determine the ciphertext, so there is nothing for a nonce to do.
const NONCE: [u8; 16] = [0; 16];
const DOMAIN: &str = "sealwire.newplex.siv-file";

/// Why a message was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The beginning is not that of the format.
    #[error(transparent)]
    Format(#[from] InvalidFormat),
    /// Keys, domain or message are others than when it was made.
    #[error(
        "not authentic: sealed to another key, by another sender or for another domain, damaged, or \
         cut short"
    )]
    Signcrypted,
    /// Key, associated data or message are others than when it was made.
    #[error(
        "not authentic: sealed under another key or with other associated data, damaged, or cut \
         short"
    )]
    Deterministic,
}

/// Seals and signs `message`, hedged with `random` as in
/// [`Sender::seal_with`](Sender::seal_with).
#[must_use]
pub fn signcrypt(sender: &Sender, random: &[u8], message: &[u8]) -> Vec<u8> {
    prefixed(Format::Signcrypted, sender.seal_with(random, message))
}

/// Opens what [`signcrypt`] made.
///
/// # Errors
///
/// [`MessageError`].
pub fn open_signcrypted(
    receiver: &Receiver,
    file: &[u8],
) -> Result<Zeroizing<Vec<u8>>, MessageError> {
    let opened = receiver.open(content(Format::Signcrypted, file)?);
    opened
        .map(Zeroizing::new)
        .map_err(|_| MessageError::Signcrypted)
}

/// Seals `message`: the same bytes for the same key, associated data and message, and no others.
#[must_use]
pub fn seal_deterministically(
    key: &[u8; SYMMETRIC_KEY_SIZE],
    associated_data: &[u8],
    message: &[u8],
) -> Vec<u8> {
    let sealed = cipher(key).seal(&NONCE.into(), associated_data, message);
    prefixed(Format::Deterministic, sealed)
}

/// Opens what [`seal_deterministically`] made.
///
/// # Errors
///
/// [`MessageError`].
pub fn open_deterministic(
    key: &[u8; SYMMETRIC_KEY_SIZE],
    associated_data: &[u8],
    file: &[u8],
) -> Result<Zeroizing<Vec<u8>>, MessageError> {
    let sealed = content(Format::Deterministic, file)?;
    let opened = cipher(key).open(&NONCE.into(), associated_data, sealed);
    opened
        .map(Zeroizing::new)
        .map_err(|_| MessageError::Deterministic)
}

fn cipher(key: &[u8; SYMMETRIC_KEY_SIZE]) -> Siv {
    Siv::new(DOMAIN, key)
}

fn prefixed(format: Format, mut sealed: Vec<u8>) -> Vec<u8> {
    sealed.splice(..0, format.prefix());
    sealed
}

/// What follows magic and version.
fn content(format: Format, file: &[u8]) -> Result<&[u8], InvalidFormat> {
    format.check(file)?;
    file.get(PREFIX_SIZE..).ok_or(InvalidFormat::CutShort)
}
