//! What threads share, under every order in which they can take their steps, as loom tells them
//! ([decision 19](../../../../../docs/decisions/0019-tried-in-every-order.md)).
//!
//! The library's own files run here, with loom's types in place of std's: [`waiting`] and its like include
//! them by their path. Queues, descriptors and sleeps are the least that stand for the library's.

mod engine;
mod inproc;
mod lease;
#[cfg(unix)]
mod readiness;
mod sync;
mod tasks;
mod waiting;
mod wakers;

use loom::sync::{Condvar, Mutex};

const PREEMPTIONS: usize = 3;

/// Tries every order with up to [`PREEMPTIONS`] places at which a thread is interrupted in favour of
/// another: more take hours, and find little (Musuvathi and Qadeer, Iterative Context Bounding, 2007).
fn explore(model: impl Fn() + Sync + Send + 'static) {
    explore_up_to(PREEMPTIONS, model);
}

fn explore_up_to(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// A flag that one thread writes and others sleep for.
struct Wakeups {
    written: Mutex<bool>,
    changed: Condvar,
}

impl Wakeups {
    fn new() -> Self {
        Wakeups {
            written: Mutex::new(false),
            changed: Condvar::new(),
        }
    }

    fn write(&self) {
        *self.written.lock().unwrap() = true;
        self.changed.notify_all();
    }

    fn clear(&self) {
        *self.written.lock().unwrap() = false;
    }

    /// Sleeps until it is written, and leaves it so. Loom fails where nobody writes it.
    fn poll(&self) {
        drop(self.written());
    }

    /// The same, and clears it.
    fn sleep(&self) {
        *self.written() = false;
    }

    fn written(&self) -> loom::sync::MutexGuard<'_, bool> {
        let mut written = self.written.lock().unwrap();
        while !*written {
            written = self.changed.wait(written).unwrap();
        }
        written
    }
}
