//! The phases of a session on the way to its end.
//!
//! ```text
//!   Open ─ finish ─▶ Finishing ─ all is sent ─▶ Finished
//!    │                   │                         │
//!    ├─ end ─▶ Ended     │                         │
//!    │           │       │                         │
//!    │           └───────┴──────────┬──────────────┘
//!    │                              ▼
//!    │                            Over
//!    │                              ▲
//!    ├─ drain ─▶ Draining ─ the peer's end, or the time is up
//!    │                              │
//!    └─ the peer's end ─▶ Flushing ─┘
//! ```
//!
//! `finish` leads from Draining to Finishing as well, and the peer's end from Finishing to Flushing; also from Draining
//! where something is owed to the peer.

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
    /// The socket is being drained: what the peer sends until its end is taken, until this time at the latest.
    /// Nothing is sent once the peer `was_told` so.
    Draining {
        until: Duration,
        was_told: bool,
    },
    /// The peer has ended its half of the connection, and is sent what was on its way to it. That has no end of
    /// its own unless its socket closes, and where heartbeats say how long a peer may be silent, it takes
    /// something within that time.
    Flushing {
        until: Option<Duration>,
        taking_until: Option<Duration>,
    },
    /// How it ended while a thread of the application drove it, for the I/O thread to act on.
    Ended(End),
    /// It is about to be taken away. Where it is `cut_off`, it was drained and the peer's end did not come. The
    /// socket had asked for the end where that was `begun_here`.
    Over {
        cut_off: bool,
        begun_here: bool,
    },
}

