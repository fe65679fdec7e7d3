//! Where the blocks of a message's virtual concatenation lie, by its lengths alone.

use crate::node::CHUNK_SIZE;
use crate::portable::blake3::BLOCK_SIZE;
use core::ops::Range;

/// Blocks in a full chunk.
pub(crate) const CHUNK_BLOCKS: usize = CHUNK_SIZE / BLOCK_SIZE;
/// Most chunks of a message that shares lanes. Longer ones fill lanes of their own.
pub(crate) const MAX_CHUNKS: usize = 8;

/// Lengths of a message that can be framed, and what follows from them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) aad_len: usize,
    pub(crate) text_len: usize,
}

impl Shape {
    /// Bytes in front of the text.
    #[inline]
    const fn header(self) -> usize {
        self.aad_len + 8
    }

    #[inline]
    const fn len(self) -> usize {
        self.header() + self.text_len + 8
    }

    /// Number of blocks.
    #[inline]
    pub(crate) const fn blocks(self) -> usize {
        self.len().div_ceil(BLOCK_SIZE)
    }

    /// Bytes in the last block.
    #[inline]
    pub(crate) const fn last_len(self) -> usize {
        self.len() - (self.blocks() - 1) * BLOCK_SIZE
    }

    /// Where block `index` lies in the text, if there are no other bytes in it.
    #[inline]
    pub(crate) const fn inside(self, index: usize) -> Option<usize> {
        let start = index * BLOCK_SIZE;
        if index > 0 && start + BLOCK_SIZE <= self.header() + self.text_len {
            Some(start - self.header())
        } else {
            None
        }
    }
}

/// A block with other bytes than text in it, in all messages of one shape.
#[repr(align(64))]
pub(crate) struct Edge {
    /// What the block has of the two lengths, and zeros.
    pub(crate) lengths: [u8; BLOCK_SIZE],
    /// How much associated data it begins with.
    pub(crate) aad: usize,
    /// What it has of the text.
    pub(crate) text: Range<usize>,
    /// Where in the block that begins.
    pub(crate) text_at: usize,
}

impl Edge {
    /// Block `index` of messages of a shape.
    #[inline]
    pub(crate) fn new(shape: Shape, index: usize) -> Self {
        let (start, header) = (index * BLOCK_SIZE, shape.header());
        let text_end = header + shape.text_len;
        let mut lengths = [0; BLOCK_SIZE];
        for (number, word) in lengths.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let at = start + number * 8;
            let both = bytes_from(at, shape.aad_len as u64, shape.aad_len)
                | bytes_from(at, shape.text_len as u64, text_end);
            *word = both.to_le_bytes();
        }
        let text_byte = |at: usize| at.saturating_sub(header).min(shape.text_len);
        Self {
            lengths,
            aad: if index == 0 { shape.aad_len } else { 0 },
            text: text_byte(start)..text_byte(start + BLOCK_SIZE),
            text_at: header.saturating_sub(start),
        }
    }
}

/// Eight bytes of the concatenation from `at` on, with nothing in it but `value` at `place`.
///
/// In whole words: a vector that is read where its bytes were written one by one has to wait.
#[inline]
const fn bytes_from(at: usize, value: u64, place: usize) -> u64 {
    let (behind, before) = (at.wrapping_sub(place), place.wrapping_sub(at));
    if behind < 8 {
        value >> (8 * behind)
    } else if before < 8 {
        value << (8 * before)
    } else {
        0
    }
}
