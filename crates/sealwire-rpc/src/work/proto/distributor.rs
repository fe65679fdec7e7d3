//! A distributor without sockets: messages of workers and the time in, messages and what changed out.
//!
//! ```text
//!              add                    hand out                    Done
//! application -----> waiting (queue) ----------> out (a worker) ----------> finished
//!                      ^  ^  ^                      |  |  |
//!                      |  |  '--------- Returned ---'  |  |
//!                      |  '--- gone, too late ---------'  | Failed
//!                      '------ delayed <------------------'
//! ```
//!
//! An attempt that fails for the last time sets its task aside in place of the way back.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use sealwire::Frame;

use super::counters::DistributorCounters;
use super::pacing::Pacing;
use super::reason::shortened;
use super::tasks::{Place, Task, Tasks, Turn};
use super::violation::Violation;
use super::wire::{self, Ended, FromWorker, Hello, Reported, Welcome};
use super::workers::Workers;
use crate::limits::work::{BATCH_BYTES, ENOUGH_TASKS, GREETING_LIMIT, MAX_REASON, TASK_COST};

/// In place of how many tasks a message may get: the worker gets this one and no other beside it.
const ALONE: usize = 0;

/// What a distributor is made with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DistributorOptions {
    pub(crate) max_tasks: usize,
    pub(crate) max_bytes: usize,
    pub(crate) max_task: u32,
    pub(crate) max_result: u32,
    pub(crate) max_attempts: u32,
    pub(crate) attempt_limit: Option<Duration>,
    pub(crate) retry_delay: Duration,
    pub(crate) keeps_results: bool,
}

/// Changes that somebody may wait for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// There is room for tasks.
    pub(crate) room: bool,
    /// Tasks are done or set aside.
    pub(crate) ended: bool,
}

/// A task that a distributor has, for the application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeldTask {
    pub(crate) counter: u64,
    pub(crate) attempts: u32,
    pub(crate) body: Bytes,
    pub(crate) reason: Option<Box<str>>,
    pub(crate) is_aside: bool,
}

impl HeldTask {
    fn of(counter: u64, task: Task) -> Self {
        HeldTask {
            counter,
            is_aside: task.place == Place::Aside,
            attempts: task.attempts,
            body: task.body,
            reason: task.reason,
        }
    }
}

pub(crate) struct DistributorCore {
    /// The first half of its tasks' numbers.
    id: u64,
    options: DistributorOptions,
    tasks: Tasks,
    workers: Workers,
    results: VecDeque<(u64, Bytes)>,
    result_bytes: usize,
    /// Connections to end, and why.
    closing: Vec<(u32, &'static str)>,
    changes: Changes,
    counters: DistributorCounters,
    /// When tasks that are added are handed out.
    pacing: Pacing,
    /// Nothing is handed out any more.
    stopped: bool,
}

impl DistributorCore {
    pub(crate) fn new(id: u64, options: DistributorOptions) -> Self {
        DistributorCore {
            id,
            options,
            tasks: Tasks::default(),
            workers: Workers::default(),
            results: VecDeque::new(),
            result_bytes: 0,
            closing: Vec::new(),
            changes: Changes::default(),
            counters: DistributorCounters::default(),
            pacing: Pacing::default(),
            stopped: false,
        }
    }

    // The application.

    /// Takes a task if there is room. Returns its number.
    pub(crate) fn add(&mut self, body: &Bytes) -> Option<u64> {
        let cost = body.len() + TASK_COST;
        let tasks = self.tasks.len() + self.results.len();
        let fits = self.held_bytes() == 0 || self.held_bytes() + cost <= self.options.max_bytes;
        if tasks >= self.options.max_tasks || !fits {
            return None;
        }
        self.counters.added += 1;
        Some(self.tasks.add(body.clone(), self.options.max_attempts))
    }

    /// Whether tasks are to be handed out now that one was added. Else those that wait for a worker have to, and the
    /// others go together.
    pub(crate) fn hands_out_now(&mut self, now: Duration) -> bool {
        self.workers.open() > 0
            && (self.pacing.is_first(now) || self.tasks.waiting() >= ENOUGH_TASKS)
    }

    /// Tasks without an outcome: those that wait and those that are out.
    pub(crate) fn pending(&self) -> usize {
        self.tasks.len() - self.tasks.aside().len()
    }

    /// Bytes of tasks and results, each counted with its cost.
    pub(crate) fn held_bytes(&self) -> usize {
        self.tasks.bytes() + self.result_bytes
    }

    pub(crate) fn next_result(&mut self) -> Option<(u64, Bytes)> {
        let (counter, result) = self.results.pop_front()?;
        self.result_bytes -= result_cost(&result);
        self.changes.room = true;
        Some((counter, result))
    }

