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

use bytes::{Bytes, BytesMut};

use crate::limits::{MAX_PAYLOAD_BLOCKS, PAYLOAD_BLOCK};

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
    full: VecDeque<BytesMut>,
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

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;

    use super::*;

    fn payload(size: usize, seed: usize) -> Vec<u8> {
        (0..size).map(|i| (i * 7 + seed) as u8).collect()
    }

    #[test]
    fn payloads_of_every_size_keep_their_bytes() {
        let mut blocks = Blocks::default();
        let sizes = [
            71,
            100,
            1_400,
            4_096,
            4_097,
            30_000,
            PAYLOAD_BLOCK / 2,
            PAYLOAD_BLOCK,
        ];
        let kept: Vec<_> = (0..2_000)
            .map(|n| (n, blocks.copy(&payload(sizes[n % sizes.len()], n))))
            .collect();
        for (n, bytes) in kept {
            assert_eq!(bytes, payload(sizes[n % sizes.len()], n), "payload {n}");
        }
    }

    #[test]
    fn memory_of_payloads_that_are_gone_is_used_again() {
        let mut blocks = Blocks::default();
        let mut held = VecDeque::new();
        for n in 0..100_000 {
            held.push_back(blocks.copy(&payload(1_400, n)));
            if held.len() > 1_000 {
                held.pop_front();
            }
        }
        // 1,000 payloads fill 22 blocks.
        assert!(blocks.full.len() <= 24, "{} blocks", blocks.full.len());
    }

    #[test]
    fn payloads_that_are_kept_keep_a_bounded_number_of_blocks() {
        let mut blocks = Blocks::default();
        let mut kept = Vec::new();
        for n in 0..100_000 {
            let bytes = blocks.copy(&payload(100, n));
            if n % 600 == 0 {
                kept.push(bytes);
            }
        }
        assert!(blocks.full.len() <= MAX_PAYLOAD_BLOCKS);
        kept.clear();
        let places: BTreeSet<_> = (0..100_000)
            .map(|n| blocks.copy(&payload(100, n)).as_ptr().addr() / PAYLOAD_BLOCK)
            .collect();
        assert!(
            places.len() <= 2 * (MAX_PAYLOAD_BLOCKS + 1),
            "blocks come back into use"
        );
    }

    #[test]
    fn a_quiet_connection_gives_its_blocks_back_but_not_those_in_use() {
        let mut blocks = Blocks::default();
        let mut kept: Vec<_> = (0..1_000)
            .map(|n| blocks.copy(&payload(1_400, n)))
            .collect();
        let most = blocks.full.len();
        // 41 payloads fill the four smaller blocks, and 46 each of the others.
        assert_eq!(most, (1_000 - 41) / 46);
        blocks.give_back();
        assert_eq!(blocks.full.len(), most, "all are in use");
        kept.truncate(100);
        blocks.give_back();
        assert!(
            (1..=5).contains(&blocks.full.len()),
            "{} blocks",
            blocks.full.len()
        );
        kept.clear();
        blocks.give_back();
        assert!(blocks.full.is_empty());
        assert_eq!(blocks.copy(&payload(1_400, 7)), payload(1_400, 7));
    }

    /// Keeps payloads for a while, and drops them in an order and at moments of its own.
    fn keep(seed: u64, payloads: impl IntoIterator<Item = (usize, Bytes)>) {
        extern crate std;
        let mut state = seed;
        let mut below = |limit: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % limit
        };
        let mut kept = Vec::new();
        for received in payloads {
            kept.push(received);
            while kept.len() > 300 || (!kept.is_empty() && below(3) == 0) {
                let (n, bytes) = kept.swap_remove(below(kept.len()));
                if below(4) == 0 {
                    std::thread::yield_now();
                }
                assert_eq!(bytes, payload(bytes.len(), n), "payload {n}");
            }
        }
    }

    #[test]
    fn payloads_are_dropped_by_other_threads_while_their_memory_is_used_again() {
        extern crate std;
        let mut blocks = Blocks::default();
        std::thread::scope(|scope| {
            let threads = [1, 2, 3].map(|seed| {
                let (to, payloads) = std::sync::mpsc::sync_channel(100);
                scope.spawn(move || keep(seed, payloads));
                to
            });
            // Under Miri each takes long, and a few show what races.
            for n in 0..if cfg!(miri) { 300 } else { 60_000 } {
                let bytes = blocks.copy(&payload([100, 1_000, 9_000][n % 7 % 3], n));
                threads[n % 3].send((n, bytes)).unwrap();
                assert!(blocks.full.len() <= MAX_PAYLOAD_BLOCKS);
                if n % 1_000 == 999 {
                    blocks.give_back();
                }
            }
        });
        // Nobody has any of them now.
        blocks.give_back();
        blocks.give_back();
        assert!(blocks.full.is_empty(), "{} blocks", blocks.full.len());
    }
}
