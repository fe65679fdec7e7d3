//! The tasks of a distributor: which wait, which are out, which are set aside, and what they hold.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use bytes::Bytes;

use super::numbered::Numbered;
use crate::limits::work::TASK_COST;

/// Attempts that may end without an outcome before a task is handed out alone: one that ends its
/// workers is not to take those along that were handed out with it.
const LOST_IN_COMPANY: u32 = 2;
/// Entries of queues whose task has gone, beside as many as there are tasks.
const STALE: usize = 64;

/// Where a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the queue, or in that of tasks that go alone.
    Waiting,
    /// Until its next attempt may begin.
    Delayed { until: Duration },
    /// With a worker.
    Out {
        worker: u32,
        until: Option<Duration>,
    },
    /// Failed as often as it may.
    Aside,
}

#[derive(Debug)]
pub(super) struct Task {
    pub(super) body: Bytes,
    /// Attempts that count, the present one among them.
    pub(super) attempts: u32,
    /// With this many it is set aside if the last one fails.
    pub(super) most: u32,
    /// Attempts that ended without an outcome.
    pub(super) lost: u32,
    pub(super) place: Place,
    /// Why the last attempt failed.
    pub(super) reason: Option<Box<str>>,
}

impl Task {
    fn goes_alone(&self) -> bool {
        self.lost >= LOST_IN_COMPANY
    }

    fn cost(&self) -> usize {
        let reason = self.reason.as_ref().map_or(0, |reason| reason.len());
        TASK_COST + self.body.len() + reason
    }
}

/// In which order tasks go back to the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Before all others: it has waited.
    First,
    Last,
}

#[derive(Default)]
pub(super) struct Tasks {
    by_counter: Numbered<u64, Task>,
    /// In the order in which they are handed out. Of a task that has gone meanwhile the entry may be left.
    queue: VecDeque<u64>,
    /// Those that are handed out alone.
    alone: VecDeque<u64>,
    /// When something is due for a task.
    timers: BTreeSet<(Duration, u64)>,
    aside: BTreeSet<u64>,
    bytes: usize,
    last: u64,
}

impl Tasks {
    pub(super) fn len(&self) -> usize {
        self.by_counter.len()
    }

