//! What a duplex keeps in memory, which the kernels take into registers and put back.

use super::bytes::wipe;
use crate::permutation::WIDTH;

/// Bytes of a block: what goes in or out between two permutations.
pub(crate) const RATE: usize = 94;
/// Bytes no output ever shows.
pub(super) const CAPACITY: usize = 32;
/// Where the padding of every block ends.
pub(super) const LAST_PADDING: usize = WIDTH - CAPACITY - 1;
/// Words of pending input: a block and its padding, up to a power of two so that every masked index
/// is one of them.
pub(super) const PENDING_WORDS: usize = 16;

/// Size of a tag in bytes: what sealing adds to a message.
pub const TAG_SIZE: usize = 16;

/// What authenticates a sealed message.
pub type Tag = [u8; TAG_SIZE];

/// A whole block.
pub(super) type Block = [u8; RATE];

/// The part of a duplex that the kernels work on.
#[derive(Clone)]
#[repr(C, align(16))]
pub(super) struct Core {
    /// The state as the last permutation left it.
    pub(super) state: [u8; WIDTH],
    /// The bytes that have to be XORed to the state, as little-endian numbers; zero from the rate index on.
    ///
    /// Read and written in whole words only: a CPU forwards a store to a load that it covers, and
    /// waits for everything before it to end where several stores make up what is loaded.
    pub(super) pending: [u64; PENDING_WORDS],
}

impl Core {
    /// All zeros.
    pub(super) const fn new() -> Self {
        Self {
            state: [0; WIDTH],
            pending: [0; PENDING_WORDS],
        }
    }
}

impl Drop for Core {
    #[inline]
    fn drop(&mut self) {
        wipe(&mut self.state);
        wipe(&mut self.pending);
    }
}
