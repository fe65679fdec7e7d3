//! BLAKE3's compression over lanes, for many blocks, and over rows, for one chain of blocks.

use super::isa::Isa;
use super::shape::CHUNK_BLOCKS;
use crate::keys::MessageKeys;
use crate::node::{CHUNK_SIZE, Chain, Node, ROOT};
use crate::portable::blake3::{
    BLOCK_SIZE, CHUNK_END, CHUNK_START, IV, KEYED_HASH, PARENT, SCHEDULE,
};
use crate::{NONCE_SIZE, TAG_SIZE};
use sealwire_simd::blocks::{gather_blocks, splat_words};
use sealwire_simd::vector::{MAX_LANES, Vector};

/// Flags of the one block that a nonce is.
pub(crate) const NONCE_FLAGS: u32 = KEYED_HASH | CHUNK_START | CHUNK_END | ROOT;

/// The message words of each round in the order in which rows take them: first words of the column
/// step, second words, then the same for the diagonal step, whose columns are turned by one because
/// row b stays in place.
pub(crate) const ROW_SCHEDULE: [[[usize; 4]; 4]; 7] = row_schedule();

const fn row_schedule() -> [[[usize; 4]; 4]; 7] {
    const PLACES: [[usize; 4]; 4] = [[0, 2, 4, 6], [1, 3, 5, 7], [14, 8, 10, 12], [15, 9, 11, 13]];
    let mut rows = [[[0; 4]; 4]; 7];
    let mut index = 0;
    while index < 7 * 16 {
        let (round, part, column) = (index / 16, index / 4 % 4, index % 4);
        rows[round][part][column] = SCHEDULE[round][PLACES[part][column]];
        index += 1;
    }
    rows
}

/// Counter, block length and flags of the blocks in all lanes.
#[derive(Clone, Copy)]
pub(crate) struct LaneParameters<V> {
    pub(crate) counter: [V; 2],
    pub(crate) block_len: V,
    pub(crate) flags: V,
}

/// The compression function on lanes, before its output is folded.
#[inline(always)]
pub(crate) fn permute_lanes<V: Vector>(
    isa: V::Isa,
    chain: &[V; 8],
    message: &[V; 16],
    parameters: LaneParameters<V>,
) -> [V; 16] {
    let [h0, h1, h2, h3, h4, h5, h6, h7] = *chain;
    let [i0, i1, i2, i3] = [IV[0], IV[1], IV[2], IV[3]].map(|word| V::splat(isa, word));
    let LaneParameters {
        counter: [t0, t1],
        block_len,
        flags,
    } = parameters;
    let mut v = [
        h0, h1, h2, h3, h4, h5, h6, h7, i0, i1, i2, i3, t0, t1, block_len, flags,
    ];
    lane_round::<V, 0>(&mut v, message);
    lane_round::<V, 1>(&mut v, message);
    lane_round::<V, 2>(&mut v, message);
    lane_round::<V, 3>(&mut v, message);
    lane_round::<V, 4>(&mut v, message);
    lane_round::<V, 5>(&mut v, message);
    lane_round::<V, 6>(&mut v, message);
    v
}

/// The compression function on lanes: replaces the chaining values, where there is a mask only those
/// of the lanes in which it has ones.
#[inline(always)]
pub(crate) fn compress_lanes<V: Vector>(
    isa: V::Isa,
    chain: &mut [V; 8],
    message: &[V; 16],
    parameters: LaneParameters<V>,
    active: Option<V>,
) {
    let v = permute_lanes(isa, chain, message, parameters);
    for i in 0..8 {
        let output = v[i].xor(v[i + 8]);
        chain[i] = match active {
            Some(mask) => output.select(mask, chain[i]),
            None => output,
        };
    }
}

