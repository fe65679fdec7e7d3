//! Salsa20 over vectors of 32-bit words, written once for every instruction set.
//!
//! Vector i holds word i of one block a lane, and each lane has a nonce and a counter of its own: so
//! the blocks of many short messages fill the lanes as well as those of a long one.
//!
//! ```text
//! w0  | A0 B0 C0 D0 ...      lanes: block 0 of A, block 1 of A, block 0 of B, ...
//! w1  | A1 B1 C1 D1 ...
//! ```

pub(crate) mod batch;
pub(crate) mod salsa20;
pub(crate) mod vector;
