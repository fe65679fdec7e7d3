//! The tag of one message: BLAKE3's tree over the virtual concatenation, with leaves read where
//! they lie.
//!
//! The associated data and its length in front of the ciphertext shift every leaf by a few bytes
//! against the ciphertext, and that is all they do: a leaf inside the ciphertext is read from there,
//! and only those on its edges are put together in a buffer.

use super::blake3::{
    CHUNK_BLOCKS, RowBlock, compress_rows, derive_message_keys, hash_chunks, hash_parents,
    load_chain, parent_block, store_chain,
};
use super::chacha20::xor_keystream;
use super::framing::Framing;
use super::isa::{Isa, QUADS, TEXT_SIZE};
use super::source::Source;
use crate::back_end::BackEnd;
use crate::keys::MessageKeys;
use crate::mac_input::MacInput;
use crate::portable::blake3::{
    BLOCK_SIZE, CHUNK_END, CHUNK_SIZE, CHUNK_START, Chain, KEYED_HASH, Node, PARENT, ROOT,
    left_subtree_len,
};
use crate::{KEY_SIZE, NONCE_SIZE};
use sealwire_simd::vector::{MAX_LANES, Vector};

/// The tree's recursion, which cannot be inlined into itself.
pub(crate) trait Subtree: Isa + BackEnd {
    /// [`subtree`] as a function of its own.
    fn subtree(
        self,
        key: &Chain,
        source: &mut Source<'_>,
        start: usize,
        len: usize,
        nodes: &mut [Node; MAX_LANES],
    ) -> usize;
}

/// Derives a message's keys, encrypts it, and returns its tag.
#[inline(always)]
pub(crate) fn seal_one<I: Subtree>(
    isa: I,
    key: &[u8; KEY_SIZE],
    nonce: &[u8; NONCE_SIZE],
    aad: &[u8],
    buffer: &mut [u8],
) -> Node {
    let keys = derive_message_keys(isa, key, nonce);
    if MacInput::new(aad, buffer).len() > CHUNK_SIZE {
        return isa.seal(&keys, 0, aad, buffer);
    }
    // Short messages stay in this function: every call costs them a few per cent.
    xor_keystream(isa, &keys, 0, buffer);
    single_chunk(isa, &keys.authentication, &MacInput::new(aad, buffer))
}

/// Encrypts a message with the keystream from block `counter` on and returns its tag.
#[inline(always)]
pub(crate) fn seal<I: Subtree>(
    isa: I,
    keys: &MessageKeys,
    counter: u64,
    aad: &[u8],
    buffer: &mut [u8],
) -> Node {
    if MacInput::new(aad, buffer).len() <= CHUNK_SIZE {
        isa.xor_keystream(keys, counter, buffer);
        return isa.mac(&keys.authentication, &MacInput::new(aad, buffer));
    }
    if let Some(tag) = seal_four_chunks(isa, keys, counter, aad, buffer) {
        return tag;
    }
    let mut source = Source::sealing(aad, buffer, keys, counter);
    root(isa, &keys.authentication, &mut source)
}

/// [`seal`] for messages of four chunks and a short one, where encrypting and hashing can be done
/// side by side.
#[inline(always)]
fn seal_four_chunks<I: Subtree>(
    isa: I,
    keys: &MessageKeys,
    counter: u64,
    aad: &[u8],
    buffer: &mut [u8],
) -> Option<Node> {
    let len = MacInput::new(aad, buffer).len();
    if len > QUADS * CHUNK_SIZE + CHUNK_SIZE / 2 || !Framing::fits(aad) {
        return None;
    }
    let (text, rest) = buffer.split_first_chunk_mut()?;
    let four = isa.seal_four_chunks(keys, counter, &Framing::header(isa, aad), text)?;
    let text_blocks = (TEXT_SIZE / BLOCK_SIZE) as u64;
    isa.xor_keystream(keys, counter.wrapping_add(text_blocks), rest);
    let input = MacInput::new(aad, buffer);
    let start = QUADS * CHUNK_SIZE;
    let last = chunk(isa, &keys.authentication, &input, start, len - start, 0);
    let mut level = [[0; 32]; QUADS + 1];
    level[..QUADS].copy_from_slice(&four);
    level[QUADS] = last;
    Some(fold(isa, &keys.authentication, &level, ROOT))
}

/// Keyed BLAKE3 over `input`.
#[inline(always)]
pub(crate) fn mac<I: Subtree>(isa: I, key: &Chain, input: &MacInput<'_>) -> Node {
    if input.len() <= CHUNK_SIZE {
        return single_chunk(isa, key, input);
    }
    root(isa, key, &mut Source::Ciphertext(*input))
}

