//! What needs the instructions of a set, each compiled once for it. Trees and plans call it.

use super::isa::Isa;
use crate::job::Job;
use crate::keys::MessageKeys;
use crate::mac_input::MacInput;
use crate::node::{Chain, Node};
use crate::{KEY_SIZE, NONCE_SIZE};
use sealwire_simd::vector::MAX_LANES;

/// What an instruction set compiles for all of its vectors.
pub(crate) trait Kernels: Isa {
    /// See [`blake3::derive_message_keys`](super::blake3::derive_message_keys).
    fn message_keys(self, key: &[u8; KEY_SIZE], nonce: &[u8; NONCE_SIZE]) -> MessageKeys;
    /// See [`chacha20::xor_keystream`](super::chacha20::xor_keystream).
    fn xor_text(self, keys: &MessageKeys, counter: u64, text: &mut [u8]);
    /// See [`leaves::seal_short`](super::leaves::seal_short).
    fn seal_short(
        self,
        key: &[u8; KEY_SIZE],
        nonce: &[u8; NONCE_SIZE],
        aad: &[u8],
        buffer: &mut [u8],
    ) -> Node;
    /// See [`leaves::chunk`](super::leaves::chunk).
    fn chunk(self, key: &Chain, input: &MacInput<'_>, start: usize, len: usize, root: u32) -> Node;
    /// See [`leaves::leaves`](super::leaves::leaves).
    fn leaves(
        self,
        key: &Chain,
        input: &MacInput<'_>,
        start: usize,
        len: usize,
        nodes: &mut [Node; MAX_LANES],
    ) -> usize;
    /// See [`leaves::fold`](super::leaves::fold).
    fn fold(
        self,
        key: &Chain,
        nodes: &[Node],
        most: usize,
        root: u32,
        above: &mut [Node; MAX_LANES],
    ) -> usize;
    /// See [`batch::xor_run`](super::batch::xor_run).
    fn xor_run<J: Job>(self, keys: &MessageKeys, counter: u64, jobs: &mut [J]);
}
