//! The tag of one message: BLAKE3's tree over the virtual concatenation, with leaves read where
//! they lie.
//!
//! [`leaves`](super::leaves) has what needs an instruction set.

use super::kernels::Kernels;
use super::tree_input::TreeInput;
use crate::keys::Keying;
use crate::mac_input::MacInput;
use crate::node::{CHUNK_SIZE, Chain, Node, ROOT};
use crate::portable::blake3::left_subtree_len;
use sealwire_simd::vector::{MAX_LANES, Vector};

/// Encrypts a message and returns its tag.
pub(crate) fn seal<I: Kernels>(isa: I, keying: Keying<'_>, aad: &[u8], buffer: &mut [u8]) -> Node {
    let derived;
    let (keys, counter) = match keying {
        Keying::Derived { keys, counter } => (keys, counter),
        Keying::Nonce { key, nonce } => {
            derived = isa.message_keys(key, nonce);
            (&derived, 0)
        }
    };
    let len = MacInput::new(aad, buffer).len();
    if len <= CHUNK_SIZE {
        isa.xor_text(keys, counter, buffer);
        let input = MacInput::new(aad, buffer);
        return isa.chunk(&keys.authentication, &input, 0, len, ROOT);
    }
    if let Some(tag) = isa.seal_four_chunks(keys, counter, aad, buffer) {
        return tag;
    }
    let mut input = TreeInput::sealing(aad, buffer, keys, counter);
    one_of_many(isa, &keys.authentication, &mut input, 0, len, ROOT)
}

/// Node over `len` bytes of `input` from `start`, a chunk boundary, with the flag `root`.
pub(crate) fn node<I: Kernels>(
    isa: I,
    key: &Chain,
    input: &MacInput<'_>,
    start: usize,
    len: usize,
    root: u32,
) -> Node {
    if len <= CHUNK_SIZE {
        return isa.chunk(key, input, start, len, root);
    }
    let mut input = TreeInput::Ciphertext(*input);
    one_of_many(isa, key, &mut input, start, len, root)
}

/// Hashes two chunks or more.
fn one_of_many<I: Kernels>(
    isa: I,
    key: &Chain,
    input: &mut TreeInput<'_>,
    start: usize,
    len: usize,
    root: u32,
) -> Node {
    let mut level = [[0; 32]; MAX_LANES];
    let count = subtree(isa, key, input, start, len, &mut level);
    let mut above = [[0; 32]; MAX_LANES];
    isa.fold(key, &level[..count], 1, root, &mut above);
    above[0]
}

/// Hashes `len` bytes from `start`, a chunk boundary, down to at most `Wide::LANES` nodes.
///
/// The nodes are those of one level, so that every level above is hashed with full lanes too.
/// Returns how many they are.
pub(crate) fn subtree<I: Kernels>(
    isa: I,
    key: &Chain,
    input: &mut TreeInput<'_>,
    start: usize,
    len: usize,
    nodes: &mut [Node; MAX_LANES],
) -> usize {
    if len <= I::Wide::LANES * CHUNK_SIZE {
        let input = input.up_to(isa, start + len);
        return isa.leaves(key, &input, start, len, nodes);
    }
    let left_len = left_subtree_len(len);
    let mut below = [[0; 32]; 2 * MAX_LANES];
    let mut half = [[0; 32]; MAX_LANES];
    let left = subtree(isa, key, input, start, left_len, &mut half);
    below[..left].copy_from_slice(&half[..left]);
    let right = subtree(isa, key, input, start + left_len, len - left_len, &mut half);
    below[left..left + right].copy_from_slice(&half[..right]);
    isa.fold(key, &below[..left + right], I::Wide::LANES, 0, nodes)
}