    pub(crate) fn set_aside(&self) -> Vec<HeldTask> {
        let held = |counter: &u64| {
            let task = self.tasks.get(*counter)?;
            Some(HeldTask {
                counter: *counter,
                is_aside: true,
                attempts: task.attempts,
                body: task.body.clone(),
                reason: task.reason.clone(),
            })
        };
        self.tasks.aside().iter().filter_map(held).collect()
    }

    /// Hands a task out again that was set aside.
    pub(crate) fn put_back(&mut self, counter: u64) -> bool {
        self.tasks.put_back(counter, self.options.max_attempts)
    }

    /// Forgets a task that was set aside.
    pub(crate) fn drop_aside(&mut self, counter: u64) -> Option<HeldTask> {
        if !self.tasks.aside().contains(&counter) {
            return None;
        }
        let task = self.tasks.remove(counter)?;
        self.changes.room = true;
        Some(HeldTask::of(counter, task))
    }

    /// Forgets the first task that is set aside.
    pub(crate) fn drop_first_aside(&mut self) -> Option<HeldTask> {
        let first = *self.tasks.aside().first()?;
        self.drop_aside(first)
    }

    /// Hands out nothing any more.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Attempts that are under way.
    pub(crate) fn under_way(&self) -> usize {
        self.counters.out
    }

    /// Takes the tasks that have no outcome, those that were set aside among them.
    pub(crate) fn take_unfinished(&mut self) -> Vec<HeldTask> {
        self.stopped = true;
        self.counters.out = 0;
        let all = self.tasks.take_all().into_iter();
        all.map(|(counter, task)| HeldTask::of(counter, task))
            .collect()
    }

    pub(crate) fn counters(&self) -> DistributorCounters {
        DistributorCounters {
            pending: self.pending(),
            set_aside: self.tasks.aside().len(),
            workers: self.workers.greeted(),
            held_bytes: self.held_bytes(),
            ..self.counters
        }
    }

    pub(crate) fn take_changes(&mut self) -> Changes {
        std::mem::take(&mut self.changes)
    }

    // Connections.

    pub(crate) fn connected(&mut self, worker: u32, now: Duration) {
        self.workers.add(worker, now + GREETING_LIMIT);
    }

    pub(crate) fn violated(&mut self) {
        self.counters.violations += 1;
    }

    /// A connection has ended. What its worker has goes to others.
    pub(crate) fn disconnected(&mut self, worker: u32) {
        let had = self.workers.remove(worker);
        // The first one last, as each goes before all others.
        for (counter, attempt) in had.into_iter().rev() {
            if self.is_current(worker, counter, attempt) {
                self.counters.lost += 1;
                self.lost(counter, "the worker's connection ended");
            }
        }
    }

    /// # Errors
    ///
    /// A violation, for which the connection is to be ended.
    pub(crate) fn receive(
        &mut self,
        worker: u32,
        message: Frame,
        now: Duration,
    ) -> Result<(), Violation> {
        let Some(known) = self.workers.get(worker) else {
            return Ok(());
        };
        match (FromWorker::parse(message.into_bytes())?, known.is_greeted()) {
            (FromWorker::Hello(hello), false) => self.greeted(worker, hello),
            (FromWorker::Hello(_), true) => Err(Violation::GreetingAgain),
            (_, false) => Err(Violation::NoGreeting),
            (FromWorker::Leave, true) => {
                self.workers.leave(worker);
                self.let_go(worker);
                Ok(())
            }
            (
                FromWorker::Outcomes {
                    distributor,
                    reported,
                },
                true,
            ) => {
                for reported in reported {
                    let reported = reported?;
                    if reported.body.len() > self.options.max_result as usize {
                        return Err(Violation::TooLarge);
                    }
                    if distributor == self.id {
                        self.reported(worker, reported, now);
                    } else {
                        self.counters.foreign += 1;
                    }
                }
                self.let_go(worker);
                Ok(())
            }
        }
    }

    fn greeted(&mut self, worker: u32, hello: Hello) -> Result<(), Violation> {
        if hello.credit == 0 {
            return Err(Violation::NoCredit);
        }
        let (ours, theirs) = (self.options.max_task, hello.max_task);
        if theirs < ours {
            return Err(Violation::SmallTasks { ours, theirs });
        }
        self.workers.greet(worker, hello);
        let welcome = Welcome {
            distributor: self.id,
            max_result: self.options.max_result,
        };
        self.workers.send(worker, welcome.message());
        Ok(())
    }

    /// Says farewell to a worker that leaves, once it has nothing any more.
    fn let_go(&mut self, worker: u32) {
        let known = self.workers.get(worker);
        if known.is_some_and(|worker| worker.leaves() && worker.is_idle()) {
            self.workers.send(worker, wire::farewell());
        }
    }

