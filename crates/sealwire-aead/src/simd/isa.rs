//! What an instruction set has to provide beside its vectors.

use super::lanes::LaneKernels;
use super::shape::Edge;
use crate::keys::MessageKeys;
use crate::node::{Chain, Node};
use sealwire_simd::vector::{self, MAX_LANES};

/// Quads in the widest vector.
pub(crate) const QUADS: usize = MAX_LANES / 4;

/// An instruction set, with what of both primitives is its own. A value is the proof that this CPU
/// has it.
pub(crate) trait Isa:
    vector::Isa + LaneKernels<<Self as vector::Isa>::Middle> + LaneKernels<<Self as vector::Isa>::Wide>
{
    /// A block of BLAKE3 input from which rows of message words can be picked.
    type Message: Copy;

    /// Loads a block for [`pick`](Self::pick).
    fn load_message(self, block: &[u8; 64]) -> Self::Message;

    /// The message words that `ROW_SCHEDULE[ROUND][PART]` names.
    fn pick<const ROUND: usize, const PART: usize>(self, message: &Self::Message) -> Self::Narrow;

    /// Hashes four full chunks, of which `block` gives the block of a chunk at an index, where that
    /// is quicker than in lanes.
    #[inline]
    fn hash_four_chunks<'a>(
        self,
        _key: &Chain,
        _block: impl Fn(usize, usize) -> &'a [u8; 64],
        _first: u64,
    ) -> Option<[Node; QUADS]> {
        None
    }

    /// Seals a message of four chunks and a short one, encrypting and hashing side by side, where
    /// that can be done; otherwise leaves it alone.
    #[inline]
    fn seal_four_chunks(
        self,
        _keys: &MessageKeys,
        _counter: u64,
        _aad: &[u8],
        _buffer: &mut [u8],
    ) -> Option<Node> {
        None
    }

    /// XORs the first `data.len()`, at most 64, bytes of `keystream` into `data`.
    #[inline]
    fn xor_short(self, data: &mut [u8], keystream: &[u8; 64]) {
        let (words, rest) = data.as_chunks_mut::<8>();
        let (key_words, _) = keystream.as_chunks::<8>();
        for (word, key_word) in words.iter_mut().zip(key_words) {
            *word = (u64::from_ne_bytes(*word) ^ u64::from_ne_bytes(*key_word)).to_ne_bytes();
        }
        for (byte, key_byte) in rest.iter_mut().zip(&keystream[words.len() * 8..]) {
            *byte ^= key_byte;
        }
    }

    /// Writes the block `edge` of a message with this associated data and text.
    #[inline]
    fn write_edge(self, edge: &Edge, aad: &[u8], text: &[u8], block: &mut [u8; 64]) {
        *block = edge.lengths;
        self.copy_short(&aad[..edge.aad], block);
        self.copy_short(&text[edge.text.clone()], &mut block[edge.text_at..]);
    }

    /// Copies at most 64 bytes to the front of `to`, which has room for them. May write zeros behind
    /// them, as far as `to` goes.
    #[inline]
    fn copy_short(self, from: &[u8], to: &mut [u8]) {
        /// Both ends of `from` as blocks that overlap: two moves for any length from N to 2 N.
        #[inline]
        fn ends<const N: usize>(from: &[u8], to: &mut [u8]) -> bool {
            let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>())
            else {
                return false;
            };
            to[..N].copy_from_slice(first);
            to[from.len() - N..from.len()].copy_from_slice(last);
            true
        }
        let to = &mut to[..from.len()];
        let done = ends::<32>(from, to)
            || ends::<16>(from, to)
            || ends::<8>(from, to)
            || ends::<4>(from, to)
            || ends::<2>(from, to);
        if let (false, Some(byte)) = (done, from.first()) {
            to[0] = *byte;
        }
    }
}

/// Words of a block, for sets that pick them one by one.
#[cfg_attr(
    target_arch = "aarch64",
    expect(dead_code, reason = "NEON picks bytes")
)]
pub(crate) fn block_words(block: &[u8; 64]) -> [u32; 16] {
    let mut words = [0; 16];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}
