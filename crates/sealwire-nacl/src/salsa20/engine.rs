//! Chooses the back end that does the work, and is the only place that knows there is a choice.
//!
//! With the feature `std` the CPU is asked at run time; without it, the features that the program
//! is compiled for decide.

use super::back_end::BackEnd;
pub(crate) use super::back_end::FIRST_BLOCKS;
use super::block::{BLOCK_SIZE, Position, Positions};
use super::portable::Portable;

/// Evaluates an expression with the best back end that this CPU has, and returns its value.
macro_rules! dispatch {
    ($back_end:ident => $call:expr) => {
        sealwire_simd::dispatch!(
            x86_64: [sealwire_simd::Avx512, sealwire_simd::Avx2, sealwire_simd::Sse2],
            aarch64: [sealwire_simd::Neon],
            wasm32: [sealwire_simd::Simd128],
            else Portable;
            $back_end => $call
        )
    };
}

/// See [`BackEnd::LANES`].
pub(crate) fn lanes() -> usize {
    const fn lanes<B: BackEnd>(_: B) -> usize {
        B::LANES
    }
    dispatch!(back_end => lanes(back_end))
}

/// See [`BackEnd::first_blocks`].
pub(crate) fn first_blocks(subkey: &[u32; 8], nonce: u64, blocks: &mut [[u8; BLOCK_SIZE]]) {
    dispatch!(back_end => back_end.first_blocks(subkey, nonce, blocks))
}

/// See [`BackEnd::xor_blocks`].
pub(crate) fn xor_blocks(subkey: &[u32; 8], positions: &Positions, texts: &mut [&mut [u8]]) {
    dispatch!(back_end => back_end.xor_blocks(subkey, positions, texts))
}

/// See [`BackEnd::xor_runs`].
pub(crate) fn xor_runs(subkey: &[u32; 8], start: Position, data: &mut [u8]) {
    dispatch!(back_end => back_end.xor_runs(subkey, start, data))
}
