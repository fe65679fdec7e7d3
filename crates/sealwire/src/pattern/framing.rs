//! Messages to many peers, framed once: with NULL and PLAIN all peers get the same bytes. The bytes
//! go to memory that the pipes share, and a pipe's queue holds ranges of it. If a message follows
//! the previous one in memory, the last range grows, which costs a peer next to nothing.
//!
//! ```text
//!   block   | m1 | m2 | m3 | m4 |          pipe a  [m1..m4]
//!                                          pipe b  [m1] [m3..m4]
//! ```
//!
//! Links get the bytes without a copy. Bytes that a link may read must not grow any more. So the
//! block is closed first, and later messages go into another one.

use bytes::{Bytes, BytesMut};
use sealwire_zmtp::Frames;
use sealwire_zmtp::limits::LARGE_FRAME;
use slab::Slab;

/// Bytes that are allocated at a time.
const MEMORY: usize = 16 << 10;

/// Messages that lie together in a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FramedRange {
    block: usize,
    start: usize,
    end: usize,
    messages: usize,
    size: usize,
}

impl FramedRange {
    /// How many messages, and their payload in bytes.
    #[inline]
    pub(super) fn messages(&self) -> (usize, usize) {
        (self.messages, self.size)
    }

    /// Takes what follows in the block along; `false` when it is elsewhere.
    #[inline]
    pub(super) fn extend(&mut self, next: &FramedRange) -> bool {
        if self.end != next.start || self.block != next.block {
            return false;
        }
        self.end = next.end;
        self.messages += next.messages;
        self.size += next.size;
        true
    }
}

/// The frames of a range.
#[derive(Debug)]
pub(crate) struct Framed {
    bytes: Bytes,
    messages: usize,
    size: usize,
}

impl Framed {
    /// How many messages, and their payload in bytes.
    pub(super) fn messages(&self) -> (usize, usize) {
        (self.messages, self.size)
    }

    pub(crate) fn into_bytes(self) -> Bytes {
        self.bytes
    }
}

/// Frames the messages of one socket.
#[derive(Default)]
pub(super) struct FramingBuffer {
    open: BytesMut,
    /// The block that `open` will be.
    open_block: Option<usize>,
    blocks: Slab<Block>,
}

#[derive(Default)]
struct Block {
    /// Nothing until it is closed.
    bytes: Bytes,
    /// Ranges in it that are in queues.
    ranges: usize,
}

impl FramingBuffer {
    /// Whether a message is small enough. The payload of large ones is shared as it is.
    pub(super) fn fits(frames: &Frames) -> bool {
        frames.size() < LARGE_FRAME
    }

    pub(super) fn frame(&mut self, frames: &Frames) -> FramedRange {
        let needed = frames.framed_size();
        if self.open.len() + needed > self.open.capacity() {
            self.close();
            self.open.reserve(needed.max(MEMORY));
        }
        let blocks = &mut self.blocks;
        let block = *self
            .open_block
            .get_or_insert_with(|| blocks.insert(Block::default()));
        let start = self.open.len();
        frames.frame_into(&mut self.open);
        FramedRange {
            block,
            start,
            end: self.open.len(),
            messages: 1,
            size: frames.size(),
        }
    }

    /// A range that begins there was queued.
    pub(super) fn queued(&mut self, range: FramedRange) {
        self.blocks[range.block].ranges += 1;
    }

    /// Ends the ranges so far, so that links may have them.
    pub(super) fn close(&mut self) {
        if let Some(block) = self.open_block.take() {
            self.blocks[block].bytes = self.open.split().freeze();
            self.forget_unused(block);
        }
    }

    /// The frames of a range that leaves its queue, in a block that is closed.
    pub(super) fn take(&mut self, range: FramedRange) -> Framed {
        debug_assert_ne!(self.open_block, Some(range.block));
        let bytes = &self.blocks[range.block].bytes;
        let framed = Framed {
            bytes: bytes.slice(range.start..range.end),
            messages: range.messages,
            size: range.size,
        };
        self.dropped(range);
        framed
    }

    /// A range is in its queue no more.
    pub(super) fn dropped(&mut self, range: FramedRange) {
        self.blocks[range.block].ranges -= 1;
        self.forget_unused(range.block);
    }

    fn forget_unused(&mut self, block: usize) {
        if self.blocks[block].ranges == 0 && self.open_block != Some(block) {
            self.blocks.remove(block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(framing: &mut FramingBuffer, frames: &Frames) -> FramedRange {
        let range = framing.frame(frames);
        framing.queued(range);
        range
    }

    #[test]
    fn what_follows_in_memory_is_one_range_until_it_is_closed() {
        let mut framing = FramingBuffer::default();
        let mut range = queued(&mut framing, &"one".into());
        let mut with_a_gap = queued(&mut framing, &"one".into());
        let two = framing.frame(&"two".into());
        let three = framing.frame(&"three".into());
        assert!(!range.extend(&two), "the other one is in between");
        assert!(with_a_gap.extend(&two) && with_a_gap.extend(&three));
        assert!(!with_a_gap.extend(&three));
        assert_eq!(with_a_gap.messages(), (3, 11));
        framing.close();
        let mut four = queued(&mut framing, &"four".into());
        assert!(!with_a_gap.extend(&four));
        let bytes = framing.take(with_a_gap).into_bytes();
        assert_eq!(bytes[..], *b"\0\x03one\0\x03two\0\x05three");
        assert_eq!(framing.take(range).into_bytes()[..], *b"\0\x03one");
        assert!(four.extend(&framing.frame(&"".into())));
        framing.close();
        assert_eq!(framing.take(four).into_bytes()[..], *b"\0\x04four\0\0");
        assert!(framing.blocks.is_empty());
    }

    #[test]
    fn blocks_end_with_their_memory_and_with_their_last_range() {
        let mut framing = FramingBuffer::default();
        let message = Frames::from(vec![7; 1_000]);
        let mut kept = Vec::<FramedRange>::new();
        for _ in 0..100 {
            let next = framing.frame(&message);
            if !kept.last_mut().is_some_and(|last| last.extend(&next)) {
                framing.queued(next);
                kept.push(next);
            }
        }
        assert_eq!(kept.len(), 100_usize.div_ceil(MEMORY / 1_009));
        assert_eq!(framing.blocks.len(), kept.len());
        framing.close();
        let dropped = kept.pop().unwrap();
        framing.dropped(dropped);
        let (mut messages, mut bytes) = (dropped.messages().0, 1_009 * dropped.messages().0);
        for range in kept {
            messages += range.messages().0;
            bytes += framing.take(range).into_bytes().len();
        }
        assert_eq!((messages, bytes), (100, 100 * 1_009));
        assert!(framing.blocks.is_empty());
        // Nobody wanted it.
        framing.frame(&message);
        framing.close();
        assert!(framing.blocks.is_empty());
    }
}
