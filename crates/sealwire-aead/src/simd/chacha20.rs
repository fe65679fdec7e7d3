//! ChaCha20 over lanes, for many blocks, and over rows, for few.

use super::isa::Isa;
use crate::keys::MessageKeys;
use crate::portable::chacha20::{BLOCK_SIZE, CONSTANTS};
use sealwire_simd::blocks::{Blocks, Turning, scatter_blocks, splat_words};
use sealwire_simd::vector::{MAX_LANES, Vector};

/// XORs the keystream from block `counter` on into `data`.
#[inline(always)]
pub(crate) fn xor_keystream<I: Isa>(isa: I, keys: &MessageKeys, counter: u64, data: &mut [u8]) {
    let mut counter = counter;
    let mut rest = data;
    let grouped = rest.len() - rest.len() % (I::Wide::LANES * BLOCK_SIZE);
    if grouped > 0 {
        let (now, later) = rest.split_at_mut(grouped);
        xor_groups::<I::Wide>(isa, keys, counter, now);
        counter = counter.wrapping_add((grouped / BLOCK_SIZE) as u64);
        rest = later;
    }
    xor_few(isa, keys, counter, rest);
}

/// [`xor_keystream`] for less than a block a lane.
#[inline(always)]
pub(crate) fn xor_few<I: Isa>(isa: I, keys: &MessageKeys, counter: u64, data: &mut [u8]) {
    let mut counter = counter;
    let mut rest = data;
    // As many blocks as one vector of rows holds take less time in rows than in lanes.
    if rest.len() > I::Wide::LANES / 4 * BLOCK_SIZE {
        let mut keystream = Blocks::<MAX_LANES>::new();
        let count = keystream_blocks(isa, keys, counter, rest.len(), &mut keystream);
        let taken = rest.len().min(count * BLOCK_SIZE);
        let (now, later) = rest.split_at_mut(taken);
        xor_blocks(isa, now, &keystream);
        keystream.wipe::<I::Wide>(isa);
        counter = counter.wrapping_add(count as u64);
        rest = later;
    }
    while !rest.is_empty() {
        let taken = rest.len().min(I::Wide::LANES / 4 * BLOCK_SIZE);
        let (now, later) = rest.split_at_mut(taken);
        if taken <= BLOCK_SIZE {
            xor_rows::<I, I::Narrow>(isa, keys, counter, now);
        } else {
            xor_rows::<I, I::Wide>(isa, keys, counter, now);
        }
        counter = counter.wrapping_add((I::Wide::LANES / 4) as u64);
        rest = later;
    }
}

/// Writes the blocks from `counter` on, in the narrowest lanes that serve `wanted` bytes or, failing
/// that, the widest, and returns how many they are.
#[inline(always)]
pub(crate) fn keystream_blocks<I: Isa>(
    isa: I,
    keys: &MessageKeys,
    counter: u64,
    wanted: usize,
    keystream: &mut Blocks,
) -> usize {
    if wanted <= I::Middle::LANES * BLOCK_SIZE {
        let words = blocks(state_at::<I::Middle>(isa, keys, &counters_from(counter)));
        scatter_blocks(words, keystream);
        I::Middle::LANES
    } else {
        let words = blocks(state_at::<I::Wide>(isa, keys, &counters_from(counter)));
        scatter_blocks(words, keystream);
        I::Wide::LANES
    }
}

/// XORs successive keystream blocks into `data`.
#[inline(always)]
fn xor_blocks<I: Isa, const N: usize>(isa: I, data: &mut [u8], keystream: &Blocks<N>) {
    for (bytes, block) in data.chunks_mut(BLOCK_SIZE).zip(&keystream.0) {
        xor_block(isa, bytes, block);
    }
}

/// XORs one keystream block, or the front of it, into `bytes`.
#[inline(always)]
pub(crate) fn xor_block<I: Isa>(isa: I, bytes: &mut [u8], block: &[u8; BLOCK_SIZE]) {
    if bytes.len() < BLOCK_SIZE {
        return isa.xor_short(bytes, block);
    }
    let step = I::Wide::LANES * 4;
    for at in (0..BLOCK_SIZE).step_by(step) {
        let text = I::Wide::load_bytes(isa, &bytes[at..]);
        text.xor(I::Wide::load_bytes(isa, &block[at..]))
            .store_bytes(&mut bytes[at..]);
    }
}

