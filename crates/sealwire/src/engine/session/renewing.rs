//! The terms of an endpoint have been renewed: a connection goes on, is decided about again, or ends in good order.

use std::mem;
use std::time::Duration;

use super::Session;
use crate::guard;
use crate::security::Outcome;

impl Session {
    /// Does what the terms that its endpoint has now mean for it. One whose handshake is under way does so when it is
    /// done.
    pub(in crate::engine) fn review_terms(&mut self, now: Duration) {
        let Some(attached) = self.standing.attached() else {
            return;
        };
        let (identity, peer) = (&mut self.identity, attached.peer());
        let endpoint = identity.origin.endpoint();
        let core = &identity.core;
        match core.outcome(endpoint, &identity.options.security, peer) {
            Outcome::Stands => {}
            Outcome::Undecided => {
                if let Some(options) = core.ask_again(endpoint, attached.pipe.id(), peer) {
                    let before = mem::replace(&mut identity.options, options);
                    // What the application gave it to call may end with them.
                    guard::contain("dropping options", || drop(before));
                }
            }
            Outcome::Withdrawn => self.retire(now),
        }
    }

    /// Ends in good order, within the linger time: sends what is queued for this peer alone, and takes what it has
    /// sent.
    fn retire(&mut self, now: Duration) {
        // Else it is on its way to its end already, and has a time for that.
        if let Some(attached) = self.standing.attached_mut()
            && self.phase.is_open()
        {
            let core = &self.identity.core;
            let pipe = &mut attached.pipe;
            pipe.take_no_more_than(core.owed(pipe.id()));
            self.retired = true;
            self.phase.drain(now.saturating_add(core.linger()));
        }
    }
}
