//! Newplex.
#![no_std]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

mod duplex;
mod permutation;
#[cfg(test)]
mod vectors;

/// Size of a tag in bytes: what sealing adds to a message.
pub const TAG_SIZE: usize = 16;
