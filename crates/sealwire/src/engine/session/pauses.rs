//! Pauses between two checks of a queue that another thread fills, message by message.

use std::slice;
use std::time::Duration;

/// A check that found this many messages was worth the lock.
const MANY: usize = 64;
/// Nothing waits for more while this many bytes wait to be written.
const ENOUGH: usize = 32 << 10;
/// The second check finds out whether a thread fills the queue. Each pause is as long as those before it and 1 µs: a burst
/// that is over waits no longer than it took.
const STEPS: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_micros(1),
    Duration::from_micros(2),
    Duration::from_micros(4),
    Duration::from_micros(8),
];

/// Whether a thread that takes messages from a queue may pause, and how.
///
/// If it takes them sooner than they come, it finds one at a time. It and their sender hold each other up then: both need
/// the lock for each message (decision 31).
#[derive(Clone, Copy)]
pub(super) struct Pauses<'a> {
    pause: Option<&'a dyn Fn(Duration)>,
}

impl<'a> Pauses<'a> {
    /// It takes what is there.
    pub(super) const NONE: Pauses<'static> = Pauses { pause: None };

    /// The thread has nothing else to do, and pauses this way.
    pub(super) fn by(pause: &'a dyn Fn(Duration)) -> Self {
        Pauses { pause: Some(pause) }
    }

    /// Those before a write.
    pub(super) fn of_a_write(self) -> PausesOfAWrite<'a> {
        PausesOfAWrite {
            pauses: self,
            steps: STEPS.iter(),
        }
    }
}

pub(super) struct PausesOfAWrite<'a> {
    pauses: Pauses<'a>,
    steps: slice::Iter<'static, Duration>,
}

impl PausesOfAWrite<'_> {
    /// A check found this many messages, and this many bytes wait to be written now. `false` where it is time to write them.
    pub(super) fn after(&mut self, messages: usize, bytes: usize) -> bool {
        let Some(pause) = self.pauses.pause else {
            return true;
        };
        if messages >= MANY || bytes >= ENOUGH {
            return true;
        }
        match self.steps.next() {
            None => false,
            Some(time) => {
                pause(*time);
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn pauses_grow_and_end_and_large_batches_have_none() {
        let made = RefCell::new(Vec::new());
        let pause = |time: Duration| made.borrow_mut().push(time.as_micros());
        let pauses = Pauses::by(&pause);
        let mut of_one = pauses.of_a_write();
        assert!(of_one.after(MANY, 1) && of_one.after(1, ENOUGH));
        assert!(made.borrow().is_empty());
        for _ in STEPS {
            assert!(of_one.after(MANY - 1, ENOUGH - 1));
        }
        assert!(!of_one.after(1, 1) && of_one.after(MANY, 1));
        assert_eq!(*made.borrow(), [0, 1, 2, 4, 8]);
        assert!(pauses.of_a_write().after(1, 1));
        let mut none = Pauses::NONE.of_a_write();
        assert!((0..=STEPS.len()).all(|_| none.after(1, 1)));
    }
}
