//! ChaCha20 in D. J. Bernstein's layout: 64-bit block counter, 64-bit nonce.
//!
//! Unlike RFC 8439, whose counter has 32 bits and whose nonce has 96, this layout has no 256 GiB
//! limit per message.

use crate::keys::MessageKeys;
use zeroize::Zeroize;

/// Size of a keystream block in bytes.
pub(crate) const BLOCK_SIZE: usize = 64;

/// "expand 32-byte k", the first row of the state.
pub(crate) const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// Blocks computed side by side, so that the compiler can put a word of each into one vector.
const LANES: usize = 4;

type Word = [u32; LANES];

/// XORs the keystream that starts at block `counter` into `data`.
///
/// The keystream starts at a block boundary in every call; the rest of the last block is dropped.
pub(crate) fn xor_keystream(keys: &MessageKeys, counter: u64, data: &mut [u8]) {
    let mut state = initial_state(keys);
    let mut keystream = [0u8; BLOCK_SIZE * LANES];
    let mut position = counter;
    for blocks in data.chunks_mut(BLOCK_SIZE * LANES) {
        next_blocks(&state, position, &mut keystream);
        position = position.wrapping_add(LANES as u64);
        for (byte, key_byte) in blocks.iter_mut().zip(&keystream) {
            *byte ^= key_byte;
        }
    }
    keystream.zeroize();
    state.zeroize();
}

fn initial_state(keys: &MessageKeys) -> [u32; 16] {
    let mut state = [0; 16];
    state[..4].copy_from_slice(&CONSTANTS);
    state[4..12].copy_from_slice(&keys.encryption);
    state[14..].copy_from_slice(&keys.nonce);
    state
}

/// Writes the `LANES` blocks from `counter` on.
fn next_blocks(state: &[u32; 16], counter: u64, out: &mut [u8; BLOCK_SIZE * LANES]) {
    let mut start: [Word; 16] = state.map(|word| [word; LANES]);
    let position: [u64; LANES] = core::array::from_fn(|lane| counter.wrapping_add(lane as u64));
    start[12] = position.map(|position| position as u32);
    start[13] = position.map(|position| (position >> 32) as u32);

    let mut working = start;
    for _ in 0..10 {
        quarter_round(&mut working, 0, 4, 8, 12);
        quarter_round(&mut working, 1, 5, 9, 13);
        quarter_round(&mut working, 2, 6, 10, 14);
        quarter_round(&mut working, 3, 7, 11, 15);
        quarter_round(&mut working, 0, 5, 10, 15);
        quarter_round(&mut working, 1, 6, 11, 12);
        quarter_round(&mut working, 2, 7, 8, 13);
        quarter_round(&mut working, 3, 4, 9, 14);
    }

    for lane in 0..LANES {
        for word in 0..16 {
            let sum = working[word][lane].wrapping_add(start[word][lane]);
            let at = lane * BLOCK_SIZE + word * 4;
            out[at..at + 4].copy_from_slice(&sum.to_le_bytes());
        }
    }
    working.zeroize();
    start.zeroize();
}

#[inline]
fn quarter_round(state: &mut [Word; 16], a: usize, b: usize, c: usize, d: usize) {
    state[a] = add(state[a], state[b]);
    state[d] = xor_rotate::<16>(state[d], state[a]);
    state[c] = add(state[c], state[d]);
    state[b] = xor_rotate::<12>(state[b], state[c]);
    state[a] = add(state[a], state[b]);
    state[d] = xor_rotate::<8>(state[d], state[a]);
    state[c] = add(state[c], state[d]);
    state[b] = xor_rotate::<7>(state[b], state[c]);
}

#[inline]
fn add(x: Word, y: Word) -> Word {
    core::array::from_fn(|lane| x[lane].wrapping_add(y[lane]))
}

#[inline]
fn xor_rotate<const LEFT: u32>(x: Word, y: Word) -> Word {
    core::array::from_fn(|lane| (x[lane] ^ y[lane]).rotate_left(LEFT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use chacha20::ChaCha20Legacy;
    use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};

    fn keys(key: &[u8; 32], nonce: &[u8; 8]) -> MessageKeys {
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
        MessageKeys {
            encryption: core::array::from_fn(|i| word(&key[4 * i..][..4])),
            authentication: [0; 8],
            nonce: [word(&nonce[..4]), word(&nonce[4..])],
        }
    }

    #[test]
    fn agrees_with_the_chacha20_crate_at_every_length() {
        let key: [u8; 32] = core::array::from_fn(|i| (i * 7 + 1) as u8);
        let nonce: [u8; 8] = core::array::from_fn(|i| (i * 29 + 3) as u8);
        for counter in [0u64, 1, 1000] {
            for length in 0..600 {
                let mut ours: Vec<u8> = (0..length).map(|i| i as u8).collect();
                let mut theirs = ours.clone();
                xor_keystream(&keys(&key, &nonce), counter, &mut ours);
                let mut peer = ChaCha20Legacy::new(&key.into(), &nonce.into());
                peer.seek(counter * BLOCK_SIZE as u64);
                peer.apply_keystream(&mut theirs);
                assert_eq!(ours, theirs, "length {length}, counter {counter}");
            }
        }
    }

    #[test]
    fn the_counter_carries_into_its_upper_half() {
        let (key, nonce) = ([9u8; 32], [4u8; 8]);
        let mut across = [0u8; 4 * BLOCK_SIZE];
        xor_keystream(&keys(&key, &nonce), u64::from(u32::MAX) - 1, &mut across);
        for block in 0..4u64 {
            let mut alone = [0u8; BLOCK_SIZE];
            xor_keystream(
                &keys(&key, &nonce),
                u64::from(u32::MAX) - 1 + block,
                &mut alone,
            );
            let at = block as usize * BLOCK_SIZE;
            assert_eq!(across[at..at + BLOCK_SIZE], alone);
        }
    }
}
