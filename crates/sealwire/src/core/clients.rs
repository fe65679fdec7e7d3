//! The state that a socket keeps about clients, beside its peers themselves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::holders::{Holder, Holders, Holding};
use super::revising::{Revising, Revision};

pub(crate) struct Clients {
    holders: Arc<Holders>,
    pub(crate) revising: Revising,
    /// A ZAP handler is or was bound in the context.
    has_zap_handler: AtomicBool,
    /// Whether it was told that everybody is let in.
    warned_of_anyone: AtomicBool,
}

impl Clients {
    /// With the revisions that the authenticators have, as far as they have any.
    pub(super) fn new(revisions: Vec<Revision>) -> Self {
        Clients {
            holders: Arc::default(),
            revising: Revising::new(revisions),
            has_zap_handler: AtomicBool::new(false),
            warned_of_anyone: AtomicBool::new(false),
        }
    }

    /// Counts one more connection; `None` when the holder has `most`.
    pub(crate) fn hold(&self, holder: Holder, most: usize) -> Option<Holding> {
        self.holders.hold(holder, most)
    }

    /// Notes whether a ZAP handler is bound now, and says whether one is or was.
    pub(crate) fn has_had_zap_handler(&self, bound: bool) -> bool {
        if bound {
            self.has_zap_handler.store(true, Ordering::Relaxed);
        }
        self.has_zap_handler.load(Ordering::Relaxed)
    }

    /// `true` the first time, when everybody is let in and nobody was told.
    pub(crate) fn is_to_warn_of_anyone(&self) -> bool {
        !self.warned_of_anyone.swap(true, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zap_handler_that_went_away_is_remembered() {
        let clients = Clients::new(Vec::new());
        assert!(!clients.has_had_zap_handler(false));
        assert!(clients.has_had_zap_handler(true));
        assert!(clients.has_had_zap_handler(false));
    }

    #[test]
    fn the_warning_is_given_once() {
        let clients = Clients::new(Vec::new());
        assert!(clients.is_to_warn_of_anyone());
        assert!(!clients.is_to_warn_of_anyone());
    }
}
