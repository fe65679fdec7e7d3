//! Four chunks in rows, one in each quad of a vector of sixteen words.
//!
//! Lanes give a block of each of sixteen chunks in the time in which rows give four: for as few as
//! four chunks rows are quicker. They pay only where message words can be picked from four vectors
//! at once, which takes AVX-512.

use super::blake3::{CHUNK_BLOCKS, Node, mix_rows};
use super::vector::{Isa, MAX_LANES, QUADS, Vector};
use crate::portable::blake3::{
    BLOCK_SIZE, CHUNK_END, CHUNK_SIZE, CHUNK_START, Chain, IV, KEYED_HASH,
};

/// An instruction set that can pick words from four vectors of quads.
pub(crate) trait PickQuads: Isa {
    /// In each quad, the message words that `ROW_SCHEDULE[ROUND][PART]` names.
    fn pick_quads<const ROUND: usize, const PART: usize>(
        self,
        message: &[Self::Wide; 4],
    ) -> Self::Wide;
}

/// Hashes four full chunks, the first being leaf number `first`.
#[inline(always)]
pub(crate) fn hash_four_chunks<I: PickQuads>(
    isa: I,
    key: &Chain,
    chunks: &[&[u8; CHUNK_SIZE]; QUADS],
    first: u64,
    nodes: &mut [Node; QUADS],
) {
    let [k0, k1, k2, k3, k4, k5, k6, k7] = *key;
    let mut low = I::Wide::splat_quad(isa, [k0, k1, k2, k3]);
    let mut high = I::Wide::splat_quad(isa, [k4, k5, k6, k7]);
    for index in 0..CHUNK_BLOCKS {
        let block = |quad: usize| I::Wide::load_bytes(isa, &chunks[quad][index * BLOCK_SIZE..]);
        let message = I::Wide::rows_to_blocks([block(0), block(1), block(2), block(3)]);
        let mut flags = KEYED_HASH;
        if index == 0 {
            flags |= CHUNK_START;
        }
        if index == CHUNK_BLOCKS - 1 {
            flags |= CHUNK_END;
        }
        let mut last_row = [0; MAX_LANES];
        for (row, number) in last_row.as_chunks_mut::<4>().0.iter_mut().zip(first..) {
            *row = [
                number as u32,
                (number >> 32) as u32,
                BLOCK_SIZE as u32,
                flags,
            ];
        }
        let mut rows = (
            low,
            high,
            I::Wide::splat_quad(isa, [IV[0], IV[1], IV[2], IV[3]]),
            I::Wide::load(isa, &last_row),
        );
        rows = round::<I, 0>(isa, rows, &message);
        rows = round::<I, 1>(isa, rows, &message);
        rows = round::<I, 2>(isa, rows, &message);
        rows = round::<I, 3>(isa, rows, &message);
        rows = round::<I, 4>(isa, rows, &message);
        rows = round::<I, 5>(isa, rows, &message);
        rows = round::<I, 6>(isa, rows, &message);
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
fn round<I: PickQuads, const ROUND: usize>(
    isa: I,
    (a, b, c, d): (I::Wide, I::Wide, I::Wide, I::Wide),
    message: &[I::Wide; 4],
) -> (I::Wide, I::Wide, I::Wide, I::Wide) {
    let x = isa.pick_quads::<ROUND, 0>(message);
    let y = isa.pick_quads::<ROUND, 1>(message);
    let (a, b, c, d) = mix_rows(a, b, c, d, x, y);
    let (a, c, d) = (
        a.rotate_quads::<3>(),
        c.rotate_quads::<1>(),
        d.rotate_quads::<2>(),
    );
    let x = isa.pick_quads::<ROUND, 2>(message);
    let y = isa.pick_quads::<ROUND, 3>(message);
    let (a, b, c, d) = mix_rows(a, b, c, d, x, y);
    (
        a.rotate_quads::<1>(),
        b,
        c.rotate_quads::<3>(),
        d.rotate_quads::<2>(),
    )
}
