//! Keyed BLAKE3: the compression function, the hash tree over a [`MacInput`], and the derivation of
//! a message's keys from its nonce.
//!
//! The length of the input is known before the first byte is hashed, so the tree is walked from its
//! root, as the BLAKE3 paper defines it, and not grown from its leaves.

use crate::keys::MessageKeys;
use crate::mac_input::MacInput;
use crate::node::{CHUNK_SIZE, Chain, Node, ROOT};
use crate::{KEY_SIZE, NONCE_SIZE};
use zeroize::Zeroize;

/// Bytes that one compression takes in.
pub(crate) const BLOCK_SIZE: usize = 64;

pub(crate) const CHUNK_START: u32 = 1 << 0;
pub(crate) const CHUNK_END: u32 = 1 << 1;
pub(crate) const PARENT: u32 = 1 << 2;
pub(crate) const KEYED_HASH: u32 = 1 << 4;

/// The initialization vector, SHA-256's.
pub(crate) const IV: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// Order in which each of the seven rounds takes the message words.
pub(crate) const SCHEDULE: [[usize; 16]; 7] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8],
    [3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1],
    [10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6],
    [12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4],
    [9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7],
    [11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13],
];

/// BLAKE3's compression function with all 64 bytes of its output.
pub(crate) fn compress(
    chain: &Chain,
    block: &[u8; BLOCK_SIZE],
    counter: u64,
    block_len: u32,
    flags: u32,
) -> [u32; 16] {
    let mut message = [0u32; 16];
    for (word, bytes) in message.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    let mut v = [0u32; 16];
    v[..8].copy_from_slice(chain);
    v[8..12].copy_from_slice(&IV[..4]);
    v[12..].copy_from_slice(&[counter as u32, (counter >> 32) as u32, block_len, flags]);
    for order in &SCHEDULE {
        let m = |index: usize| message[order[index]];
        mix(&mut v, 0, 4, 8, 12, m(0), m(1));
        mix(&mut v, 1, 5, 9, 13, m(2), m(3));
        mix(&mut v, 2, 6, 10, 14, m(4), m(5));
        mix(&mut v, 3, 7, 11, 15, m(6), m(7));
        mix(&mut v, 0, 5, 10, 15, m(8), m(9));
        mix(&mut v, 1, 6, 11, 12, m(10), m(11));
        mix(&mut v, 2, 7, 8, 13, m(12), m(13));
        mix(&mut v, 3, 4, 9, 14, m(14), m(15));
    }
    for i in 0..8 {
        v[i] ^= v[i + 8];
        v[i + 8] ^= chain[i];
    }
    v
}

#[inline]
fn mix(v: &mut [u32; 16], a: usize, b: usize, c: usize, d: usize, x: u32, y: u32) {
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(x);
    v[d] = (v[d] ^ v[a]).rotate_right(16);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(12);
    v[a] = v[a].wrapping_add(v[b]).wrapping_add(y);
    v[d] = (v[d] ^ v[a]).rotate_right(8);
    v[c] = v[c].wrapping_add(v[d]);
    v[b] = (v[b] ^ v[c]).rotate_right(7);
}

/// The keys of one message: 72 bytes of keyed BLAKE3 output over its nonce.
pub(crate) fn derive_message_keys(key: &[u8; KEY_SIZE], nonce: &[u8; NONCE_SIZE]) -> MessageKeys {
    let mut chain = words(key);
    let mut block = [0u8; BLOCK_SIZE];
    block[..NONCE_SIZE].copy_from_slice(nonce);
    let flags = KEYED_HASH | CHUNK_START | CHUNK_END | ROOT;
    let mut first = compress(&chain, &block, 0, NONCE_SIZE as u32, flags);
    let mut second = compress(&chain, &block, 1, NONCE_SIZE as u32, flags);
    let mut keys = MessageKeys::zeroed();
    keys.encryption.copy_from_slice(&first[..8]);
    keys.authentication.copy_from_slice(&first[8..]);
    keys.nonce.copy_from_slice(&second[..2]);
    first.zeroize();
    second.zeroize();
    chain.zeroize();
    keys
}

/// Node over `len` bytes of `input` from `start`, a chunk boundary, with the flag `root`.
pub(crate) fn node(key: &Chain, input: &MacInput<'_>, start: usize, len: usize, root: u32) -> Node {
    let mut node = [0; 32];
    copy_words(&subtree(key, input, start, len, root), &mut node);
    node
}

