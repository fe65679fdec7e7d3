//! The two primitives in plain Rust: the reference that every other back end is compared with, and
//! the one that runs where no SIMD instructions are known.
//!
//! Written to be read beside RFC 8439 and the BLAKE3 paper. No table look-ups and no branches on
//! secret data, so the code is constant time wherever 32-bit additions and rotations are.

pub(crate) mod blake3;
pub(crate) mod chacha20;

use crate::back_end::BackEnd;
use crate::keys::MessageKeys;
use crate::mac_input::MacInput;
use crate::node::{Chain, Node};
use crate::{KEY_SIZE, NONCE_SIZE};

/// The back end that runs everywhere.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

#[cfg(feature = "measuring")]
impl Portable {
    pub(crate) const fn level(self) -> sealwire_simd::measuring::Level {
        sealwire_simd::measuring::Level::Portable
    }
}

impl BackEnd for Portable {
    fn derive_message_keys(self, key: &[u8; KEY_SIZE], nonce: &[u8; NONCE_SIZE]) -> MessageKeys {
        blake3::derive_message_keys(key, nonce)
    }

    fn xor_keystream(self, keys: &MessageKeys, counter: u64, data: &mut [u8]) {
        chacha20::xor_keystream(keys, counter, data);
    }

    fn node(self, key: &Chain, input: &MacInput<'_>, start: usize, len: usize, root: u32) -> Node {
        blake3::node(key, input, start, len, root)
    }
}
