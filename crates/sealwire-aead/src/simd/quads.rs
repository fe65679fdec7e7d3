//! Four chunks in rows, one in each quad of a vector of sixteen words.
//!
//! Lanes give a block of each of sixteen chunks in the time in which rows give four: for as few as
//! four chunks rows are quicker. They pay only where message words can be picked from two vectors
//! at once, which takes AVX-512.

use super::blake3::{CHUNK_BLOCKS, Node, mix_rows};
use super::vector::{Isa, MAX_LANES, QUADS, Vector};
use crate::portable::blake3::{BLOCK_SIZE, CHUNK_END, CHUNK_START, Chain, IV, KEYED_HASH};

/// An instruction set that can pick words from two vectors of quads.
pub(crate) trait PickQuads: Isa {
    /// What [`load_quads`](Self::load_quads) and [`next_quads`](Self::next_quads) keep at hand.
    type Places: Copy;

    /// Gets it once for many blocks.
    fn places(self) -> Self::Places;

    /// Loads a block for each quad: the words of `ROW_SCHEDULE[0]`, one vector a part.
    fn load_quads(
        self,
        places: &Self::Places,
        blocks: [&[u8; BLOCK_SIZE]; QUADS],
    ) -> [Self::Wide; 4];

    /// From the message words of a round to those of the next.
    fn next_quads(self, places: &Self::Places, message: [Self::Wide; 4]) -> [Self::Wide; 4];
}

/// Hashes four full chunks, the first being leaf number `first`. `block` gives the block of a quad
/// at an index.
#[inline(always)]
pub(crate) fn hash_four_chunks<'a, I: PickQuads>(
    isa: I,
    key: &Chain,
    block: impl Fn(usize, usize) -> &'a [u8; BLOCK_SIZE],
    first: u64,
    nodes: &mut [Node; QUADS],
) {
    let [k0, k1, k2, k3, k4, k5, k6, k7] = *key;
    let mut low = I::Wide::splat_quad(isa, [k0, k1, k2, k3]);
    let mut high = I::Wide::splat_quad(isa, [k4, k5, k6, k7]);
    // Made before the loop: what is put together word by word is not ready for a vector at once.
    let last_row = |flags| {
        let mut words = [0; MAX_LANES];
        for (row, number) in words.as_chunks_mut::<4>().0.iter_mut().zip(first..) {
            *row = [
                number as u32,
                (number >> 32) as u32,
                BLOCK_SIZE as u32,
                KEYED_HASH | flags,
            ];
        }
        I::Wide::load(isa, &words)
    };
    let (start, middle, end) = (last_row(CHUNK_START), last_row(0), last_row(CHUNK_END));
    let places = isa.places();
    for index in 0..CHUNK_BLOCKS {
        let mut message = isa.load_quads(&places, core::array::from_fn(|quad| block(quad, index)));
        let mut rows = (
            low,
            high,
            I::Wide::splat_quad(isa, [IV[0], IV[1], IV[2], IV[3]]),
            match index {
                0 => start,
                _ if index == CHUNK_BLOCKS - 1 => end,
                _ => middle,
            },
        );
        rows = round::<I>(rows, &message);
        for _ in 1..7 {
            message = isa.next_quads(&places, message);
            rows = round::<I>(rows, &message);
        }
        (low, high) = (rows.0.xor(rows.2), rows.1.xor(rows.3));
    }
    let mut halves = [[0; 64]; 2];
    low.store_bytes(&mut halves[0]);
    high.store_bytes(&mut halves[1]);
    for (quad, node) in nodes.iter_mut().enumerate() {
        node[..16].copy_from_slice(&halves[0][quad * 16..][..16]);
        node[16..].copy_from_slice(&halves[1][quad * 16..][..16]);
    }
}

#[inline(always)]
fn round<I: PickQuads>(
    (a, b, c, d): (I::Wide, I::Wide, I::Wide, I::Wide),
    [w, x, y, z]: &[I::Wide; 4],
) -> (I::Wide, I::Wide, I::Wide, I::Wide) {
    let (a, b, c, d) = mix_rows(a, b, c, d, *w, *x);
    let (a, c, d) = (
        a.rotate_quads::<3>(),
        c.rotate_quads::<1>(),
        d.rotate_quads::<2>(),
    );
    let (a, b, c, d) = mix_rows(a, b, c, d, *y, *z);
    (
        a.rotate_quads::<1>(),
        b,
        c.rotate_quads::<3>(),
        d.rotate_quads::<2>(),
    )
}