/// XORs the keystream from block `counter` on into whole groups of a block a lane.
///
/// Turning words into blocks keeps one port busy and leaves the other idle, so the words of a group
/// are turned beside the rounds of the next one.
#[inline(always)]
fn xor_groups<V: Vector>(isa: V::Isa, keys: &MessageKeys, counter: u64, data: &mut [u8]) {
    let mut groups = data.chunks_exact_mut(V::LANES * BLOCK_SIZE);
    let Some(mut text) = groups.next() else {
        return;
    };
    let mut turning = Turning::new(blocks(state_at::<V>(isa, keys, &counters_from(counter))));
    let mut counter = counter;
    for next_text in groups {
        counter = counter.wrapping_add(V::LANES as u64);
        let mut next = LaneBlocks::new(state_at::<V>(isa, keys, &counters_from(counter)));
        next.double_round();
        turning.turn(0);
        next.double_round();
        turning.turn(1);
        next.double_round();
        turning.turn(2);
        next.double_round();
        turning.turn(3);
        next.double_round();
        xor_parts(isa, turning.finish(0), text);
        next.double_round();
        xor_parts(isa, turning.finish(1), text);
        next.double_round();
        xor_parts(isa, turning.finish(2), text);
        next.double_round();
        xor_parts(isa, turning.finish(3), text);
        next.double_round();
        next.double_round();
        turning = Turning::new(next.finish());
        text = next_text;
    }
    for four in 0..4 {
        turning.turn(four);
    }
    for i in 0..4 {
        xor_parts(isa, turning.finish(i), text);
    }
}

/// XORs parts of keystream blocks into `data`, which begins with the block of the first lane.
#[inline(always)]
fn xor_parts<V: Vector>(isa: V::Isa, parts: [(usize, usize, V); 4], data: &mut [u8]) {
    for (lane, at, key_bytes) in parts {
        let bytes = &mut data[lane * BLOCK_SIZE + at..][..V::LANES * 4];
        V::load_bytes(isa, bytes).xor(key_bytes).store_bytes(bytes);
    }
}

/// The counters of successive blocks, one a lane.
#[inline]
fn counters_from(counter: u64) -> [u64; MAX_LANES] {
    core::array::from_fn(|lane| counter.wrapping_add(lane as u64))
}

/// The input words of the blocks at `counters`, one block a lane.
#[inline(always)]
pub(crate) fn state_at<V: Vector>(
    isa: V::Isa,
    keys: &MessageKeys,
    counters: &[u64; MAX_LANES],
) -> [V; 16] {
    let key = splat_words(isa, &keys.encryption);
    let low = counters.map(|counter| counter as u32);
    let high = counters.map(|counter| (counter >> 32) as u32);
    let counter = [V::load(isa, &low), V::load(isa, &high)];
    let nonce = [V::splat(isa, keys.nonce[0]), V::splat(isa, keys.nonce[1])];
    lane_state(isa, &key, counter, nonce)
}

/// The input words of one block a lane, each lane with its own key, counter and nonce.
#[inline(always)]
pub(crate) fn lane_state<V: Vector>(
    isa: V::Isa,
    key: &[V; 8],
    counter: [V; 2],
    nonce: [V; 2],
) -> [V; 16] {
    let constant = CONSTANTS.map(|word| V::splat(isa, word));
    let [c0, c1, c2, c3] = constant;
    let [k0, k1, k2, k3, k4, k5, k6, k7] = *key;
    let ([t0, t1], [n0, n1]) = (counter, nonce);
    [
        c0, c1, c2, c3, k0, k1, k2, k3, k4, k5, k6, k7, t0, t1, n0, n1,
    ]
}

/// ChaCha20's block function on lanes.
#[inline(always)]
pub(crate) fn blocks<V: Vector>(input: [V; 16]) -> [V; 16] {
    let mut blocks = LaneBlocks::new(input);
    for _ in 0..10 {
        blocks.double_round();
    }
    blocks.finish()
}

/// Blocks on their way through the block function, one a lane.
pub(crate) struct LaneBlocks<V> {
    input: [V; 16],
    words: [V; 16],
}

impl<V: Vector> LaneBlocks<V> {
    #[inline]
    pub(crate) const fn new(input: [V; 16]) -> Self {
        Self {
            input,
            words: input,
        }
    }

    /// One of ten.
    #[inline(always)]
    pub(crate) fn double_round(&mut self) {
        self.column_round();
        self.diagonal_round();
    }