    /// Bytes of tasks, each counted with its cost.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn aside(&self) -> &BTreeSet<u64> {
        &self.aside
    }

    pub(super) fn get(&self, counter: u64) -> Option<&Task> {
        self.by_counter.get(&counter)
    }

    pub(super) fn add(&mut self, body: Bytes, most: u32) -> u64 {
        self.last += 1;
        let task = Task {
            body,
            attempts: 0,
            most,
            lost: 0,
            place: Place::Waiting,
            reason: None,
        };
        self.bytes += task.cost();
        self.by_counter.insert(self.last, task);
        self.queue.push_back(self.last);
        self.last
    }

    /// Whether a task waits that goes alone.
    pub(super) fn next_alone(&mut self) -> Option<(u64, &Task)> {
        first_waiting(&mut self.alone, &self.by_counter)
    }

    /// The next task of the others.
    pub(super) fn next(&mut self) -> Option<(u64, &Task)> {
        first_waiting(&mut self.queue, &self.by_counter)
    }

    /// How many wait in the queue, at most.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Takes the next task out of its queue, for a worker. Returns its attempt and body.
    pub(super) fn hand_out(
        &mut self,
        counter: u64,
        worker: u32,
        until: Option<Duration>,
    ) -> Option<(u32, Bytes)> {
        let task = self.by_counter.get_mut(&counter)?;
        let queue = match task.goes_alone() {
            true => &mut self.alone,
            false => &mut self.queue,
        };
        debug_assert_eq!(queue.front(), Some(&counter), "not the next one");
        queue.pop_front();
        task.attempts += 1;
        task.place = Place::Out { worker, until };
        if let Some(until) = until {
            self.timers.insert((until, counter));
        }
        Some((task.attempts, task.body.clone()))
    }

    /// Takes a task out of the timers and of those that are set aside. An entry of a queue stays there until it
    /// is its turn.
    fn displace(&mut self, counter: u64) -> Option<&mut Task> {
        let task = self.by_counter.get_mut(&counter)?;
        match task.place {
            Place::Delayed { until }
            | Place::Out {
                until: Some(until), ..
            } => {
                self.timers.remove(&(until, counter));
            }
            Place::Aside => {
                self.aside.remove(&counter);
            }
            Place::Waiting | Place::Out { until: None, .. } => {}
        }
        Some(task)
    }

    /// Puts a task that is in no queue into one.
    pub(super) fn wait(&mut self, counter: u64, turn: Turn) {
        let Some(task) = self.displace(counter) else {
            return;
        };
        task.place = Place::Waiting;
        let queue = match task.goes_alone() {
            true => &mut self.alone,
            false => &mut self.queue,
        };
        match turn {
            Turn::First => queue.push_front(counter),
            Turn::Last => queue.push_back(counter),
        }
        if queue.len() > self.by_counter.len() + STALE {
            let tasks = &self.by_counter;
            queue.retain(|counter| tasks.contains_key(counter));
        }
    }

    /// The attempt that is under way does not count.
    pub(super) fn uncount(&mut self, counter: u64) {
        if let Some(task) = self.by_counter.get_mut(&counter) {
            task.attempts = task.attempts.saturating_sub(1);
        }
    }

    /// The attempt that is under way has ended without an outcome.
    pub(super) fn count_lost(&mut self, counter: u64) {
        if let Some(task) = self.by_counter.get_mut(&counter) {
            task.lost += 1;
        }
    }

    /// Notes why the last attempt failed. Returns whether the task may be tried again.
    pub(super) fn failed(&mut self, counter: u64, reason: Box<str>) -> bool {
        let Some(task) = self.by_counter.get_mut(&counter) else {
            return false;
        };
        self.bytes -= task.cost();
        task.reason = Some(reason);
        self.bytes += task.cost();
        task.attempts < task.most
    }

    pub(super) fn delay(&mut self, counter: u64, until: Duration) {
        if let Some(task) = self.displace(counter) {
            task.place = Place::Delayed { until };
            self.timers.insert((until, counter));
        }
    }

    pub(super) fn set_aside(&mut self, counter: u64) {
        if let Some(task) = self.displace(counter) {
            task.place = Place::Aside;
            self.aside.insert(counter);
        }
    }

    /// Gives a task that was set aside its attempts again.
    pub(super) fn put_back(&mut self, counter: u64, more: u32) -> bool {
        if !self.aside.contains(&counter) {
            return false;
        }
        if let Some(task) = self.by_counter.get_mut(&counter) {
            task.most = task.attempts.saturating_add(more);
        }
        self.wait(counter, Turn::Last);
        true
    }

    pub(super) fn remove(&mut self, counter: u64) -> Option<Task> {
        self.displace(counter)?;
        let task = self.by_counter.remove(&counter)?;
        self.bytes -= task.cost();
        Some(task)
    }

    /// Takes all tasks, in the order of their numbers.
    pub(super) fn take_all(&mut self) -> Vec<(u64, Task)> {
        let last = self.last;
        let mut all: Vec<_> = std::mem::take(self).by_counter.into_iter().collect();
        self.last = last;
        all.sort_unstable_by_key(|(counter, _)| *counter);
        all
    }

    pub(super) fn due(&self) -> Option<Duration> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// The next task for which something is due. It stays so until it is moved.
    pub(super) fn next_due(&self, now: Duration) -> Option<u64> {
        let (at, counter) = self.timers.first()?;
        (*at <= now).then_some(*counter)
    }

    /// Entries of queues and timers.
    #[cfg(test)]
    pub(super) fn entries(&self) -> usize {
        self.queue.len() + self.alone.len() + self.timers.len() + self.aside.len()
    }
}

/// The first task of a queue, without those before it that have gone or are elsewhere.
fn first_waiting<'a>(
    queue: &mut VecDeque<u64>,
    tasks: &'a Numbered<u64, Task>,
) -> Option<(u64, &'a Task)> {
    while let Some(counter) = queue.front() {
        if let Some(task) = tasks.get(counter)
            && task.place == Place::Waiting
        {
            return Some((*counter, task));
        }
        queue.pop_front();
    }
    None
}
