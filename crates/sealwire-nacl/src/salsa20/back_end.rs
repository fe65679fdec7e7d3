//! The keystream, compiled for each instruction set.

use super::block::{Position, Positions};

/// Salsa20's keystream with one instruction set. Batches are written once, over this.
pub(crate) trait BackEnd: Copy {
    /// How many blocks it computes side by side, at most
    /// [`MAX_LANES`](sealwire_simd::vector::MAX_LANES).
    const LANES: usize;

    /// XORs the block of each lane into the text of the same index, which is no longer than the block.
    /// There are at most `LANES` texts.
    fn xor_blocks(self, subkey: &[u32; 8], positions: &Positions, texts: &mut [&mut [u8]]);

    /// XORs the blocks from `start` on into `data`, a whole number of runs of `LANES` blocks.
    fn xor_runs(self, subkey: &[u32; 8], start: Position, data: &mut [u8]);
}
