//! A message's virtual concatenation as blocks, which are read where they lie.

use super::isa::Isa;
use super::shape::{CHUNK_BLOCKS, MAX_CHUNKS, Shape};
use crate::portable::blake3::BLOCK_SIZE;

/// Most associated data of a message that is framed: its length must end in the first block.
const MAX_AAD: usize = BLOCK_SIZE - 8;

/// Where the tail starts in [`MacBlocks::edges`].
const TAIL: usize = 2 * BLOCK_SIZE;

/// The bytes in front of the text, in a block of their own.
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
