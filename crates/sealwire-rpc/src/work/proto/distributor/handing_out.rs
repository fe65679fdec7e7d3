//! Which worker gets which tasks, in messages of many.

use std::collections::VecDeque;
use std::time::Duration;

use sealwire::Frame;

use super::super::wire;
use super::DistributorCore;
use crate::limits::work::BATCH_BYTES;

/// In place of how many tasks a message may get: the worker gets this one and no other beside it.
const ALONE: usize = 0;

impl DistributorCore {
    /// Hands tasks out to workers whose outboxes are empty.
    pub(crate) fn hand_out(&mut self, now: Duration) {
        while !self.stopped {
            let progress = match self.tasks.next_alone() {
                Some(_) => self.hand_out_alone(now),
                None => self.hand_out_batch(now),
            };
            if !progress {
                break;
            }
        }
    }

    /// Hands one task to a worker that has none. While one waits for that, nobody gets others.
    fn hand_out_alone(&mut self, now: Duration) -> bool {
        let Some((0, worker)) = self.workers.least_loaded(None) else {
            return false;
        };
        let Some((counter, _)) = self.tasks.next_alone() else {
            return false;
        };
        let mut message = None;
        self.hand(worker, counter, ALONE, &mut message, now);
        self.send_tasks(worker, message);
        true
    }

    /// Hands its share of those that wait to the worker that has fewest.
    fn hand_out_batch(&mut self, now: Duration) -> bool {
        let Some((_, first)) = self.tasks.next() else {
            return false;
        };
        let size = first.body.len();
        let mut candidate = self.workers.least_loaded(None);
        let (worker, room) = loop {
            let Some((_, id)) = candidate else {
                return false;
            };
            match self.workers.get(id) {
                Some(worker) if worker.has_room(size) => break (id, worker.room()),
                _ => candidate = self.workers.least_loaded(candidate),
            }
        };
        let share = self.tasks.waiting().div_ceil(self.workers.open()).min(room);
        let mut message = None;
        for left in (1..=share).rev() {
            let Some((counter, task)) = self.tasks.next() else {
                break;
            };
            let size = task.body.len();
            let has_room = self.workers.get(worker).is_some_and(|w| w.has_room(size));
            let written = message.as_ref().map_or(0, Vec::len);
            let fits = written == 0 || written + wire::TASK_HEADER + size <= BATCH_BYTES;
            if !has_room || !fits {
                break;
            }
            self.hand(worker, counter, left, &mut message, now);
        }
        self.send_tasks(worker, message);
        true
    }

    /// Writes one task to a message for this worker, which may get `like_it` of its size, or gets it [`ALONE`].
    fn hand(
        &mut self,
        worker: u32,
        counter: u64,
        like_it: usize,
        message: &mut Option<Vec<u8>>,
        now: Duration,
    ) {
        let until = self.options.attempt_limit.map(|limit| now + limit);
        let alone = like_it == ALONE;
        let Some((attempt, body)) = self.tasks.hand_out(counter, worker, until) else {
            return;
        };
        self.workers
            .hand_out(worker, (counter, attempt), body.len(), alone);
        self.counters.out += 1;
        self.counters.handed_out += 1;
        if attempt > 1 {
            self.counters.handed_out_again += 1;
        }
        let entry = wire::TASK_HEADER + body.len();
        let message = message.get_or_insert_with(|| {
            let all = entry
                .saturating_mul(like_it)
                .clamp(entry, BATCH_BYTES.max(entry));
            wire::begin_tasks(all)
        });
        wire::add_task(message, counter, attempt, &body);
    }

    fn send_tasks(&mut self, worker: u32, message: Option<Vec<u8>>) {
        if let Some(message) = message {
            self.pacing.sent();
            self.workers.send(worker, message);
        }
    }

    /// The next worker from this one on for which there is something to send.
    pub(crate) fn next_writable(&mut self, from: u32) -> Option<u32> {
        self.workers.next_writable(from)
    }

    /// Lets `send` take messages off the front. Returns whether some are left.
    pub(crate) fn flush(&mut self, worker: u32, send: impl FnOnce(&mut VecDeque<Frame>)) -> bool {
        self.workers.flush(worker, send)
    }

    /// Takes connections that are to be ended, and why.
    pub(crate) fn take_closing(&mut self) -> Vec<(u32, &'static str)> {
        std::mem::take(&mut self.closing)
    }
}
