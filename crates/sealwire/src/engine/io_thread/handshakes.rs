//! Who waits to get in: listeners, and sessions whose handshake is not done. They get their turns
//! behind all others: a flood of handshakes, each of them more work than a hundred small messages,
//! must not hold up established peers.

use std::collections::VecDeque;
use std::time::Duration;

use super::IoThread;

/// Slots in the order in which they get a turn, each of them once.
#[derive(Default)]
pub(super) struct Line {
    order: VecDeque<usize>,
    /// By slot. A slot may have another source by the time of its turn, which does no harm.
    waiting: Vec<bool>,
}

impl Line {
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
    /// A turn for the first in line, and more for as long as everything else took in this round:
    /// neither side can keep the other from half of the time.
    pub(super) fn advance_handshakes(&mut self, round_began: Duration) {
        if self.handshakes.is_empty() {
            return;
        }
        let now = self.reactor.now();
        let until = now + now.saturating_sub(round_began);
        while let Some(slot) = self.handshakes.pop() {
            self.contained(Some(slot), |this| this.give_turn(slot));
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
        let mut line = Line::default();
        for slot in [7, 2, 7, 5, 2] {
            line.push(slot);
        }
        assert_eq!(line.pop(), Some(7));
        line.push(7);
        let rest: Vec<_> = std::iter::from_fn(|| line.pop()).collect();
        assert_eq!(rest, [2, 5, 7]);
        assert!(line.is_empty());
    }
}
