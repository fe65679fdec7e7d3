//! Blocks of Salsa20's keystream: their parts and places, and what is done with them.

use sealwire_simd::vector::MAX_LANES;
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

impl Position {
    /// The words that differ from block to block: the halves of the nonce and of the counter.
    #[inline]
    pub(crate) fn words(self) -> [u32; 4] {
        let Self { nonce, counter } = self;
        [nonce, nonce >> 32, counter, counter >> 32].map(|word| word as u32)
    }
}

/// Which block each lane computes: a row for each of the [words](Position::words), as vectors load
/// them.
pub(crate) struct Positions {
    words: [[u32; MAX_LANES]; 4],
}

impl Positions {
    #[inline]
    pub(crate) const fn new() -> Self {
        Self {
            words: [[0; MAX_LANES]; 4],
        }
    }

    #[inline]
    pub(crate) fn set(&mut self, lane: usize, position: Position) {
        let [low, high, counter, above] = position.words();
        self.words[0][lane] = low;
        self.words[1][lane] = high;
        self.words[2][lane] = counter;
        self.words[3][lane] = above;
    }

    /// The words of a lane.
    #[inline]
    pub(crate) fn lane(&self, lane: usize) -> [u32; 4] {
        self.words.map(|row| row[lane])
    }

    /// The words of all lanes, a row each.
    #[cfg(all(
        any(
            target_arch = "x86_64",
            all(target_arch = "aarch64", target_endian = "little"),
            all(target_arch = "wasm32", target_feature = "simd128")
        ),
        not(sealwire_portable)
    ))]
    #[inline]
    pub(crate) fn rows(&self) -> &[[u32; MAX_LANES]; 4] {
        &self.words
    }
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

/// Overwrites secrets with zeros, in a way that the compiler does not leave out.
#[inline]
pub(crate) fn wipe<T: Copy + Default>(secrets: &mut [T]) {
    secrets.fill(T::default());
    optimization_barrier(secrets);
}
