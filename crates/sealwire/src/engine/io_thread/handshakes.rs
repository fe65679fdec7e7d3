//! The handshake queue: listeners, and sessions whose handshake is not done. They are served after all
//! others: a flood of handshakes, each of them more work than a hundred small messages, must not hold up
//! established peers.

use std::collections::VecDeque;
use std::time::Duration;

use super::IoThread;
use super::sources::SourceEvent;

/// Slots in the order in which they are served, each of them once.
#[derive(Default)]
pub(super) struct HandshakeQueue {
    order: VecDeque<usize>,
    /// By slot. A slot may have another source by the time it is served, which does no harm.
    waiting: Vec<bool>,
}

impl HandshakeQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Puts a slot at the end, unless it waits already.
    pub(super) fn push(&mut self, slot: usize) {
        if self.waiting.len() <= slot {
            self.waiting.resize(slot + 1, false);
        }
        if !std::mem::replace(&mut self.waiting[slot], true) {
            self.order.push_back(slot);
        }
    }

    fn pop(&mut self) -> Option<usize> {
        let slot = self.order.pop_front()?;
        self.waiting[slot] = false;
        Some(slot)
    }
}

impl IoThread {
    /// Serves the first of the queue, and more for as long as everything else took in this iteration:
    /// neither side can keep the other from half of the time.
    pub(super) fn advance_handshakes(&mut self, round_began: Duration) {
        if self.handshakes.is_empty() {
            return;
        }
        let now = self.reactor.now();
        let until = now + now.saturating_sub(round_began);
        while let Some(slot) = self.handshakes.pop() {
            self.contained(Some(slot), |this| {
                this.serve(slot, SourceEvent::TimeSlice);
            });
            if self.reactor.now() >= until {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_waits_once_and_behind_those_before_it() {
        let mut queue = HandshakeQueue::default();
        for slot in [7, 2, 7, 5, 2] {
            queue.push(slot);
        }
        assert_eq!(queue.pop(), Some(7));
        queue.push(7);
        let rest: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(rest, [2, 5, 7]);
        assert!(queue.is_empty());
    }
}
