//! Salsa20 over vectors of 32-bit words, written once for every instruction set.
//!
//! Vector i holds word i of one block a lane, and each lane has a nonce and a counter of its own: so
//! the blocks of many short messages fill the lanes as well as those of a long one.
//!
//! ```text
//! w0  | A0 B0 C0 D0 ...      lanes: block 0 of A, block 1 of A, block 0 of B, ...
//! w1  | A1 B1 C1 D1 ...
//! ```

use sealwire_simd::blocks::Turning;
use sealwire_simd::vector::{Isa, MAX_LANES, Vector};

use super::back_end::{BackEnd, FIRST_BLOCKS};
use super::block::{BLOCK_SIZE, CONSTANTS, Position, Positions, wipe, xor};
use super::rows;

/// Implements [`BackEnd`] for instruction sets.
macro_rules! back_ends {
    ($($isa:ident),+) => {$(
        impl BackEnd for sealwire_simd::$isa {
            const LANES: usize = <<Self as Isa>::Wide as Vector>::LANES;

            sealwire_simd::compiled_for!($isa;
                fn first_blocks(
                    self, subkey: &[u32; 8], nonce: u64, blocks: &mut [[u8; BLOCK_SIZE]]
                ) = first_blocks;
                fn xor_blocks(
                    self, subkey: &[u32; 8], positions: &Positions, texts: &mut [&mut [u8]]
                ) = xor_blocks;
                fn xor_runs(
                    self, subkey: &[u32; 8], start: Position, data: &mut [u8]
                ) = xor_runs;
            );
        }
    )+};
}

#[cfg(target_arch = "aarch64")]
back_ends!(Neon);
#[cfg(target_arch = "wasm32")]
back_ends!(Simd128);
#[cfg(target_arch = "x86_64")]
back_ends!(Sse2, Avx2, Avx512);

/// How many blocks have room in the rows of a vector.
const fn blocks_in_rows<V: Vector>() -> usize {
    V::LANES / 4
}

/// See [`BackEnd::first_blocks`].
#[inline(always)]
fn first_blocks<I: Isa>(isa: I, subkey: &[u32; 8], nonce: u64, blocks: &mut [[u8; BLOCK_SIZE]]) {
    let words = |counter: usize| {
        let counter = counter as u64;
        Position { nonce, counter }.words()
    };
    if blocks.len() <= blocks_in_rows::<I::Middle>() {
        let [parts] = rows::keystream::<I::Middle, 1>(isa, subkey, words);
        store_blocks(&parts, blocks);
    } else if 2 * blocks_in_rows::<I::Middle>() >= FIRST_BLOCKS
        || blocks.len() <= 2 * blocks_in_rows::<I::Middle>()
    {
        let parts = rows::keystream::<I::Middle, 2>(isa, subkey, words);
        store_blocks(parts.as_flattened(), blocks);
    } else {
        let mut positions = Positions::new();
        for lane in 0..blocks.len() {
            let counter = lane as u64;
            positions.set(lane, Position { nonce, counter });
        }
        let parts = keystream::<I::Narrow>(isa, subkey, positions.rows());
        store_blocks(&parts, blocks);
    }
}

/// Writes as many blocks as there are places for.
#[inline(always)]
fn store_blocks<V: Vector>(parts: &[V], blocks: &mut [[u8; BLOCK_SIZE]]) {
    for (place, part) in blocks
        .as_flattened_mut()
        .chunks_exact_mut(4 * V::LANES)
        .zip(parts)
    {
        part.store_bytes(place);
    }
}

