//! An I/O thread that does nothing for a while, so that tests see what others do without it.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::task::Waker;
use std::time::Duration;

use super::{RunningTask, Work};
use crate::Context;

/// Nothing here takes that long unless it is broken.
const LONG: Duration = Duration::from_secs(60);

/// Holds an I/O thread until it is dropped.
pub(super) struct Held {
    release: Option<mpsc::Sender<()>>,
    _task: RunningTask,
}

struct Holding {
    begun: mpsc::Sender<()>,
    released: Mutex<mpsc::Receiver<()>>,
}

impl Work for Holding {
    fn run(&self, _: &Waker) -> Option<Duration> {
        let _ = self.begun.send(());
        let released = self.released.lock().unwrap_or_else(PoisonError::into_inner);
        // Ends with the sender.
        let _ = released.recv();
        None
    }
}

impl Held {
    /// Returns once the thread has done all that was asked of it before.
    pub(super) fn begin(context: &Context) -> Self {
        let (begun, begins) = mpsc::channel();
        let (release, released) = mpsc::channel();
        let released = Mutex::new(released);
        let work = Arc::new(Holding { begun, released });
        let task = RunningTask::start(context.mailbox(), context.core().next_number(), work);
        begins.recv_timeout(LONG).expect("the I/O thread");
        Held {
            release: Some(release),
            _task: task,
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Before the task, which waits for it.
        self.release.take();
    }
}
