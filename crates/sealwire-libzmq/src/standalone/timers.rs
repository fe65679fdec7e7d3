//! Timers that a program executes itself.
//!
//! Handlers may do anything to the timers, also cancel the one that runs: no lock is held while they do.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::errno::Errno;

/// A set of timers, each with a handler. Times are in milliseconds of one clock, which callers read.
pub(crate) struct Timers<H> {
    state: Mutex<State<H>>,
}

struct State<H> {
    timers: HashMap<i32, Timer<H>>,
    /// Which timer is due when. Those that are due together stay in the order in which they were set.
    due: BTreeMap<Due, i32>,
    last_id: i32,
    settings: u64,
}

/// A time, and a number that no other setting has.
type Due = (u64, u64);

struct Timer<H> {
    due: Due,
    interval: u64,
    handler: H,
}

impl<H: Clone> Timers<H> {
    pub(crate) fn new() -> Self {
        Timers {
            state: Mutex::new(State {
                timers: HashMap::new(),
                due: BTreeMap::new(),
                last_id: 0,
                settings: 0,
            }),
        }
    }

    /// Adds a timer that is due every `interval`, and returns its id.
    ///
    /// # Errors
    ///
    /// [`Errno::NOMEM`] when the ids are used up.
    pub(crate) fn add(&self, now: u64, interval: u64, handler: H) -> Result<i32, Errno> {
        let mut state = self.state();
        let id = state.last_id.checked_add(1).ok_or(Errno::NOMEM)?;
        state.last_id = id;
        let due = state.set(now, interval, id);
        let timer = Timer {
            due,
            interval,
            handler,
        };
        state.timers.insert(id, timer);
        Ok(id)
    }

    /// Removes a timer.
    ///
    /// # Errors
    ///
    /// [`Errno::INVAL`] if there is none with this id, as for the two functions below.
    pub(crate) fn cancel(&self, id: i32) -> Result<(), Errno> {
        let mut state = self.state();
        let timer = state.timers.remove(&id).ok_or(Errno::INVAL)?;
        state.due.remove(&timer.due);
        Ok(())
    }

    /// Changes an interval, which starts now.
    pub(crate) fn set_interval(&self, now: u64, id: i32, interval: u64) -> Result<(), Errno> {
        self.state().restart(now, id, Some(interval))
    }

    /// Lets the interval of a timer start now.
    pub(crate) fn reset(&self, now: u64, id: i32) -> Result<(), Errno> {
        self.state().restart(now, id, None)
    }

    /// Removes all timers, also from an [`execute`](Self::execute) that goes on.
    pub(crate) fn clear(&self) {
        let mut state = self.state();
        state.timers.clear();
        state.due.clear();
    }

    /// Returns the milliseconds until a timer is due; `None` without timers.
    pub(crate) fn timeout(&self, now: u64) -> Option<u64> {
        let state = self.state();
        let (due, _) = state.due.first_key_value()?.0;
        Some(due.saturating_sub(now))
    }

