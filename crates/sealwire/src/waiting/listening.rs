//! Waiting for a signal of a socket or monitor: threads with `event-listener`, tasks in a queue of
//! this crate.
//!
//! ```text
//!   notify(n) ─┬─▶ threads: Event, a listener on each one's stack
//!              └─▶ tasks: a queue of wakers, which keeps its memory
//! ```
//!
//! Each of the two gets every signal. So if both have waiters, one too many may be woken, which
//! finds nothing and waits again.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use sealwire_fork::Birth;

use super::sync::{Event, IntoNotification as _};
use super::tasks::Tasks;

/// Tells those who wait.
#[derive(Default)]
pub(crate) struct Signal {
    /// Listened to by [`Signal::wait`].
    pub(super) threads: Event,
    tasks: Arc<Tasks>,
}

impl Signal {
    /// Tells up to `count` waiters, those included that were told before and have not seen it yet.
    #[inline]
    pub(crate) fn notify(&self, count: usize) {
        // Emits a fence: who began to wait before is seen.
        self.threads.notify(count);
        self.tasks.notify(count, false);
    }

    /// Tells up to `count` waiters that were not told yet.
    #[inline]
    pub(crate) fn notify_more(&self, count: usize) {
        self.threads.notify(count.additional());
        self.tasks.notify(count, true);
    }

    /// How many wait.
    pub(crate) fn waiters(&self) -> usize {
        self.threads.total_listeners() + self.tasks.count()
    }
}

/// A task's wait that has begun, and has to be followed by a check of what is waited for. In a child of
/// a fork it is over, as nobody would end it, and the list is left alone: its lock may be held by a
/// thread that is not there.
pub(crate) struct Listening {
    /// `None` when it is over.
    wait: Option<(Arc<Tasks>, u64)>,
    birth: Birth,
}

impl Listening {
    /// Begins to wait.
    pub(crate) fn to(signal: &Signal) -> Self {
        let number = signal.tasks.enter();
        Listening {
            wait: Some((signal.tasks.clone(), number)),
            birth: Birth::now(),
        }
    }

    /// A wait that is over at once.
    pub(crate) fn over() -> Self {
        Listening {
            wait: None,
            birth: Birth::now(),
        }
    }

    fn take(&mut self) -> Option<(Arc<Tasks>, u64)> {
        let wait = self.wait.take();
        if self.birth.is_here() {
            return wait;
        }
        mem::forget(wait);
        None
    }
}

impl Future for Listening {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some((tasks, number)) = self.wait.as_ref().filter(|_| self.birth.is_here()) else {
            return Poll::Ready(());
        };
        // The wait stays meanwhile: where cloning the waker panics it ends when this is dropped.
        let polled = tasks.poll(*number, context.waker());
        if polled.is_ready() {
            self.wait = None;
        }
        polled
    }
}

/// A listener that was notified and does not check passes the notification on.
impl Drop for Listening {
    fn drop(&mut self) {
        if let Some((tasks, number)) = self.take()
            && let Some(additional) = tasks.leave(number)
        {
            tasks.notify(1, additional);
        }
    }
}