    #[inline(always)]
    pub(crate) fn column_round(&mut self) {
        let v = &mut self.words;
        [v[0], v[4], v[8], v[12]] = quarter_round([v[0], v[4], v[8], v[12]]);
        [v[1], v[5], v[9], v[13]] = quarter_round([v[1], v[5], v[9], v[13]]);
        [v[2], v[6], v[10], v[14]] = quarter_round([v[2], v[6], v[10], v[14]]);
        [v[3], v[7], v[11], v[15]] = quarter_round([v[3], v[7], v[11], v[15]]);
    }

    #[inline(always)]
    pub(crate) fn diagonal_round(&mut self) {
        let v = &mut self.words;
        [v[0], v[5], v[10], v[15]] = quarter_round([v[0], v[5], v[10], v[15]]);
        [v[1], v[6], v[11], v[12]] = quarter_round([v[1], v[6], v[11], v[12]]);
        [v[2], v[7], v[8], v[13]] = quarter_round([v[2], v[7], v[8], v[13]]);
        [v[3], v[4], v[9], v[14]] = quarter_round([v[3], v[4], v[9], v[14]]);
    }

    /// The words of the blocks, after ten double rounds.
    #[inline(always)]
    pub(crate) fn finish(self) -> [V; 16] {
        let mut words = self.words;
        for (word, input) in words.iter_mut().zip(self.input) {
            *word = word.add(input);
        }
        words
    }
}

/// XORs keystream into at most `V::LANES / 4` blocks, each in a quad of four row vectors.
#[inline(always)]
fn xor_rows<I: Isa, V: Vector<Isa = I>>(isa: I, keys: &MessageKeys, counter: u64, data: &mut [u8]) {
    let [k0, k1, k2, k3, k4, k5, k6, k7] = keys.encryption;
    let mut last_row = [0; MAX_LANES];
    for (block, row) in last_row.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let position = counter.wrapping_add(block as u64);
        *row = [
            position as u32,
            (position >> 32) as u32,
            keys.nonce[0],
            keys.nonce[1],
        ];
    }
    let input = [
        V::splat_quad(isa, CONSTANTS),
        V::splat_quad(isa, [k0, k1, k2, k3]),
        V::splat_quad(isa, [k4, k5, k6, k7]),
        V::load(isa, &last_row),
    ];
    let [mut a, mut b, mut c, mut d] = input;
    for _ in 0..10 {
        [a, b, c, d] = quarter_round([a, b, c, d]);
        // Row b is the last to be ready, so the others turn around it.
        (a, c, d) = (
            a.rotate_quads::<3>(),
            c.rotate_quads::<1>(),
            d.rotate_quads::<2>(),
        );
        [a, b, c, d] = quarter_round([a, b, c, d]);
        (a, c, d) = (
            a.rotate_quads::<1>(),
            c.rotate_quads::<3>(),
            d.rotate_quads::<2>(),
        );
    }
    let rows = [
        a.add(input[0]),
        b.add(input[1]),
        c.add(input[2]),
        d.add(input[3]),
    ];

    let quads = V::LANES / 4;
    if data.len() == quads * BLOCK_SIZE {
        for (index, key_bytes) in V::rows_to_blocks(rows).into_iter().enumerate() {
            let bytes = &mut data[index * V::LANES * 4..];
            V::load_bytes(isa, bytes).xor(key_bytes).store_bytes(bytes);
        }
        return;
    }
    let mut keystream = Blocks::<4>::new();
    for (index, key_bytes) in V::rows_to_blocks(rows).into_iter().enumerate() {
        key_bytes.store_bytes(&mut keystream.0.as_flattened_mut()[index * V::LANES * 4..]);
    }
    xor_blocks(isa, data, &keystream);
    keystream.wipe::<I::Wide>(isa);
}

/// Quarter rounds of the words in each lane, or of the columns that rows make.
#[inline(always)]
fn quarter_round<V: Vector>([mut a, mut b, mut c, mut d]: [V; 4]) -> [V; 4] {
    a = a.add(b);
    d = d.xor(a).rotate_right::<16, 16>();
    c = c.add(d);
    b = b.xor(c).rotate_right::<20, 12>();
    a = a.add(b);
    d = d.xor(a).rotate_right::<24, 8>();
    c = c.add(d);
    b = b.xor(c).rotate_right::<25, 7>();
    [a, b, c, d]
}
