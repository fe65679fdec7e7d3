//! `engine/` of the library: the queue of commands, who drives a session, and tasks of the crates above.

mod commands;
mod driving;
mod running;
mod session;

#[path = "../../../../src/engine/bursts.rs"]
#[allow(dead_code, reason = "the library calls the rest")]
mod bursts;
#[path = "../../../../src/engine/inbox.rs"]
#[allow(dead_code, reason = "the library calls the rest")]
mod inbox;
#[path = "../../../../src/engine/shared.rs"]
#[allow(dead_code, reason = "the library calls the rest")]
mod shared;

#[path = "../../../../src/engine/task.rs"]
#[expect(unreachable_pub, reason = "crates above reach it")]
mod task;
#[path = "../../../../src/engine/tasks.rs"]
mod tasks;

mod sync {
    pub(super) use super::super::sync::{AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering};
    pub(super) use loom::thread_local;
}

mod guard {
    pub(super) use super::super::sync::contain;

    pub(super) fn driving<R>(action: impl FnOnce() -> R) -> R {
        action()
    }

    pub(super) fn must_not_wait() -> bool {
        false
    }
}

mod session_key {
    #[derive(Clone, Copy)]
    pub(crate) struct SessionKey;
}

mod failure {
    #[derive(Debug, PartialEq, Eq)]
    pub(crate) enum FailureCause {
        Internal,
    }
}

mod transport {
    #[derive(Clone)]
    pub(crate) struct Polled;
}

mod waiting {
    pub(crate) use crate::orders::waiting::lease::Lease;
}

#[allow(dead_code, reason = "the library calls the rest")]
mod pattern {
    use super::transport::Polled;
    use std::sync::Arc;

    pub(crate) struct Dismissal;

    pub(crate) trait Link {
        fn output_ready(&self, alone: bool);
        fn push_output(&self);
        fn input_wanted(&self);
        fn disconnect(&self, reason: Dismissal);
        fn finish(&self);
        fn direct_reader(self: Arc<Self>) -> Option<Arc<dyn DirectReader>>;
    }

    pub(crate) enum More {
        AtOnce,
        Unknown,
    }

    pub(crate) trait DirectReader {
        fn lease(&self) -> Option<Polled>;
        fn read(&self) -> Option<More>;
        fn read_if_free(&self);
        fn watch_lease(&self);
        fn end_lease(&self);
    }
}

mod mailbox {
    use super::inbox::Inbox;
    use super::pattern::Dismissal;
    use super::session_key::SessionKey;
    use super::task::Task;
    use crate::orders::Wakeups;
    use std::sync::Arc;

    pub(crate) enum Command {
        Output(SessionKey),
        Input(SessionKey),
        Revisit(SessionKey),
        Watch(SessionKey),
        EndLease(SessionKey),
        Disconnect(SessionKey, Dismissal),
        Finish(SessionKey),
        StartTask(Arc<Task>),
        RunTask {
            number: u64,
        },
        EndTask {
            number: u64,
        },
        /// A thread of the application is done.
        Done,
    }

    pub(crate) struct Mailbox {
        inbox: Inbox<Command, ()>,
        awake: Wakeups,
    }

    impl Mailbox {
        pub(crate) fn new() -> Self {
            Mailbox {
                inbox: Inbox::default(),
                awake: Wakeups::new(),
            }
        }

        pub(crate) fn post(&self, command: Command) {
            self.inbox.post(command, || self.awake.write());
        }

        /// Sleeps until there are some.
        pub(crate) fn wait(&self) -> Vec<Command> {
            let mut commands = Vec::new();
            self.awake.sleep();
            self.inbox.take(&mut commands);
            commands
        }
    }
}

mod world {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    pub(crate) trait World: Send + Sync {
        fn now(&self) -> Duration;
        fn registry(&self) -> &();
    }

    /// A clock that goes on by a millisecond each time it is asked.
    #[derive(Default)]
    pub(crate) struct Clock(AtomicU64);

    impl World for Clock {
        fn now(&self) -> Duration {
            Duration::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
        }

        fn registry(&self) -> &() {
            &()
        }
    }
}
