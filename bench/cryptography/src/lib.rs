//! What the program `sealwire` measures of its cryptography, in one process: `sealwire bench aead`, `box`
//! and `mechanism`. Each has a function `measure`, the record of which prints as text and serializes to
//! what `--json` prints.
//!
//! Other ciphers and libsodium stand beside ours in builds with the features `aead-peers` and
//! `box-peers`; without them nothing is linked that the program does not need.

#![forbid(unsafe_code)]

pub mod aead;
mod contender;
pub mod mechanism;
pub mod nacl;

/// Why something could not be measured.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

fn failed(error: impl std::fmt::Display) -> Error {
    Error(error.to_string())
}
