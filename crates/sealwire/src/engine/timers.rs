//! Deadlines of the I/O thread, one for each source. Peers can cause any number of deadlines, and
//! move those of their connections hours ahead. So a new deadline takes the place of the old one.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// What a deadline is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Timer {
    /// The event source in this slot; the number tells it from later holders of the slot.
    EventSource { slot: usize, number: u64 },
    /// The end of the linger time of the socket with this id.
    Linger { socket: u64 },
    /// Replacing the cookie keys.
    Cookies,
    /// Asking authenticators whether they have changed their mind.
    Revision,
    /// The end of a task's time limit.
    Timeout { number: u64 },
    /// Running a task of a crate above.
    Task { number: u64 },
}

/// Times are since the start of the I/O thread.
#[derive(Default)]
pub(super) struct Timers {
    /// In the order they are due.
    deadlines: BTreeSet<(Duration, Timer)>,
    /// Those that were [set](Timers::set), by what they are for.
    set: HashMap<Timer, Duration>,
}

impl Timers {
    /// Sets the deadline, in place of the one that there may be.
    pub(super) fn set(&mut self, at: Duration, timer: Timer) {
        let before = self.set.insert(timer, at);
        self.replace(before, Some(at), timer);
    }

    /// Takes out what was [set](Timers::set).
    pub(super) fn clear(&mut self, timer: Timer) {
        let before = self.set.remove(&timer);
        self.replace(before, None, timer);
    }

    /// Moves a deadline whose owner remembers it. Sessions do so with every message that they hear
    /// of, which is why they are not looked up.
    pub(super) fn replace(
        &mut self,
        before: Option<Duration>,
        after: Option<Duration>,
        timer: Timer,
    ) {
        if let Some(before) = before {
            self.deadlines.remove(&(before, timer));
        }
        if let Some(after) = after {
            self.deadlines.insert((after, timer));
        }
    }

    pub(super) fn next(&self) -> Option<Duration> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// Takes a deadline that has come.
    pub(super) fn pop_due(&mut self, now: Duration) -> Option<Timer> {
        if self.next()? > now {
            return None;
        }
        let (_, timer) = self.deadlines.pop_first()?;
        self.set.remove(&timer);
        Some(timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_deadline_leaves_nothing_behind() {
        let (mut timers, seconds) = (Timers::default(), Duration::from_secs);
        let [moved, other] = [1, 2].map(|number| Timer::EventSource { slot: 0, number });
        timers.replace(None, Some(seconds(5)), other);
        timers.replace(None, Some(seconds(9)), moved);
        timers.replace(Some(seconds(9)), Some(seconds(7)), moved);
        assert_eq!(timers.deadlines.len(), 2);
        assert_eq!(timers.pop_due(seconds(4)), None);
        assert_eq!(timers.pop_due(seconds(10)), Some(other));
        assert_eq!(timers.pop_due(seconds(10)), Some(moved));
        assert_eq!(timers.next(), None);
    }

    /// Whatever sets it again and again, and whatever it was before.
    #[test]
    fn there_is_one_deadline_for_each_thing() {
        let (mut timers, seconds) = (Timers::default(), Duration::from_secs);
        let kinds = [
            Timer::EventSource { slot: 3, number: 7 },
            Timer::Linger { socket: 1 },
            Timer::Cookies,
            Timer::Revision,
        ];
        for second in 1..=40 {
            for timer in kinds {
                timers.set(seconds(second), timer);
            }
        }
        assert_eq!(timers.deadlines.len(), kinds.len());
        assert_eq!(timers.pop_due(seconds(39)), None);
        timers.clear(Timer::Cookies);
        let due: Vec<_> = std::iter::from_fn(|| timers.pop_due(seconds(40))).collect();
        assert_eq!(due.len(), kinds.len() - 1);
        assert!(timers.set.is_empty());
        // One that was due can be set again.
        timers.set(seconds(41), Timer::Revision);
        assert_eq!(timers.pop_due(seconds(41)), Some(Timer::Revision));
    }
}
