//! The event loop: one thread for all connections.

mod accepting;
mod letting_in;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use sealwire::panics;
use sealwire_tunnel::PublicKey;

use super::admission::Admission;
use super::allow::Snapshot;
use super::connection::{LEAVE_TIME, TunnelSettings, TunneledConnection, Wants};
use super::events::Events;
use super::failure::Failed;
use super::reading::ReadList;
use super::world::{PollEvent, World};
use crate::exit::{Code, Failure};
use crate::service::given_up::{self, Kind};

/// How exactly deadlines are kept.
const TICK: Duration = Duration::from_millis(50);
/// Connections accepted before the established ones are served.
const MAX_ACCEPTED: usize = 64;

/// Which end of the tunnel this is.
#[derive(Debug)]
enum Role {
    /// Strangers connect; some are let in.
    Listener(Box<Admission>),
    /// Programs of this machine connect.
    Connector,
}

/// How much, and how long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) max_connections: usize,
    /// Of a listener.
    pub(super) max_handshakes: usize,
    /// How long connections may go on when the program is to stop.
    pub(super) grace: Duration,
}

/// A tunnel's end with all its connections.
pub(super) struct Server<W: World> {
    pub(super) world: W,
    /// What the poll said last.
    ready: Vec<PollEvent>,
    connections: BTreeMap<u64, TunneledConnection<W::Stream>>,
    next_id: u64,
    settings: TunnelSettings,
    role: Role,
    limits: Limits,
    events: Events,
    /// Those that have something to do.
    busy: BTreeSet<u64>,
    /// Those who wait for a reading of the list, with their keys, and which reading that is.
    undecided: Vec<(u64, PublicKey, u64)>,
    /// When deadlines are checked.
    tick: Option<Instant>,
    /// When what is still under way is broken off.
    stop_at: Option<Instant>,
    /// More may wait to be accepted.
    is_connection_waiting: bool,
}

impl<W: World> Server<W> {
    /// Makes a server of this world; a listener has a list of those who are allowed, and who reads it.
    pub(super) fn new(
        world: W,
        settings: TunnelSettings,
        allowed: Option<(Box<dyn ReadList>, Snapshot)>,
        limits: Limits,
        events: Events,
    ) -> Self {
        let role = match allowed {
            Some(list) => {
                let admission = Admission::new(list, limits.max_handshakes, world.now());
                Role::Listener(Box::new(admission))
            }
            None => Role::Connector,
        };
        Server {
            world,
            ready: Vec::new(),
            connections: BTreeMap::new(),
            next_id: 1,
            settings,
            role,
            limits,
            events,
            busy: BTreeSet::new(),
            undecided: Vec::new(),
            tick: None,
            stop_at: None,
            is_connection_waiting: true,
        }
    }

    /// Serves until it is told to stop and everything has ended.
    pub(super) fn run(mut self) -> Result<(), Failure> {
        while self.iterate()? {}
        Ok(())
    }

    /// Waits until there is something to do, and does it. Whether it goes on.
    pub(super) fn iterate(&mut self) -> Result<bool, Failure> {
        if self.is_connection_waiting {
            self.accept();
        }
        let mut ready = std::mem::take(&mut self.ready);
        let timeout = self.poll_timeout();
        (self.world.poll(timeout, &mut ready))
            .map_err(|error| failed(format!("cannot wait for connections: {error}")))?;
        for ready in ready.drain(..) {
            match ready {
                PollEvent::Listener => self.is_connection_waiting = true,
                PollEvent::Connection(id) => drop(self.busy.insert(id)),
            }
        }
        self.ready = ready;
        for id in std::mem::take(&mut self.busy) {
            self.drive(id);
        }
        self.keep_deadlines();
        self.read_list()?;
        self.events.numbers.under_way(self.connections.len());
        Ok(!(self.world.is_to_stop() && self.is_over()))
    }

    /// How long to wait for something to happen.
    fn poll_timeout(&self) -> Option<Duration> {
        if !self.busy.is_empty() || self.is_connection_waiting {
            return Some(Duration::ZERO);
        }
        let due = match &self.role {
            Role::Listener(admission) if !self.connections.is_empty() => admission.read_due(),
            _ => None,
        };
        let next = self.tick.into_iter().chain(due).min()?;
        Some(next.saturating_duration_since(self.world.now()))
    }

    fn register(&mut self, id: u64, sealed: bool) -> Result<(), Failed> {
        let connection = self.connections.get_mut(&id);
        let Some(socket) = connection.and_then(|connection| connection.socket(sealed)) else {
            return Ok(());
        };
        (self.world.register(socket, id))
            .map_err(|error| Failed::System(format!("cannot watch a connection: {error}")))
    }

