//! A task of a crate above that the I/O thread runs.

use std::sync::{Arc, PoisonError};
use std::task::{Wake, Waker};
use std::time::Duration;

use sealwire_fork::Birth;

use super::guard;
use super::sync::{AtomicBool, Mutex, MutexGuard, Ordering};

/// What a task does.
pub trait Work: Send + Sync {
    /// Does what there is to do. Returns when to run it again, by the clock of the context, unless `waker` is woken
    /// before; `None` for then only.
    fn run(&self, waker: &Waker) -> Option<Duration>;
}

/// One task, until its work is taken out.
pub(crate) struct Task {
    pub(super) number: u64,
    /// Locked while it runs.
    work: Mutex<Option<Arc<dyn Work>>>,
    /// The I/O thread knows that it is to run.
    asked: AtomicBool,
    /// Has the I/O thread run it.
    ask: Box<dyn Fn() + Send + Sync>,
    birth: Birth,
}

impl Task {
    /// One that is about to run for the first time.
    pub(super) fn new(
        number: u64,
        work: Arc<dyn Work>,
        ask: impl Fn() + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Task {
            number,
            work: Mutex::new(Some(work)),
            asked: AtomicBool::new(true),
            ask: Box::new(ask),
            birth: Birth::now(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<dyn Work>>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes its work out, once it has run where it runs now. In a child of a fork, where the I/O thread may hold
    /// the lock for ever, it stays.
    pub(super) fn take_work(&self) -> Option<Arc<dyn Work>> {
        self.birth.is_here().then(|| self.lock().take()).flatten()
    }

    /// Returns when to run it again, if at all.
    pub(super) fn run(self: &Arc<Self>) -> Option<Duration> {
        // Exchanged and not stored: what was changed before a wake-up that this takes can be seen. One from here on
        // has it run once more.
        self.asked.swap(false, Ordering::AcqRel);
        let work = self.lock();
        let waker = Waker::from(self.clone());
        let work = work.as_ref()?;
        guard::contain("running a task", || work.run(&waker)).flatten()
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.birth.is_here() && !self.asked.swap(true, Ordering::AcqRel) {
            (self.ask)();
        }
    }
}
