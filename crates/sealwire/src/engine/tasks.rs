//! Tasks of the crates above that the I/O thread runs: at a time, and when somebody wakes them.
//!
//! ```text
//!   start ── StartTask ─┐
//!   waker ── RunTask ───┴─▶ I/O thread ── run ──▶ work ── when to run it again ──▶ timers
//!   drop ─── EndTask ─────▶ forgets it
//! ```
//!
//! All connections of the context wait while one runs. So a task does little at a time, and takes no lock that
//! other threads hold while they run code of the program's.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use super::mailbox::{Command, Mailbox};
use super::task::{Task, Work};

/// A task that runs until this is dropped.
pub(crate) struct RunningTask {
    task: Arc<Task>,
    mailbox: Arc<Mailbox>,
}

impl RunningTask {
    /// Runs from now on, first at once.
    pub(crate) fn start(mailbox: &Arc<Mailbox>, number: u64, work: Arc<dyn Work>) -> Self {
        let asked = mailbox.clone();
        let task = Task::new(number, work, move || {
            asked.post(Command::RunTask { number })
        });
        mailbox.post(Command::StartTask(task.clone()));
        RunningTask {
            task,
            mailbox: mailbox.clone(),
        }
    }

    /// What makes it run at once.
    pub(crate) fn waker(&self) -> Waker {
        self.task.clone().into()
    }
}

/// Waits until it has run where it runs now, and drops its work on this thread.
impl Drop for RunningTask {
    fn drop(&mut self) {
        if let Some(work) = self.task.take_work() {
            let number = self.task.number;
            self.mailbox.post(Command::EndTask { number });
            drop(work);
        }
    }
}

/// Those of one context, by number.
#[derive(Default)]
pub(super) struct Tasks(HashMap<u64, Arc<Task>>);

impl Tasks {
    /// Runs it for the first time. Returns when to run it again.
    pub(super) fn start(&mut self, task: Arc<Task>) -> Option<Duration> {
        let next = task.run();
        self.0.insert(task.number, task);
        next
    }

    /// Returns when to run it again, if at all.
    pub(super) fn run(&self, number: u64) -> Option<Duration> {
        self.0.get(&number)?.run()
    }

    pub(super) fn forget(&mut self, number: u64) {
        self.0.remove(&number);
    }
}
