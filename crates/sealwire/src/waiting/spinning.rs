//! Whether to spin for a message before sleeping.

use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

/// Whether it pays to spin, polling for what is to come, instead of sleeping.
///
/// A sleeping thread is woken tens of microseconds late, so two ends that answer each other at once
/// are several times as fast when neither sleeps. But on a machine with other work to do, or with a
/// peer that takes its time, spinning only costs: after a few failed attempts there is none for a
/// number of waits.
#[derive(Default)]
pub(crate) struct Spinning {
    /// Above zero: attempts that may still fail. Below: waits until the next attempt.
    credit: AtomicI32,
}

impl Spinning {
    /// Failed attempts in a row that are borne.
    const FAILED_ATTEMPTS: i32 = 4;
    /// Short waits without an attempt after those.
    const PAUSE: i32 = -64;
    /// A wait is short, and spinning may have ended it sooner, up to so many times the limit: a
    /// sleeping thread is woken late.
    const SHORT: u32 = 4;

    /// With a few attempts before anything is known.
    pub(crate) fn tried_first() -> Self {
        Spinning {
            credit: AtomicI32::new(Self::FAILED_ATTEMPTS),
        }
    }

    /// Whether to spin before sleeping.
    pub(crate) fn pays(&self) -> bool {
        self.credit.load(Ordering::Relaxed) > 0
    }

    /// A spin ended with what it waited for.
    pub(crate) fn paid(&self) {
        self.credit.store(Self::FAILED_ATTEMPTS, Ordering::Relaxed);
    }

    /// It did not, or the core was lent to others for so long that it was late all the same.
    pub(crate) fn failed(&self) {
        let left = self.credit.load(Ordering::Relaxed) - 1;
        let credit = if left > 0 { left } else { Self::PAUSE };
        self.credit.store(credit, Ordering::Relaxed);
    }

    /// A wait of that time without spinning, or after spinning for nothing.
    pub(crate) fn slept(&self, time: Duration, limit: Duration) {
        let credit = self.credit.load(Ordering::Relaxed);
        if credit <= 0 && time < limit * Self::SHORT {
            self.credit.store(credit + 1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_micros(50);

    #[test]
    fn short_waits_have_it_tried_and_long_ones_do_not() {
        let spinning = Spinning::default();
        for _ in 0..1_000 {
            spinning.slept(Duration::from_millis(1), LIMIT);
            assert!(!spinning.pays());
        }
        spinning.slept(Duration::from_micros(150), LIMIT);
        assert!(spinning.pays());
    }

    #[test]
    fn after_a_few_failed_attempts_there_is_a_pause() {
        let spinning = Spinning::default();
        spinning.slept(Duration::ZERO, LIMIT);
        spinning.paid();
        for _ in 1..Spinning::FAILED_ATTEMPTS {
            spinning.failed();
            assert!(spinning.pays());
        }
        spinning.failed();
        let mut waits = 0;
        while !spinning.pays() {
            spinning.slept(Duration::ZERO, LIMIT);
            waits += 1;
        }
        assert_eq!(waits, 1 - Spinning::PAUSE);
    }
}