/// The node above two others, with the flag `root`.
pub(crate) fn parent(key: &Chain, [left, right]: [&Node; 2], root: u32) -> Node {
    let mut block = [0; BLOCK_SIZE];
    block[..32].copy_from_slice(left);
    block[32..].copy_from_slice(right);
    let flags = KEYED_HASH | PARENT | root;
    let mut node = [0; 32];
    copy_words(
        &compress(key, &block, 0, BLOCK_SIZE as u32, flags)[..8],
        &mut node,
    );
    node
}

/// Chaining value of the subtree over `len` bytes from `start`, a chunk boundary.
///
/// Recursion is as deep as the tree, at most 54 levels for the longest input BLAKE3 allows.
fn subtree(key: &Chain, input: &MacInput<'_>, start: usize, len: usize, root: u32) -> Chain {
    if len <= CHUNK_SIZE {
        return chunk(key, input, start, len, root);
    }
    let left_len = left_subtree_len(len);
    let left = subtree(key, input, start, left_len, 0);
    let right = subtree(key, input, start + left_len, len - left_len, 0);
    let mut block = [0; BLOCK_SIZE];
    copy_words(&left, &mut block[..32]);
    copy_words(&right, &mut block[32..]);
    let out = compress(
        key,
        &block,
        0,
        BLOCK_SIZE as u32,
        KEYED_HASH | PARENT | root,
    );
    truncated(&out)
}

/// Bytes under the left child: the largest power of two chunks that leaves the right one something.
pub(crate) fn left_subtree_len(len: usize) -> usize {
    let full_chunks = (len - 1) / CHUNK_SIZE;
    CHUNK_SIZE << full_chunks.ilog2()
}

fn chunk(key: &Chain, input: &MacInput<'_>, start: usize, len: usize, root: u32) -> Chain {
    let counter = input.chunk_number(start);
    let last = len.div_ceil(BLOCK_SIZE) - 1;
    let mut chain = *key;
    for index in 0..=last {
        let mut flags = KEYED_HASH;
        if index == 0 {
            flags |= CHUNK_START;
        }
        if index == last {
            flags |= CHUNK_END | root;
        }
        let block_len = (len - index * BLOCK_SIZE).min(BLOCK_SIZE);
        let mut block = [0; BLOCK_SIZE];
        input.read(start + index * BLOCK_SIZE, &mut block[..block_len]);
        chain = truncated(&compress(&chain, &block, counter, block_len as u32, flags));
    }
    chain
}

fn truncated(output: &[u32; 16]) -> Chain {
    core::array::from_fn(|i| output[i])
}

/// A key in words.
pub(crate) fn words(bytes: &[u8; 32]) -> Chain {
    core::array::from_fn(|i| {
        u32::from_le_bytes([
            bytes[4 * i],
            bytes[4 * i + 1],
            bytes[4 * i + 2],
            bytes[4 * i + 3],
        ])
    })
}

fn copy_words(words: &[u32], out: &mut [u8]) {
    for (bytes, word) in out.chunks_exact_mut(4).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn the_mac_is_keyed_blake3_over_the_concatenation() {
        let key: [u8; 32] = core::array::from_fn(|i| (i * 11 + 5) as u8);
        let bytes: Vec<u8> = (0..40_000usize).map(|i| (i * i % 251) as u8).collect();
        for aad_len in [0, 1, 2, 9, 55, 56, 57, 1015, 1016, 1017, 3000] {
            for text_len in (0..200).chain(960..1100).chain([4096, 8191, 16384, 33000]) {
                let (aad, text) = (&bytes[..aad_len], &bytes[bytes.len() - text_len..]);
                let mut peer = ::blake3::Hasher::new_keyed(&key);
                peer.update(aad).update(&(aad_len as u64).to_le_bytes());
                peer.update(text).update(&(text_len as u64).to_le_bytes());
                let input = MacInput::new(aad, text);
                let tag = node(&words(&key), &input, 0, input.len(), ROOT);
                assert_eq!(
                    &tag,
                    peer.finalize().as_bytes(),
                    "{aad_len} and {text_len} bytes"
                );
            }
        }
    }

    #[test]
    fn message_keys_are_72_bytes_of_keyed_output() {
        let (key, nonce) = ([0x42; 32], [0x24; 24]);
        let mut expected = [0; 72];
        let mut peer = ::blake3::Hasher::new_keyed(&key);
        peer.update(&nonce).finalize_xof().fill(&mut expected);
        let keys = derive_message_keys(&key, &nonce);
        let all = [&keys.encryption[..], &keys.authentication, &keys.nonce].concat();
        let bytes: Vec<u8> = all.into_iter().flat_map(u32::to_le_bytes).collect();
        assert_eq!(bytes, expected);
    }
}
