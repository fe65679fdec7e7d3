//! XSalsa20 by itself: `crypto_stream`.

use core::fmt;

use arrayvec::ArrayVec;
use sealwire_simd::vector::MAX_LANES;
use zeroize::Zeroizing;

use crate::salsa20::block::{BLOCK_SIZE, Position, Positions};
use crate::salsa20::engine;
use crate::salsa20::portable::subkey;
use crate::sizes::{KEY_SIZE, NONCE_SIZE};

/// The stream cipher XSalsa20 under one key: a keystream for each nonce, and nothing that notices a change.
///
/// It is a building block. Anyone who flips a bit of a ciphertext flips that bit of the plaintext, and a
/// nonce that is used twice gives away the XOR of both texts: [`SecretBox`](crate::SecretBox) is the cipher
/// for messages. Random nonces of 24 bytes do not collide. The key is wiped on drop.
#[derive(Clone)]
pub struct XSalsa20 {
    key: Zeroizing<[u8; KEY_SIZE]>,
}

impl XSalsa20 {
    /// Takes a key of 32 random bytes.
    #[must_use]
    pub fn new(key: &[u8; KEY_SIZE]) -> Self {
        Self {
            key: Zeroizing::new(*key),
        }
    }

    /// Fills `out` with the start of the keystream of `nonce` (`crypto_stream`). Allocates nothing.
    pub fn keystream(&self, nonce: &[u8; NONCE_SIZE], out: &mut [u8]) {
        out.fill(0);
        self.xor_unauthenticated(nonce, out);
    }

    /// XORs the start of the keystream of `nonce` into `text` (`crypto_stream_xor`), which encrypts and
    /// decrypts. Allocates nothing.
    pub fn xor_unauthenticated(&self, nonce: &[u8; NONCE_SIZE], text: &mut [u8]) {
        let (prefix, counted) = nonce.split_first_chunk().expect("a nonce has 24 bytes");
        let subkey = Zeroizing::new(subkey(&self.key, prefix));
        let nonce = u64::from_le_bytes(counted.try_into().expect("8 of them are left"));

        let run = engine::lanes() * BLOCK_SIZE;
        let (runs, rest) = text.split_at_mut(text.len() - text.len() % run);
        engine::xor_runs(&subkey, Position { nonce, counter: 0 }, runs);

        let first = (runs.len() / BLOCK_SIZE) as u64;
        let mut positions = Positions::new();
        let mut blocks: ArrayVec<_, MAX_LANES> = rest.chunks_mut(BLOCK_SIZE).collect();
        for (lane, counter) in (first..).take(blocks.len()).enumerate() {
            positions.set(lane, Position { nonce, counter });
        }
        if !blocks.is_empty() {
            engine::xor_blocks(&subkey, &positions, &mut blocks);
        }
    }
}

impl fmt::Debug for XSalsa20 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("XSalsa20").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    //! Every back end that this CPU has, against one block after the other.

    use alloc::vec::Vec;

    use sealwire_simd::measuring::{Level, on_every};

    use super::*;
    use crate::salsa20::portable::block;

    const LEVELS: [Level; 6] = [
        Level::Portable,
        Level::Simd128,
        Level::Neon,
        Level::Sse2,
        Level::Avx2,
        Level::Avx512,
    ];

    #[test]
    fn every_back_end_gives_the_keystream_block_by_block() {
        let (key, nonce) = ([7; KEY_SIZE], core::array::from_fn(|i| i as u8 * 9));
        let subkey = subkey(&key, nonce.first_chunk().expect("16 of 24 bytes"));
        let counted = u64::from_le_bytes(nonce[16..].try_into().expect("8 of 24 bytes"));
        let words = |counter| {
            let nonce = counted;
            Position { nonce, counter }.words()
        };
        let longest = 4_400;
        let expected: Vec<u8> = (0..)
            .flat_map(|i| block(&subkey, words(i)))
            .take(longest)
            .collect();
        on_every(&LEVELS, |level| {
            for length in (0..200)
                .chain((200..longest).step_by(61))
                .chain([1_024, 2_048, 4_096])
            {
                let mut stream = alloc::vec![0xaa; length];
                XSalsa20::new(&key).keystream(&nonce, &mut stream);
                assert!(
                    stream == expected[..length],
                    "{}, {length} bytes",
                    level.name()
                );
            }
        });
    }
}
