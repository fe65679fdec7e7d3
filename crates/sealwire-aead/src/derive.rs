//! Keys from other secrets: BLAKE3's key derivation mode.
//!
//! Source: the BLAKE3 paper, sections 2.3 to 2.6.
//!
//! ```text
//! context key = the first 32 bytes over the context string, flag DERIVE_KEY_CONTEXT, keyed with IV
//! derived     = as many bytes as wanted over the material, flag DERIVE_KEY_MATERIAL, keyed with that
//! ```

use crate::node::{CHUNK_SIZE, Chain, ROOT};
use crate::portable::blake3::{
    BLOCK_SIZE, CHUNK_END, CHUNK_START, IV, PARENT, compress, left_subtree_len, words,
};
use crate::{KEY_SIZE, Key};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

const DERIVE_KEY_CONTEXT: u32 = 1 << 5;
const DERIVE_KEY_MATERIAL: u32 = 1 << 6;

/// Derives a key of 32 bytes from `material` for the purpose that `context` names.
///
/// Keys of different contexts are independent of each other and of the material. The context is a
/// constant of the program that no other purpose shares, such as
/// `"example.com 2026-11-25 backups v1"`, and never input of a user. The material is secret and as
/// hard to guess as a key, so never a password; where it has several parts of any length, write the
/// length of each before it.
///
/// Source: BLAKE3's `derive_key`.
#[must_use]
pub fn derive_key(context: &str, material: &[u8]) -> Key {
    let mut bytes = Zeroizing::new([0; KEY_SIZE]);
    derive_key_into(context, material, &mut *bytes);
    Key::from_bytes(*bytes)
}

/// Fills `derived` as [`derive_key`] does, for keys of other sizes or several at once.
///
/// A shorter output is the beginning of a longer one under the same context and material.
pub fn derive_key_into(context: &str, material: &[u8], derived: &mut [u8]) {
    let mut context_key = Zeroizing::new([0; KEY_SIZE]);
    Compression::over(&IV, context.as_bytes(), DERIVE_KEY_CONTEXT).fill(&mut *context_key);
    let mut key = words(&context_key);
    Compression::over(&key, material, DERIVE_KEY_MATERIAL).fill(derived);
    key.zeroize();
}

/// The last compression of a node, which is still to be done: once for a chaining value, or as
/// often as output is wanted for the root.
#[derive(ZeroizeOnDrop)]
struct Compression {
    chain: Chain,
    block: [u8; BLOCK_SIZE],
    counter: u64,
    block_len: u32,
    flags: u32,
}

impl Compression {
    /// That of the root over `input`.
    fn over(key: &Chain, input: &[u8], mode: u32) -> Self {
        Self::of_subtree(key, input, 0, mode)
    }

    /// That of the node over `input`, which begins with chunk `number`.
    ///
    /// Recursion is as deep as the tree, at most 54 levels.
    fn of_subtree(key: &Chain, input: &[u8], number: u64, mode: u32) -> Self {
        if input.len() <= CHUNK_SIZE {
            return Self::of_chunk(key, input, number, mode);
        }
        let (left, right) = input.split_at(left_subtree_len(input.len()));
        let behind = number + (left.len() / CHUNK_SIZE) as u64;
        let children = [
            Self::of_subtree(key, left, number, mode).chaining_value(),
            Self::of_subtree(key, right, behind, mode).chaining_value(),
        ];
        let mut block = [0; BLOCK_SIZE];
        for (bytes, word) in block.chunks_exact_mut(4).zip(children.as_flattened()) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        Self {
            chain: *key,
            block,
            counter: 0,
            block_len: BLOCK_SIZE as u32,
            flags: mode | PARENT,
        }
    }

    fn of_chunk(key: &Chain, chunk: &[u8], number: u64, mode: u32) -> Self {
        // Without input there is one block all the same, an empty one.
        let last = chunk.len().saturating_sub(1) / BLOCK_SIZE;
        let mut compression = Self {
            chain: *key,
            block: [0; BLOCK_SIZE],
            counter: number,
            block_len: BLOCK_SIZE as u32,
            flags: mode | CHUNK_START,
        };
        let (whole, rest) = chunk.split_at(last * BLOCK_SIZE);
        for block in whole.chunks_exact(BLOCK_SIZE) {
            compression.block.copy_from_slice(block);
            compression.chain = compression.chaining_value();
            compression.flags = mode;
        }
        compression.block = [0; BLOCK_SIZE];
        compression.block[..rest.len()].copy_from_slice(rest);
        compression.block_len = rest.len() as u32;
        compression.flags |= CHUNK_END;
        compression
    }

    fn chaining_value(&self) -> Chain {
        let output = self.output(self.counter, self.flags);
        core::array::from_fn(|i| output[i])
    }

    /// The root's output from its start.
    fn fill(&self, out: &mut [u8]) {
        for (counter, bytes) in out.chunks_mut(BLOCK_SIZE).enumerate() {
            let output = self.output(counter as u64, self.flags | ROOT);
            for (bytes, word) in bytes.chunks_mut(4).zip(output.iter()) {
                bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
            }
        }
    }

    fn output(&self, counter: u64, flags: u32) -> Zeroizing<[u32; 16]> {
        let (chain, block) = (&self.chain, &self.block);
        Zeroizing::new(compress(chain, block, counter, self.block_len, flags))
    }
}
