//! Salsa20 over lanes.

use super::vector::{Blocks, Isa, MAX_LANES, Vector};
use crate::portable::{BLOCK_SIZE, CONSTANTS};

/// Which block of which message a lane computes.
#[derive(Clone, Copy)]
pub(crate) struct Position {
    /// The last 8 bytes of the nonce, little-endian.
    pub(crate) nonce: u64,
    pub(crate) counter: u64,
}

/// Writes the blocks at `positions`, at most `Wide::LANES`, in the narrowest lanes that hold them.
#[inline(always)]
pub(crate) fn keystream<I: Isa>(
    isa: I,
    subkey: &[u32; 8],
    positions: &[Position],
    blocks: &mut [[u8; BLOCK_SIZE]],
) {
    if positions.len() <= I::Narrow::LANES {
        lanes::<I::Narrow>(isa, subkey, positions, blocks);
    } else if positions.len() <= I::Middle::LANES {
        lanes::<I::Middle>(isa, subkey, positions, blocks);
    } else {
        lanes::<I::Wide>(isa, subkey, positions, blocks);
    }
}

#[inline(always)]
fn lanes<V: Vector>(
    isa: V::Isa,
    subkey: &[u32; 8],
    positions: &[Position],
    blocks: &mut [[u8; BLOCK_SIZE]],
) {
    let mut input = [[0; MAX_LANES]; 4];
    for (lane, position) in positions.iter().enumerate() {
        input[0][lane] = position.nonce as u32;
        input[1][lane] = (position.nonce >> 32) as u32;
        input[2][lane] = position.counter as u32;
        input[3][lane] = (position.counter >> 32) as u32;
    }
    let mut words = block_function(state::<V>(isa, subkey, &input));
    V::transpose(&mut words);
    for (lane, block) in blocks[..positions.len()].iter_mut().enumerate() {
        for part in 0..16 / V::LANES {
            words[part * V::LANES + lane].store_bytes(&mut block[part * V::LANES * 4..]);
        }
    }
}

/// XORs the blocks from `counter` on into `data`, as many whole runs of lanes as it holds, and
/// returns how many bytes that were.
#[inline(always)]
pub(crate) fn xor_runs<I: Isa>(
    isa: I,
    subkey: &[u32; 8],
    nonce: u64,
    counter: u64,
    data: &mut [u8],
) -> usize {
    let run = I::Wide::LANES * BLOCK_SIZE;
    let mut counter = counter;
    let mut taken = 0;
    for bytes in data.chunks_exact_mut(run) {
        let mut input = [[nonce as u32; MAX_LANES]; 4];
        input[1] = [(nonce >> 32) as u32; MAX_LANES];
        let [_, _, low, high] = &mut input;
        for (position, (low, high)) in (counter..).zip(low.iter_mut().zip(high)) {
            *low = position as u32;
            *high = (position >> 32) as u32;
        }
        let mut words = block_function(state::<I::Wide>(isa, subkey, &input));
        I::Wide::transpose(&mut words);
        for (index, key_bytes) in words.into_iter().enumerate() {
            let (part, lane) = (index / I::Wide::LANES, index % I::Wide::LANES);
            let place = &mut bytes[lane * BLOCK_SIZE + part * I::Wide::LANES * 4..];
            I::Wide::load_bytes(isa, place)
                .xor(key_bytes)
                .store_bytes(place);
        }
        counter += I::Wide::LANES as u64;
        taken += run;
    }
    taken
}

/// XORs the front of a block into `bytes`, at most as many.
#[inline(always)]
pub(crate) fn xor_block<I: Isa>(isa: I, bytes: &mut [u8], block: &[u8; BLOCK_SIZE]) {
    if bytes.len() == BLOCK_SIZE {
        for at in (0..BLOCK_SIZE).step_by(I::Wide::LANES * 4) {
            let text = I::Wide::load_bytes(isa, &bytes[at..]);
            let key_bytes = I::Wide::load_bytes(isa, &block[at..]);
            text.xor(key_bytes).store_bytes(&mut bytes[at..]);
        }
    } else {
        xor_short(bytes, block);
    }
}

