//! One message that is sealed a piece at a time: the beginning is on its way while the end is not
//! even encrypted, and no more than a piece needs memory beside the message.
//!
//! The tag's tree does not care for pieces. It is hashed in runs, subtrees of one size; what does not
//! fill a run yet waits in front of the next piece.

use crate::keys::MessageKeys;
use crate::mac_input::MacInput;
use crate::node::{CHUNK_SIZE, Node, ROOT};
use crate::portable::blake3::parent;
use crate::{KEY_SIZE, NONCE_SIZE, TAG_SIZE, engine};
use alloc::vec::Vec;
use core::fmt;
use zeroize::Zeroize;

/// Chunks of a run, enough to fill the lanes of every back end a few times.
const RUN_CHUNKS: u64 = 64;
const RUN: usize = RUN_CHUNKS as usize * CHUNK_SIZE;
/// Bytes of a length in the input of the tag.
const LENGTH: usize = 8;

/// Seals one message whose text comes in pieces. The result is that of sealing it at once.
///
/// Pieces may have any size; the larger, the faster, and multiples of 64 KiB are the fastest.
/// There is no counterpart that opens: nothing may be decrypted before the tag at the end of the
/// message was verified.
///
/// ```
/// use sealwire_aead::Cipher;
///
/// let cipher = Cipher::new(&[1; 32]);
/// let mut text = *b"a text that comes in pieces";
/// let (first, second) = text.split_at_mut(9);
///
/// let mut sealer = cipher.seal_in_pieces(&[2; 24], b"header");
/// sealer.seal(first);
/// sealer.seal(second);
/// let tag = sealer.finish();
///
/// cipher.decrypt_in_place_detached(&[2; 24], b"header", &mut text, &tag)?;
/// assert_eq!(&text, b"a text that comes in pieces");
/// # Ok::<(), sealwire_aead::DecryptionError>(())
/// ```
pub struct PieceSealer {
    keys: MessageKeys,
    /// Bytes of text so far.
    text_len: u64,
    tree: Tree,
}

impl PieceSealer {
    pub(crate) fn new(key: &[u8; KEY_SIZE], nonce: &[u8; NONCE_SIZE], aad: &[u8]) -> Self {
        let mut front = Vec::with_capacity(aad.len() + LENGTH);
        front.extend_from_slice(aad);
        front.extend_from_slice(&(aad.len() as u64).to_le_bytes());
        Self {
            keys: engine::derive_message_keys(key, nonce),
            text_len: 0,
            tree: Tree {
                front,
                nodes: Vec::new(),
                runs: 0,
            },
        }
    }

    /// Encrypts the next piece of the text in place.
    ///
    /// Allocates when the pieces do not fill runs of 64 KiB, for at most so much.
    pub fn seal(&mut self, piece: &mut [u8]) {
        let (begun, blocks) = piece.split_at_mut(self.left_of_block().min(piece.len()));
        if !begun.is_empty() {
            let used = (self.text_len % 64) as usize;
            let mut keystream = [0; 64];
            engine::xor_keystream(&self.keys, self.text_len / 64, &mut keystream);
            for (byte, key_byte) in begun.iter_mut().zip(&keystream[used..]) {
                *byte ^= key_byte;
            }
            keystream.zeroize();
        }
        let next_block = (self.text_len + begun.len() as u64).div_ceil(64);
        engine::xor_keystream(&self.keys, next_block, blocks);
        self.text_len += piece.len() as u64;
        self.tree.add(&self.keys.authentication, piece);
    }

    /// The tag, once the whole text was given.
    #[must_use = "without its tag the message cannot be opened"]
    pub fn finish(self) -> [u8; TAG_SIZE] {
        self.tree.finish(&self.keys.authentication, self.text_len)
    }

    /// Bytes that a block of keystream, begun by the last piece, has for the next.
    const fn left_of_block(&self) -> usize {
        (self.text_len.next_multiple_of(64) - self.text_len) as usize
    }
}

impl fmt::Debug for PieceSealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PieceSealer")
            .field("text_len", &self.text_len)
            .finish_non_exhaustive()
    }
}

/// BLAKE3's tree over what came so far. Nothing in it is secret but the key, which it is given.
struct Tree {
    /// The bytes that are not in a run yet, eight or more.
    front: Vec<u8>,
    /// The nodes that wait for their right neighbour, the highest first.
    nodes: Vec<Node>,
    /// Runs hashed so far.
    runs: u64,
}

