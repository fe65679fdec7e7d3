//! Whether and how long to spin before sleeping.

use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

/// Whether it pays to spin, asking again and again for what is to come, instead of sleeping.
///
/// A sleeping thread is woken tens of microseconds late, so two ends that answer each other at once
/// are several times as fast when neither sleeps. But on a machine with other work to do, or with a
/// peer that takes its time, spinning only costs: after a few failed attempts there is none for a
/// number of waits.
pub(crate) struct Spinning {
    /// Above zero: attempts that may still fail. Below: waits until the next attempt.
    credit: AtomicI32,
    /// The longest spin; none at all where it is zero.
    limit: Duration,
    /// A wait of up to this time may have been longer for want of a spin.
    short: Duration,
}

impl Spinning {
    /// Failed attempts in a row that are borne.
    const FAILED_ATTEMPTS: i32 = 4;
    /// Short waits without an attempt after those.
    const PAUSE: i32 = -64;
    /// A wait is short, and spinning may have ended it sooner, up to this multiple of the limit: a
    /// sleeping thread is woken late.
    const SHORT: u32 = 4;

    /// Spins of up to this time, once waits have been short.
    pub(crate) const fn up_to(limit: Duration) -> Self {
        Spinning {
            credit: AtomicI32::new(0),
            limit,
            short: limit.saturating_mul(Self::SHORT),
        }
    }

    /// Spins of up to this time, with a few attempts before anything is known, and again after waits of up
    /// to `short`.
    pub(crate) const fn tried_first(limit: Duration, short: Duration) -> Self {
        Spinning {
            credit: AtomicI32::new(Self::FAILED_ATTEMPTS),
            limit,
            short,
        }
    }

    /// Whether to spin before sleeping.
    fn pays(&self) -> bool {
        self.credit.load(Ordering::Relaxed) > 0
    }

    /// Attempts it for a moment, with a pause after each attempt, if that has paid lately. `None` when no
    /// attempt succeeded.
    pub(crate) fn spin<T>(
        &self,
        deadline: Option<Instant>,
        pause: impl Fn(),
        mut attempt: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        if !self.pays() || self.limit.is_zero() {
            return None;
        }
        let end = Instant::now() + self.limit;
        let end = deadline.map_or(end, |deadline| end.min(deadline));
        loop {
            let done = attempt();
            let late = Instant::now() >= end;
            match (late, done.is_some()) {
                (true, _) => self.failed(),
                (false, true) => self.paid(),
                (false, false) => {
                    pause();
                    continue;
                }
            }
            return done;
        }
    }

    /// Sleeps, and takes note of how long that was.
    pub(crate) fn sleep<T>(&self, sleep: impl FnOnce() -> T) -> T {
        if self.limit.is_zero() {
            return sleep();
        }
        let begin = Instant::now();
        let woken = sleep();
        self.slept(begin.elapsed());
        woken
    }

    /// A spin ended with what it waited for.
    fn paid(&self) {
        self.credit.store(Self::FAILED_ATTEMPTS, Ordering::Relaxed);
    }

    /// It did not, or other threads had the core until it was late all the same.
    fn failed(&self) {
        let left = self.credit.load(Ordering::Relaxed) - 1;
        let credit = if left > 0 { left } else { Self::PAUSE };
        self.credit.store(credit, Ordering::Relaxed);
    }

    /// A wait of that time without spinning, or after spinning for nothing.
    fn slept(&self, time: Duration) {
        let credit = self.credit.load(Ordering::Relaxed);
        if credit <= 0 && time < self.short {
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
        let spinning = Spinning::up_to(LIMIT);
        for _ in 0..1_000 {
            spinning.slept(Duration::from_millis(1));
            assert!(!spinning.pays());
        }
        spinning.slept(Duration::from_micros(150));
        assert!(spinning.pays());
    }

    #[test]
    fn after_a_few_failed_attempts_there_is_a_pause() {
        let spinning = Spinning::up_to(LIMIT);
        spinning.slept(Duration::ZERO);
        spinning.paid();
        for _ in 1..Spinning::FAILED_ATTEMPTS {
            spinning.failed();
            assert!(spinning.pays());
        }
        spinning.failed();
        let mut waits = 0;
        while !spinning.pays() {
            spinning.slept(Duration::ZERO);
            waits += 1;
        }
        assert_eq!(waits, 1 - Spinning::PAUSE);
    }

    #[test]
    fn an_attempt_that_succeeds_at_once_pays_and_one_that_is_late_does_not() {
        let hour = Duration::from_secs(3_600);
        let spinning = Spinning::tried_first(hour, hour);
        let mut attempts = 0;
        let third = || {
            attempts += 1;
            (attempts == 3).then_some(attempts)
        };
        assert_eq!(spinning.spin(None, || {}, third), Some(3));
        let past = Instant::now();
        for _ in 0..Spinning::FAILED_ATTEMPTS {
            assert_eq!(spinning.spin(Some(past), || {}, || Some(())), Some(()));
        }
        assert_eq!(spinning.spin(None, || {}, || Some(())), None);
    }
}