/// The same for less than a block, in words as far as they go.
#[inline(always)]
pub(crate) fn xor_short(bytes: &mut [u8], keystream: &[u8]) {
    let (words, rest) = bytes.as_chunks_mut::<8>();
    let (key_words, _) = keystream.as_chunks::<8>();
    for (word, key_word) in words.iter_mut().zip(key_words) {
        *word = (u64::from_ne_bytes(*word) ^ u64::from_ne_bytes(*key_word)).to_ne_bytes();
    }
    for (byte, key_byte) in rest.iter_mut().zip(&keystream[words.len() * 8..]) {
        *byte ^= key_byte;
    }
}

#[inline(always)]
fn state<V: Vector>(isa: V::Isa, subkey: &[u32; 8], input: &[[u32; MAX_LANES]; 4]) -> [V; 16] {
    let constant = |index: usize| V::splat(isa, CONSTANTS[index]);
    let key = |index: usize| V::splat(isa, subkey[index]);
    let word = |index: usize| V::load(isa, &input[index]);
    [
        constant(0),
        key(0),
        key(1),
        key(2),
        key(3),
        constant(1),
        word(0),
        word(1),
        word(2),
        word(3),
        constant(2),
        key(4),
        key(5),
        key(6),
        key(7),
        constant(3),
    ]
}

#[inline(always)]
fn block_function<V: Vector>(input: [V; 16]) -> [V; 16] {
    let mut v = input;
    for _ in 0..10 {
        quarter_round(&mut v, [0, 4, 8, 12]);
        quarter_round(&mut v, [5, 9, 13, 1]);
        quarter_round(&mut v, [10, 14, 2, 6]);
        quarter_round(&mut v, [15, 3, 7, 11]);
        quarter_round(&mut v, [0, 1, 2, 3]);
        quarter_round(&mut v, [5, 6, 7, 4]);
        quarter_round(&mut v, [10, 11, 8, 9]);
        quarter_round(&mut v, [15, 12, 13, 14]);
    }
    for i in 0..16 {
        v[i] = v[i].add(input[i]);
    }
    v
}

#[inline(always)]
fn quarter_round<V: Vector>(v: &mut [V; 16], [a, b, c, d]: [usize; 4]) {
    v[b] = v[b].xor(v[a].add(v[d]).rotate_left::<7, 25>());
    v[c] = v[c].xor(v[b].add(v[a]).rotate_left::<9, 23>());
    v[d] = v[d].xor(v[c].add(v[b]).rotate_left::<13, 19>());
    v[a] = v[a].xor(v[d].add(v[c]).rotate_left::<18, 14>());
}

/// Blocks to be computed together and XORed into the messages they belong to.
pub(crate) struct Pending {
    positions: [Position; MAX_LANES],
    /// The job and the offset in its text.
    targets: [(usize, usize); MAX_LANES],
    count: usize,
    blocks: Blocks,
}

impl Pending {
    #[inline(always)]
    pub(crate) const fn new() -> Self {
        Self {
            positions: [Position {
                nonce: 0,
                counter: 0,
            }; MAX_LANES],
            targets: [(0, 0); MAX_LANES],
            count: 0,
            blocks: Blocks::new(),
        }
    }

    /// Notes a block, and says whether there is room for another.
    #[inline(always)]
    pub(crate) fn push<I: Isa>(&mut self, position: Position, job: usize, at: usize) -> bool {
        self.positions[self.count] = position;
        self.targets[self.count] = (job, at);
        self.count += 1;
        self.count < I::Wide::LANES
    }

    /// Computes what was noted and hands each block to `xor` with its target.
    #[inline(always)]
    pub(crate) fn flush<I: Isa>(
        &mut self,
        isa: I,
        subkey: &[u32; 8],
        mut xor: impl FnMut(usize, usize, &[u8; BLOCK_SIZE]),
    ) {
        if self.count == 0 {
            return;
        }
        let positions = &self.positions[..self.count];
        keystream(isa, subkey, positions, &mut self.blocks.0);
        for (block, (job, at)) in self.blocks.0.iter().zip(&self.targets[..self.count]) {
            xor(*job, *at, block);
        }
        self.count = 0;
    }

    #[inline(always)]
    pub(crate) fn wipe<I: Isa>(&mut self, isa: I) {
        isa.wipe(&mut self.blocks);
    }
}
