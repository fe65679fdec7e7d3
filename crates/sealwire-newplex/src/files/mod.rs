//! The files that the `sealwire` program writes and reads: version 1 of each format.
//!
//! Keys, signatures, password hashes and what parties exchange are text, one line each under a label
//! that tells kind and version ([`Kind`]); [`sealed`] files, those [`to_key`] and single
//! [`message`]s are binary ([`Format`]). The formats are those of
//! `docs/spec/newplex-files.md`. Nothing here opens a file: text and readers come from the caller.
//!
//! ```
//! use sealwire_newplex::files::{Kind, parse_public_key};
//! use sealwire_newplex::schemes::keys::SecretKey;
//!
//! let key = *SecretKey::generate()?.public_key();
//! let text = format!("# alice\n{}\n", Kind::PublicKey.line(key.as_bytes()).as_str());
//! assert_eq!(parse_public_key(&text)?, key);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blocks;
mod ceremony;
mod exchange;
mod format;
mod hex;
mod line;
pub mod message;
mod password;
pub mod sealed;
pub mod to_key;

use crate::schemes::frost::FrostError;
use crate::schemes::keys::{InvalidEncoding, PublicKey, SecretKey};
use crate::schemes::sig::{SIGNATURE_SIZE, Signature};
pub use ceremony::{
    FROST_DOMAIN, MAX_FROST_SIGNERS, PublicGroup, frost_share_line, parse_frost_commitment,
    parse_frost_share, parse_frost_signer,
};
pub use exchange::{
    OPRF_OUTPUT_SIZE, VRF_OUTPUT_SIZE, oprf_answer_line, pake_answer_line, parse_oprf_answer,
    parse_oprf_request, parse_pake_answer, parse_pake_message, parse_state, parse_vrf_proof,
};
pub use format::{Format, InvalidFormat, PREFIX_SIZE};
pub use hex::decode as decode_hex;
pub use line::Kind;
pub use password::{HASH_SIZE, MAX_COST, PasswordHash, SALT_SIZE};
use std::vec::Vec;
use thiserror::Error;
use zeroize::Zeroizing;

/// Size of a symmetric key in bytes.
pub const SYMMETRIC_KEY_SIZE: usize = 32;

/// The fault of the text of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidFile {
    /// There is no line of any kind.
    #[error("not {0}")]
    Unknown(Kind),
    /// The line is of another kind.
    #[error("this is {found}, not {expected}")]
    OtherKind {
        /// What the label says.
        found: Kind,
        /// The kind that was asked for.
        expected: Kind,
    },
    /// The version is not 1.
    #[error("in another version of the format than 1, the one that this program knows")]
    Version,
    /// There is more than one line.
    #[error("more than one line that is not a comment")]
    SeveralLines,
    /// The value is not hexadecimal, or too long, or too short.
    #[error("behind its label there must be {0} hexadecimal digits")]
    Digits(usize),
    /// The digits are not a key.
    #[error(transparent)]
    Key(#[from] InvalidEncoding),
    /// The digits are not a group, a signer or what signers exchange.
    #[error(transparent)]
    Frost(#[from] FrostError),
    /// The parts of a password hash are not as they should be.
    #[error(
        "behind its label there must be cost (up to 24), salt (32 hexadecimal digits) and hash \
         (64), with colons between them"
    )]
    PasswordHash,
}

/// The symmetric key in the text of its file.
///
/// # Errors
///
/// [`InvalidFile`].
pub fn parse_symmetric_key(text: &str) -> Result<Zeroizing<[u8; SYMMETRIC_KEY_SIZE]>, InvalidFile> {
    digits(Kind::SymmetricKey.value(text)?)
}

/// The secret key in the text of its file.
///
/// # Errors
///
/// [`InvalidFile`].
pub fn parse_secret_key(text: &str) -> Result<SecretKey, InvalidFile> {
    let bytes = digits::<32>(Kind::SecretKey.value(text)?)?;
    Ok(SecretKey::from_bytes(&*bytes)?)
}

/// The public key in the text of its file.
///
/// # Errors
///
/// [`InvalidFile`].
pub fn parse_public_key(text: &str) -> Result<PublicKey, InvalidFile> {
    let bytes = digits::<32>(Kind::PublicKey.value(text)?)?;
    Ok(PublicKey::from_bytes(&*bytes)?)
}

/// The public keys in the text of a list: lines as in the file of one key, any number of them. What
/// follows a key behind a space is a remark.
///
/// # Errors
///
/// [`InvalidFile`] for the first line that is not a key.
pub fn parse_public_keys(text: &str) -> Result<Vec<PublicKey>, InvalidFile> {
    let words = |line| str::split_whitespace(line).next().unwrap_or_default();
    line::lines(text)
        .map(|line| parse_public_key(words(line)))
        .collect()
}

/// The signature in the text of its file.
///
/// # Errors
///
/// [`InvalidFile`]. Whether anybody made it is not looked at.
pub fn parse_signature(text: &str) -> Result<Signature, InvalidFile> {
    let bytes = digits::<SIGNATURE_SIZE>(Kind::Signature.value(text)?)?;
    Ok(Signature::from_bytes(*bytes))
}

fn digits<const N: usize>(text: &str) -> Result<Zeroizing<[u8; N]>, InvalidFile> {
    decode_hex(text).ok_or(InvalidFile::Digits(2 * N))
}

#[cfg(test)]
mod tests;
