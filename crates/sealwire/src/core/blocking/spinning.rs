//! A brief spin before sleeping, where the peer is a thread of this process: it takes its next batch
//! from a queue within microseconds, and being woken takes longer than that.

use std::hint;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::core::SocketCore;
use crate::waiting::Spinning;

/// The longest spin: about what a thread takes for a queue of a hundred messages.
const LIMIT: Duration = Duration::from_micros(8);
/// A wait of up to so many times this may have been longer for want of a spin.
const SHORT: Duration = Duration::from_micros(25);
/// Pauses between two attempts, each of which takes the socket's lock.
const PAUSES: u32 = 32;

impl SocketCore {
    /// Whether to spin: that has paid lately.
    pub(super) fn spins(&self, spinning: &Spinning) -> bool {
        self.has_had_peers_in_process.load(Ordering::Relaxed) && spinning.pays()
    }

    /// Attempts it for a moment. `None` when no attempt succeeded.
    pub(super) fn spin<T, E>(
        &self,
        spinning: &Spinning,
        mut attempt: impl FnMut() -> Result<Option<T>, E>,
    ) -> Result<Option<T>, E> {
        let begin = Instant::now();
        while begin.elapsed() < LIMIT {
            (0..PAUSES).for_each(|_| hint::spin_loop());
            if let Some(done) = attempt()? {
                spinning.paid();
                return Ok(Some(done));
            }
        }
        spinning.failed();
        Ok(None)
    }

    /// Sleeps, and takes note of how long that was.
    pub(super) fn sleep<T>(&self, spinning: &Spinning, sleep: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let woken = sleep();
        spinning.slept(begin.elapsed(), SHORT);
        woken
    }
}
