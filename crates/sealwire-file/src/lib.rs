//! The sealed files of the `sealwire` program: any number of bytes under a symmetric key.
//!
//! ```
//! let key = sealwire_file::generate_key()?;
//! let mut sealed = Vec::new();
//! sealwire_file::seal(&key, "some notes".as_bytes(), &mut sealed)?;
//! let mut opened = Vec::new();
//! sealwire_file::open(&key, sealed.as_slice(), &mut opened)?;
//! assert_eq!(opened, b"some notes");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The format
//!
//! A header, then chunks, each sealed at its position and the last one marked:
//!
//! ```text
//! header (32) = magic (7) || version (1) || nonce (24)
//! chunk  (at most 65,568) = ciphertext (at most 65,536) || tag (32)
//! ```
//!
//! A file that was cut, extended or reordered, even at the border of a chunk, does not open. Source:
//! `docs/spec/sealed-file.md`, version 1.
//!
//! # What to use
//!
//! | item | for |
//! |---|---|
//! | [`seal`], [`open`] | readers and writers that block |
//! | [`Sealer`], [`Opener`] | everything else: chunks in place, no I/O |
//! | [`generate_key`], [`parse_key`], [`key_line`] | keys, and the text of their files |
//!
//! What this crate does not do: open or create files by name, check their permissions, or derive keys from
//! passwords.
//!
//! # What is not wiped
//!
//! Keys and the buffers of [`seal`] and [`open`] are overwritten when they are no longer needed. Buffers that are
//! given to [`Sealer`] and [`Opener`] belong to the caller.

#![forbid(unsafe_code)]

mod chunk;
mod copy;
mod error;
mod header;
mod key;

pub use chunk::{CHUNK_SIZE, Opener, SEALED_CHUNK_SIZE, Sealer};
pub use copy::{open, seal};
pub use error::{Error, InvalidFile, InvalidKey, TooLong};
pub use header::HEADER_SIZE;
pub use key::{key_line, parse_key};
pub use sealwire_aead::{Key, NONCE_SIZE, RandomError, TAG_SIZE, generate_key};

/// The README's example is compiled and run as printed.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
