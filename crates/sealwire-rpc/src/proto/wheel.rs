//! Time limits of calls: a hashed wheel whose buckets are lists through the calls themselves, so
//! that setting and cancelling take constant time and no memory.

use std::time::Duration;

/// Width of a bucket: how much later than due a call may end.
pub(crate) const TICK: Duration = Duration::from_millis(4);
const BUCKETS: usize = 1_024;

/// Where a call stands in the wheel.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Entry {
    /// The bucket, if it is in one.
    bucket: Option<u16>,
    previous: Option<u32>,
    next: Option<u32>,
}

/// The calls, or whatever else has entries in the wheel.
pub(super) trait Entries {
    fn entry(&mut self, slot: u32) -> &mut Entry;
    fn due(&self, slot: u32) -> Duration;
}

pub(super) struct Wheel {
    heads: Box<[Option<u32>; BUCKETS]>,
    filled: [u64; BUCKETS / 64],
    /// The first tick that has not been looked at.
    tick: u64,
}

impl Default for Wheel {
    fn default() -> Self {
        Wheel {
            heads: Box::new([None; BUCKETS]),
            filled: [0; BUCKETS / 64],
            tick: 0,
        }
    }
}

/// The tick that begins at or after this time.
fn tick_of(time: Duration) -> u64 {
    time.as_millis().div_ceil(TICK.as_millis()) as u64
}

impl Wheel {
    pub(super) fn set(&mut self, entries: &mut impl Entries, slot: u32) {
        let tick = tick_of(entries.due(slot)).max(self.tick);
        let bucket = (tick % BUCKETS as u64) as usize;
        let next = self.heads[bucket].replace(slot);
        if let Some(next) = next {
            entries.entry(next).previous = Some(slot);
        }
        *entries.entry(slot) = Entry {
            bucket: Some(bucket as u16),
            previous: None,
            next,
        };
        self.filled[bucket / 64] |= 1 << (bucket % 64);
    }

    pub(super) fn cancel(&mut self, entries: &mut impl Entries, slot: u32) {
        let entry = std::mem::take(entries.entry(slot));
        let Some(bucket) = entry.bucket.map(usize::from) else {
            return;
        };
        match entry.previous {
            Some(previous) => entries.entry(previous).next = entry.next,
            None => self.heads[bucket] = entry.next,
        }
        if let Some(next) = entry.next {
            entries.entry(next).previous = entry.previous;
        }
        if self.heads[bucket].is_none() {
            self.filled[bucket / 64] &= !(1 << (bucket % 64));
        }
    }

    /// Takes out all that are due and hands them to `expired`.
    pub(super) fn advance<E: Entries>(
        &mut self,
        entries: &mut E,
        now: Duration,
        mut expired: impl FnMut(&mut E, u32),
    ) {
        let last = (now.as_millis() / TICK.as_millis()) as u64;
        let first = self.tick.max((last + 1).saturating_sub(BUCKETS as u64));
        for tick in first..=last {
            let mut next = self.heads[(tick % BUCKETS as u64) as usize];
            while let Some(slot) = next {
                next = entries.entry(slot).next;
                if entries.due(slot) <= now {
                    self.cancel(entries, slot);
                    expired(entries, slot);
                }
            }
        }
        self.tick = self.tick.max(last + 1);
    }

    /// When to check next; nothing is due before.
    pub(super) fn next_timeout(&self) -> Option<Duration> {
        (self.tick..self.tick + BUCKETS as u64)
            .find(|tick| {
                let bucket = (tick % BUCKETS as u64) as usize;
                self.filled[bucket / 64] >> (bucket % 64) & 1 == 1
            })
            // The product of a duration takes 32 bits only: 198.8 days of these ticks.
            .map(|tick| Duration::from_millis(tick * TICK.as_millis() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Timers(Vec<(Entry, Duration)>);

    impl Entries for Timers {
        fn entry(&mut self, slot: u32) -> &mut Entry {
            &mut self.0[slot as usize].0
        }

        fn due(&self, slot: u32) -> Duration {
            self.0[slot as usize].1
        }
    }

    #[test]
    fn each_timer_fires_once_in_time_unless_cancelled() {
        let mut wheel = Wheel::default();
        let mut timers = Timers::default();
        // Spread over several turns of the wheel.
        for slot in 0..2_000_u32 {
            let due = Duration::from_millis(u64::from(slot * 37 % 20_011));
            timers.0.push((Entry::default(), due));
            wheel.set(&mut timers, slot);
        }
        for slot in (0..2_000).step_by(3) {
            wheel.cancel(&mut timers, slot);
        }
        let mut fired = vec![None; 2_000];
        let mut now = Duration::ZERO;
        while let Some(next) = wheel.next_timeout() {
            assert!(next >= now);
            now = next;
            wheel.advance(&mut timers, now, |_, slot| {
                assert_eq!(fired[slot as usize].replace(now), None);
            });
        }
        for (slot, fired) in fired.iter().enumerate() {
            match fired {
                None => assert_eq!(slot % 3, 0, "{slot} never fired"),
                Some(at) => {
                    let due = timers.0[slot].1;
                    assert_ne!(slot % 3, 0, "{slot} was cancelled");
                    assert!(
                        *at >= due && *at <= due + TICK,
                        "{slot}: {at:?} for {due:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn timers_fire_once_and_in_time_however_long_the_wheel_has_run() {
        for days in [198, 199, 36_500] {
            let start = Duration::from_secs(days * 24 * 60 * 60);
            let mut wheel = Wheel::default();
            let mut timers = Timers(vec![(Entry::default(), start + Duration::from_secs(3))]);
            wheel.advance(&mut timers, start, |_, slot| panic!("{slot} was not set"));
            wheel.set(&mut timers, 0);
            let next = wheel.next_timeout().unwrap();
            assert!(next > start, "{next:?} has passed after {days} days");
            let mut fired = 0;
            wheel.advance(&mut timers, next, |_, _| fired += 1);
            assert_eq!((fired, wheel.next_timeout()), (1, None));
        }
    }

    #[test]
    fn a_long_pause_loses_nothing() {
        let mut wheel = Wheel::default();
        let mut timers = Timers(vec![(Entry::default(), Duration::from_secs(3)); 3]);
        for slot in 0..3 {
            wheel.set(&mut timers, slot);
        }
        let mut fired = 0;
        wheel.advance(&mut timers, Duration::from_secs(3_600), |_, _| fired += 1);
        assert_eq!((fired, wheel.next_timeout()), (3, None));
    }
}
