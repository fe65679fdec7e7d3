//! Tasks of the crates above, as the I/O thread runs them. Beside `task` and `tasks`, which loom takes as they are.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::time::Duration;

use super::mailbox::{Command, Mailbox};
use super::task::Work;
use super::tasks::{RunningTask, Tasks};
use super::world::System;

const AGAIN: Duration = Duration::from_secs(60);

/// Counts how often it is run, and keeps the waker.
#[derive(Default)]
struct Counting {
    runs: AtomicUsize,
    waker: Mutex<Option<Waker>>,
}

impl Work for Counting {
    fn run(&self, waker: &Waker) -> Option<Duration> {
        *self.waker.lock().unwrap() = Some(waker.clone());
        self.runs.fetch_add(1, Ordering::SeqCst);
        Some(AGAIN)
    }
}

/// What the I/O thread does with the commands that were posted.
fn serve(mailbox: &Mailbox, tasks: &mut Tasks) -> Vec<Option<Duration>> {
    let mut commands = Vec::new();
    mailbox.take(&mut commands);
    let serve = |command| match command {
        Command::StartTask(task) => tasks.start(task),
        Command::RunTask { number } => tasks.run(number),
        Command::EndTask { number } => {
            tasks.forget(number);
            None
        }
        _ => panic!("nobody asked for that"),
    };
    commands.into_iter().map(serve).collect()
}

#[test]
fn a_task_runs_once_for_any_number_of_wake_ups_until_it_is_ended() {
    let mailbox = Arc::new(Mailbox::new(Arc::new(
        System::new(std::time::Instant::now()).unwrap(),
    )));
    let mut tasks = Tasks::default();
    let work = Arc::new(Counting::default());
    let task = RunningTask::start(&mailbox, 7, work.clone());
    assert_eq!(serve(&mailbox, &mut tasks), [Some(AGAIN)]);
    let waker = work.waker.lock().unwrap().clone().unwrap();
    for times in 2..4 {
        for _ in 0..3 {
            waker.wake_by_ref();
        }
        assert_eq!(serve(&mailbox, &mut tasks), [Some(AGAIN)]);
        assert_eq!(work.runs.load(Ordering::SeqCst), times);
    }
    waker.wake_by_ref();
    drop(task);
    // It was woken before, and does nothing any more.
    assert_eq!(serve(&mailbox, &mut tasks), [None, None]);
    assert_eq!(work.runs.load(Ordering::SeqCst), 3);
    work.waker.lock().unwrap().take();
    drop(waker);
    assert_eq!(Arc::strong_count(&work), 1, "nothing of it is left");
}

#[test]
fn one_that_panics_is_not_run_again_by_the_clock() {
    struct Panicking;
    impl Work for Panicking {
        fn run(&self, _: &Waker) -> Option<Duration> {
            panic!("asked for");
        }
    }
    let mailbox = Arc::new(Mailbox::new(Arc::new(
        System::new(std::time::Instant::now()).unwrap(),
    )));
    let mut tasks = Tasks::default();
    let task = RunningTask::start(&mailbox, 7, Arc::new(Panicking));
    assert_eq!(serve(&mailbox, &mut tasks), [None]);
    drop(task);
    assert_eq!(serve(&mailbox, &mut tasks), [None]);
}
