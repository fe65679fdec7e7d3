//! The flag and signal that tell a task that its time limit is over.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::waiting::{Listening, Signal};

/// Expires once, by the I/O thread.
#[derive(Default)]
pub(crate) struct Expiry {
    /// Written before the signal, read by the task after it began to listen.
    expired: AtomicBool,
    signal: Signal,
}

impl Expiry {
    pub(super) fn expire(&self) {
        self.expired.store(true, Ordering::SeqCst);
        self.signal.notify(1);
    }

    pub(super) fn has_expired(&self) -> bool {
        self.expired.load(Ordering::SeqCst)
    }

    pub(super) fn listen(&self) -> Listening {
        Listening::to(&self.signal)
    }
}
