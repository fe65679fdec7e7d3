//! The workers of a distributor: their credit, and what each of them has.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use sealwire::Frame;

use super::numbered::Numbered;
use super::wire::Hello;
use crate::limits::work::{MAX_CREDIT, TASK_COST};

/// One attempt, as both sides name it on a connection.
pub(super) type Attempt = (u64, u32);

/// A connection, from its beginning on.
#[derive(Default)]
pub(super) struct Worker {
    /// What it has said first; nothing is handed out before.
    hello: Option<Hello>,
    /// Until when it has to.
    greets_by: Option<Duration>,
    /// Attempts without an outcome of this worker, and what each counts.
    out: Numbered<Attempt, usize>,
    bytes: usize,
    /// Messages that have to leave. While something is here, the socket is full.
    pub(super) outbox: VecDeque<Frame>,
    leaves: bool,
    /// It has a task that goes alone.
    alone: bool,
}

impl Worker {
    pub(super) fn is_greeted(&self) -> bool {
        self.hello.is_some()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.out.is_empty()
    }

    pub(super) fn leaves(&self) -> bool {
        self.leaves
    }

    /// Whether it takes a task of this many bytes.
    pub(super) fn has_room(&self, size: usize) -> bool {
        let Some(hello) = self.hello else {
            return false;
        };
        self.is_open()
            && (self.out.is_empty() || self.bytes + size + TASK_COST <= hello.credit_bytes as usize)
    }

    /// Whether it takes a task, if it is small enough.
    fn is_open(&self) -> bool {
        let credit = self.hello.map_or(0, |hello| hello.credit.min(MAX_CREDIT));
        !self.leaves
            && !self.alone
            && self.outbox.is_empty()
            && (self.out.len() as u64) < u64::from(credit)
    }

    /// Tasks that it takes at most.
    pub(super) fn room(&self) -> usize {
        let credit = self.hello.map_or(0, |hello| hello.credit.min(MAX_CREDIT)) as usize;
        credit.saturating_sub(self.out.len())
    }
}

/// All of them, by the routing ids of their connections.
#[derive(Default)]
pub(super) struct Workers {
    all: BTreeMap<u32, Worker>,
    /// Those that take tasks, by how many they have. Of the one that is `unsettled` the entry is an earlier one.
    open: BTreeSet<(usize, u32)>,
    /// The one whose tasks have changed, and how many it had: batches change one many times.
    unsettled: Option<(usize, u32)>,
    /// Those that have to greet, by when.
    silent: BTreeSet<(Duration, u32)>,
    /// Those with something to send.
    writable: BTreeSet<u32>,
}

impl Workers {
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn greeted(&self) -> usize {
        self.all.len() - self.silent.len()
    }

    pub(super) fn get(&self, id: u32) -> Option<&Worker> {
        self.all.get(&id)
    }

    pub(super) fn add(&mut self, id: u32, greets_by: Duration) {
        let worker = Worker {
            greets_by: Some(greets_by),
            ..Worker::default()
        };
        self.all.insert(id, worker);
        self.silent.insert((greets_by, id));
    }

    /// Returns what it has, in the order in which it got it.
    pub(super) fn remove(&mut self, id: u32) -> Vec<Attempt> {
        self.settle();
        let Some(worker) = self.all.remove(&id) else {
            return Vec::new();
        };
        self.open.remove(&(worker.out.len(), id));
        self.writable.remove(&id);
        if let Some(at) = worker.greets_by {
            self.silent.remove(&(at, id));
        }
        let mut out: Vec<_> = worker.out.into_keys().collect();
        out.sort_unstable();
        out
    }

    /// Changes a worker, for [`settle`](Workers::settle) to say again whether it takes tasks.
    fn change<R>(&mut self, id: u32, change: impl FnOnce(&mut Worker) -> R) -> Option<R> {
        if self.unsettled.is_some_and(|(_, other)| other != id) {
            self.settle();
        }
        let worker = self.all.get_mut(&id)?;
        self.unsettled.get_or_insert((worker.out.len(), id));
        Some(change(worker))
    }

    /// Says again whether the worker takes tasks, and has something to send, that was changed last.
    fn settle(&mut self) {
        let Some((before, id)) = self.unsettled.take() else {
            return;
        };
        let Some(worker) = self.all.get(&id) else {
            return;
        };
        let (after, is_open) = (worker.out.len(), worker.is_open());
        if before != after || !is_open {
            self.open.remove(&(before, id));
        }
        if is_open {
            self.open.insert((after, id));
        }
        match worker.outbox.is_empty() {
            true => self.writable.remove(&id),
            false => self.writable.insert(id),
        };
    }

    pub(super) fn greet(&mut self, id: u32, hello: Hello) {
        if let Some(worker) = self.all.get_mut(&id)
            && let Some(at) = worker.greets_by.take()
        {
            self.silent.remove(&(at, id));
        }
        self.change(id, |worker| worker.hello = Some(hello));
    }

    pub(super) fn send(&mut self, id: u32, message: Vec<u8>) {
        self.change(id, |worker| worker.outbox.push_back(message.into()));
    }

    pub(super) fn leave(&mut self, id: u32) {
        self.change(id, |worker| worker.leaves = true);
    }

    pub(super) fn hand_out(&mut self, id: u32, attempt: Attempt, size: usize, alone: bool) {
        self.change(id, |worker| {
            worker.out.insert(attempt, size + TASK_COST);
            worker.bytes += size + TASK_COST;
            worker.alone = alone;
        });
    }

    /// Whether the worker had this attempt, which it has no more.
    pub(super) fn take_back(&mut self, id: u32, attempt: Attempt) -> bool {
        let taken = self.change(id, |worker| {
            let cost = worker.out.remove(&attempt)?;
            worker.bytes -= cost;
            worker.alone &= !worker.out.is_empty();
            Some(())
        });
        taken.flatten().is_some()
    }

    /// Those that take tasks.
    pub(super) fn open(&mut self) -> usize {
        self.settle();
        self.open.len()
    }

    /// Of those that take tasks, the one after this that has the fewest.
    pub(super) fn least_loaded(&mut self, after: Option<(usize, u32)>) -> Option<(usize, u32)> {
        self.settle();
        use std::ops::Bound::{Excluded, Unbounded};
        let from = after.map_or(Unbounded, Excluded);
        self.open.range((from, Unbounded)).next().copied()
    }

    /// The next worker from this one on that has something to send.
    pub(super) fn next_writable(&mut self, from: u32) -> Option<u32> {
        self.settle();
        self.writable.range(from..).next().copied()
    }

    /// Lets something send what a worker's connection has for it. Returns whether something is left.
    pub(super) fn flush(&mut self, id: u32, send: impl FnOnce(&mut VecDeque<Frame>)) -> bool {
        let left = self.change(id, |worker| {
            send(&mut worker.outbox);
            !worker.outbox.is_empty()
        });
        left.unwrap_or(false)
    }

    pub(super) fn due(&self) -> Option<Duration> {
        self.silent.first().map(|(at, _)| *at)
    }

    /// Takes one out of those that have to greet, whose time is over.
    pub(super) fn next_silent(&mut self, now: Duration) -> Option<u32> {
        let (at, id) = *self.silent.first()?;
        (at <= now).then(|| {
            self.silent.remove(&(at, id));
            id
        })
    }
}
