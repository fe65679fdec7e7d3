//! Salsa20 one block after the other: the reference for every other back end.

use zeroize::{Zeroize, Zeroizing};

use crate::back_end::BackEnd;
use crate::counter_box::{OpenJob, SealJob};
use crate::poly1305;

/// Bytes of a block.
pub(crate) const BLOCK_SIZE: usize = 64;
/// Bytes of the first block that are the Poly1305 key.
pub(crate) const MAC_KEY_SIZE: usize = 32;
/// "expand 32-byte k".
pub(crate) const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// The back end that needs no instruction of any kind.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl BackEnd for Portable {
    fn seal_batch(self, subkey: &[u32; 8], jobs: &mut [SealJob<'_>]) {
        for job in jobs {
            let mut first = block(subkey, job.nonce, 0);
            xor_message(subkey, job.nonce, &first, job.buffer);
            *job.tag = poly1305::tag(mac_key(&first), job.buffer);
            first.zeroize();
        }
    }

    fn open_batch(self, subkey: &[u32; 8], jobs: &mut [OpenJob<'_>]) {
        for job in jobs {
            let mut first = block(subkey, job.nonce, 0);
            let expected = poly1305::tag(mac_key(&first), job.buffer);
            job.verified = poly1305::tags_equal(&expected, job.tag);
            if job.verified {
                xor_message(subkey, job.nonce, &first, job.buffer);
            }
            first.zeroize();
        }
    }
}

/// The one-time key of a message's tag.
#[inline(always)]
pub(crate) fn mac_key(first: &[u8; BLOCK_SIZE]) -> &[u8; MAC_KEY_SIZE] {
    first.first_chunk().expect("a block holds a key")
}

fn xor_message(subkey: &[u32; 8], nonce: [u8; 8], first: &[u8; BLOCK_SIZE], text: &mut [u8]) {
    let (head, tail) = text.split_at_mut(text.len().min(BLOCK_SIZE - MAC_KEY_SIZE));
    xor(head, &first[MAC_KEY_SIZE..]);
    for (index, bytes) in tail.chunks_mut(BLOCK_SIZE).enumerate() {
        let mut keystream = block(subkey, nonce, index as u64 + 1);
        xor(bytes, &keystream);
        keystream.zeroize();
    }
}

/// XORs the front of `keystream` into `bytes`.
#[inline(always)]
pub(crate) fn xor(bytes: &mut [u8], keystream: &[u8]) {
    for (byte, key_byte) in bytes.iter_mut().zip(keystream) {
        *byte ^= key_byte;
    }
}

/// Block `counter` of Salsa20's keystream.
fn block(subkey: &[u32; 8], nonce: [u8; 8], counter: u64) -> [u8; BLOCK_SIZE] {
    let nonce = u64::from_le_bytes(nonce);
    let input = [nonce, nonce >> 32, counter, counter >> 32].map(|word| word as u32);
    let state = state(subkey, input);
    let mut output = rounds(state);
    let mut bytes = [0; BLOCK_SIZE];
    for (i, place) in bytes.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        *place = output[i].wrapping_add(state[i]).to_le_bytes();
    }
    output.zeroize();
    bytes
}

/// HSalsa20: a key from a key and 16 bytes of a nonce.
pub(crate) fn hsalsa20(key: &[u8; 32], input: &[u8; 16]) -> Zeroizing<[u8; 32]> {
    let (key, input) = (key.as_chunks::<4>().0, input.as_chunks::<4>().0);
    let mut words: [u32; 8] = core::array::from_fn(|i| u32::from_le_bytes(key[i]));
    let input = core::array::from_fn(|i| u32::from_le_bytes(input[i]));
    let mut output = rounds(state(&words, input));
    let mut derived = Zeroizing::new([0; 32]);
    let places = derived.as_chunks_mut::<4>().0.iter_mut();
    for (place, index) in places.zip([0, 5, 10, 15, 6, 7, 8, 9]) {
        *place = output[index].to_le_bytes();
    }
    words.zeroize();
    output.zeroize();
    derived
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
