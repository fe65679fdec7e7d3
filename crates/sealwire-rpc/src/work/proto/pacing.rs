//! When a side sends: the first of what comes at once, and what follows together.
//!
//! ```text
//! comes      x x x x x x x x x        x
//! sent       x       |       | |      x
//! rounds     [-------[-------[-------]  [-------]
//! ```
//!
//! A message for each task would cost both sides more than the task. In a round things are held back, until there are
//! enough for a message or it is over. A round in which nothing was sent is not followed by another: then the next thing
//! is sent at once again.

use std::time::Duration;

use crate::limits::work::ROUND;

/// The rounds of one side.
#[derive(Default)]
pub(super) struct Pacing {
    /// When the present round is over.
    ends: Option<Duration>,
    /// Something was sent in it.
    has_sent: bool,
}

impl Pacing {
    /// Something has come. Returns whether it is the first, which is sent at once.
    pub(super) fn is_first(&mut self, now: Duration) -> bool {
        let is_first = self.ends.is_none();
        if is_first {
            self.ends = Some(now + ROUND);
        }
        is_first
    }

    /// Something was sent.
    pub(super) fn sent(&mut self) {
        self.has_sent = true;
    }

    pub(super) fn due(&self) -> Option<Duration> {
        self.ends
    }

    /// Ends a round that is over. Its side sends what it has held back.
    pub(super) fn process_due(&mut self, now: Duration) {
        if self.ends.is_some_and(|ends| ends <= now) {
            self.ends = self.has_sent.then_some(now + ROUND);
            self.has_sent = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_sent_at_once_and_rounds_follow_as_long_as_something_is_sent() {
        let mut pacing = Pacing::default();
        let mut now = Duration::from_secs(1);
        assert_eq!(pacing.due(), None);
        assert!(pacing.is_first(now));
        pacing.sent();
        for _ in 0..3 {
            assert!(!pacing.is_first(now));
            assert_eq!(pacing.due(), Some(now + ROUND));
            pacing.process_due(now);
            assert_eq!(pacing.due(), Some(now + ROUND), "the round is not over");
            now += ROUND;
            pacing.process_due(now);
            pacing.sent();
        }
        now += ROUND;
        pacing.process_due(now);
        now += ROUND;
        pacing.process_due(now);
        assert_eq!(pacing.due(), None);
        assert!(pacing.is_first(now));
    }
}
