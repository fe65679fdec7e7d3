//! Lets connections in, and ends them when the list of allowed keys changes.

use sealwire_tunnel::PublicKey;

use super::{Role, Server};
use crate::exit::Failure;
use crate::tunnel::connection::TunneledConnection;
use crate::tunnel::failure::Failed;
use crate::tunnel::world::World;

impl<W: World> Server<W> {
    /// Whether the peer is let in, which may have to wait for the next reading of the list.
    pub(super) fn decide(&mut self, id: u64, peer: PublicKey) {
        let Role::Listener(admission) = &mut self.role else {
            return;
        };
        let reading = admission.request_reading();
        self.undecided.push((id, peer, reading));
        self.decide_all();
    }

    /// Decides about those who wait for it.
    fn decide_all(&mut self) {
        for (id, peer, reading) in std::mem::take(&mut self.undecided) {
            let Role::Listener(admission) = &mut self.role else {
                return;
            };
            let awaits = |connection: &&TunneledConnection<_>| connection.awaits_admission();
            if self.connections.get(&id).filter(awaits).is_none() {
                continue;
            }
            let Some(decision) = admission.decide(&peer, reading) else {
                self.undecided.push((id, peer, reading));
                continue;
            };
            let max = self.limits.max_connections;
            let inside = |connection: &&TunneledConnection<_>| connection.admitted().is_some();
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
                        connection.admit(&self.settings, self.world.now());
                        self.busy.insert(id);
                    }
                }
            }
        }
        if let (Role::Listener(admission), false) = (&mut self.role, self.undecided.is_empty()) {
            // It may be under way since before they asked.
            admission.request_reading();
        }
    }

    /// Has the list of allowed keys read again, and ends connections whose key is not on it any more.
    pub(super) fn read_list(&mut self) -> Result<(), Failure> {
        let Role::Listener(admission) = &mut self.role else {
            return Ok(());
        };
        let now = self.world.now();
        if let Some((removed, remarks)) = admission.take_snapshot(now)? {
            for remark in remarks {
                self.events.warning(remark);
            }
            if removed {
                self.end_revoked();
            }
            self.decide_all();
        }
        if let Role::Listener(admission) = &mut self.role
            && !self.connections.is_empty()
        {
            admission.read_if_due(now);
        }
        Ok(())
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
