//! What a tree is made of: leaves, read where they lie, and parents.
//!
//! The associated data and its length in front of the ciphertext shift every leaf by a few bytes
//! against the ciphertext, and that is all they do: a leaf inside the ciphertext is read from there,
//! and only those on its edges are put together in a buffer.

use super::blake3::{
    RowBlock, compress_rows, derive_message_keys, hash_chunks, hash_parents, load_chain,
    parent_block, store_chain,
};
use super::chacha20::xor_few;
use super::framing::MacBlocks;
use super::isa::{Isa, QUADS};
use super::kernels::Kernels;
use super::shape::CHUNK_BLOCKS;
use crate::mac_input::MacInput;
use crate::node::{CHUNK_SIZE, Chain, Node, ROOT};
use crate::portable::blake3::{BLOCK_SIZE, CHUNK_END, CHUNK_START, KEYED_HASH, PARENT};
use crate::{KEY_SIZE, NONCE_SIZE};
use sealwire_simd::vector::{MAX_LANES, Vector};

/// Derives the keys of a message that is one chunk, encrypts it, and returns its tag: all in one
/// function, as every call costs a short message a few per cent.
#[inline(always)]
pub(crate) fn seal_short<I: Kernels>(
    isa: I,
    key: &[u8; KEY_SIZE],
    nonce: &[u8; NONCE_SIZE],
    aad: &[u8],
    buffer: &mut [u8],
) -> Node {
    let keys = derive_message_keys(isa, key, nonce);
    if buffer.len() < I::Wide::LANES * BLOCK_SIZE {
        xor_few(isa, &keys, 0, buffer);
    } else {
        isa.xor_text(&keys, 0, buffer);
    }
    let input = MacInput::new(aad, buffer);
    chunk(isa, &keys.authentication, &input, 0, input.len(), ROOT)
}

/// Hashes at most `Wide::LANES` chunks.
#[inline(always)]
pub(crate) fn leaves<I: Isa>(
    isa: I,
    key: &Chain,
    input: &MacInput<'_>,
    start: usize,
    len: usize,
    nodes: &mut [Node; MAX_LANES],
) -> usize {
    let count = len.div_ceil(CHUNK_SIZE);
    let last_len = len - (count - 1) * CHUNK_SIZE;
    let short_last = last_len <= CHUNK_SIZE / 2;
    // A short last chunk is cheaper alone than as a reason for lanes, or for wider ones.
    let in_lanes = match count {
        1 => 0,
        2 if short_last => 0,
        _ if short_last && (count == QUADS + 1 || count == I::Middle::LANES + 1) => count - 1,
        _ => count,
    };
    // First, because lanes write a node each, also those that are left over.
    if in_lanes > 0 {
        let last_len = (len - (in_lanes - 1) * CHUNK_SIZE).min(CHUNK_SIZE);
        lanes_of_leaves(isa, key, input, start, in_lanes, last_len, nodes);
    }
    for (index, node) in nodes[..count].iter_mut().enumerate().skip(in_lanes) {
        let done = index * CHUNK_SIZE;
        let len = (len - done).min(CHUNK_SIZE);
        *node = chunk(isa, key, input, start + done, len, 0);
    }
    count
}

/// Hashes two or more chunks in lanes, the last of `last_len` bytes.
#[inline(always)]
fn lanes_of_leaves<I: Isa>(
    isa: I,
    key: &Chain,
    input: &MacInput<'_>,
    start: usize,
    count: usize,
    last_len: usize,
    nodes: &mut [Node; MAX_LANES],
) {
    let first = input.chunk_number(start);
    if count == QUADS && last_len == CHUNK_SIZE && can_be_framed(input) {
        let mut framing = MacBlocks::EMPTY;
        framing.fill(isa, input.aad(), input.ciphertext());
        let first_block = start / BLOCK_SIZE;
        let block = |quad: usize, index: usize| {
            framing.block(
                input.ciphertext(),
                first_block + quad * CHUNK_BLOCKS + index,
            )
        };
        if let Some(four) = isa.hash_four_chunks(key, block, first) {
            nodes[..QUADS].copy_from_slice(&four);
            return;
        }
    }
    // At most two chunks touch the edge behind the associated data, and two the end.
    let mut edges = [[0; CHUNK_SIZE]; 4];
    let mut edge_count = 0;
    for index in 0..count {
        let offset = start + index * CHUNK_SIZE;
        if input.contiguous::<CHUNK_SIZE>(offset).is_none() {
            let valid = if index == count - 1 {
                last_len
            } else {
                CHUNK_SIZE
            };
            input.read(offset, &mut edges[edge_count][..valid]);
            edge_count += 1;
        }
    }
    let mut chunks = [&edges[0]; MAX_LANES];
    let mut edges = edges.iter();
    for (index, chunk) in chunks[..count].iter_mut().enumerate() {
        if let Some(bytes) = input
            .contiguous(start + index * CHUNK_SIZE)
            .or_else(|| edges.next())
        {
            *chunk = bytes;
        }
    }

    if count <= I::Middle::LANES {
        hash_chunks::<I::Middle>(isa, key, &chunks[..count], first, last_len, nodes);
    } else {
        hash_chunks::<I::Wide>(isa, key, &chunks[..count], first, last_len, nodes);
    }
}