#[inline(always)]
fn lane_round<V: Vector, const ROUND: usize>(v: &mut [V; 16], m: &[V; 16]) {
    let s = const { &SCHEDULE[ROUND] };
    [v[0], v[4], v[8], v[12]] = mix([v[0], v[4], v[8], v[12]], m[s[0]], m[s[1]]);
    [v[1], v[5], v[9], v[13]] = mix([v[1], v[5], v[9], v[13]], m[s[2]], m[s[3]]);
    [v[2], v[6], v[10], v[14]] = mix([v[2], v[6], v[10], v[14]], m[s[4]], m[s[5]]);
    [v[3], v[7], v[11], v[15]] = mix([v[3], v[7], v[11], v[15]], m[s[6]], m[s[7]]);
    [v[0], v[5], v[10], v[15]] = mix([v[0], v[5], v[10], v[15]], m[s[8]], m[s[9]]);
    [v[1], v[6], v[11], v[12]] = mix([v[1], v[6], v[11], v[12]], m[s[10]], m[s[11]]);
    [v[2], v[7], v[8], v[13]] = mix([v[2], v[7], v[8], v[13]], m[s[12]], m[s[13]]);
    [v[3], v[4], v[9], v[14]] = mix([v[3], v[4], v[9], v[14]], m[s[14]], m[s[15]]);
}

/// One of the blocks that [`compress_rows`] works on side by side.
#[derive(Clone, Copy)]
pub(crate) struct RowBlock<'a> {
    pub(crate) block: &'a [u8; BLOCK_SIZE],
    pub(crate) counter: u64,
    pub(crate) block_len: u32,
    pub(crate) flags: u32,
}

