//! The tag of one message: BLAKE3's tree over the virtual concatenation, with leaves read where
//! they lie.
//!
//! [`leaves`](super::leaves) has what needs an instruction set.

use super::kernels::Kernels;
use super::source::Source;
use crate::keys::MessageKeys;
use crate::mac_input::MacInput;
use crate::portable::blake3::{CHUNK_SIZE, Chain, Node, ROOT, left_subtree_len};
use crate::{KEY_SIZE, NONCE_SIZE};
use sealwire_simd::vector::{MAX_LANES, Vector};

/// Derives a message's keys, encrypts it, and returns its tag.
#[inline]
pub(crate) fn seal_one<I: Kernels>(
    isa: I,
    key: &[u8; KEY_SIZE],
    nonce: &[u8; NONCE_SIZE],
    aad: &[u8],
    buffer: &mut [u8],
) -> Node {
    if MacInput::new(aad, buffer).len() <= CHUNK_SIZE {
        return isa.seal_short(key, nonce, aad, buffer);
    }
    let keys = isa.derive_message_keys(key, nonce);
    seal(isa, &keys, 0, aad, buffer)
}

/// Encrypts a message with the keystream from block `counter` on and returns its tag.
pub(crate) fn seal<I: Kernels>(
    isa: I,
    keys: &MessageKeys,
    counter: u64,
    aad: &[u8],
    buffer: &mut [u8],
) -> Node {
    let len = MacInput::new(aad, buffer).len();
    if len <= CHUNK_SIZE {
        isa.xor_keystream(keys, counter, buffer);
        let input = MacInput::new(aad, buffer);
        return isa.chunk(&keys.authentication, &input, 0, len, ROOT);
    }
    if let Some(tag) = isa.seal_four_chunks(keys, counter, aad, buffer) {
        return tag;
    }
    let mut source = Source::sealing(aad, buffer, keys, counter);
    root(isa, &keys.authentication, &mut source)
}

/// Keyed BLAKE3 over `input`.
pub(crate) fn mac<I: Kernels>(isa: I, key: &Chain, input: &MacInput<'_>) -> Node {
    if input.len() <= CHUNK_SIZE {
        return isa.chunk(key, input, 0, input.len(), ROOT);
    }
    root(isa, key, &mut Source::Ciphertext(*input))
}

/// Node over `len` bytes of `input` from `start`, a chunk boundary; not the root.
pub(crate) fn node<I: Kernels>(
    isa: I,
    key: &Chain,
    input: &MacInput<'_>,
    start: usize,
    len: usize,
) -> Node {
    let mut level = [[0; 32]; MAX_LANES];
    let mut source = Source::Ciphertext(*input);
    let count = subtree(isa, key, &mut source, start, len, &mut level);
    if count == 1 {
        return level[0];
    }
    one_above_all(isa, key, &level[..count], 0)
}

/// Hashes a tree of two chunks or more.
fn root<I: Kernels>(isa: I, key: &Chain, source: &mut Source<'_>) -> Node {
    let mut level = [[0; 32]; MAX_LANES];
    let len = source.len();
    let count = subtree(isa, key, source, 0, len, &mut level);
    one_above_all(isa, key, &level[..count], ROOT)
}

/// Hashes one level of two to `Wide::LANES` nodes to the one above all, with the flag `root`.
fn one_above_all<I: Kernels>(isa: I, key: &Chain, nodes: &[Node], root: u32) -> Node {
    let mut above = [[0; 32]; MAX_LANES];
    isa.fold(key, nodes, 1, root, &mut above);
    above[0]
}

/// Hashes `len` bytes from `start`, a chunk boundary, down to at most `Wide::LANES` nodes.
///
/// The nodes are those of one level, so that every level above is hashed with full lanes too.
/// Returns how many they are.
pub(crate) fn subtree<I: Kernels>(
    isa: I,
    key: &Chain,
    source: &mut Source<'_>,
    start: usize,
    len: usize,
    nodes: &mut [Node; MAX_LANES],
) -> usize {
    if len <= I::Wide::LANES * CHUNK_SIZE {
        let input = source.up_to(isa, start + len);
        return isa.leaves(key, &input, start, len, nodes);
    }
    let left_len = left_subtree_len(len);
    let mut below = [[0; 32]; 2 * MAX_LANES];
    let mut half = [[0; 32]; MAX_LANES];
    let left = subtree(isa, key, source, start, left_len, &mut half);
    below[..left].copy_from_slice(&half[..left]);
    let right = subtree(
        isa,
        key,
        source,
        start + left_len,
        len - left_len,
        &mut half,
    );
    below[left..left + right].copy_from_slice(&half[..right]);
    isa.fold(key, &below[..left + right], I::Wide::LANES, 0, nodes)
}
