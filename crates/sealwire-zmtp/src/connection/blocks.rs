//! Memory for payloads that are too large for a frame to hold in place and too small to keep a whole
//! read buffer alive. They are cut from blocks, which are used again once all payloads in them are
//! gone.
//!
//! A payload keeps its whole block in memory. So a connection has at most [`MAX_PAYLOAD_BLOCKS`] blocks beside the
//! current one, and while all are in use, payloads get memory of their own: so an application that keeps one
//! small message of many keeps at most 2 MiB more than its messages take. With its heartbeats a quiet
//! connection frees blocks that it does not need.
//!
//! Payloads may be dropped by any thread: the count of a block's users is atomic, and a block is used
//! again only by the connection. Its old bytes are not wiped, nor are those of read buffers. Nobody sees
//! them, since a payload is only as long as the bytes written into it.

use alloc::collections::VecDeque;

use super::memory::{Bytes, BytesMut, MAX_PAYLOAD_BLOCKS, PAYLOAD_BLOCK};

/// Bytes of the first block: many connections receive little. Each further one is twice as large,
/// up to [`PAYLOAD_BLOCK`].
const SMALLEST: usize = 4 << 10;

#[derive(Default)]
pub(super) struct Blocks {
    /// The rest of the current block.
    current: BytesMut,
    /// Bytes of the whole current block.
    size: usize,
    /// Full blocks of the largest size, the oldest first. Their memory comes back through these
    /// handles.
    pub(super) full: VecDeque<BytesMut>,
    /// Bytes that get memory of their own before a free block is looked for again.
    unsearched: usize,
    /// Blocks begun since the last [`give_back`](Blocks::give_back).
    begun: usize,
}

impl Blocks {
    /// The payload in memory that other payloads share.
    pub(super) fn copy(&mut self, payload: &[u8]) -> Bytes {
        if self.current.capacity() < payload.len() && !self.next(payload.len()) {
            return Bytes::copy_from_slice(payload);
        }
        self.current.extend_from_slice(payload);
        self.current.split().freeze()
    }

    /// Goes on to a block with room for `needed` bytes, unless all are in use.
    fn next(&mut self, needed: usize) -> bool {
        if needed > PAYLOAD_BLOCK / 2 {
            return false;
        }
        if self.size < PAYLOAD_BLOCK {
            self.size = (2 * self.size).max(needed).next_power_of_two();
            self.size = self.size.clamp(SMALLEST, PAYLOAD_BLOCK);
            self.current = BytesMut::with_capacity(self.size);
            return true;
        }
        if self.unsearched >= needed {
            self.unsearched -= needed;
            return false;
        }
        let free = self
            .full
            .iter_mut()
            .position(|block| block.try_reclaim(PAYLOAD_BLOCK));
        let next = match free.and_then(|index| self.full.remove(index)) {
            Some(free) => free,
            None if self.full.len() < MAX_PAYLOAD_BLOCKS => BytesMut::with_capacity(PAYLOAD_BLOCK),
            None => {
                self.unsearched = PAYLOAD_BLOCK;
                return false;
            }
        };
        let used = core::mem::replace(&mut self.current, next);
        self.full.push_back(used);
        self.begun += 1;
        true
    }

    /// Frees the blocks that were not needed since the last time. Those in use stay known, so that
    /// their number stays bounded.
    pub(super) fn give_back(&mut self) {
        let mut spared = core::mem::take(&mut self.begun);
        self.full.retain_mut(|block| {
            let free = block.try_reclaim(PAYLOAD_BLOCK);
            let keep = !free || spared > 0;
            spared = spared.saturating_sub(usize::from(free));
            keep
        });
    }
}
