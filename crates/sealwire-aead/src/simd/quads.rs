//! Four chunks in rows, one in each quad of a vector of sixteen words.
//!
//! Lanes give a block of each of sixteen chunks in the time in which rows give four: for as few as
//! four chunks rows are quicker. They pay only where message words can be picked from two vectors
//! at once, which takes AVX-512.

use super::blake3::mix;
use super::chacha20::{LaneBlocks, state_at};
use super::framing::{Header, MacBlocks};
use super::isa::{Isa, QUADS};
use super::kernels::Kernels;
use super::shape::CHUNK_BLOCKS;
use crate::keys::MessageKeys;
use crate::mac_input::MacInput;
use crate::node::{CHUNK_SIZE, Chain, Node, ROOT};
use crate::portable::blake3::{BLOCK_SIZE, CHUNK_END, CHUNK_START, IV, KEYED_HASH};
use sealwire_simd::blocks::Turning;
use sealwire_simd::vector::{MAX_LANES, Vector};

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

/// The front of a message that fills its first four chunks but for what stands before the text.
const TEXT_SIZE: usize = QUADS * CHUNK_SIZE;
/// Groups of sixteen keystream blocks in the text of four chunks.
const GROUPS: usize = QUADS * CHUNK_BLOCKS / MAX_LANES;

/// Work that is done beside hashing: a chain of compressions waits for itself and leaves half of
/// the units idle.
trait Beside {
    /// A step after every odd round.
    fn odd(&mut self);
    /// A step after every even round.
    fn even(&mut self);
}

/// Hashing alone.
struct Nothing;

impl Beside for Nothing {
    #[inline]
    fn odd(&mut self) {}
    #[inline]
    fn even(&mut self) {}
}

/// A keystream block in each of sixteen lanes: a round is a step.
impl<V: Vector> Beside for LaneBlocks<V> {
    #[inline(always)]
    fn odd(&mut self) {
        self.column_round();
    }
    #[inline(always)]
    fn even(&mut self) {
        self.diagonal_round();
    }
}

/// Four full chunks on their way through the compression function.
struct FourChunks<I: PickQuads> {
    chains: [I::Wide; 2],
    /// The last row of the first block, of those between and of the last block.
    last_rows: [I::Wide; 3],
    places: I::Places,
}

impl<I: PickQuads> FourChunks<I> {
    /// Chunks of which the first is leaf number `first`.
    #[inline(always)]
    fn new(isa: I, key: &Chain, first: u64) -> Self {
        let [k0, k1, k2, k3, k4, k5, k6, k7] = *key;
        // Made once: what is put together word by word is not ready for a vector at once.
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
        Self {
            chains: [
                I::Wide::splat_quad(isa, [k0, k1, k2, k3]),
                I::Wide::splat_quad(isa, [k4, k5, k6, k7]),
            ],
            last_rows: [last_row(CHUNK_START), last_row(0), last_row(CHUNK_END)],
            places: isa.places(),
        }
    }

    /// Compresses block `index` of each chunk, and works three steps of each kind on `beside`.
    #[inline(always)]
    fn compress(
        &mut self,
        isa: I,
        index: usize,
        blocks: [&[u8; BLOCK_SIZE]; QUADS],
        beside: &mut impl Beside,
    ) {
        let mut message = isa.load_quads(&self.places, blocks);
        let [start, middle, end] = self.last_rows;
        let mut rows = (
            self.chains[0],
            self.chains[1],
            I::Wide::splat_quad(isa, [IV[0], IV[1], IV[2], IV[3]]),
            match index {
                0 => start,
                _ if index == CHUNK_BLOCKS - 1 => end,
                _ => middle,
            },
        );
        for _ in 0..3 {
            rows = round::<I>(rows, &message);
            beside.odd();
            message = isa.next_quads(&self.places, message);
            rows = round::<I>(rows, &message);
            beside.even();
            message = isa.next_quads(&self.places, message);
        }
        rows = round::<I>(rows, &message);
        self.chains = [rows.0.xor(rows.2), rows.1.xor(rows.3)];
    }

    #[inline(always)]
    fn nodes(&self) -> [Node; QUADS] {
        let mut halves = [[0; 64]; 2];
        for (half, chains) in halves.iter_mut().zip(self.chains) {
            chains.store_bytes(half);
        }
        let mut nodes = [[0; 32]; QUADS];
        for (quad, node) in nodes.iter_mut().enumerate() {
            node[..16].copy_from_slice(&halves[0][quad * 16..][..16]);
            node[16..].copy_from_slice(&halves[1][quad * 16..][..16]);
        }
        nodes
    }
}

/// A group of keystream blocks for the text of four chunks: four successive ones of each chunk.
struct Group<V> {
    blocks: LaneBlocks<V>,
    number: usize,
}

impl<V: Vector> Group<V> {
    #[inline(always)]
    fn new(isa: V::Isa, keys: &MessageKeys, counter: u64, number: usize) -> Self {
        let counters =
            core::array::from_fn(|lane| counter.wrapping_add(text_block(number, lane) as u64));
        Self {
            blocks: LaneBlocks::new(state_at(isa, keys, &counters)),
            number,
        }
    }

    /// XORs the finished blocks into the text.
    #[inline(always)]
    fn encrypt(self, isa: V::Isa, text: &mut [u8; TEXT_SIZE]) {
        let turned = Turning::turned(self.blocks.finish());
        for i in 0..4 {
            for (lane, at, key_bytes) in turned.finish(i) {
                let at = text_block(self.number, lane) * BLOCK_SIZE + at;
                let bytes = &mut text[at..][..V::LANES * 4];
                V::load_bytes(isa, bytes).xor(key_bytes).store_bytes(bytes);
            }
        }
    }
}

