//! A [`Waker`] that is written once until it is cleared, however often it is signalled.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::task::Wake;

use super::sync::{AtomicBool, Ordering};
use super::waker::Waker;

pub(crate) struct Notifier {
    waker: Waker,
    /// It is written, or about to be.
    signalled: AtomicBool,
}

impl Notifier {
    /// # Errors
    ///
    /// When the process has no descriptors left: it takes one on Linux, two elsewhere.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Notifier {
            waker: Waker::new()?,
            signalled: AtomicBool::new(false),
        })
    }

    /// Makes it readable.
    pub(crate) fn signal(&self) {
        if !self.signalled.swap(true, Ordering::AcqRel) {
            self.waker.wake();
        }
    }

    /// Makes it unreadable. A signal after that makes it readable again; one before it was for a change
    /// that can be seen by now.
    pub(crate) fn clear(&self) {
        self.waker.clear();
        // Exchanged and not stored: what was changed before a signal that this takes can be seen.
        self.signalled.swap(false, Ordering::AcqRel);
    }
}

impl AsFd for Notifier {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.waker.as_fd()
    }
}

/// As the waker of a task, it wakes a thread that polls.
impl Wake for Notifier {
    fn wake(self: Arc<Self>) {
        self.signal();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.signal();
    }
}