/// The compression function on rows for `N` independent blocks, which hide each other's latency.
///
/// Returns the four rows of each state before the output is folded.
#[inline(always)]
pub(crate) fn permute_rows<I: Isa, const N: usize>(
    isa: I,
    chain: &[[I::Narrow; 2]; N],
    inputs: &[RowBlock<'_>; N],
) -> [[I::Narrow; 4]; N] {
    let zero = I::Narrow::splat(isa, 0);
    let mut rows = [[zero; 4]; N];
    let mut messages = inputs.map(|input| isa.load_message(input.block));
    for n in 0..N {
        let RowBlock {
            counter,
            block_len,
            flags,
            ..
        } = inputs[n];
        let last = [counter as u32, (counter >> 32) as u32, block_len, flags];
        rows[n] = [
            chain[n][0],
            chain[n][1],
            I::Narrow::splat_quad(isa, [IV[0], IV[1], IV[2], IV[3]]),
            I::Narrow::splat_quad(isa, last),
        ];
    }
    row_round::<I, 0, N>(isa, &mut rows, &mut messages);
    row_round::<I, 1, N>(isa, &mut rows, &mut messages);
    row_round::<I, 2, N>(isa, &mut rows, &mut messages);
    row_round::<I, 3, N>(isa, &mut rows, &mut messages);
    row_round::<I, 4, N>(isa, &mut rows, &mut messages);
    row_round::<I, 5, N>(isa, &mut rows, &mut messages);
    row_round::<I, 6, N>(isa, &mut rows, &mut messages);
    rows
}

#[inline(always)]
fn row_round<I: Isa, const ROUND: usize, const N: usize>(
    isa: I,
    rows: &mut [[I::Narrow; 4]; N],
    messages: &mut [I::Message; N],
) {
    for (rows, message) in rows.iter_mut().zip(messages) {
        let [mut a, mut b, mut c, mut d] = *rows;
        let (x, y) = (isa.pick::<ROUND, 0>(message), isa.pick::<ROUND, 1>(message));
        [a, b, c, d] = mix([a, b, c, d], x, y);
        // Row b is the last to be ready, so the others turn around it.
        (a, c, d) = (
            a.rotate_quads::<3>(),
            c.rotate_quads::<1>(),
            d.rotate_quads::<2>(),
        );
        let (x, y) = (isa.pick::<ROUND, 2>(message), isa.pick::<ROUND, 3>(message));
        [a, b, c, d] = mix([a, b, c, d], x, y);
        (a, c, d) = (
            a.rotate_quads::<1>(),
            c.rotate_quads::<3>(),
            d.rotate_quads::<2>(),
        );
        *rows = [a, b, c, d];
    }
}

/// Half a round on rows, or on columns or diagonals of lanes, with the words of the message that it
/// takes first and second.
#[inline(always)]
pub(crate) fn mix<V: Vector>([mut a, mut b, mut c, mut d]: [V; 4], x: V, y: V) -> [V; 4] {
    a = a.add(x).add(b);
    d = d.xor(a).rotate_right::<16, 16>();
    c = c.add(d);
    b = b.xor(c).rotate_right::<12, 20>();
    a = a.add(y).add(b);
    d = d.xor(a).rotate_right::<8, 24>();
    c = c.add(d);
    b = b.xor(c).rotate_right::<7, 25>();
    [a, b, c, d]
}

/// The compression function on rows: replaces the chaining values.
#[inline(always)]
pub(crate) fn compress_rows<I: Isa, const N: usize>(
    isa: I,
    chain: &mut [[I::Narrow; 2]; N],
    inputs: &[RowBlock<'_>; N],
) {
    let rows = permute_rows(isa, chain, inputs);
    for (chain, [a, b, c, d]) in chain.iter_mut().zip(rows) {
        *chain = [a.xor(c), b.xor(d)];
    }
}

/// A key or chaining value as two rows.
#[inline(always)]
pub(crate) fn load_chain<I: Isa>(isa: I, chain: &Chain) -> [I::Narrow; 2] {
    [
        I::Narrow::load(isa, &chain[..4]),
        I::Narrow::load(isa, &chain[4..]),
    ]
}

/// Two rows as a node.
#[inline(always)]
pub(crate) fn store_chain<I: Isa>([low, high]: [I::Narrow; 2]) -> Node {
    let mut node = [0; 32];
    low.store_bytes(&mut node);
    high.store_bytes(&mut node[16..]);
    node
}

/// The keys of one message. Its two compressions have nothing to wait for but each other, so they
/// run side by side.
#[inline(always)]
pub(crate) fn derive_message_keys<I: Isa>(
    isa: I,
    key: &[u8; 32],
    nonce: &[u8; NONCE_SIZE],
) -> MessageKeys {
    let mut block = [0; BLOCK_SIZE];
    block[..NONCE_SIZE].copy_from_slice(nonce);
    let chain = [
        I::Narrow::load_bytes(isa, key),
        I::Narrow::load_bytes(isa, &key[16..]),
    ];
    let input = |counter| RowBlock {
        block: &block,
        counter,
        block_len: NONCE_SIZE as u32,
        flags: NONCE_FLAGS,
    };
    let [first, second] = permute_rows(isa, &[chain, chain], &[input(0), input(1)]);
    let mut keys = MessageKeys::zeroed();
    first[0].xor(first[2]).store(&mut keys.encryption);
    first[1].xor(first[3]).store(&mut keys.encryption[4..]);
    first[2].xor(chain[0]).store(&mut keys.authentication);
    first[3].xor(chain[1]).store(&mut keys.authentication[4..]);
    let mut last = [0; 4];
    second[0].xor(second[2]).store(&mut last);
    keys.nonce = [last[0], last[1]];
    keys
}

/// Writes the chaining value of each lane.
#[inline(always)]
pub(crate) fn store_nodes<V: Vector>(chain: &[V; 8], nodes: &mut [Node; MAX_LANES]) {
    let [h0, h1, h2, h3, h4, h5, h6, h7] = *chain;
    // Lanes 0, 4, .. of a quad in the first, lanes 1, 5, .. in the next, and so on.
    let [a0, a1, a2, a3] = V::transpose_quads([h0, h1, h2, h3]);
    let [b0, b1, b2, b3] = V::transpose_quads([h4, h5, h6, h7]);
    let bytes = nodes.as_flattened_mut();
    for (pair, rows) in [[a0, b0, a1, b1], [a2, b2, a3, b3]].into_iter().enumerate() {
        for (index, part) in V::rows_to_blocks(rows).into_iter().enumerate() {
            let row = index * V::LANES / 4;
            let at = row / 4 * 4 * TAG_SIZE + pair * 2 * TAG_SIZE + row % 4 * 16;
            part.store_bytes(&mut bytes[at..]);
        }
    }
}

/// Hashes the leaves in `chunks`, one a lane, the first being leaf number `first`.
///
/// All are full but the last, of which `last_len` bytes count; the rest of it is zero.
#[inline(always)]
pub(crate) fn hash_chunks<V: Vector>(
    isa: V::Isa,
    key: &Chain,
    chunks: &[&[u8; CHUNK_SIZE]],
    first: u64,
    last_len: usize,
    nodes: &mut [Node; MAX_LANES],
) {
    let last_lane = chunks.len() - 1;
    let last_block = last_len.div_ceil(BLOCK_SIZE) - 1;
    let mut low = [0; MAX_LANES];
    let mut high = [0; MAX_LANES];
    for lane in 0..V::LANES {
        low[lane] = (first + lane as u64) as u32;
        high[lane] = ((first + lane as u64) >> 32) as u32;
    }
    let counter = [V::load(isa, &low), V::load(isa, &high)];
    // What the last lane needs in its last block, and after it.
    let mut block_lengths = [BLOCK_SIZE as u32; MAX_LANES];
    block_lengths[last_lane] = (last_len - last_block * BLOCK_SIZE) as u32;
    let mut only_last = [0; MAX_LANES];
    only_last[last_lane] = u32::MAX;
    let (block_lengths, only_last) = (V::load(isa, &block_lengths), V::load(isa, &only_last));

    let mut chain = splat_words::<V>(isa, key);
    for index in 0..CHUNK_BLOCKS {
        let blocks: [&[u8; BLOCK_SIZE]; MAX_LANES] =
            core::array::from_fn(|lane| &chunks[lane.min(last_lane)].as_chunks().0[index]);
        let message = gather_blocks::<V>(isa, &blocks);
        let mut flags = KEYED_HASH;
        if index == 0 {
            flags |= CHUNK_START;
        }
        if index == CHUNK_BLOCKS - 1 {
            flags |= CHUNK_END;
        }
        let block_len = V::splat(isa, BLOCK_SIZE as u32);
        let mut parameters = LaneParameters {
            counter,
            block_len,
            flags: V::splat(isa, flags),
        };
        if index == last_block {
            let last_flags = V::splat(isa, flags | CHUNK_END);
            parameters.flags = last_flags.select(only_last, parameters.flags);
            parameters.block_len = block_lengths;
        }
        let before = chain;
        compress_lanes(isa, &mut chain, &message, parameters, None);
        if index > last_block {
            for i in 0..8 {
                chain[i] = before[i].select(only_last, chain[i]);
            }
        }
    }
    store_nodes(&chain, nodes);
}

/// Hashes pairs of nodes to their parents, one a lane.
#[inline(always)]
pub(crate) fn hash_parents<V: Vector>(
    isa: V::Isa,
    key: &Chain,
    pairs: &[[Node; 2]],
    parents: &mut [Node; MAX_LANES],
) {
    let last_lane = pairs.len() - 1;
    let blocks = core::array::from_fn(|lane| parent_block(&pairs[lane.min(last_lane)]));
    let message = gather_blocks::<V>(isa, &blocks);
    let zero = V::splat(isa, 0);
    let parameters = LaneParameters {
        counter: [zero, zero],
        block_len: V::splat(isa, BLOCK_SIZE as u32),
        flags: V::splat(isa, KEYED_HASH | PARENT),
    };
    let mut chain = splat_words::<V>(isa, key);
    compress_lanes(isa, &mut chain, &message, parameters, None);
    store_nodes(&chain, parents);
}

/// Two neighbours as the block of their parent.
#[inline]
pub(crate) fn parent_block(pair: &[Node; 2]) -> &[u8; BLOCK_SIZE] {
    const EMPTY: &[u8; BLOCK_SIZE] = &[0; BLOCK_SIZE];
    pair.as_flattened().first_chunk().unwrap_or(EMPTY)
}
