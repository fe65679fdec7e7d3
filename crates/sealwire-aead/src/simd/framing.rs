//! A message's virtual concatenation as blocks, which are read where they lie.

use super::blake3::CHUNK_BLOCKS;
use super::isa::Isa;
use crate::portable::blake3::BLOCK_SIZE;
use core::ops::Range;

/// Most chunks of a message that shares lanes. Longer ones fill lanes of their own.
pub(crate) const MAX_CHUNKS: usize = 8;
/// Most associated data of a message that is framed: its length must end in the first block.
const MAX_AAD: usize = BLOCK_SIZE - 8;

/// Where the tail starts in [`MacBlocks::edges`].
const TAIL: usize = 2 * BLOCK_SIZE;

/// Lengths of a message that [`fits`](MacBlocks::fits), and what follows from them.
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

/// The input in front of the text, in a block of its own.
#[cfg_attr(
    not(target_arch = "x86_64"),
    allow(
        dead_code,
        reason = "for sealing four chunks side by side, which is AVX-512's"
    )
)]
pub(crate) struct Header {
    pub(crate) block: [u8; BLOCK_SIZE],
    /// Bytes that count.
    pub(crate) len: usize,
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

/// The blocks of `aad || le64(len aad) || text || le64(len text)`: those inside the text are read
/// from there, and those on its edges from here.
///
/// ```text
/// edges | first block | room to copy a whole block | last one or two blocks |
/// ```
#[derive(Clone, Copy)]
pub(crate) struct MacBlocks {
    edges: [u8; 4 * BLOCK_SIZE],
    /// Bytes in front of the text.
    header: usize,
    /// The first block that is read from the tail.
    tail_block: usize,
}

impl MacBlocks {
    pub(crate) const EMPTY: Self = Self {
        edges: [0; 4 * BLOCK_SIZE],
        header: 0,
        tail_block: 0,
    };

    /// Whether a message with these lengths may share lanes, and in how many blocks.
    #[inline]
    pub(crate) fn block_count(aad_len: usize, text_len: usize) -> Option<usize> {
        if aad_len > MAX_AAD || text_len > MAX_CHUNKS * CHUNK_BLOCKS * BLOCK_SIZE {
            return None;
        }
        let blocks = Shape { aad_len, text_len }.blocks();
        (blocks <= MAX_CHUNKS * CHUNK_BLOCKS).then_some(blocks)
    }

    /// Whether a message with so much associated data can be framed.
    #[inline]
    pub(crate) const fn fits(aad: &[u8]) -> bool {
        aad.len() <= MAX_AAD
    }

    /// The input in front of the text, where the associated data [`fits`](Self::fits).
    #[cfg_attr(
        not(target_arch = "x86_64"),
        allow(
            dead_code,
            reason = "for sealing four chunks side by side, which is AVX-512's"
        )
    )]
    #[inline(always)]
    pub(crate) fn header<I: Isa>(isa: I, aad: &[u8]) -> Header {
        let mut block = [0; BLOCK_SIZE];
        isa.copy_short(aad, &mut block);
        block[aad.len()..][..8].copy_from_slice(&(aad.len() as u64).to_le_bytes());
        Header {
            block,
            len: aad.len() + 8,
        }
    }

    /// Frames a message whose associated data [`fits`](Self::fits). `self` must be as
    /// [`EMPTY`](Self::EMPTY).
    #[inline(always)]
    pub(crate) fn fill<I: Isa>(&mut self, isa: I, aad: &[u8], text: &[u8]) {
        self.header = aad.len() + 8;
        isa.copy_short(aad, &mut self.edges);
        let (aad_len, text_len) = (aad.len() as u64, text.len() as u64);
        self.edges[aad.len()..][..8].copy_from_slice(&aad_len.to_le_bytes());

        let text_end = self.header + text.len();
        self.tail_block = text_end / BLOCK_SIZE;
        let tail_bytes = text_end % BLOCK_SIZE;
        let (Some(first), Some(last)) = (
            text.first_chunk::<BLOCK_SIZE>(),
            text.last_chunk::<BLOCK_SIZE>(),
        ) else {
            // The text does not fill a block: it starts in the first block and may reach into the
            // second, which then is the tail.
            isa.copy_short(text, &mut self.edges[self.header..]);
            if self.tail_block > 0 {
                let spilled: [u8; BLOCK_SIZE] =
                    core::array::from_fn(|i| self.edges[BLOCK_SIZE + i]);
                self.edges[TAIL..][..BLOCK_SIZE].copy_from_slice(&spilled);
                self.edges[TAIL + tail_bytes..][..8].copy_from_slice(&text_len.to_le_bytes());
            } else {
                self.edges[text_end..][..8].copy_from_slice(&text_len.to_le_bytes());
            }
            return;
        };
        // Whole blocks, for their fixed size: what is too much lands in the room between.
        self.edges[self.header..][..BLOCK_SIZE].copy_from_slice(first);
        self.edges[TAIL + tail_bytes - BLOCK_SIZE..][..BLOCK_SIZE].copy_from_slice(last);
        self.edges[TAIL + tail_bytes..][..8].copy_from_slice(&text_len.to_le_bytes());
    }

    /// Block `index` of the concatenation with `text`, filled up with zeros; some other block if there are
    /// fewer.
    #[inline]
    pub(crate) fn block<'a>(&'a self, text: &'a [u8], index: usize) -> &'a [u8; BLOCK_SIZE] {
        const EMPTY: &[u8; BLOCK_SIZE] = &[0; BLOCK_SIZE];
        let from = if index > 0 && index < self.tail_block {
            text.get(index * BLOCK_SIZE - self.header..)
        } else if index == 0 {
            Some(&self.edges[..])
        } else {
            // A message that ends in its first block has its tail there too.
            let tail = if self.tail_block == 0 { 0 } else { TAIL };
            self.edges
                .get(tail + (index - self.tail_block) * BLOCK_SIZE..)
        };
        from.and_then(|bytes| bytes.first_chunk()).unwrap_or(EMPTY)
    }
}
