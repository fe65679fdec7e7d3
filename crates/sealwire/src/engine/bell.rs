//! What tells a task that its time limit is over.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::waiting::{Listening, Signal};

/// Rung once, by the I/O thread.
#[derive(Default)]
pub(crate) struct Bell {
    /// Written before the signal, read by the task after it began to listen.
    rung: AtomicBool,
    signal: Signal,
}

impl Bell {
    pub(super) fn ring(&self) {
        self.rung.store(true, Ordering::SeqCst);
        self.signal.notify(1);
    }

    pub(super) fn has_rung(&self) -> bool {
        self.rung.load(Ordering::SeqCst)
    }

    pub(super) fn listen(&self) -> Listening {
        Listening::to(&self.signal)
    }
}
