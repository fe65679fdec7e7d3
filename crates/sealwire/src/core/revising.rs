//! Deciding again about clients that are connected, when their authenticator has changed its mind.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sealwire_zmtp::Mechanism;

use super::SocketCore;
use crate::auth::{Decision, Status};
use crate::pattern::PipeId;
use crate::peer::Peer;

pub(super) struct Revising {
    /// Whether decisions may change at all.
    revises: bool,
    /// Of the authenticators, when all clients were last known to be allowed. Read and written twice a second
    /// at most, by threads that may block.
    revisions: Mutex<Vec<(Mechanism, u64)>>,
    /// How often all clients were decided about again.
    count: AtomicU64,
    /// Not all clients were decided about with what the authenticator knows now.
    again: AtomicBool,
}

impl Revising {
    /// With the revisions that the authenticators had, as far as they have any.
    pub(super) fn new(revisions: Vec<(Mechanism, u64)>) -> Self {
        Revising {
            revises: !revisions.is_empty(),
            revisions: Mutex::new(revisions),
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
        let revisions = security.revisions();
        if revisions.is_empty() {
            return;
        }
        let mechanisms: Vec<Mechanism> = revisions.iter().map(|(of, _)| *of).collect();
        let changed = {
            let known = self.revising.revisions.lock();
            let mut known = known.unwrap_or_else(PoisonError::into_inner);
            let changed = *known != revisions;
            *known = revisions;
            changed
        };
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
            // Other decisions stand.
            let of = peer.mechanism();
            if !of.is_some_and(|of| mechanisms.contains(&of)) {
                continue;
            }
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
