//! The phases of a session on the way to its end.
//!
//! ```text
//!   Open ─ finish ─▶ Finishing ─ all is sent ─▶ Finished
//!    │                   │                         │
//!    └─ end ─▶ Ended     │                         │
//!                │       │                         │
//!                └───────┴──────────┬──────────────┘
//!                                   ▼
//!                                 Over
//! ```

use std::mem;
use std::time::Duration;

use super::End;

pub(super) enum Phase {
    Open,
    /// No more is wanted from the peer: send what is queued, then end, at this time at the latest.
    Finishing(Duration),
    /// All was sent and the peer was told. Its own end is awaited until this time, and where heartbeats say
    /// how long a peer may be silent, no longer than it may. It is not asked any more.
    Finished {
        until: Duration,
        heard_until: Option<Duration>,
    },
    /// How it ended while a thread of the application drove it, for the I/O thread to act on.
    Ended(End),
    /// It is about to be taken away.
    Over,
}

impl Phase {
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Phase::Open)
    }

    /// Whether the rest is being sent.
    pub(super) fn is_finishing(&self) -> bool {
        matches!(self, Phase::Finishing(_))
    }

    /// Whether everything was sent and the peer was told.
    pub(super) fn is_finished(&self) -> bool {
        matches!(self, Phase::Finished { .. })
    }

    /// Whether only the I/O thread can go on.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self, Phase::Ended(_) | Phase::Over)
    }

    /// The first caller sets the time.
    pub(super) fn finish(&mut self, until: Duration) {
        if self.is_open() {
            *self = Phase::Finishing(until);
        }
    }

    /// Everything was sent, if that is what it waited for. The peer has to be heard of by the second time.
    pub(super) fn all_is_sent(&mut self, heard_until: Option<Duration>) {
        if let Phase::Finishing(until) = *self {
            *self = Phase::Finished { until, heard_until };
        }
    }

    /// The peer was heard of, and has to be again by this time.
    pub(super) fn heard(&mut self, by: Option<Duration>) {
        if let Phase::Finished { heard_until, .. } = self {
            *heard_until = by;
        }
    }

    /// Until when the peer may take its time.
    pub(super) fn until(&self) -> Option<Duration> {
        match *self {
            Phase::Finishing(until) => Some(until),
            Phase::Finished { until, heard_until } => {
                Some(heard_until.map_or(until, |heard| heard.min(until)))
            }
            Phase::Open | Phase::Ended(_) | Phase::Over => None,
        }
    }

    /// A thread of the application found its end.
    pub(super) fn end(&mut self, end: End) {
        *self = Phase::Ended(end);
    }

    /// What a thread of the application found, once.
    pub(super) fn take_end(&mut self) -> Option<End> {
        match mem::replace(self, Phase::Over) {
            Phase::Ended(end) => Some(end),
            other => {
                *self = other;
                None
            }
        }
    }

    pub(super) fn over(&mut self) {
        *self = Phase::Over;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(1);
    const LATE: Duration = Duration::from_secs(9);

    #[test]
    fn the_first_who_asks_sets_the_time() {
        let mut phase = Phase::Open;
        assert_eq!(phase.until(), None);
        phase.finish(SOON);
        phase.finish(LATE);
        assert_eq!(phase.until(), Some(SOON));
        assert!(!phase.is_open() && !phase.is_finished());
        assert!(phase.is_finishing());
        phase.all_is_sent(None);
        assert_eq!(phase.until(), Some(SOON));
        assert!(phase.is_finished() && !phase.is_finishing());
        // Also once all is sent.
        phase.finish(LATE);
        assert!(phase.is_finished());
        assert_eq!(phase.until(), Some(SOON));
    }

    #[test]
    fn a_peer_that_says_nothing_is_not_awaited_for_the_whole_linger_time() {
        for (heard_until, expected) in [(SOON, SOON), (LATE + SOON, LATE)] {
            let mut phase = Phase::Open;
            phase.finish(LATE);
            phase.all_is_sent(Some(heard_until));
            assert_eq!(phase.until(), Some(expected));
        }
    }

    #[test]
    fn a_peer_that_is_heard_of_has_the_whole_linger_time() {
        let mut phase = Phase::Open;
        phase.finish(LATE);
        phase.heard(Some(SOON));
        assert_eq!(phase.until(), Some(LATE));
        phase.all_is_sent(Some(SOON));
        phase.heard(Some(2 * SOON));
        assert_eq!(phase.until(), Some(2 * SOON));
        phase.heard(Some(LATE + SOON));
        assert_eq!(phase.until(), Some(LATE));
    }

    #[test]
    fn what_is_sent_while_open_finishes_nothing() {
        let mut phase = Phase::Open;
        phase.all_is_sent(None);
        assert!(phase.is_open());
    }

    #[test]
    fn an_end_is_told_once_and_stays() {
        let mut phase = Phase::Open;
        assert!(phase.take_end().is_none());
        assert!(phase.is_open() && !phase.has_ended());
        phase.end(End::Clean);
        assert!(phase.has_ended());
        phase.finish(LATE);
        assert!(matches!(phase.take_end(), Some(End::Clean)));
        assert!(phase.take_end().is_none());
        phase.finish(LATE);
        assert!(phase.has_ended() && phase.until().is_none());
    }
}
