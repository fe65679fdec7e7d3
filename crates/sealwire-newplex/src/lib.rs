//! Newplex.
#![no_std]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

mod duplex;
mod error;
mod permutation;
mod protocol;
pub mod schemes;
#[cfg(test)]
mod vectors;

#[cfg(feature = "alloc")]
pub use error::TooManyBranches;
pub use error::{InvalidCiphertext, InvalidState};
pub use protocol::{MAX_BRANCHES, MaskStream, MixStream, Protocol, STATE_SIZE, UnmaskStream};
#[cfg(feature = "std")]
pub use protocol::{MaskWriter, MixReader, MixWriter, UnmaskReader};

/// Size of a tag in bytes: what sealing adds to a message.
pub const TAG_SIZE: usize = 16;

/// What authenticates a sealed message.
pub type Tag = [u8; TAG_SIZE];
