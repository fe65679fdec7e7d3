//! New decisions about connected clients, when their authenticator has changed its mind.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use sealwire_zmtp::Mechanism;

use crate::auth::{Decision, Status};

/// The revision of an authenticator: the number of the options that it belongs to, the mechanism of its clients, and
/// what it says.
pub(super) type Revision = (u64, Mechanism, u64);

pub(crate) struct Revising {
    /// Of the authenticators, when all clients were last known to be allowed. Read and written twice a second
    /// at most, by threads that may block.
    revisions: Mutex<Vec<Revision>>,
    /// How often all clients were decided about again.
    count: AtomicU64,
    /// Not all clients were decided about with what the authenticator knows now.
    again: AtomicBool,
}

impl Revising {
    /// With the revisions that the authenticators had, as far as they have any.
    pub(super) fn new(revisions: Vec<Revision>) -> Self {
        Revising {
            revisions: Mutex::new(revisions),
            count: AtomicU64::new(0),
            again: AtomicBool::new(false),
        }
    }

    /// How often all clients were decided about again.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    /// Has all clients decided about once more.
    pub(super) fn ask_again(&self) {
        self.again.store(true, Ordering::SeqCst);
    }

    /// A client was attached that was decided about after this number of revisions. A later
    /// revision may have missed it.
    pub(crate) fn attached_after(&self, revisions: u64) {
        if self.count() != revisions {
            self.ask_again();
        }
    }

    /// Whether all clients are to be decided about again, with the revisions that the authenticators have now.
    /// The clients have to be listed after this: one that is attached later and was decided about earlier sees
    /// another count.
    pub(super) fn begin(&self, revisions: Vec<Revision>) -> bool {
        let changed = {
            let mut known = self
                .revisions
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let changed = *known != revisions;
            *known = revisions;
            changed
        };
        if !self.again.swap(false, Ordering::SeqCst) && !changed {
            return false;
        }
        self.count.fetch_add(1, Ordering::SeqCst);
        true
    }

    /// Whether a client that was decided about again has to go. Where nothing could be decided, all are decided
    /// about once more.
    pub(super) fn disallows(&self, decision: Option<&Decision>) -> bool {
        match decision {
            Some(Decision::Refuse {
                status: Status::Refused,
                ..
            }) => true,
            Some(Decision::Refuse { .. }) => {
                self.again.store(true, Ordering::SeqCst);
                false
            }
            Some(Decision::Allow { .. }) | None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(revision: u64) -> Vec<Revision> {
        vec![(0, Mechanism::Curve, revision)]
    }

    fn refused(status: Status) -> Option<Decision> {
        let reason = String::new();
        Some(Decision::Refuse { reason, status })
    }

    #[test]
    fn clients_are_decided_about_once_for_each_revision() {
        let revising = Revising::new(at(1));
        assert!(!revising.begin(at(1)));
        assert!(revising.begin(at(2)));
        assert!(!revising.begin(at(2)));
        assert_eq!(revising.count(), 1);
    }

    #[test]
    fn a_client_that_a_revision_may_have_missed_is_decided_about_by_the_next() {
        let revising = Revising::new(at(1));
        let decided_at = revising.count();
        revising.attached_after(decided_at);
        assert!(!revising.begin(at(1)));
        assert!(revising.begin(at(2)));
        revising.attached_after(decided_at);
        assert!(revising.begin(at(2)));
        assert!(!revising.begin(at(2)));
    }

    #[test]
    fn only_a_refusal_ends_a_connection_and_no_decision_is_asked_for_again() {
        let revising = Revising::new(at(1));
        assert!(revising.disallows(refused(Status::Refused).as_ref()));
        assert!(!revising.disallows(Some(&Decision::Allow { user_id: None })));
        assert!(!revising.disallows(None));
        assert!(!revising.begin(at(1)));
        assert!(!revising.disallows(refused(Status::Temporary).as_ref()));
        assert!(revising.begin(at(1)));
    }
}
