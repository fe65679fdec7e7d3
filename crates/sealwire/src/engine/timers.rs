//! Deadlines of the I/O thread. A deadline that is moved or given up is taken out: peers can move
//! those of their connections as often as they like, hours ahead.

use std::collections::BTreeSet;
use std::time::Duration;

/// What a deadline is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// The source in this slot; the number tells it from later holders of the slot.
    Source { slot: usize, number: u64 },
    /// The end of the linger time of the socket with this id.
    Linger { socket: u64 },
    /// Replacing the cookie keys.
    Cookies,
    /// Asking authenticators whether they have changed their mind.
    Revision,
}

/// Times are since the start of the I/O thread.
#[derive(Default)]
pub(super) struct Timers {
    /// In the order they are due.
    deadlines: BTreeSet<(Duration, Timer)>,
}

impl Timers {
    pub(super) fn set(&mut self, at: Duration, timer: Timer) {
        self.deadlines.insert((at, timer));
    }

    pub(super) fn cancel(&mut self, at: Duration, timer: Timer) {
        self.deadlines.remove(&(at, timer));
    }

    pub(super) fn next(&self) -> Option<Duration> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// Takes a deadline that has come.
    pub(super) fn pop_due(&mut self, now: Duration) -> Option<Timer> {
        if self.next()? > now {
            return None;
        }
        self.deadlines.pop_first().map(|(_, timer)| timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_deadline_leaves_nothing_behind() {
        let (mut timers, seconds) = (Timers::default(), Duration::from_secs);
        let [moved, other] = [1, 2].map(|number| Timer::Source { slot: 0, number });
        timers.set(seconds(5), other);
        timers.set(seconds(9), moved);
        timers.cancel(seconds(9), moved);
        timers.set(seconds(7), moved);
        assert_eq!(timers.deadlines.len(), 2);
        assert_eq!(timers.pop_due(seconds(4)), None);
        assert_eq!(timers.pop_due(seconds(10)), Some(other));
        assert_eq!(timers.pop_due(seconds(10)), Some(moved));
        assert_eq!(timers.next(), None);
    }
}
