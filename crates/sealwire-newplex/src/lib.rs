//! Newplex: hashing, authentication and encryption as labelled operations on one state.
//!
//! ```
//! use sealwire_newplex::Protocol;
//!
//! let mut protocol = Protocol::new("com.example.session");
//! protocol.mix("key", b"a key of high entropy");
//! protocol.mix("nonce", b"never the same twice under it");
//! let mut receiver = protocol.clone();
//!
//! let sealed = protocol.seal("message", b"hello");
//! assert_eq!(receiver.open("message", &sealed)?, b"hello");
//!
//! // Both are in the same state again: what they do next depends on all that went before.
//! let (ours, theirs): ([u8; 32], [u8; 32]) =
//!     (protocol.derive_array("next key"), receiver.derive_array("next key"));
//! assert_eq!(ours, theirs);
//! # Ok::<(), sealwire_newplex::InvalidCiphertext>(())
//! ```
//!
//! # What it is
//!
//! Three layers, of which only the last is public:
//!
//! | layer | what |
//! |---|---|
//! | permutation | Simpira-1024: 128 bytes, built from AES rounds |
//! | duplex | 94 bytes of rate, 32 of capacity; framing and padding |
//! | [`Protocol`] | mix, derive, mask, seal, fork, ratchet: each with a label |
//!
//! The [`schemes`] put protocols to use. The bytes are those of `codahale/newplex` in Go, commit
//! b87464dc: where its document and its code differ, the code decides. Labels and domains are bytes;
//! nothing normalises their Unicode.
//!
//! `files` reads and writes what the `sealwire` program keeps in files.
//!
//! The design aims at 128 bits of security. It is young, no standard, and neither it nor this code
//! has been audited.
//!
//! # What cannot happen
//!
//! * A stream of data into one operation borrows its protocol, which cannot be used before it ends.
//! * A protocol that was cleared is gone. States are overwritten when dropped.
//! * A text whose tag is wrong is overwritten. As decryption and authentication are one pass, it is
//!   decrypted before the tag is known to be wrong, but nobody gets to see it.
//! * No branch and no address depends on a secret, with the exception that [`schemes::mhf`] states.
//!
//! Registers that the compiler saves on the stack are not wiped.
//!
//! # Features
//!
//! `std` (default) has readers, writers and the operating system's randomness; `alloc` what returns a
//! `Vec`. Without both, nothing is allocated. CPU features are detected at run time in any case: AES-NI
//! on x86-64, the AES instructions of ARMv8; elsewhere the AES rounds are bitsliced.
//! The feature `portable` compiles the bitsliced ones alone, and so does `RUSTFLAGS="--cfg sealwire_portable"` for
//! every crate of a program.

#![no_std]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

#[cfg(all(
    test,
    feature = "std",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod constant_time;
mod duplex;
mod error;
#[cfg(feature = "std")]
pub mod files;
mod permutation;
mod protocol;
pub mod schemes;
#[cfg(test)]
mod vectors;

pub use duplex::{TAG_SIZE, Tag};
#[cfg(feature = "alloc")]
pub use error::TooManyBranches;
pub use error::{InvalidCiphertext, InvalidState};
pub use protocol::{MAX_BRANCHES, MaskStream, MixStream, Protocol, STATE_SIZE, UnmaskStream};
#[cfg(feature = "std")]
pub use protocol::{MaskWriter, MixReader, MixWriter, UnmaskReader};

/// The README's example is compiled and run as printed.
#[cfg(all(doctest, feature = "alloc"))]
#[doc = include_str!("../README.md")]
struct Readme;
