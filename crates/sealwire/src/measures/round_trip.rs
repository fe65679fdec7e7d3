//! How long a peer takes to answer heartbeats.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The weight of a new time in the smoothed one is an eighth, as in TCP (RFC 6298).
const SMOOTHING: u64 = 8;

/// Round trips of heartbeats: from the queuing of a PING, behind what was queued before it, to its PONG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RoundTrip {
    /// The latest.
    pub last: Duration,
    /// The shortest of the connection.
    pub min: Duration,
    /// The mean in which each new time counts for an eighth.
    pub smoothed: Duration,
}

/// The same, while it is measured by one thread and read by others. Zero stands for none, and each number may be
/// newer than the one before it.
#[derive(Debug, Default)]
pub(crate) struct LiveRoundTrip {
    last: AtomicU64,
    min: AtomicU64,
    smoothed: AtomicU64,
}

impl LiveRoundTrip {
    /// Called by the thread that drives the connection.
    pub(crate) fn note(&self, time: Duration) {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1);
        let (min, smoothed) = match self.smoothed.load(Ordering::Relaxed) {
            0 => (time, time),
            smoothed => {
                let min = self.min.load(Ordering::Relaxed).min(time);
                (min, smoothed - smoothed / SMOOTHING + time / SMOOTHING)
            }
        };
        self.min.store(min, Ordering::Relaxed);
        self.last.store(time, Ordering::Relaxed);
        self.smoothed.store(smoothed.max(1), Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self) -> Option<RoundTrip> {
        let read = |number: &AtomicU64| Duration::from_nanos(number.load(Ordering::Relaxed));
        let smoothed = read(&self.smoothed);
        (!smoothed.is_zero()).then(|| RoundTrip {
            last: read(&self.last),
            min: read(&self.min),
            smoothed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_moves_the_mean_by_an_eighth() {
        let round_trip = LiveRoundTrip::default();
        assert_eq!(round_trip.snapshot(), None);
        for (time, last, min, smoothed) in [
            (800, 800, 800, 800),
            (1_600, 1_600, 800, 900),
            (0, 1, 1, 788),
        ] {
            round_trip.note(Duration::from_nanos(time));
            let [last, min, smoothed] = [last, min, smoothed].map(Duration::from_nanos);
            let expected = RoundTrip {
                last,
                min,
                smoothed,
            };
            assert_eq!(round_trip.snapshot(), Some(expected));
        }
    }
}