/// Node over `len` bytes of `input` from `start`, a chunk boundary; not the root.
#[inline(always)]
pub(crate) fn node<I: Subtree>(
    isa: I,
    key: &Chain,
    input: &MacInput<'_>,
    start: usize,
    len: usize,
) -> Node {
    let mut level = [[0; 32]; MAX_LANES];
    let count = isa.subtree(key, &mut Source::Ciphertext(*input), start, len, &mut level);
    if count == 1 {
        return level[0];
    }
    fold(isa, key, &level[..count], 0)
}

/// Hashes a tree of two chunks or more.
#[inline(always)]
fn root<I: Subtree>(isa: I, key: &Chain, source: &mut Source<'_>) -> Node {
    let mut level = [[0; 32]; MAX_LANES];
    let len = source.len();
    let count = isa.subtree(key, source, 0, len, &mut level);
    fold(isa, key, &level[..count], ROOT)
}

/// Hashes one level of two to `Wide::LANES` nodes to the one above all, with the flag `root`.
#[inline(always)]
fn fold<I: Subtree>(isa: I, key: &Chain, nodes: &[Node], root: u32) -> Node {
    let mut level = [[0; 32]; MAX_LANES];
    let mut count = nodes.len();
    level[..count].copy_from_slice(nodes);
    while count > 2 {
        let mut above = [[0; 32]; MAX_LANES];
        count = parents(isa, key, &level[..count], &mut above);
        level = above;
    }
    parent(isa, key, &[level[0], level[1]], root)
}

/// Hashes `len` bytes from `start`, a chunk boundary, down to at most `Wide::LANES` nodes.
///
/// The nodes are those of one level, so that every level above is hashed with full lanes too.
/// Returns how many they are.
#[inline(always)]
pub(crate) fn subtree<I: Subtree>(
    isa: I,
    key: &Chain,
    source: &mut Source<'_>,
    start: usize,
    len: usize,
    nodes: &mut [Node; MAX_LANES],
) -> usize {
    if len <= I::Wide::LANES * CHUNK_SIZE {
        let input = source.up_to(isa, start + len);
        return leaves(isa, key, &input, start, len, nodes);
    }
    let left_len = left_subtree_len(len);
    let mut below = [[0; 32]; 2 * MAX_LANES];
    let mut half = [[0; 32]; MAX_LANES];
    let left = isa.subtree(key, source, start, left_len, &mut half);
    below[..left].copy_from_slice(&half[..left]);
    let right = isa.subtree(key, source, start + left_len, len - left_len, &mut half);
    below[left..left + right].copy_from_slice(&half[..right]);
    parents(isa, key, &below[..left + right], nodes)
}

/// Hashes at most `Wide::LANES` chunks.
#[inline(always)]
fn leaves<I: Isa>(
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
        *node = chunk(
            isa,
            key,
            input,
            start + done,
            (len - done).min(CHUNK_SIZE),
            0,
        );
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
        let mut framing = Framing::EMPTY;
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

#[inline(always)]
const fn can_be_framed(input: &MacInput<'_>) -> bool {
    input.is_whole() && Framing::fits(input.aad())
}

/// Hashes one level of at most `2 * Wide::LANES` nodes to the level above and returns its size. A
/// node without a neighbour moves up as it is.
#[inline(always)]
fn parents<I: Isa>(isa: I, key: &Chain, nodes: &[Node], above: &mut [Node; MAX_LANES]) -> usize {
    let (pairs, single) = nodes.as_chunks::<2>();
    match pairs.len() {
        0 => {}
        1 => above[0] = parent(isa, key, &pairs[0], 0),
        2 => [above[0], above[1]] = two_parents(isa, key, [&pairs[0], &pairs[1]]),
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

#[inline(always)]
fn two_parents<I: Isa>(isa: I, key: &Chain, pairs: [&[Node; 2]; 2]) -> [Node; 2] {
    let key = load_chain(isa, key);
    let mut chains = [key, key];
    let inputs = pairs.map(|pair| RowBlock {
        block: parent_block(pair),
        counter: 0,
        block_len: BLOCK_SIZE as u32,
        flags: KEYED_HASH | PARENT,
    });
    compress_rows(isa, &mut chains, &inputs);
    chains.map(store_chain::<I>)
}

#[inline(always)]
fn parent<I: Isa>(isa: I, key: &Chain, pair: &[Node; 2], root: u32) -> Node {
    let mut chain = [load_chain(isa, key)];
    let input = RowBlock {
        block: parent_block(pair),
        counter: 0,
        block_len: BLOCK_SIZE as u32,
        flags: KEYED_HASH | PARENT | root,
    };
    compress_rows(isa, &mut chain, &[input]);
    store_chain::<I>(chain[0])
}

/// Hashes an input that is one chunk.
#[inline(always)]
fn single_chunk<I: Isa>(isa: I, key: &Chain, input: &MacInput<'_>) -> Node {
    chunk(isa, key, input, 0, input.len(), ROOT)
}

/// Hashes one chunk, block after block.
#[inline(always)]
fn chunk<I: Isa>(
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
        let mut framing = Framing::EMPTY;
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
