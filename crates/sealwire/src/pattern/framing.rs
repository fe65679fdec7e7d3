//! Messages to many, framed once: with NULL and PLAIN all peers are sent the same bytes. They are
//! written to memory that the pipes share, and a pipe's queue holds stretches of it. A message that
//! follows the one before in memory makes the last stretch longer, which costs a peer next to nothing.
//!
//! ```text
//!   memory   | m1 | m2 | m3 | m4 |          pipe a  [m1..m4]
//!                                           pipe b  [m1] [m3..m4]
//! ```
//!
//! Links get the bytes without a copy. What they may read must not grow any more, so the memory is
//! closed first: what comes then is another stretch.

use std::sync::{Arc, OnceLock};

use bytes::{Bytes, BytesMut};
use sealwire_zmtp::Message as Frames;
use sealwire_zmtp::limits::LARGE_FRAME;

use super::item::COST;

/// Bytes that are allocated at a time.
const MEMORY: usize = 16 << 10;

/// Most stretches in one queue. Each keeps its memory, so a peer which takes one message of many, and
/// takes none for a while, keeps 2 MiB that way; further messages are queued by themselves.
pub(super) const MOST_STRETCHES: usize = 128;

/// A stretch of framed messages.
#[derive(Debug, Clone)]
pub(crate) struct Framed {
    memory: Arc<Closed>,
    start: usize,
    end: usize,
    messages: usize,
    size: usize,
}

/// Memory that stretches lie in, once it is closed.
#[derive(Debug, Default)]
struct Closed(OnceLock<Bytes>);

impl Framed {
    #[inline]
    pub(super) fn messages(&self) -> usize {
        self.messages
    }

    /// Payload in bytes.
    #[inline]
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// What it costs of a budget, in bytes.
    #[inline]
    pub(super) fn cost(&self) -> usize {
        COST * self.messages + self.size
    }

    /// Takes what follows in memory along; `false` when it is elsewhere.
    #[inline]
    pub(super) fn extend(&mut self, next: &Framed) -> bool {
        if self.end != next.start || !Arc::ptr_eq(&self.memory, &next.memory) {
            return false;
        }
        self.end = next.end;
        self.messages += next.messages;
        self.size += next.size;
        true
    }

    /// The frames.
    pub(crate) fn into_bytes(self) -> Bytes {
        let closed = self.memory.0.get();
        closed
            .expect("closed before a link takes it")
            .slice(self.start..self.end)
    }
}

/// Frames the messages of one socket.
#[derive(Default)]
pub(super) struct Framing {
    open: BytesMut,
    /// What `open` will be.
    memory: Arc<Closed>,
}

impl Framing {
    /// Whether a message is small enough. The payload of large ones is shared as it is.
    pub(super) fn fits(frames: &Frames) -> bool {
        frames.size() < LARGE_FRAME
    }

    pub(super) fn frame(&mut self, frames: &Frames) -> Framed {
        let needed = frames.framed_size();
        if self.open.len() + needed > self.open.capacity() {
            self.close();
            self.open.reserve(needed.max(MEMORY));
        }
        let start = self.open.len();
        frames.frame_into(&mut self.open);
        Framed {
            memory: self.memory.clone(),
            start,
            end: self.open.len(),
            messages: 1,
            size: frames.size(),
        }
    }

    /// Ends the stretches so far, so that links may have them.
    pub(super) fn close(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let closed = std::mem::take(&mut self.memory);
        // Nobody else closes.
        let _ = closed.0.set(self.open.split().freeze());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_in_memory_is_one_stretch_until_it_is_closed() {
        let mut framing = Framing::default();
        let mut stretch = framing.frame(&"one".into());
        let two = framing.frame(&"two".into());
        let three = framing.frame(&"three".into());
        let mut with_a_gap = stretch.clone();
        assert!(!with_a_gap.extend(&three));
        assert!(stretch.extend(&two) && stretch.extend(&three));
        assert_eq!((stretch.messages(), stretch.size()), (3, 11));
        framing.close();
        let four = framing.frame(&"four".into());
        assert!(!stretch.extend(&four));
        assert_eq!(stretch.into_bytes()[..], *b"\0\x03one\0\x03two\0\x05three");
        assert_eq!(with_a_gap.into_bytes()[..], *b"\0\x03one");
        framing.close();
        assert_eq!(four.into_bytes()[..], *b"\0\x04four");
    }

    #[test]
    fn memory_is_closed_when_it_is_full_and_may_be_used_again() {
        let mut framing = Framing::default();
        let message = Frames::from(vec![7; 1_000]);
        let mut kept = Vec::<Framed>::new();
        for _ in 0..100 {
            let next = framing.frame(&message);
            if !kept.last_mut().is_some_and(|last| last.extend(&next)) {
                kept.push(next);
            }
        }
        framing.close();
        assert_eq!(kept.len(), 100_usize.div_ceil(MEMORY / 1_009));
        assert_eq!(kept.iter().map(Framed::messages).sum::<usize>(), 100);
        let bytes: usize = kept
            .into_iter()
            .map(|framed| framed.into_bytes().len())
            .sum();
        assert_eq!(bytes, 100 * 1_009);
    }
}