/// The block of the text in a lane of a group. The first group begins with the last block of the
/// chunk before: before the first chunk, with that of the last.
const fn text_block(group: usize, lane: usize) -> usize {
    const BLOCKS: usize = QUADS * CHUNK_BLOCKS;
    (lane / 4 * CHUNK_BLOCKS + group * 4 + lane % 4 + BLOCKS - 1) % BLOCKS
}

/// Block `index` of each of the first four chunks of a header and a text.
#[inline]
fn blocks_at<'a>(
    first: &'a [u8; BLOCK_SIZE],
    header_len: usize,
    text: &'a [u8; TEXT_SIZE],
    index: usize,
) -> [&'a [u8; BLOCK_SIZE]; QUADS] {
    core::array::from_fn(|quad| {
        let start = (quad * CHUNK_BLOCKS + index) * BLOCK_SIZE;
        let from = start.checked_sub(header_len).filter(|_| start > 0);
        from.and_then(|at| text[at..].first_chunk())
            .unwrap_or(first)
    })
}

/// Hashes four full chunks, the first being leaf number `first`. `block` gives the block of a quad
/// at an index.
#[inline(always)]
pub(crate) fn hash_four_chunks<'a, I: PickQuads>(
    isa: I,
    key: &Chain,
    block: impl Fn(usize, usize) -> &'a [u8; BLOCK_SIZE],
    first: u64,
) -> [Node; QUADS] {
    let mut chunks = FourChunks::new(isa, key, first);
    for index in 0..CHUNK_BLOCKS {
        let blocks = core::array::from_fn(|quad| block(quad, index));
        chunks.compress(isa, index, blocks, &mut Nothing);
    }
    chunks.nodes()
}

/// Seals a message of four chunks and a short one; leaves others alone.
#[inline(always)]
pub(crate) fn seal_message<I: Kernels + PickQuads>(
    isa: I,
    keys: &MessageKeys,
    counter: u64,
    aad: &[u8],
    buffer: &mut [u8],
) -> Option<Node> {
    let len = MacInput::new(aad, buffer).len();
    if len > QUADS * CHUNK_SIZE + CHUNK_SIZE / 2 || !MacBlocks::fits(aad) {
        return None;
    }
    let (text, rest) = buffer.split_first_chunk_mut()?;
    let four = seal_four_chunks(isa, keys, counter, &MacBlocks::header(isa, aad), text);
    let text_blocks = (TEXT_SIZE / BLOCK_SIZE) as u64;
    isa.xor_text(keys, counter.wrapping_add(text_blocks), rest);
    let input = MacInput::new(aad, buffer);
    let start = QUADS * CHUNK_SIZE;
    let last = isa.chunk(&keys.authentication, &input, start, len - start, 0);
    let mut level = [[0; 32]; QUADS + 1];
    level[..QUADS].copy_from_slice(&four);
    level[QUADS] = last;
    let mut above = [[0; 32]; MAX_LANES];
    isa.fold(&keys.authentication, &level, 1, ROOT, &mut above);
    Some(above[0])
}

/// Encrypts `text` with the keystream from block `counter` on and hashes the first four chunks of
/// `header || text`. The header has at most a block; behind it there is room for the rest of that.
///
/// Three compressions of each chunk and sixteen blocks of keystream take turns, round by round. The
/// blocks that a chunk needs first are made first: each group has four successive ones of each
/// chunk, counted from the last of the chunk before, which the header pushes into this one.
#[inline(always)]
fn seal_four_chunks<I: PickQuads>(
    isa: I,
    keys: &MessageKeys,
    counter: u64,
    header: &Header,
    text: &mut [u8; TEXT_SIZE],
) -> [Node; QUADS] {
    let mut chunks = FourChunks::new(isa, &keys.authentication, 0);
    let mut group = Group::<I::Wide>::new(isa, keys, counter, 0);
    for _ in 0..10 {
        group.blocks.double_round();
    }
    group.encrypt(isa, text);
    let mut first_block = header.block;
    let room = BLOCK_SIZE - header.len;
    first_block[header.len..].copy_from_slice(&text[..room]);

    let mut index = 0;
    for number in 1..GROUPS {
        let mut group = Group::<I::Wide>::new(isa, keys, counter, number);
        for _ in 0..3 {
            let blocks = blocks_at(&first_block, header.len, text, index);
            chunks.compress(isa, index, blocks, &mut group.blocks);
            index += 1;
        }
        group.blocks.double_round();
        group.encrypt(isa, text);
        // Three blocks of each chunk could be read after the first group, four more after each.
        if number > 1 {
            let blocks = blocks_at(&first_block, header.len, text, index);
            chunks.compress(isa, index, blocks, &mut Nothing);
            index += 1;
        }
    }
    while index < CHUNK_BLOCKS {
        let blocks = blocks_at(&first_block, header.len, text, index);
        chunks.compress(isa, index, blocks, &mut Nothing);
        index += 1;
    }
    chunks.nodes()
}

#[inline(always)]
fn round<I: PickQuads>(
    (a, b, c, d): (I::Wide, I::Wide, I::Wide, I::Wide),
    [w, x, y, z]: &[I::Wide; 4],
) -> (I::Wide, I::Wide, I::Wide, I::Wide) {
    let [a, b, c, d] = mix([a, b, c, d], *w, *x);
    let (a, c, d) = (
        a.rotate_quads::<3>(),
        c.rotate_quads::<1>(),
        d.rotate_quads::<2>(),
    );
    let [a, b, c, d] = mix([a, b, c, d], *y, *z);
    (
        a.rotate_quads::<1>(),
        b,
        c.rotate_quads::<3>(),
        d.rotate_quads::<2>(),
    )
}
