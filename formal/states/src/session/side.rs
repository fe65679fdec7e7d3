//! One end of a connection in the model `session`.

use std::collections::VecDeque;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use crate::stand_ins::connection::OutputProgress;

use super::ledger::Ledger;
use super::liveness::Liveness;
use super::phase::Phase;
use super::{End, SessionModel};

/// A unit of the protocol under way. Each has one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Unit {
    Hello,
    Ready,
    Message,
    Ping([u8; 8]),
    Pong([u8; 8]),
    /// The end of the stream.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    Greeting,
    /// Somebody decides about the peer.
    Asked,
    /// The socket has the peer.
    Ready,
}

/// A session in its slot.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Side {
    /// The connection's id.
    pub(super) id: u8,
    pub(super) stage: Stage,
    pub(super) phase: Phase,
    pub(super) liveness: Liveness,
    pub(super) ledger: Ledger,
    /// Messages in its pipe.
    pub(super) pipe: u8,
    /// Bytes of output that were staged and not taken.
    pub(super) pending: VecDeque<Unit>,
    pub(super) taken: u64,
    /// The id that the verdict was about.
    pub(super) verdict: Option<u8>,
    /// When something was last heard.
    pub(super) heard: u8,
}

impl Side {
    pub(super) fn new(model: &SessionModel, id: u8, now: u8) -> Self {
        Side {
            id,
            stage: Stage::Greeting,
            phase: Phase::Open,
            liveness: Liveness::new(&model.config(), super::ticks(now)),
            ledger: Ledger::default(),
            pipe: 0,
            pending: VecDeque::new(),
            taken: 0,
            verdict: None,
            heard: now,
        }
    }

    pub(super) fn progress(&self) -> OutputProgress {
        OutputProgress {
            staged: self.taken + self.pending.len() as u64,
            taken: self.taken,
            confirmed: self.liveness.confirmed(),
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        self.stage == Stage::Ready
    }

    /// Whether the socket has the peer.
    pub(super) fn is_attached(&self) -> bool {
        self.is_ready() && !self.phase.is_flushing()
    }

    /// Moves a message from the pipe to the protocol.
    pub(super) fn stage_message(&mut self) {
        let begin = self.progress().staged;
        self.pipe -= 1;
        self.pending.push_back(Unit::Message);
        let output = self.progress();
        self.ledger.staged(1, begin, output);
    }

    /// The next deadline.
    pub(super) fn due(&self) -> Option<Duration> {
        let next = match self.phase.is_finished() || self.phase.is_flushing() {
            true => None,
            false => self.liveness.next_timeout(),
        };
        next.into_iter().chain(self.phase.until()).min()
    }
}

// The library's phases are not values; here they are.

impl Phase {
    fn parts(&self) -> (u8, Option<Duration>, Option<Duration>, Option<End>) {
        match *self {
            Phase::Open => (0, None, None, None),
            Phase::Finishing(until) => (1, Some(until), None, None),
            Phase::Finished { until, heard_until } => (2, Some(until), heard_until, None),
            Phase::Ended(end) => (3, None, None, Some(end)),
            Phase::Over { .. } => (4, None, None, None),
            Phase::Draining { until, was_told } => {
                (5 + u8::from(was_told), Some(until), None, None)
            }
            Phase::Flushing {
                until,
                taking_until,
            } => (7, until, taking_until, None),
        }
    }
}

impl Clone for Phase {
    fn clone(&self) -> Self {
        match *self {
            Phase::Open => Phase::Open,
            Phase::Finishing(until) => Phase::Finishing(until),
            Phase::Finished { until, heard_until } => Phase::Finished { until, heard_until },
            Phase::Ended(end) => Phase::Ended(end),
            Phase::Over {
                cut_off,
                begun_here,
            } => Phase::Over {
                cut_off,
                begun_here,
            },
            Phase::Draining { until, was_told } => Phase::Draining { until, was_told },
            Phase::Flushing {
                until,
                taking_until,
            } => Phase::Flushing {
                until,
                taking_until,
            },
        }
    }
}

impl PartialEq for Phase {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for Phase {}

impl Hash for Phase {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

impl fmt::Debug for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts().fmt(f)
    }
}