    /// Calls `call` with the id and the handler of each timer that is due, once each, in their order. Their next
    /// interval starts at `now`, unless the handler has set another time.
    pub(crate) fn execute(&self, now: u64, mut call: impl FnMut(i32, H)) {
        let due: Vec<_> = {
            let state = self.state();
            let due = state.due.range(..=(now, u64::MAX));
            due.map(|(due, id)| (*due, *id)).collect()
        };
        for (due, id) in due {
            let handler = match self.state().timers.get(&id) {
                Some(timer) if timer.due == due => timer.handler.clone(),
                // A handler before this one has cancelled it or set another time.
                _ => continue,
            };
            call(id, handler);
            let mut state = self.state();
            if state.timers.get(&id).is_some_and(|timer| timer.due == due) {
                state.restart(now, id, None).expect("it is there");
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State<H>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<H> State<H> {
    fn restart(&mut self, now: u64, id: i32, interval: Option<u64>) -> Result<(), Errno> {
        let timer = self.timers.get(&id).ok_or(Errno::INVAL)?;
        let interval = interval.unwrap_or(timer.interval);
        let before = timer.due;
        self.due.remove(&before);
        let due = self.set(now, interval, id);
        let timer = self.timers.get_mut(&id).ok_or(Errno::INVAL)?;
        timer.due = due;
        timer.interval = interval;
        Ok(())
    }

    fn set(&mut self, now: u64, interval: u64, id: i32) -> Due {
        self.settings += 1;
        let due = (now.saturating_add(interval), self.settings);
        self.due.insert(due, id);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(timers: &Timers<&'static str>, now: u64) -> Vec<&'static str> {
        let mut called = Vec::new();
        timers.execute(now, |_, name| called.push(name));
        called
    }

    #[test]
    fn timers_are_due_in_the_order_of_their_times() {
        let timers = Timers::new();
        assert_eq!(timers.timeout(0), None);
        timers.add(0, 30, "slow").unwrap();
        timers.add(0, 10, "fast").unwrap();
        timers.add(0, 10, "second").unwrap();
        assert_eq!(timers.timeout(4), Some(6));
        assert!(run(&timers, 9).is_empty());
        assert_eq!(run(&timers, 10), ["fast", "second"]);
        assert_eq!(timers.timeout(10), Some(10));
        assert_eq!(run(&timers, 35), ["fast", "second", "slow"]);
        assert_eq!(
            timers.timeout(35),
            Some(10),
            "intervals start when they were executed"
        );
        assert_eq!(timers.timeout(99), Some(0));
    }

    #[test]
    fn ids_start_at_one_and_unknown_ones_are_refused() {
        let timers = Timers::new();
        assert_eq!(timers.cancel(1), Err(Errno::INVAL));
        assert_eq!(timers.reset(0, 1), Err(Errno::INVAL));
        assert_eq!(timers.set_interval(0, 1, 5), Err(Errno::INVAL));
        assert_eq!(timers.add(0, u64::MAX, ""), Ok(1));
        assert_eq!(timers.add(7, u64::MAX, ""), Ok(2));
        assert_eq!(timers.cancel(1), Ok(()));
        assert_eq!(timers.cancel(1), Err(Errno::INVAL));
        assert_eq!(timers.add(0, 1, ""), Ok(3), "an id is not used again");
    }

    #[test]
    fn an_interval_starts_again_when_it_is_reset_or_changed() {
        let timers = Timers::new();
        let id = timers.add(0, 10, "timer").unwrap();
        timers.reset(6, id).unwrap();
        assert!(run(&timers, 10).is_empty());
        timers.set_interval(15, id, 50).unwrap();
        assert!(run(&timers, 16).is_empty());
        assert_eq!(run(&timers, 65), ["timer"]);
        assert_eq!(timers.timeout(65), Some(50));
    }

    #[test]
    fn a_handler_may_cancel_its_own_timer_and_others() {
        let timers = Timers::new();
        let own = timers.add(0, 10, "own").unwrap();
        let other = timers.add(0, 10, "other").unwrap();
        let mut called = Vec::new();
        timers.execute(10, |id, name| {
            called.push(name);
            assert_eq!(id, own);
            timers.cancel(own).unwrap();
            timers.cancel(other).unwrap();
        });
        assert_eq!(called, ["own"]);
        assert_eq!(timers.timeout(10), None);
    }

    #[test]
    fn what_a_handler_sets_stands() {
        let timers = Timers::new();
        let first = timers.add(0, 10, "first").unwrap();
        let second = timers.add(0, 10, "second").unwrap();
        let mut called = Vec::new();
        timers.execute(10, |_, name| {
            called.push(name);
            timers.set_interval(12, first, 100).unwrap();
            timers.reset(12, second).unwrap();
            timers.add(10, 0, "new").unwrap();
        });
        assert_eq!(
            called,
            ["first"],
            "the second was put off, the new one comes next time"
        );
        assert_eq!(run(&timers, 22), ["new", "second"]);
        assert_eq!(timers.timeout(30), Some(0));
        assert_eq!(run(&timers, 112), ["new", "second", "first"]);
    }

    #[test]
    fn clearing_ends_an_execution() {
        let timers = Timers::new();
        timers.add(0, 1, "one").unwrap();
        timers.add(0, 1, "two").unwrap();
        let mut called = 0;
        timers.execute(1, |_, _| {
            called += 1;
            timers.clear();
        });
        assert_eq!(called, 1);
    }
}