const OVER: Phase = Phase::Over {
    cut_off: false,
    begun_here: false,
};

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
        matches!(self, Phase::Ended(_) | Phase::Over { .. })
    }

    /// Whether what the peer sends until its end is taken.
    pub(super) fn is_draining(&self) -> bool {
        matches!(self, Phase::Draining { .. })
    }

    /// Whether the peer has ended its half, and is sent what was on its way.
    pub(super) fn is_flushing(&self) -> bool {
        matches!(self, Phase::Flushing { .. })
    }

    /// Whether the socket had asked for the end before the peer came to its own.
    pub(super) fn was_begun_here(&self) -> bool {
        matches!(
            self,
            Phase::Finishing(_)
                | Phase::Finished { .. }
                | Phase::Flushing { until: Some(_), .. }
                | Phase::Over {
                    begun_here: true,
                    ..
                }
        )
    }

    /// Whether nothing may be written any more.
    pub(super) fn has_finished_writing(&self) -> bool {
        let was_told = matches!(self, Phase::Draining { was_told: true, .. });
        was_told || self.is_finished()
    }

    /// Whether a drained connection went without the peer's end.
    pub(super) fn is_cut_off(&self) -> bool {
        matches!(self, Phase::Over { cut_off: true, .. })
    }

    /// The first caller sets the time.
    pub(super) fn finish(&mut self, until: Duration) {
        match *self {
            Phase::Open
            | Phase::Draining {
                was_told: false, ..
            } => *self = Phase::Finishing(until),
            Phase::Draining { was_told: true, .. } => {
                *self = Phase::Finished {
                    until,
                    heard_until: None,
                };
            }
            Phase::Flushing {
                until: None,
                taking_until,
            } => {
                *self = Phase::Flushing {
                    until: Some(until),
                    taking_until,
                };
            }
            _ => {}
        }
    }

    /// Takes what the peer sends until its end.
    pub(super) fn drain(&mut self, until: Duration) {
        if self.is_open() {
            *self = Phase::Draining {
                until,
                was_told: false,
            };
        }
    }

    /// A peer whose connection is drained was told that nothing more comes from here.
    pub(super) fn tell(&mut self) {
        if let Phase::Draining { was_told, .. } = self {
            *was_told = true;
        }
    }

    /// The peer has ended its half while something was on its way to it. Returns whether that goes out first.
    /// The peer has to take some of it by this time.
    pub(super) fn flush(&mut self, by: Option<Duration>) -> bool {
        let until = match *self {
            Phase::Open => None,
            Phase::Finishing(until) | Phase::Draining { until, .. } => Some(until),
            _ => return false,
        };
        *self = Phase::Flushing {
            until,
            taking_until: by,
        };
        true
    }

    /// The peer takes what was on its way, and has to take more by this time.
    pub(super) fn takes(&mut self, by: Option<Duration>) {
        if let Phase::Flushing { taking_until, .. } = self {
            *taking_until = by;
        }
    }

    /// The peer's end came, in good order.
    pub(super) fn peer_ended(&mut self) {
        if self.is_draining() {
            *self = OVER;
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
            Phase::Draining { until, .. } => Some(until),
            Phase::Flushing {
                until,
                taking_until,
            } => until.into_iter().chain(taking_until).min(),
            Phase::Open | Phase::Ended(_) | Phase::Over { .. } => None,
        }
    }

    /// A thread of the application found its end.
    pub(super) fn end(&mut self, end: End) {
        *self = Phase::Ended(end);
    }

    /// What a thread of the application found, once.
    pub(super) fn take_end(&mut self) -> Option<End> {
        match mem::replace(self, OVER) {
            Phase::Ended(end) => Some(end),
            other => {
                *self = other;
                None
            }
        }
    }

    pub(super) fn over(&mut self) {
        if !matches!(self, Phase::Over { .. }) {
            *self = Phase::Over {
                cut_off: self.is_draining(),
                begun_here: self.was_begun_here(),
            };
        }
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
    fn a_drained_connection_is_cut_off_unless_the_end_of_its_peer_comes() {
        for ends in [true, false] {
            let mut phase = Phase::Open;
            phase.drain(SOON);
            assert!(phase.is_draining() && !phase.is_open());
            assert!(!phase.has_finished_writing());
            phase.tell();
            assert!(phase.has_finished_writing() && !phase.is_finished());
            // The first who asks sets the time.
            phase.drain(LATE);
            assert_eq!(phase.until(), Some(SOON));
            if ends {
                phase.peer_ended();
            }
            phase.over();
            assert_eq!(phase.is_cut_off(), !ends);
            assert!(phase.has_ended() && phase.until().is_none());
        }
    }

    #[test]
    fn a_socket_that_closes_does_not_wait_to_be_drained() {
        for told in [true, false] {
            let mut phase = Phase::Open;
            phase.drain(SOON);
            if told {
                phase.tell();
            }
            phase.finish(LATE);
            assert_eq!((phase.is_finished(), phase.is_finishing()), (told, !told));
            phase.over();
            assert!(!phase.is_cut_off());
        }
    }

    #[test]
    fn what_is_on_its_way_goes_out_when_the_peer_has_ended_its_half() {
        let mut phase = Phase::Open;
        assert!(phase.flush(None) && phase.is_flushing());
        assert_eq!(phase.until(), None);
        // Its socket closes.
        phase.finish(LATE);
        phase.finish(2 * LATE);
        assert!(phase.is_flushing());
        assert_eq!(phase.until(), Some(LATE));
        let mut phase = Phase::Open;
        phase.finish(LATE);
        assert!(phase.flush(None));
        assert_eq!(phase.until(), Some(LATE));
        // It has all of it, or is not sent anything.
        let mut phase = Phase::Open;
        phase.finish(LATE);
        phase.all_is_sent(None);
        assert!(!phase.flush(None) && phase.is_finished());
        // A drained connection ends with its peer's half, unless something is owed to that.
        let mut phase = Phase::Open;
        phase.drain(LATE);
        phase.peer_ended();
        assert!(!phase.flush(None) && phase.has_ended());
        let mut phase = Phase::Open;
        phase.drain(LATE);
        assert!(phase.flush(None) && phase.is_flushing());
        assert_eq!(phase.until(), Some(LATE));
    }

    #[test]
    fn a_peer_that_has_ended_its_half_goes_on_taking_where_heartbeats_are_asked_for() {
        let mut phase = Phase::Open;
        phase.takes(Some(SOON));
        assert!(phase.is_open());
        assert!(phase.flush(Some(SOON)));
        assert_eq!(phase.until(), Some(SOON));
        phase.takes(Some(2 * SOON));
        assert_eq!(phase.until(), Some(2 * SOON));
        phase.finish(LATE);
        phase.takes(Some(LATE + SOON));
        assert_eq!(phase.until(), Some(LATE));
    }

    #[test]
    fn the_end_was_begun_here_where_the_socket_asked_before_the_peer_ended() {
        let begun_here = |steps: fn(&mut Phase)| {
            let mut phase = Phase::Open;
            steps(&mut phase);
            let before = phase.was_begun_here();
            phase.over();
            assert_eq!(phase.was_begun_here(), before, "it is known to the last");
            before
        };
        assert!(!begun_here(|_| {}));
        assert!(!begun_here(|phase| phase.end(End::Clean)));
        assert!(!begun_here(|phase| phase.drain(SOON)));
        assert!(!begun_here(|phase| assert!(phase.flush(None))));
        assert!(begun_here(|phase| phase.finish(SOON)));
        assert!(begun_here(|phase| {
            phase.finish(SOON);
            phase.all_is_sent(None);
        }));
        assert!(begun_here(|phase| {
            phase.finish(SOON);
            assert!(phase.flush(None));
        }));
        assert!(begun_here(|phase| {
            phase.drain(SOON);
            phase.finish(SOON);
        }));
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
