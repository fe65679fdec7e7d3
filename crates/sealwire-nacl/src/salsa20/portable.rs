//! Salsa20 one block after the other: the back end that needs no instruction of any kind, and what
//! derives keys.

use zeroize::Zeroizing;

use super::back_end::BackEnd;
use super::block::{BLOCK_SIZE, CONSTANTS, Position, Positions, wipe, xor};

/// The back end that needs no instruction of any kind.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl BackEnd for Portable {
    const LANES: usize = 1;

    fn first_blocks(self, subkey: &[u32; 8], nonce: u64, blocks: &mut [[u8; BLOCK_SIZE]]) {
        for (counter, place) in (0..).zip(blocks) {
            *place = block(subkey, Position { nonce, counter }.words());
        }
    }

    fn xor_blocks(self, subkey: &[u32; 8], positions: &Positions, texts: &mut [&mut [u8]]) {
        for (lane, text) in texts.iter_mut().enumerate() {
            xor_block(subkey, positions.lane(lane), text);
        }
    }

    fn xor_runs(self, subkey: &[u32; 8], start: Position, data: &mut [u8]) {
        let mut position = start;
        for text in data.chunks_exact_mut(BLOCK_SIZE) {
            xor_block(subkey, position.words(), text);
            position.counter += 1;
        }
    }
}

fn xor_block(subkey: &[u32; 8], position: [u32; 4], text: &mut [u8]) {
    let mut keystream = block(subkey, position);
    xor(text, &keystream);
    wipe(&mut keystream);
}

/// The block of Salsa20's keystream at the position of these [words](Position::words).
pub(crate) fn block(subkey: &[u32; 8], position: [u32; 4]) -> [u8; BLOCK_SIZE] {
    let state = state(subkey, position);
    let mut output = rounds(state);
    let mut bytes = [0; BLOCK_SIZE];
    for (i, place) in bytes.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        *place = output[i].wrapping_add(state[i]).to_le_bytes();
    }
    wipe(&mut output);
    bytes
}

/// HSalsa20: a key from a key and 16 bytes of a nonce.
pub(crate) fn hsalsa20(key: &[u8; 32], input: &[u8; 16]) -> Zeroizing<[u8; 32]> {
    let mut words = subkey(key, input);
    let mut derived = Zeroizing::new([0; 32]);
    for (place, word) in derived.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *place = word.to_le_bytes();
    }
    wipe(&mut words);
    derived
}

/// The key of Salsa20 for nonces that begin with `prefix`, in words: what XSalsa20 starts with.
pub(crate) fn subkey(key: &[u8; 32], prefix: &[u8; 16]) -> [u32; 8] {
    let (key, prefix) = (key.as_chunks::<4>().0, prefix.as_chunks::<4>().0);
    let mut key: [u32; 8] = core::array::from_fn(|i| u32::from_le_bytes(key[i]));
    let prefix = core::array::from_fn(|i| u32::from_le_bytes(prefix[i]));
    let mut output = rounds(state(&key, prefix));
    let subkey = [0, 5, 10, 15, 6, 7, 8, 9].map(|index: usize| output[index]);
    wipe(&mut key);
    wipe(&mut output);
    subkey
}

const fn state(key: &[u32; 8], input: [u32; 4]) -> [u32; 16] {
    let [c0, c1, c2, c3] = CONSTANTS;
    let [k0, k1, k2, k3, k4, k5, k6, k7] = *key;
    let [n0, n1, t0, t1] = input;
    [
        c0, k0, k1, k2, k3, c1, n0, n1, t0, t1, c2, k4, k5, k6, k7, c3,
    ]
}

/// The twenty rounds, without the addition at the end.
fn rounds(mut v: [u32; 16]) -> [u32; 16] {
    let mut quarter = |a: usize, b: usize, c: usize, d: usize| {
        v[b] ^= v[a].wrapping_add(v[d]).rotate_left(7);
        v[c] ^= v[b].wrapping_add(v[a]).rotate_left(9);
        v[d] ^= v[c].wrapping_add(v[b]).rotate_left(13);
        v[a] ^= v[d].wrapping_add(v[c]).rotate_left(18);
    };
    for _ in 0..10 {
        quarter(0, 4, 8, 12);
        quarter(5, 9, 13, 1);
        quarter(10, 14, 2, 6);
        quarter(15, 3, 7, 11);
        quarter(0, 1, 2, 3);
        quarter(5, 6, 7, 4);
        quarter(10, 11, 8, 9);
        quarter(15, 12, 13, 14);
    }
    v
}
