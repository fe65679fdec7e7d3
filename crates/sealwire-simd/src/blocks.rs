//! From words in lanes to blocks of 64 bytes, and back.

#![allow(
    unsafe_code,
    reason = "overwriting secrets, which the compiler may not leave out"
)]

use crate::vector::{MAX_LANES, Vector};
use core::sync::atomic::{Ordering, compiler_fence};

/// Bytes of a block, which is sixteen words.
const BLOCK_SIZE: usize = 64;

/// Room for `N` blocks, aligned for the widest vector.
#[repr(align(64))]
pub struct Blocks<const N: usize = MAX_LANES>(pub [[u8; BLOCK_SIZE]; N]);

impl<const N: usize> Blocks<N> {
    /// Zeros.
    #[must_use]
    pub const fn new() -> Self {
        Self([[0; BLOCK_SIZE]; N])
    }

    /// Overwrites the blocks with zeros, in a way that the compiler does not leave out.
    #[inline(always)]
    pub fn wipe<V: Vector>(&mut self, isa: V::Isa) {
        let zero = V::splat(isa, 0);
        let vectors = size_of::<Self>() / size_of::<V>();
        let start = core::ptr::from_mut(&mut self.0).cast::<V>();
        for index in 0..vectors {
            // SAFETY: `index` is inside the blocks, which are aligned for every vector.
            unsafe { start.add(index).write_volatile(zero) }
        }
        compiler_fence(Ordering::SeqCst);
    }
}

impl<const N: usize> Default for Blocks<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// Each of eight words in every lane of its own vector.
#[inline(always)]
pub fn splat_words<V: Vector>(isa: V::Isa, words: &[u32; 8]) -> [V; 8] {
    let splat = |index: usize| V::splat(isa, words[index]);
    [
        splat(0),
        splat(1),
        splat(2),
        splat(3),
        splat(4),
        splat(5),
        splat(6),
        splat(7),
    ]
}

/// Reads one block of 64 bytes for each lane and returns them as word vectors.
#[inline(always)]
pub fn gather_blocks<V: Vector>(isa: V::Isa, blocks: &[&[u8; BLOCK_SIZE]; MAX_LANES]) -> [V; 16] {
    let mut loaded = [V::splat(isa, 0); 16];
    for (index, vector) in loaded.iter_mut().enumerate() {
        let (part, lane) = (index / V::LANES, index % V::LANES);
        *vector = V::load_bytes(isa, &blocks[lane][part * V::LANES * 4..]);
    }
    for four in loaded.as_chunks_mut::<4>().0 {
        *four = V::transpose_quads(*four);
    }
    let mut words = loaded;
    for i in 0..4 {
        let rows = [loaded[i], loaded[i + 4], loaded[i + 8], loaded[i + 12]];
        for (index, vector) in V::rows_to_blocks(rows).into_iter().enumerate() {
            // Two quads a vector come as words 0, 8, 4 and 12 from the first.
            let four = match V::LANES {
                8 => index % 2 * 2 + index / 2,
                _ => index,
            };
            words[four * 4 + i] = vector;
        }
    }
    words
}

/// Word vectors on their way to blocks, in eight steps that can be taken beside other work.
#[derive(Clone, Copy)]
pub struct Turning<V> {
    vectors: [V; 16],
}

impl<V: Vector> Turning<V> {
    /// Before the first step.
    #[inline]
    pub const fn new(words: [V; 16]) -> Self {
        Self { vectors: words }
    }

    /// The first four steps: `four` is 0 to 3.
    #[inline(always)]
    pub fn turn(&mut self, four: usize) {
        let fours = self.vectors.as_chunks_mut::<4>().0;
        fours[four] = V::transpose_quads(fours[four]);
    }

    /// The last four, after which parts of blocks are ready: each with its lane and its place in
    /// bytes. `i` is 0 to 3.
    #[inline(always)]
    pub fn finish(&self, i: usize) -> [(usize, usize, V); 4] {
        let parts = 16 / V::LANES;
        let v = &self.vectors;
        let [a, b, c, d] = V::rows_to_blocks([v[i], v[i + 4], v[i + 8], v[i + 12]]);
        let place = |index: usize, part: V| {
            let lane = index / parts * 4 + i;
            (lane, index % parts * V::LANES * 4, part)
        };
        [place(0, a), place(1, b), place(2, c), place(3, d)]
    }

    /// The first four steps at once.
    #[inline(always)]
    pub fn turned(words: [V; 16]) -> Self {
        let mut turning = Self::new(words);
        for four in 0..4 {
            turning.turn(four);
        }
        turning
    }
}

/// Writes word vectors as one block for each lane.
#[inline(always)]
pub fn scatter_blocks<V: Vector>(words: [V; 16], blocks: &mut Blocks) {
    let turned = Turning::turned(words);
    for i in 0..4 {
        for (lane, at, part) in turned.finish(i) {
            part.store_bytes(&mut blocks.0[lane][at..]);
        }
    }
}
