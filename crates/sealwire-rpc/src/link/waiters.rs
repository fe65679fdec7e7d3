//! Tasks that wait for room on a connection.

use std::task::Waker;
use std::time::Duration;

use slab::Slab;

/// All are woken together and try again: there is no telling which of them the room is for.
#[derive(Default)]
pub(super) struct Waiters {
    /// Since they were last all woken.
    wakers: Slab<Waker>,
    round: u64,
    /// They have time limits; the earliest.
    limit: Option<Duration>,
}

/// Where a task left its waker, and in which round.
#[derive(Debug, Clone, Copy)]
pub(super) struct WaiterKey {
    round: u64,
    key: usize,
}

impl Waiters {
    /// Leaves a task's waker where it has left one before, unless that has been woken.
    pub(super) fn add(&mut self, waiting: &mut Option<WaiterKey>, waker: &Waker) {
        match waiting {
            Some(waiting) if waiting.round == self.round => {
                self.wakers[waiting.key].clone_from(waker);
            }
            _ => {
                let key = self.wakers.insert(waker.clone());
                let round = self.round;
                *waiting = Some(WaiterKey { round, key });
            }
        }
    }

    /// The task waits no longer.
    pub(super) fn remove(&mut self, waiting: WaiterKey) {
        if waiting.round == self.round {
            self.wakers.remove(waiting.key);
        }
    }

    /// Gives all wakers, to be woken.
    pub(super) fn take_all(&mut self, into: &mut Vec<Waker>) {
        self.round += 1;
        into.extend(self.wakers.drain());
    }

    /// The wait of a task ends at this time.
    pub(super) fn limit_wait(&mut self, until: Duration) {
        self.limit = Some(self.limit.map_or(until, |limit| limit.min(until)));
    }

    pub(super) fn limit(&self) -> Option<Duration> {
        self.limit
    }

    /// Whether the time of a task is over. Those that still wait say until when again.
    pub(super) fn take_overdue(&mut self, now: Duration) -> bool {
        self.limit.take_if(|limit| *limit <= now).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_leaves_one_waker_for_each_round() {
        let mut waiters = Waiters::default();
        let (mut first, mut second) = (None, None);
        for _ in 0..3 {
            waiters.add(&mut first, Waker::noop());
            waiters.add(&mut second, Waker::noop());
        }
        let mut woken = Vec::new();
        waiters.take_all(&mut woken);
        assert_eq!(woken.len(), 2);
        // One has what it waited for. The other one waits again, in a place that was the first one's.
        waiters.add(&mut second, Waker::noop());
        waiters.remove(first.unwrap());
        waiters.take_all(&mut woken);
        assert_eq!(woken.len(), 3);
    }

    #[test]
    fn one_that_waits_no_longer_is_not_woken() {
        let mut waiters = Waiters::default();
        let mut waiting = None;
        waiters.add(&mut waiting, Waker::noop());
        waiters.remove(waiting.unwrap());
        let mut woken = Vec::new();
        waiters.take_all(&mut woken);
        assert!(woken.is_empty());
    }

    #[test]
    fn the_earliest_limit_counts_and_is_over_once() {
        let mut waiters = Waiters::default();
        let [early, late] = [1, 2].map(Duration::from_secs);
        waiters.limit_wait(late);
        waiters.limit_wait(early);
        assert_eq!(waiters.limit(), Some(early));
        assert!(!waiters.take_overdue(Duration::ZERO));
        assert!(waiters.take_overdue(late) && !waiters.take_overdue(late));
        assert_eq!(waiters.limit(), None);
    }
}
