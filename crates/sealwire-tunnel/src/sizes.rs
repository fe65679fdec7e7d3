//! Sizes of what is sealed.

use sealwire_newplex::schemes::aestream::{MAX_BLOCK_SIZE, OVERHEAD};

/// Bytes of the largest sealed block: what each direction of a channel holds at most.
pub const MAX_SEALED_SIZE: usize = MAX_BLOCK_SIZE + OVERHEAD;