impl Tree {
    fn add(&mut self, key: &[u32; 8], piece: &[u8]) {
        let front = core::mem::take(&mut self.front);
        let len = front.len() + piece.len();
        // Something stays, so that no run is the last of the tree.
        let runs = (len - LENGTH) / RUN;
        let input = MacInput::part(self.runs * RUN_CHUNKS, &front, piece, 0);
        for run in 0..runs {
            self.push(key, engine::node(key, &input, run * RUN, RUN));
        }
        self.front = front;
        match (runs * RUN).checked_sub(self.front.len()) {
            Some(used) => {
                self.front.clear();
                self.front.extend_from_slice(&piece[used..]);
            }
            None => {
                self.front.drain(..runs * RUN);
                self.front.extend_from_slice(piece);
            }
        }
    }

    fn finish(mut self, key: &[u32; 8], text_len: u64) -> [u8; TAG_SIZE] {
        let front = core::mem::take(&mut self.front);
        let input = MacInput::part(self.runs * RUN_CHUNKS, &front, &[], text_len);
        if self.nodes.is_empty() && input.len() <= RUN {
            return engine::mac(key, &input);
        }
        let mut start = 0;
        while input.len() - start > RUN {
            self.push(key, engine::node(key, &input, start, RUN));
            start += RUN;
        }
        let mut last = engine::node(key, &input, start, input.len() - start);
        while let Some(left) = self.nodes.pop() {
            let root = if self.nodes.is_empty() { ROOT } else { 0 };
            last = parent(key, [&left, &last], root);
        }
        last
    }

    /// Adds a run's node; two subtrees of one size become one.
    fn push(&mut self, key: &[u32; 8], mut node: Node) {
        self.runs += 1;
        for _ in 0..self.runs.trailing_zeros() {
            let left = self.nodes.pop().expect("a left neighbour of its size");
            node = parent(key, [&left, &node], 0);
        }
        self.nodes.push(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cipher;
    use alloc::vec;

    fn sealed_in_pieces(aad: &[u8], text: &[u8], sizes: &[usize]) -> (Vec<u8>, [u8; TAG_SIZE]) {
        let mut sealer = Cipher::new(&[3; 32]).seal_in_pieces(&[4; 24], aad);
        let mut sealed = text.to_vec();
        let mut rest = &mut sealed[..];
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, behind) = rest.split_at_mut((*size).min(rest.len()));
            sealer.seal(piece);
            rest = behind;
        }
        (sealed, sealer.finish())
    }

    fn agrees(aad_len: usize, text_len: usize, sizes: &[usize]) {
        let bytes = |len: usize| {
            (0..len as u64)
                .map(|i| (i * i + 7 * i) as u8)
                .collect::<Vec<_>>()
        };
        let (aad, text) = (bytes(aad_len), bytes(text_len));
        let mut expected = text.clone();
        let tag = Cipher::new(&[3; 32]).encrypt_in_place_detached(&[4; 24], &aad, &mut expected);
        let ours = sealed_in_pieces(&aad, &text, sizes);
        assert!(
            ours == (expected, tag),
            "{aad_len} and {text_len} bytes in pieces of {sizes:?}"
        );
    }

    /// Around every edge: of blocks, of chunks, of runs, and of two, three and four of them.
    #[test]
    fn pieces_make_the_same_message() {
        for runs in 0..5 {
            let near = (runs * RUN).saturating_sub(60)..=runs * RUN + 10;
            for text_len in near.step_by(7).chain([runs * RUN, runs * RUN + CHUNK_SIZE]) {
                for aad_len in [0, 9, 1_016] {
                    agrees(aad_len, text_len, &[RUN]);
                }
            }
        }
        agrees(9, 1_000_003, &[RUN, 2 * RUN, 1, 100, 5 * RUN]);
    }

    #[test]
    fn associated_data_may_be_longer_than_a_run() {
        for aad_len in [RUN - 9, RUN - 8, RUN - 7, RUN, 2 * RUN - 4, 3 * RUN + 100] {
            for text_len in [0, 1, RUN, 100_000] {
                agrees(aad_len, text_len, &[RUN]);
            }
        }
    }

    #[test]
    fn a_message_without_text_has_a_tag() {
        agrees(0, 0, &[1]);
        let sealer = Cipher::new(&[3; 32]).seal_in_pieces(&[4; 24], b"");
        assert_eq!(sealed_in_pieces(b"", b"", &[1]), (vec![], sealer.finish()));
    }

    #[test]
    fn pieces_of_any_size() {
        for case in 0..150 {
            let number = |i: usize| (case * 7_919 + i * 104_729) * (case + i + 1);
            let sizes: Vec<_> = (1..8)
                .map(|i| 1 + number(i) % [64, 5_000, 100_000][i % 3])
                .collect();
            agrees(number(8) % 70, number(9) % 300_000, &sizes[..1 + case % 7]);
        }
    }
}
