//! Tasks of the crates above, which the I/O thread runs and others wake.

use std::sync::Arc;
use std::sync::atomic;
use std::task::Waker;
use std::time::Duration;

use loom::thread;

use super::mailbox::{Command, Mailbox};
use super::sync::Ordering;
use super::task::Work;
use super::tasks::{RunningTask, Tasks};
use crate::orders::explore;

/// Looks for changes, which nothing orders but its wake-ups.
struct Looking {
    changes: [loom::sync::atomic::AtomicBool; 2],
    seen: atomic::AtomicUsize,
}

impl Looking {
    fn new() -> Arc<Self> {
        Arc::new(Looking {
            changes: [(); 2].map(|()| loom::sync::atomic::AtomicBool::new(false)),
            seen: atomic::AtomicUsize::new(0),
        })
    }

    fn seen(&self) -> usize {
        self.seen.load(Ordering::Relaxed)
    }
}

impl Work for Looking {
    fn run(&self, _: &Waker) -> Option<Duration> {
        let is_there = |change: &&loom::sync::atomic::AtomicBool| change.load(Ordering::Relaxed);
        let seen = self.changes.iter().filter(is_there).count();
        self.seen.store(seen, Ordering::Relaxed);
        None
    }
}

/// What the thread does each time it wakes. Whether a task is over.
fn iterate(mailbox: &Mailbox, tasks: &mut Tasks) -> bool {
    let mut over = false;
    for command in mailbox.wait() {
        match command {
            Command::StartTask(task) => assert_eq!(tasks.start(task), None),
            Command::RunTask { number } => assert_eq!(tasks.run(number), None),
            Command::EndTask { number } => {
                tasks.forget(number);
                over = true;
            }
            _ => panic!("nobody asked for that"),
        }
    }
    over
}

#[test]
fn who_wakes_a_task_has_it_run_and_see_what_it_was_woken_for() {
    explore(|| {
        let (mailbox, work) = (Arc::new(Mailbox::new()), Looking::new());
        let task = RunningTask::start(&mailbox, 1, work.clone());
        let wakers = [0, 1].map(|number| {
            let (waker, work) = (task.waker(), work.clone());
            thread::spawn(move || {
                work.changes[number].store(true, Ordering::Relaxed);
                waker.wake();
            })
        });
        let mut tasks = Tasks::default();
        while work.seen() < 2 {
            iterate(&mailbox, &mut tasks);
        }
        for waker in wakers {
            waker.join().unwrap();
        }
    });
}

#[test]
fn who_ends_a_task_is_the_last_to_hold_what_it_does() {
    explore(|| {
        let (mailbox, work) = (Arc::new(Mailbox::new()), Looking::new());
        let task = RunningTask::start(&mailbox, 1, work.clone());
        let ending = thread::spawn(move || {
            drop(task);
            assert_eq!(Arc::strong_count(&work), 1, "somebody else has it");
        });
        let mut tasks = Tasks::default();
        while !iterate(&mailbox, &mut tasks) {}
        ending.join().unwrap();
    });
}
