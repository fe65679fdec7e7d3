//! Deciding again about clients that are connected, when their authenticator has changed its mind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::SocketCore;
use crate::auth::{Decision, Status};
use crate::pattern::PipeId;
use crate::peer::Peer;

pub(super) struct Revising {
    /// Whether decisions may change at all.
    revises: bool,
    /// Of the authenticator, when all clients were last known to be allowed.
    revision: AtomicU64,
    /// How often all clients were decided about again.
    count: AtomicU64,
    /// Not all clients were decided about with what the authenticator knows now.
    again: AtomicBool,
}

impl Revising {
    /// With the revision that the authenticator had, where it has any.
    pub(super) fn new(revision: Option<u64>) -> Self {
        Revising {
            revises: revision.is_some(),
            revision: AtomicU64::new(revision.unwrap_or_default()),
            count: AtomicU64::new(0),
            again: AtomicBool::new(false),
        }
    }
}

impl SocketCore {
    /// Decides again about all clients if the authenticator has changed its mind, and disconnects
    /// those that it would refuse now. May block.
    pub(crate) fn revise_clients(&self) {
        let security = &self.options.security;
        let Some(revision) = security.revision() else {
            return;
        };
        let changed = self.revising.revision.swap(revision, Ordering::SeqCst) != revision;
        if !self.revising.again.swap(false, Ordering::SeqCst) && !changed {
            return;
        }
        // Before the peers are listed: who is attached after that and was decided about earlier
        // sees another count.
        self.revising.count.fetch_add(1, Ordering::SeqCst);
        let peers: Vec<(PipeId, Arc<Peer>)> = {
            let state = self.lock();
            let live = state.pipes.live();
            live.filter_map(|id| Some((id, state.pipes.peer(id)?.clone())))
                .collect()
        };
        for (id, peer) in peers {
            match security.decide_again(&peer) {
                Some(Decision::Refuse {
                    status: Status::Refused,
                    ..
                }) => self.disallow(id, &peer),
                Some(Decision::Refuse { .. }) => self.revising.again.store(true, Ordering::SeqCst),
                Some(Decision::Allow { .. }) | None => {}
            }
        }
    }

    fn disallow(&self, id: PipeId, peer: &Arc<Peer>) {
        let reason = match peer.public_key() {
            Some(_) => "this key is no longer allowed here",
            None => "this username and password are no longer allowed here",
        };
        self.with(|state| {
            // The slot may have been taken by another peer in the meantime.
            if state
                .pipes
                .peer(id)
                .is_some_and(|now| Arc::ptr_eq(now, peer))
            {
                state.pipes.disconnect(id, reason);
            }
        });
    }

    /// Whether the authenticator may change its mind.
    pub(crate) fn revises_clients(&self) -> bool {
        self.revising.revises
    }

    /// How often all clients were decided about again.
    pub(crate) fn revisions(&self) -> u64 {
        self.revising.count.load(Ordering::SeqCst)
    }

    /// A client was attached that was decided about after this number of revisions. A later
    /// revision may have missed it.
    pub(crate) fn attached_after(&self, revisions: u64) {
        if self.revisions() != revisions {
            self.revising.again.store(true, Ordering::SeqCst);
        }
    }
}
