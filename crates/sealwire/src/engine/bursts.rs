//! Whether a message is single, or one of many that come in bursts.

use std::time::Duration;

use super::sync::{AtomicBool, AtomicU64, Ordering};

/// A message that follows the last one sooner than this, with nothing received in between, is one
/// of many: those are better moved by the I/O thread, in batches.
pub(super) const BURST: Duration = Duration::from_micros(100);

/// Tells single messages from those that come in bursts.
#[derive(Default)]
pub(super) struct Bursts {
    /// Something was received since the last message went out.
    answered: AtomicBool,
    /// When the last message was sent, as a stamp.
    last: AtomicU64,
}

impl Bursts {
    pub(super) fn received(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }

    /// A single message has been sent: a long one takes a while.
    pub(super) fn sent(&self, now: Duration) {
        self.last.store(stamp(now), Ordering::Relaxed);
    }

    pub(super) fn is_single(&self, now: Duration) -> bool {
        let now = stamp(now);
        let last = self.last.swap(now, Ordering::Relaxed);
        let answered = self.answered.swap(false, Ordering::Relaxed);
        answered || now - last.min(now) > BURST.as_micros() as u64
    }
}

/// Microseconds, from more than a burst on: the first message is not one of many.
fn stamp(now: Duration) -> u64 {
    (now + BURST).as_micros() as u64 + 1
}
