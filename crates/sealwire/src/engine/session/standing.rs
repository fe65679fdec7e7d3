//! What the socket knows of a session's peer: a stranger whom somebody decides about, or one of its
//! peers.

use std::sync::Arc;
use std::time::Duration;

use crate::account::{Kind, Place};
use crate::auth::PlainCredentials;
use crate::core::Holding;
use crate::engine::decisions::Pending;
use crate::pattern::PipeId;
use crate::peer::{Approval, Peer};

pub(super) enum Standing {
    /// The handshake is under way.
    Reviewed(Review),
    /// The handshake is done and the socket has taken the peer.
    Attached(Attached),
}

/// A peer that is being decided about.
#[derive(Default)]
pub(super) struct Review {
    /// What the authenticator was asked about it and has not answered yet.
    pub(super) question: Option<Pending>,
    /// How often the socket had decided again about its clients when this one was decided about.
    pub(super) decided_at: u64,
    /// The answers about it as it was let in.
    pub(super) approval: Option<Approval>,
    /// What a PLAIN client showed, until it is decided about.
    pub(super) shown: Option<PlainCredentials>,
}

/// A peer of the socket.
pub(super) struct Attached {
    pub(super) pipe: PipeId,
    pub(super) peer: Arc<Peer>,
    /// When the socket took it.
    since: Duration,
    /// Bytes of an unfinished message that its account is charged with.
    arriving: usize,
}

/// What an accepted connection counts among, until it is gone.
#[derive(Default)]
pub(super) struct Permits {
    /// The connections that the process accepted.
    pub(super) place: Option<Place>,
    /// Those of its key, if it proved one.
    pub(super) holding: Option<Holding>,
}

impl Standing {
    pub(super) fn attached(&self) -> Option<&Attached> {
        match self {
            Standing::Attached(attached) => Some(attached),
            Standing::Reviewed(_) => None,
        }
    }

    pub(super) fn attached_mut(&mut self) -> Option<&mut Attached> {
        match self {
            Standing::Attached(attached) => Some(attached),
            Standing::Reviewed(_) => None,
        }
    }

    pub(super) fn is_attached(&self) -> bool {
        self.attached().is_some()
    }

    /// The decision under way; `None` once the socket has the peer.
    pub(super) fn review(&mut self) -> Option<&mut Review> {
        match self {
            Standing::Reviewed(review) => Some(review),
            Standing::Attached(_) => None,
        }
    }
}

impl Attached {
    pub(super) fn new(pipe: PipeId, peer: Arc<Peer>, since: Duration) -> Self {
        Attached {
            pipe,
            peer,
            since,
            arriving: 0,
        }
    }

    /// How long the connection has been of use.
    pub(super) fn age(&self, now: Duration) -> Duration {
        now.saturating_sub(self.since)
    }

    /// Charges the peer with what is here of an unfinished message, in bytes.
    pub(super) fn charge_arriving(&mut self, bytes: usize) {
        if bytes != self.arriving {
            self.arriving = bytes;
            self.peer.account().set(Kind::Arriving, bytes);
        }
    }
}
