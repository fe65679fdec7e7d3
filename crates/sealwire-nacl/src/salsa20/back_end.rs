//! The keystream, compiled for each instruction set.

use super::block::{BLOCK_SIZE, Position, Positions};

/// How many of its first blocks a message can be given at once.
pub(crate) const FIRST_BLOCKS: usize = 4;

/// Salsa20's keystream with one instruction set. Batches are written once, over this.
pub(crate) trait BackEnd: Copy {
    /// How many blocks it computes side by side, at most
    /// [`MAX_LANES`](sealwire_simd::vector::MAX_LANES).
    const LANES: usize;

    /// Writes the first blocks of the keystream of a nonce, the last 8 bytes of which are in `nonce`. There are
    /// at most [`FIRST_BLOCKS`] of them.
    fn first_blocks(self, subkey: &[u32; 8], nonce: u64, blocks: &mut [[u8; BLOCK_SIZE]]);

    /// XORs the block of each lane into the text of the same index, which is no longer than the block.
    /// There are at most `LANES` texts.
    fn xor_blocks(self, subkey: &[u32; 8], positions: &Positions, texts: &mut [&mut [u8]]);

    /// XORs the blocks from `start` on into `data`, a whole number of runs of `LANES` blocks.
    fn xor_runs(self, subkey: &[u32; 8], start: Position, data: &mut [u8]);
}