#[inline]
const fn can_be_framed(input: &MacInput<'_>) -> bool {
    input.is_whole() && MacBlocks::fits(input.aad())
}

/// Hashes `nodes`, at most `2 * Wide::LANES`, level by level until no more than `most` are left, and
/// returns how many those are. A pair that is left alone is hashed with the flag `root`.
#[inline(always)]
pub(crate) fn fold<I: Isa>(
    isa: I,
    key: &Chain,
    nodes: &[Node],
    most: usize,
    root: u32,
    above: &mut [Node; MAX_LANES],
) -> usize {
    // Levels change places: what was just written is slow to copy.
    let mut levels = [[[0; 32]; MAX_LANES]; 2];
    let [mut here, mut there] = levels.each_mut();
    let mut below = nodes;
    loop {
        let flags = if below.len() == 2 { root } else { 0 };
        let count = parents(isa, key, below, here, flags);
        if count <= most {
            above[..count].copy_from_slice(&here[..count]);
            return count;
        }
        core::mem::swap(&mut here, &mut there);
        below = &there[..count];
    }
}

/// Hashes one level of at most `2 * Wide::LANES` nodes to the level above and returns its size. A
/// node without a neighbour moves up as it is. A single pair is hashed with the flags `root`.
#[inline(always)]
fn parents<I: Isa>(
    isa: I,
    key: &Chain,
    nodes: &[Node],
    above: &mut [Node; MAX_LANES],
    root: u32,
) -> usize {
    let (pairs, single) = nodes.as_chunks::<2>();
    match pairs.len() {
        0 => {}
        1 => [above[0]] = parents_in_rows(isa, key, [&pairs[0]], root),
        2 => [above[0], above[1]] = parents_in_rows(isa, key, [&pairs[0], &pairs[1]], 0),
        count if count <= I::Middle::LANES => hash_parents::<I::Middle>(isa, key, pairs, above),
        _ => hash_parents::<I::Wide>(isa, key, pairs, above),
    }
    let mut count = pairs.len();
    for node in single {
        above[count] = *node;
        count += 1;
    }
    count
}

/// The nodes above `N` pairs, with the flags `root`.
#[inline(always)]
fn parents_in_rows<I: Isa, const N: usize>(
    isa: I,
    key: &Chain,
    pairs: [&[Node; 2]; N],
    root: u32,
) -> [Node; N] {
    let mut chains = [load_chain(isa, key); N];
    let inputs = pairs.map(|pair| RowBlock {
        block: parent_block(pair),
        counter: 0,
        block_len: BLOCK_SIZE as u32,
        flags: KEYED_HASH | PARENT | root,
    });
    compress_rows(isa, &mut chains, &inputs);
    chains.map(store_chain::<I>)
}

/// Hashes one chunk, block after block.
#[inline(always)]
pub(crate) fn chunk<I: Isa>(
    isa: I,
    key: &Chain,
    input: &MacInput<'_>,
    start: usize,
    len: usize,
    root: u32,
) -> Node {
    let mut chain = [load_chain(isa, key)];
    let first = start / BLOCK_SIZE;
    let last = first + len.div_ceil(BLOCK_SIZE) - 1;
    let mut row_block = RowBlock {
        block: &[0; BLOCK_SIZE],
        counter: input.chunk_number(start),
        block_len: BLOCK_SIZE as u32,
        flags: KEYED_HASH | CHUNK_START,
    };
    let last_len = len - (last - first) * BLOCK_SIZE;
    if can_be_framed(input) {
        let mut framing = MacBlocks::EMPTY;
        framing.fill(isa, input.aad(), input.ciphertext());
        for index in first..=last {
            row_block.block = framing.block(input.ciphertext(), index);
            if index == last {
                row_block.flags |= CHUNK_END | root;
                row_block.block_len = last_len as u32;
            }
            compress_rows(isa, &mut chain, &[row_block]);
            row_block.flags = KEYED_HASH;
        }
        return store_chain::<I>(chain[0]);
    }
    let mut bytes = [0; CHUNK_SIZE];
    input.read(start, &mut bytes[..len]);
    for (index, block) in (first..=last).zip(bytes.as_chunks().0) {
        row_block.block = block;
        if index == last {
            row_block.flags |= CHUNK_END | root;
            row_block.block_len = last_len as u32;
        }
        compress_rows(isa, &mut chain, &[row_block]);
        row_block.flags = KEYED_HASH;
    }
    store_chain::<I>(chain[0])
}
