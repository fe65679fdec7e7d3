//! The next deadline of a session.

use std::time::Duration;

use crate::engine::session_key::SessionKey;
use crate::engine::timers::Timers;

/// The one entry that a session has among the I/O thread's timers, if it has one.
#[derive(Default)]
pub(super) struct Deadline(Option<Duration>);

impl Deadline {
    /// Moves the entry to this time. Returns whether it was at another one.
    pub(super) fn set(
        &mut self,
        next: Option<Duration>,
        key: SessionKey,
        timers: &mut Timers,
    ) -> bool {
        let moves = next != self.0;
        if moves {
            timers.replace(self.0, next, key.timer());
            self.0 = next;
        }
        moves
    }

    /// Whether there is an entry.
    pub(super) fn is_set(&self) -> bool {
        self.0.is_some()
    }

    /// Whether it has come, once: the timers have taken it out.
    pub(super) fn take_due(&mut self, now: Duration) -> bool {
        let due = self.0.is_some_and(|at| at <= now);
        if due {
            self.0 = None;
        }
        due
    }

    /// Whether something is due before the timers tell of it.
    pub(super) fn is_behind(&self, next: Option<Duration>) -> bool {
        match (next, self.0) {
            (Some(next), Some(at)) => next < at,
            (next, None) => next.is_some(),
            (None, Some(_)) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: SessionKey = SessionKey {
        slot: 3,
        connection: 71,
    };
    const SOON: Duration = Duration::from_secs(1);
    const LATE: Duration = Duration::from_secs(9);

    #[test]
    fn a_session_has_one_entry_among_the_timers() {
        let (mut deadline, mut timers) = (Deadline::default(), Timers::default());
        assert!(deadline.set(Some(LATE), KEY, &mut timers));
        assert!(!deadline.set(Some(LATE), KEY, &mut timers));
        assert!(deadline.set(Some(SOON), KEY, &mut timers));
        assert_eq!(timers.pop_due(LATE), Some(KEY.timer()));
        assert_eq!(timers.pop_due(LATE), None);
        assert!(!deadline.take_due(SOON - Duration::from_nanos(1)));
        assert!(deadline.is_set());
        assert!(deadline.take_due(SOON) && !deadline.take_due(LATE));
        assert!(!deadline.is_set());
        assert!(deadline.set(Some(LATE), KEY, &mut timers));
        assert!(deadline.set(None, KEY, &mut timers));
        assert_eq!(timers.next(), None);
    }

    #[test]
    fn it_is_behind_what_is_due_sooner() {
        let (mut deadline, mut timers) = (Deadline::default(), Timers::default());
        assert!(deadline.is_behind(Some(LATE)) && !deadline.is_behind(None));
        deadline.set(Some(LATE), KEY, &mut timers);
        assert!(deadline.is_behind(Some(SOON)) && !deadline.is_behind(None));
        assert!(!deadline.is_behind(Some(LATE)));
    }
}
