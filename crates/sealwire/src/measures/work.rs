//! How long an I/O thread works, beside the time in which it waits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What an I/O thread has done since its context began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Work {
    /// Time between the return of one poll and the beginning of the next, of all iterations that have ended.
    pub busy: Duration,
    /// Iterations of its loop.
    pub iterations: u64,
}

/// The same, while the thread counts it. Nobody else does.
#[derive(Debug, Default)]
pub(crate) struct LiveWork {
    busy_ns: AtomicU64,
    iterations: AtomicU64,
}

impl LiveWork {
    /// An iteration has ended that worked for this time.
    pub(crate) fn note(&self, busy: Duration) {
        let add = |number: &AtomicU64, amount: u64| {
            let before = number.load(Ordering::Relaxed);
            number.store(before.wrapping_add(amount), Ordering::Relaxed);
        };
        add(
            &self.busy_ns,
            u64::try_from(busy.as_nanos()).unwrap_or(u64::MAX),
        );
        add(&self.iterations, 1);
    }

    pub(crate) fn snapshot(&self) -> Work {
        Work {
            busy: Duration::from_nanos(self.busy_ns.load(Ordering::Relaxed)),
            iterations: self.iterations.load(Ordering::Relaxed),
        }
    }
}
