//! Taking connections, and making room for them.

use std::io::ErrorKind;
use std::net::SocketAddr;

use sealwire::account::{is_exhaustion, is_of_one_connection};

use super::{MAX_ACCEPTED, Role, Server, TICK};
use crate::tunnel::connection::TunneledConnection;
use crate::tunnel::world::World;

impl<W: World> Server<W> {
    /// Accepts the connections that wait, if there is room.
    pub(super) fn accept(&mut self) {
        self.is_connection_waiting = false;
        for _ in 0..MAX_ACCEPTED {
            if matches!(self.role, Role::Connector)
                && self.connections.len() >= self.limits.max_connections
            {
                // They wait until another has ended.
                return;
            }
            let Some(accepted) = self.world.accept() else {
                return;
            };
            match accepted {
                Ok((socket, address)) => self.begin(socket, address),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // The first says nothing of those behind it.
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    if is_exhaustion(&error) && self.make_room() {
                        continue;
                    }
                    self.events.cannot_accept(&error);
                    // The resource that is short may be there later.
                    self.tick.get_or_insert(self.world.now() + TICK);
                    return;
                }
            }
        }
        self.is_connection_waiting = true;
    }

    /// Has a handshake give its descriptor up, or refuses who waits with the one in reserve. Whether
    /// it is worth while to accept again at once.
    fn make_room(&mut self) -> bool {
        if self.give_way() {
            return true;
        }
        // Programs of this machine wait.
        if let Role::Listener(admission) = &mut self.role {
            // It fails where another thread was faster; those who wait are refused later.
            let nobody = || Err(ErrorKind::WouldBlock.into());
            let _ = (admission.spare).refuse(|| self.world.accept().unwrap_or_else(nobody));
        }
        false
    }

    /// Has the oldest handshake of the address with most give its descriptor up, if there is one.
    pub(super) fn give_way(&mut self) -> bool {
        let Role::Listener(admission) = &self.role else {
            return false;
        };
        let Some((oldest, failed)) = admission.first_to_give_way() else {
            return false;
        };
        self.fail(oldest, &failed);
        // What it would be told takes the descriptor as well.
        self.remove(oldest);
        true
    }

    fn begin(&mut self, socket: W::Stream, address: SocketAddr) {
        let (id, settings, now) = (self.next_id, &self.settings, self.world.now());
        self.next_id += 1;
        let (connection, sealed) = match self.role {
            Role::Listener(_) => (
                TunneledConnection::accepted(socket, address, settings, now),
                true,
            ),
            Role::Connector => (
                TunneledConnection::requested(socket, address, settings, now),
                false,
            ),
        };
        self.connections.insert(id, connection);
        if let Role::Listener(admission) = &mut self.role
            && let Some((oldest, failed)) = admission.began(id, address)
        {
            self.fail(oldest, &failed);
        }
        self.forget_leaving();
        self.tick.get_or_insert(self.world.now() + TICK);
        match self.register(id, sealed) {
            Ok(()) => drop(self.busy.insert(id)),
            Err(failed) => self.fail(id, &failed),
        }
    }

    /// Those who are told why they have to go make room for others.
    fn forget_leaving(&mut self) {
        if self.connections.len() > self.limits.max_connections + self.limits.max_handshakes {
            let mut all = self.connections.iter();
            let leaving = all.find(|(_, connection)| connection.is_leaving());
            if let Some(id) = leaving.map(|(id, _)| *id) {
                self.remove(id);
            }
        }
    }
}