    /// Whether a worker has this attempt, and nobody has another one of the task.
    fn is_current(&self, worker: u32, counter: u64, attempt: u32) -> bool {
        self.tasks.get(counter).is_some_and(|task| {
            let is_there = matches!(task.place, Place::Out { worker: at, .. } if at == worker);
            is_there && task.attempts == attempt
        })
    }

    fn reported(&mut self, worker: u32, reported: Reported, now: Duration) {
        let Reported {
            counter,
            attempt,
            ended,
            body,
        } = reported;
        let had = self.workers.take_back(worker, (counter, attempt));
        let is_current = had && self.is_current(worker, counter, attempt);
        match ended {
            Ended::Done => self.done(counter, attempt, is_current, &body),
            _ if !is_current => self.counters.late += 1,
            Ended::Failed => {
                self.counters.failed += 1;
                self.attempt_is_over();
                let reason = String::from_utf8_lossy(&body);
                self.attempt_failed(counter, &reason, Some(now + self.options.retry_delay));
            }
            Ended::Returned => {
                self.counters.returned += 1;
                self.attempt_is_over();
                self.tasks.uncount(counter);
                self.tasks.wait(counter, Turn::First);
            }
        }
    }

    fn attempt_is_over(&mut self) {
        self.counters.out -= 1;
        // A shutdown waits for that.
        self.changes.ended |= self.counters.out == 0;
    }

    /// Work is done, also where another worker has the task by now: the first one that says so ends it.
    fn done(&mut self, counter: u64, attempt: u32, is_current: bool, result: &Bytes) {
        let Some(task) = self.tasks.get(counter) else {
            self.counters.repeated += 1;
            return;
        };
        let place = task.place;
        if !is_current {
            self.counters.late += 1;
            // Of the attempt that is under way only its own worker can tell.
            let under_way = matches!(place, Place::Out { .. }) && attempt >= task.attempts;
            if under_way || attempt == 0 || attempt > task.attempts {
                return;
            }
        }
        if matches!(place, Place::Out { .. }) {
            self.attempt_is_over();
        }
        self.tasks.remove(counter);
        self.counters.done += 1;
        self.changes = Changes {
            room: true,
            ended: true,
        };
        if self.options.keeps_results {
            // Of its own, as it would keep the whole message.
            let result = Bytes::copy_from_slice(result);
            self.result_bytes += result_cost(&result);
            self.results.push_back((counter, result));
        }
    }

    /// The attempt that is under way will have no outcome, or too late.
    fn lost(&mut self, counter: u64, reason: &str) {
        self.attempt_is_over();
        self.tasks.count_lost(counter);
        self.attempt_failed(counter, reason, None);
    }

    /// Tries a task again, at once or later, or sets it aside.
    fn attempt_failed(&mut self, counter: u64, reason: &str, again: Option<Duration>) {
        if !self
            .tasks
            .failed(counter, shortened(reason, MAX_REASON).into())
        {
            self.tasks.set_aside(counter);
            self.changes.ended = true;
            return;
        }
        match again {
            None => self.tasks.wait(counter, Turn::First),
            Some(_) if self.options.retry_delay.is_zero() => self.tasks.wait(counter, Turn::Last),
            Some(at) => self.tasks.delay(counter, at),
        }
    }

    // Time.

    /// When [`process_due`](DistributorCore::process_due) has something to do.
    pub(crate) fn due(&self) -> Option<Duration> {
        let tasks_and_workers = self.tasks.due().into_iter().chain(self.workers.due());
        tasks_and_workers.chain(self.pacing.due()).min()
    }

    pub(crate) fn process_due(&mut self, now: Duration) {
        self.pacing.process_due(now);
        while let Some(worker) = self.workers.next_silent(now) {
            self.counters.silent += 1;
            self.closing.push((worker, "work: no greeting in time"));
        }
        while let Some(counter) = self.tasks.next_due(now) {
            match self.tasks.get(counter).map(|task| task.place) {
                Some(Place::Out { .. }) => {
                    self.counters.overdue += 1;
                    self.lost(counter, "no outcome within the limit of an attempt");
                }
                _ => self.tasks.wait(counter, Turn::Last),
            }
        }
    }

    // Messages for workers.

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

    /// What it holds: tasks, results, connections, and entries of queues.
    #[cfg(test)]
    pub(crate) fn held(&self) -> (usize, usize, usize, usize) {
        let (tasks, results) = (self.tasks.len(), self.results.len());
        (tasks, results, self.workers.len(), self.tasks.entries())
    }
}

fn result_cost(result: &Bytes) -> usize {
    TASK_COST + result.len()
}
