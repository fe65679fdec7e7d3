//! Whether a message is single, or one of many that come in bursts.

use std::time::Duration;

use super::sync::{AtomicBool, AtomicU64, Ordering};

/// A message that follows the last one sooner than this, with nothing received in between, is one
/// of many: those are better moved by the I/O thread, in batches.
const BURST: Duration = Duration::from_micros(100);
/// Tells single messages from those that come in bursts.
#[derive(Default)]
pub(super) struct Bursts {
    /// Something was received since the last message went out.
    answered: AtomicBool,
    /// When the last burst or single message began, in microseconds.
    last: AtomicU64,
}

impl Bursts {
    pub(super) fn received(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_single(&self, now: Duration) -> bool {
        // Never zero, so that the first message does not count as a burst.
        let now = now.as_micros() as u64 + BURST.as_micros() as u64 + 1;
        let last = self.last.swap(now, Ordering::Relaxed);
        let answered = self.answered.swap(false, Ordering::Relaxed);
        answered || now - last.min(now) > BURST.as_micros() as u64
    }
}
