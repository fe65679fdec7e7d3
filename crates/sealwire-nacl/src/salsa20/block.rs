//! Blocks of Salsa20's keystream: their parts and places, and what is done with them.

use zeroize::optimization_barrier;

/// Bytes of a block.
pub(crate) const BLOCK_SIZE: usize = 64;
/// Bytes of the first block that are the Poly1305 key.
pub(crate) const MAC_KEY_SIZE: usize = 32;
/// "expand 32-byte k".
pub(crate) const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// Which block of which message.
#[derive(Clone, Copy)]
pub(crate) struct Position {
    /// The last 8 bytes of the nonce, little-endian.
    pub(crate) nonce: u64,
    pub(crate) counter: u64,
}

/// XORs the front of `keystream`, which is as long or longer, into `bytes`.
#[inline]
pub(crate) fn xor(bytes: &mut [u8], keystream: &[u8]) {
    let (words, rest) = bytes.as_chunks_mut::<8>();
    let (key_words, _) = keystream.as_chunks::<8>();
    for (word, key_word) in words.iter_mut().zip(key_words) {
        *word = (u64::from_ne_bytes(*word) ^ u64::from_ne_bytes(*key_word)).to_ne_bytes();
    }
    for (byte, key_byte) in rest.iter_mut().zip(&keystream[words.len() * 8..]) {
        *byte ^= key_byte;
    }
}

/// Overwrites blocks with zeros, in a way that the compiler does not leave out.
#[inline]
pub(crate) fn wipe(blocks: &mut [[u8; BLOCK_SIZE]]) {
    blocks.as_flattened_mut().fill(0);
    optimization_barrier(blocks);
}
