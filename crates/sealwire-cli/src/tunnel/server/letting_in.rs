//! Who is let in, and who has to go when the list of allowed keys changes.

use std::time::Instant;

use sealwire_newplex::schemes::keys::PublicKey;

use super::{Role, Server};
use crate::tunnel::allow::Look;
use crate::tunnel::connection::Connection;
use crate::tunnel::failure::Failed;

impl Server {
    /// Whether the peer is let in, which may have to wait for the next look at the list.
    pub(super) fn decide(&mut self, id: u64, peer: PublicKey) {
        let Role::Listener(admission) = &mut self.role else {
            return;
        };
        let look = admission.look_for(Instant::now());
        let is_fresh = look.is_some();
        self.undecided.push((id, peer));
        self.take_look(look.unwrap_or_default(), is_fresh);
    }

    /// Decides about those who wait for it.
    fn decide_all(&mut self, is_fresh: bool) {
        for (id, peer) in std::mem::take(&mut self.undecided) {
            let Role::Listener(admission) = &mut self.role else {
                return;
            };
            let awaits = |connection: &&Connection| connection.awaits_admission();
            if self.connections.get(&id).filter(awaits).is_none() {
                continue;
            }
            let Some(decision) = admission.decide(&peer, is_fresh) else {
                self.undecided.push((id, peer));
                continue;
            };
            let max = self.limits.max_connections;
            let inside = |connection: &&Connection| connection.admitted().is_some();
            let is_full = self.connections.values().filter(inside).count() >= max;
            match decision.and(if is_full {
                Err(Failed::Busy { max })
            } else {
                Ok(())
            }) {
                Err(failed) => self.fail(id, &failed),
                Ok(()) => {
                    admission.became_ready(id);
                    if let Some(connection) = self.connections.get_mut(&id) {
                        connection.admit(&self.settings);
                        self.busy.insert(id);
                    }
                }
            }
        }
    }

    /// Reads the list of allowed keys again, and ends connections whose key is not on it any more.
    pub(super) fn look_at_list(&mut self) {
        let Role::Listener(admission) = &mut self.role else {
            return;
        };
        if self.connections.is_empty() {
            return;
        }
        if let Some(look) = admission.look_if_due(Instant::now()) {
            self.take_look(look, true);
        }
    }

    fn take_look(&mut self, look: Look, is_fresh: bool) {
        for remark in look.remarks {
            self.events.warning(remark);
        }
        if look.removed {
            self.end_revoked();
        }
        self.decide_all(is_fresh);
    }

    fn end_revoked(&mut self) {
        let Role::Listener(admission) = &self.role else {
            return;
        };
        let mut revoked = Vec::new();
        for (id, connection) in &self.connections {
            if let Some(peer) = connection.admitted()
                && !admission.still_allows(&peer)
            {
                revoked.push((*id, Failed::Revoked(Box::new(peer))));
            }
        }
        for (id, failed) in revoked {
            self.fail(id, &failed);
        }
    }
}