    /// Lets a connection do what it can.
    fn drive(&mut self, id: u64) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        let before = connection.moved();
        let driven = contained(|| connection.drive(&self.settings, &self.world));
        let (sent, received) = connection.moved();
        if (sent, received) != before {
            (self.events.numbers).moved(sent - before.0, received - before.1);
        }
        let wants = match driven {
            Ok(wants) => wants,
            Err(failed @ Failed::Defect) => {
                // Nobody knows what state it is in.
                self.fail(id, &failed);
                return self.remove(id);
            }
            Err(failed) => return self.fail(id, &failed),
        };
        if connection.deadline().is_some() {
            self.tick.get_or_insert(self.world.now() + TICK);
        }
        match wants {
            Wants::Nothing => {}
            Wants::Again => drop(self.busy.insert(id)),
            Wants::Descriptor(error) => {
                if self.give_way() {
                    self.busy.insert(id);
                } else {
                    let to = self.settings.to.name.clone();
                    self.fail(id, &Failed::Connect { to, error });
                }
            }
            Wants::Register { sealed } => match self.register(id, sealed) {
                Ok(()) => drop(self.busy.insert(id)),
                Err(failed) => self.fail(id, &failed),
            },
            Wants::Admission(peer) => self.decide(id, peer),
            Wants::Announcement => {
                if let Some(peer) = &connection.peer {
                    self.events.ready(id, connection.address, peer);
                }
                self.busy.insert(id);
            }
            Wants::End => {
                if !connection.is_leaving() {
                    self.events
                        .ended(id, connection.address, connection.moved());
                }
                self.remove(id);
            }
        }
    }

    /// Tells why a connection ends, here and to its peer.
    fn fail(&mut self, id: u64, failed: &Failed) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        if connection.is_leaving() {
            return self.remove(id);
        }
        let (address, peer) = (connection.address, connection.peer);
        self.events.failed(id, address, peer.as_ref(), failed);
        if connection.fail(failed, self.world.now()) {
            self.tick.get_or_insert(self.world.now() + TICK);
            self.busy.insert(id);
        } else {
            self.remove(id);
        }
    }

    /// Its place is free.
    fn remove(&mut self, id: u64) {
        self.connections.remove(&id);
        self.busy.remove(&id);
        match &mut self.role {
            Role::Listener(admission) => admission.ended(id),
            Role::Connector => self.is_connection_waiting = true,
        }
    }

    /// Ends what is overdue.
    fn keep_deadlines(&mut self) {
        let now = self.world.now();
        if self.tick.is_none_or(|tick| tick > now) {
            return;
        }
        let overdue = |(id, connection): (&u64, &TunneledConnection<_>)| {
            let deadline = connection.deadline().filter(|deadline| *deadline <= now);
            deadline.map(|_| (*id, connection.overdue(&self.settings)))
        };
        let overdue: Vec<_> = self.connections.iter().filter_map(overdue).collect();
        for (id, failed) in overdue {
            self.fail(id, &failed);
        }
        let waits = |connection: &TunneledConnection<_>| connection.deadline().is_some();
        let waits = self.stop_at.is_some() || self.connections.values().any(waits);
        self.tick = waits.then_some(now + TICK);
        self.is_connection_waiting = true;
    }

    /// Once it is to stop: takes no more, and gives what is under way its time to finish. Whether
    /// nothing is left.
    fn is_over(&mut self) -> bool {
        let now = self.world.now();
        if self.world.stop_listening() {
            self.stop_at = Some(now + self.limits.grace);
            self.tick.get_or_insert(now + TICK);
        }
        let Some(stop_at) = self.stop_at else {
            return true;
        };
        if now >= stop_at {
            let left = |(_, connection): &(&u64, &TunneledConnection<_>)| !connection.is_leaving();
            let ids: Vec<_> = self
                .connections
                .iter()
                .filter(left)
                .map(|(id, _)| *id)
                .collect();
            // A listener has not accepted those who wait to be let in.
            let is_listener = matches!(self.role, Role::Listener(_));
            let accepted = |id: &&u64| !is_listener || self.connections[*id].admitted().is_some();
            let broken_off = ids.iter().filter(accepted).count();
            given_up::count(Kind::Connections, broken_off as u64);
            for id in ids {
                self.fail(id, &Failed::Stopped);
            }
        }
        self.connections.is_empty() || now >= stop_at + LEAVE_TIME
    }
}

/// Ends one connection for a defect of ours, not all of them.
fn contained<T>(step: impl FnOnce() -> Result<T, Failed>) -> Result<T, Failed> {
    panics::contain(step).unwrap_or(Err(Failed::Defect))
}

fn failed(message: String) -> Failure {
    Failure::new(Code::Failed, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_defect_ends_one_connection() {
        let failed = contained::<()>(|| panic!("a defect, on purpose"));
        assert!(matches!(failed, Err(Failed::Defect)));
        assert!(matches!(contained(|| Ok(1)), Ok(1)));
    }
}
