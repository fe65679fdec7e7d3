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
    /// The longest spin while there is an allowance. Each end of a connection may find the other asleep, and sleep before
    /// that is awake; an end that spins for as long ends this, and from then on each answers within the limit.
    reach: Duration,
    /// Above zero: spins that may still end behind the limit. Below: pauses until there are some again.
    allowance: AtomicI32,
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
    /// Spins in a row that may end behind the limit: by then the other end has seen as many short waits as it
    /// takes until it spins too.
    const ALLOWANCE: i32 = 128;
    /// Pauses without any after those.
    const NO_ALLOWANCE: i32 = -16;

    /// Spins of up to this time, once waits have been short.
    pub(crate) const fn up_to(limit: Duration) -> Self {
        Spinning {
            credit: AtomicI32::new(0),
            limit,
            reach: limit,
            allowance: AtomicI32::new(0),
            short: limit.saturating_mul(Self::SHORT),
        }
    }

    /// Spins of up to this time, with a few attempts before anything is known, and again after waits of up
    /// to `short`.
    pub(crate) const fn tried_first(limit: Duration, short: Duration) -> Self {
        Spinning {
            credit: AtomicI32::new(Self::FAILED_ATTEMPTS),
            limit,
            reach: limit,
            allowance: AtomicI32::new(0),
            short,
        }
    }

    /// Of up to this time for a while, to find out whether the other end is soon within the limit.
    pub(crate) const fn reaching(mut self, reach: Duration) -> Self {
        self.reach = reach;
        self.allowance = AtomicI32::new(Self::ALLOWANCE);
        self
    }

    /// Whether to spin before sleeping.
    fn pays(&self) -> bool {
        self.credit.load(Ordering::Relaxed) > 0
    }

    /// Attempts it for a moment, with a pause after each attempt, if that has paid lately: `pause` is told whether the
    /// limit has passed. `None` when no attempt succeeded.
    pub(crate) fn spin<T>(
        &self,
        deadline: Option<Instant>,
        pause: impl Fn(bool),
        mut attempt: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        if !self.pays() || self.limit.is_zero() {
            return None;
        }
        let begin = Instant::now();
        let near = begin + self.limit;
        let end = begin + self.reach();
        let end = deadline.map_or(end, |deadline| end.min(deadline));
        loop {
            let done = attempt();
            let now = Instant::now();
            match (now >= end, done.is_some()) {
                (true, _) => self.failed(),
                (false, true) => self.paid(now >= near),
                (false, false) => {
                    pause(now >= near);
                    continue;
                }
            }
            return done;
        }
    }

    /// How long to spin now.
    fn reach(&self) -> Duration {
        match self.allowance.load(Ordering::Relaxed) {
            ..=0 => self.limit,
            _ => self.reach,
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

    /// A spin ended with what it waited for, within the limit or behind it.
    fn paid(&self, is_far: bool) {
        self.credit.store(Self::FAILED_ATTEMPTS, Ordering::Relaxed);
        let allowance = match self.allowance.load(Ordering::Relaxed) {
            1 if is_far => Self::NO_ALLOWANCE,
            left @ 2.. if is_far => left - 1,
            left @ 1..Self::ALLOWANCE => left + 1,
            _ => return,
        };
        self.allowance.store(allowance, Ordering::Relaxed);
    }

    /// It did not, or other threads had the core until it was late all the same.
    fn failed(&self) {
        let left = self.credit.load(Ordering::Relaxed) - 1;
        if left > 0 {
            self.credit.store(left, Ordering::Relaxed);
            return;
        }
        self.credit.store(Self::PAUSE, Ordering::Relaxed);
        let allowance = match self.allowance.load(Ordering::Relaxed) {
            -1 => Self::ALLOWANCE,
            left @ ..-1 => left + 1,
            _ => return,
        };
        self.allowance.store(allowance, Ordering::Relaxed);
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
        spinning.paid(false);
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
        assert_eq!(spinning.spin(None, |_| {}, third), Some(3));
        let past = Instant::now();
        for _ in 0..Spinning::FAILED_ATTEMPTS {
            assert_eq!(spinning.spin(Some(past), |_| {}, || Some(())), Some(()));
        }
        assert_eq!(spinning.spin(None, |_| {}, || Some(())), None);
    }

    #[test]
    fn the_limit_is_passed_as_long_as_there_is_an_allowance() {
        let hour = Duration::from_secs(3_600);
        let spinning = Spinning::tried_first(Duration::from_nanos(1), hour).reaching(hour);
        for _ in 0..Spinning::ALLOWANCE {
            assert_eq!(spinning.reach(), hour);
            let begin = Instant::now();
            let far = || (begin.elapsed() > Duration::from_nanos(2)).then_some(());
            assert_eq!(spinning.spin(None, |_| {}, far), Some(()));
        }
        assert_eq!(spinning.reach(), Duration::from_nanos(1));
        // After a number of pauses there is some again.
        for _ in 0..-Spinning::NO_ALLOWANCE {
            assert_eq!(spinning.reach(), Duration::from_nanos(1));
            while !spinning.pays() {
                spinning.slept(Duration::ZERO);
            }
            while spinning.pays() {
                spinning.failed();
            }
        }
        assert_eq!(spinning.reach(), hour);
    }

    #[test]
    fn answers_within_the_limit_renew_the_allowance() {
        let spinning = Spinning::tried_first(LIMIT, LIMIT).reaching(LIMIT * 2);
        for _ in 0..10 {
            (1..Spinning::ALLOWANCE).for_each(|_| spinning.paid(true));
            assert_eq!(spinning.reach(), LIMIT * 2);
            (1..Spinning::ALLOWANCE).for_each(|_| spinning.paid(false));
        }
        (0..Spinning::ALLOWANCE).for_each(|_| spinning.paid(true));
        assert_eq!(spinning.reach(), LIMIT);
        // They do not bring it back.
        spinning.paid(false);
        assert_eq!(spinning.reach(), LIMIT);
    }

    #[test]
    fn without_reach_there_is_no_allowance() {
        for spinning in [Spinning::up_to(LIMIT), Spinning::tried_first(LIMIT, LIMIT)] {
            for _ in 0..100 {
                spinning.paid(false);
                (0..Spinning::FAILED_ATTEMPTS).for_each(|_| spinning.failed());
                assert_eq!(spinning.reach(), LIMIT);
            }
        }
    }
}
