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

mod handing_out;
mod receiving;

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

use super::counters::DistributorCounters;
use super::pacing::Pacing;
use super::tasks::{Place, Task, Tasks, Turn};
use super::workers::Workers;
use crate::limits::work::{ENOUGH_TASKS, TASK_COST};

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