/// See [`BackEnd::xor_blocks`]: by rows where these hold the positions, or in the narrowest lanes that do.
#[inline(always)]
fn xor_blocks<I: Isa>(isa: I, subkey: &[u32; 8], positions: &Positions, texts: &mut [&mut [u8]]) {
    let words = |lane| positions.lane(lane);
    if texts.len() <= blocks_in_rows::<I::Middle>() {
        let [parts] = rows::keystream::<I::Middle, 1>(isa, subkey, words);
        xor_texts(isa, &parts, texts);
    } else if texts.len() <= 2 * blocks_in_rows::<I::Middle>() {
        let parts = rows::keystream::<I::Middle, 2>(isa, subkey, words);
        xor_texts(isa, parts.as_flattened(), texts);
    } else if texts.len() <= I::Narrow::LANES {
        let parts = keystream::<I::Narrow>(isa, subkey, positions.rows());
        xor_texts(isa, &parts, texts);
    } else if texts.len() <= I::Middle::LANES {
        let parts = keystream::<I::Middle>(isa, subkey, positions.rows());
        xor_texts(isa, &parts, texts);
    } else {
        let parts = keystream::<I::Wide>(isa, subkey, positions.rows());
        xor_texts(isa, &parts, texts);
    }
}

/// XORs a block into each text.
#[inline(always)]
fn xor_texts<V: Vector>(isa: V::Isa, parts: &[V], texts: &mut [&mut [u8]]) {
    let mut short = [0; BLOCK_SIZE];
    for (text, parts) in texts.iter_mut().zip(parts.chunks_exact(16 / V::LANES)) {
        if text.len() == BLOCK_SIZE {
            xor_parts(isa, text, parts);
        } else {
            for (place, part) in short.chunks_exact_mut(4 * V::LANES).zip(parts) {
                part.store_bytes(place);
            }
            xor(text, &short);
        }
    }
    wipe(&mut short);
}

/// See [`BackEnd::xor_runs`].
#[inline(always)]
fn xor_runs<I: Isa>(isa: I, subkey: &[u32; 8], start: Position, data: &mut [u8]) {
    let run = I::Wide::LANES * BLOCK_SIZE;
    let Position { nonce, mut counter } = start;
    for bytes in data.chunks_exact_mut(run) {
        let mut input = [[nonce as u32; MAX_LANES]; 4];
        input[1] = [(nonce >> 32) as u32; MAX_LANES];
        let [_, _, low, high] = &mut input;
        for (position, (low, high)) in (counter..).zip(low.iter_mut().zip(high)) {
            *low = position as u32;
            *high = (position >> 32) as u32;
        }
        let parts = keystream::<I::Wide>(isa, subkey, &input);
        xor_parts(isa, bytes, &parts);
        counter += I::Wide::LANES as u64;
    }
}

/// XORs vectors into bytes.
#[inline(always)]
fn xor_parts<V: Vector>(isa: V::Isa, bytes: &mut [u8], parts: &[V]) {
    for (place, part) in bytes.chunks_exact_mut(4 * V::LANES).zip(parts) {
        V::load_bytes(isa, place).xor(*part).store_bytes(place);
    }
}

/// A block a lane, one after the other. `input` has the four words that differ between lanes.
#[inline(always)]
fn keystream<V: Vector>(isa: V::Isa, subkey: &[u32; 8], input: &[[u32; MAX_LANES]; 4]) -> [V; 16] {
    let constant = |index: usize| V::splat(isa, CONSTANTS[index]);
    let key = |index: usize| V::splat(isa, subkey[index]);
    let word = |index: usize| V::load(isa, &input[index]);
    let state = [
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
    ];
    let mut v = state;
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
        v[i] = v[i].add(state[i]);
    }
    let turned = Turning::turned(v);
    for i in 0..4 {
        for (lane, at, part) in turned.finish(i) {
            v[(lane * BLOCK_SIZE + at) / (4 * V::LANES)] = part;
        }
    }
    v
}

#[inline(always)]
fn quarter_round<V: Vector>(v: &mut [V; 16], [a, b, c, d]: [usize; 4]) {
    v[b] = v[b].xor(v[a].add(v[d]).rotate_right::<25, 7>());
    v[c] = v[c].xor(v[b].add(v[a]).rotate_right::<23, 9>());
    v[d] = v[d].xor(v[c].add(v[b]).rotate_right::<19, 13>());
    v[a] = v[a].xor(v[d].add(v[c]).rotate_right::<14, 18>());
}
