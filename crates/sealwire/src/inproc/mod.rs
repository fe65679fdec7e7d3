//! `inproc`: two sockets of one context hand messages to each other. There are no bytes, no
//! mechanism and no I/O thread: the thread that makes progress possible moves the messages on. While
//! the receiver has something to read, messages stay with the sender; the reader of the last one
//! fetches all that have gathered there.
//!
//! ```text
//!  client: pipe.outbound ──▶ lane 0 ──▶ pipe.inbound :server
//!  client: pipe.inbound  ◀── lane 1 ◀── pipe.outbound :server
//! ```
//!
//! Locks are never nested: a lane holds its own while it takes from one socket, then gives to
//! the other.

mod lane;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, MutexGuard, OnceLock, PoisonError};

use sealwire_zmtp::error::Incompatible;

use self::lane::{Delivered, Ends, Lane};
use self::sync::{AtomicBool, Mutex, Ordering};
use crate::core::{Registration, RegistrationKind, SocketCore};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::failure::{ConnectionFailure, FailureCause};
use crate::monitor::Event;
use crate::options::EndpointOptions;
use crate::pattern::{Dismissal, Item, Link, PipeId, Provenance};
use crate::peer::{self, Peer};

/// What a lane is made of: the tests put what loom has in its place.
mod sync {
    pub(super) use std::sync::Mutex;
    pub(super) use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
}

/// The end that connected, and the one that was bound.
const CLIENT: usize = 0;
const SERVER: usize = 1;

/// The names in use in a context, and the connections between their users.
#[derive(Default)]
pub(crate) struct Registry {
    names: Mutex<HashMap<String, Name>>,
    connections: Mutex<Vec<Arc<InprocConnection>>>,
}

#[derive(Default)]
struct Name {
    bound: Option<User>,
    /// Sockets that are connected to the name, or wait for someone to bind it.
    clients: Vec<Client>,
}

/// A socket, with the name that it had when it was bound or connected.
#[derive(Clone)]
struct User {
    core: Arc<SocketCore>,
    routing_id: Vec<u8>,
}

impl User {
    fn new(core: &Arc<SocketCore>, options: &EndpointOptions) -> Self {
        User {
            core: core.clone(),
            routing_id: options.routing_id.clone(),
        }
    }
}

#[derive(Clone)]
struct Client {
    user: User,
    id: u64,
    joined: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    /// Whether a socket of this context is bound to the name.
    pub(crate) fn is_bound(&self, name: &str) -> bool {
        let names = lock(&self.names);
        names.get(name).is_some_and(|entry| entry.bound.is_some())
    }

    pub(crate) fn bind(
        self: &Arc<Self>,
        core: &Arc<SocketCore>,
        options: &EndpointOptions,
        name: &str,
        id: u64,
    ) -> Result<(), Error> {
        let endpoint = Endpoint::Inproc(name.into());
        let user = User::new(core, options);
        let waiting: Vec<Client> = {
            let mut names = lock(&self.names);
            let entry = names.entry(name.into()).or_default();
            if entry.bound.is_some() {
                let source = std::io::ErrorKind::AddrInUse.into();
                return Err(Error::Bind { endpoint, source });
            }
            let kind = RegistrationKind::Bound;
            core.register(Registration::new(endpoint, id, kind, options))?;
            entry.bound = Some(user.clone());
            let waiting = entry.clients.iter_mut().filter(|client| !client.joined);
            waiting
                .map(|client| {
                    client.joined = true;
                    client.clone()
                })
                .collect()
        };
        for client in waiting {
            self.join(client.user, user.clone(), name, client.id);
        }
        Ok(())
    }

    pub(crate) fn connect(
        self: &Arc<Self>,
        core: &Arc<SocketCore>,
        options: &EndpointOptions,
        name: &str,
        id: u64,
        routing_id: Option<Arc<[u8]>>,
    ) -> Result<(), Error> {
        let endpoint = Endpoint::Inproc(name.into());
        let user = User::new(core, options);
        let bound = {
            let mut names = lock(&self.names);
            // Under the lock: a socket that leaves withdraws what it has registered.
            let kind = RegistrationKind::Connected;
            let registration = Registration::new(endpoint, id, kind, options);
            core.register(registration.with_routing_id(routing_id))?;
            let entry = names.entry(name.into()).or_default();
            let joined = entry.bound.is_some();
            entry.clients.push(Client {
                user: user.clone(),
                id,
                joined,
            });
            entry.bound.clone()
        };
        if let Some(server) = bound {
            self.join(user, server, name, id);
        }
        Ok(())
    }

    /// Gives the name free; connections that came through it stay.
    pub(crate) fn unbind(&self, core: &Arc<SocketCore>, name: &str) {
        let mut names = lock(&self.names);
        if let Some(entry) = names.get_mut(name) {
            entry.bound = None;
        }
        forget_unused(&mut names, name);
        drop(names);
        core.remove_attachment();
    }

    pub(crate) fn disconnect(&self, core: &Arc<SocketCore>, name: &str, id: u64) {
        let mut names = lock(&self.names);
        if let Some(entry) = names.get_mut(name) {
            entry.clients.retain(|client| client.id != id);
        }
        forget_unused(&mut names, name);
        drop(names);
        for connection in self.connections(core) {
            if connection.id == id {
                connection.finish(CLIENT);
            }
        }
        core.remove_attachment();
    }

    /// Withdraws a closing socket from all names and lets its connections send what is queued.
    pub(crate) fn close(&self, core: &Arc<SocketCore>) {
        let withdrawn = self.withdraw(core);
        for (connection, side) in self.ends_of(core) {
            connection.finish(side);
        }
        for _ in 0..withdrawn {
            core.remove_attachment();
        }
    }

    /// Withdraws a socket that is drained from all names, and ends its connections once what has left their
    /// senders is here.
    pub(crate) fn drain(&self, core: &Arc<SocketCore>) {
        let withdrawn = self.withdraw(core);
        for (connection, side) in self.ends_of(core) {
            connection.stop(1 - side);
        }
        for _ in 0..withdrawn {
            core.remove_attachment();
        }
    }

    /// Takes a socket out of all names, and says how many those are.
    fn withdraw(&self, core: &Arc<SocketCore>) -> usize {
        let mut withdrawn = 0;
        lock(&self.names).retain(|_, entry| {
            if entry
                .bound
                .as_ref()
                .is_some_and(|bound| Arc::ptr_eq(&bound.core, core))
            {
                entry.bound = None;
                withdrawn += 1;
            }
            let before = entry.clients.len();
            entry
                .clients
                .retain(|client| !Arc::ptr_eq(&client.user.core, core));
            withdrawn += before - entry.clients.len();
            !entry.is_unused()
        });
        withdrawn
    }

    /// The connections of a socket, with its side of each.
    fn ends_of(&self, core: &Arc<SocketCore>) -> Vec<(Arc<InprocConnection>, usize)> {
        let connections = self.connections(core).into_iter();
        let ends = connections.flat_map(|connection| {
            let sides = [CLIENT, SERVER].into_iter();
            let ours = sides.filter(|&side| connection.ends[side].is(core));
            let ours: Vec<_> = ours.map(|side| (connection.clone(), side)).collect();
            ours
        });
        ends.collect()
    }

    /// Ends what is left of a closing socket's connections: its linger time is over.
    pub(crate) fn abort(&self, core: &Arc<SocketCore>) {
        for connection in self.connections(core) {
            connection.end();
        }
    }

    fn connections(&self, core: &Arc<SocketCore>) -> Vec<Arc<InprocConnection>> {
        let all = lock(&self.connections);
        let of_core = all
            .iter()
            .filter(|connection| connection.ends.iter().any(|end| end.is(core)));
        of_core.cloned().collect()
    }

    /// Makes the connection between two sockets, if they fit.
    fn join(self: &Arc<Self>, client: User, server: User, name: &str, id: u64) {
        let types = [&client, &server].map(|user| user.core.socket_type());
        if !types[CLIENT].accepts(types[SERVER]) {
            let users = [
                (client, types[SERVER], false),
                (server, types[CLIENT], true),
            ];
            for (user, theirs, accepted) in users {
                let ours = user.core.socket_type();
                let cause = sealwire_zmtp::Error::from(Incompatible::SocketTypes { ours, theirs });
                let cause = cause.into();
                let failure = failure(name, None, accepted, cause, None);
                user.core.hub.emit(Event::Failed(failure));
            }
            return;
        }
        let number = client.core.context().next_number();
        let ends = [client, server].map(|user| End {
            core: user.core,
            routing_id: user.routing_id,
            pipe: OnceLock::new(),
        });
        let connection = Arc::new(InprocConnection {
            registry: self.clone(),
            name: name.into(),
            id,
            number,
            ends,
            lanes: [Lane::default(), Lane::default()],
            ended: AtomicBool::new(false),
        });
        lock(&self.connections).push(connection.clone());
        for side in [CLIENT, SERVER] {
            connection.ends[side].core.add_attachment();
        }
        for side in [CLIENT, SERVER] {
            if let Err(reason) = connection.attach(side) {
                for (side, end) in connection.ends.iter().enumerate() {
                    let (accepted, cause) = (side == SERVER, reason.cause());
                    let failure = failure(name, Some(number), accepted, cause, None);
                    end.core.hub.emit(Event::Failed(failure));
                }
                connection.end();
                return;
            }
        }
        // Messages queued before both ends were there have not been moved yet.
        connection.pump(CLIENT);
        connection.pump(SERVER);
    }
}

fn forget_unused(names: &mut HashMap<String, Name>, name: &str) {
    if names.get(name).is_some_and(Name::is_unused) {
        names.remove(name);
    }
}

impl Name {
    fn is_unused(&self) -> bool {
        self.bound.is_none() && self.clients.is_empty()
    }
}

fn failure(
    name: &str,
    connection: Option<u64>,
    accepted: bool,
    cause: FailureCause,
    peer: Option<Arc<Peer>>,
) -> ConnectionFailure {
    ConnectionFailure {
        connection,
        ends: Arc::new(peer::Ends::within_the_process(name, accepted)),
        peer,
        cause,
    }
}

struct InprocConnection {
    registry: Arc<Registry>,
    name: String,
    /// Number of the `connect` that it came from.
    id: u64,
    number: u64,
    ends: [End; 2],
    /// `lanes[side]` carries what `ends[side]` sends.
    lanes: [Lane<Item>; 2],
    ended: AtomicBool,
}

struct End {
    core: Arc<SocketCore>,
    /// The name that it had when it was bound or connected.
    routing_id: Vec<u8>,
    /// Set once the end is attached, with who is at the other one.
    pipe: OnceLock<(PipeId, Arc<Peer>)>,
}

impl End {
    fn is(&self, core: &Arc<SocketCore>) -> bool {
        Arc::ptr_eq(&self.core, core)
    }
}

impl InprocConnection {
    fn attach(self: &Arc<Self>, side: usize) -> Result<(), Dismissal> {
        let (end, other) = (&self.ends[side], &self.ends[1 - side]);
        let connection_routing_id = end.core.context().routing_ids().assign();
        let peer = Peer::inproc(
            &self.name,
            self.number,
            side == SERVER,
            connection_routing_id,
            other.core.socket_type(),
            other.routing_id.clone(),
        );
        let peer = Arc::new(peer);
        let link = Arc::new(Side {
            connection: self.clone(),
            side,
        });
        // No authenticator is asked about peers within the process.
        let provenance = Provenance {
            connector: (side == CLIENT).then_some(self.id),
            ..Provenance::default()
        };
        let pipe = end.core.attach(peer.clone(), link, provenance)?;
        // Set once per side, right here.
        let _ = end.pipe.set((pipe, peer.clone()));
        end.core.hub.emit(Event::Ready { peer });
        Ok(())
    }

    fn pump(&self, side: usize) {
        self.lanes[side].pump(&Direction::from(self, side));
    }

    fn finish(&self, side: usize) {
        self.lanes[side].finish(&Direction::from(self, side));
    }

    /// Ends the connection once what its end on this side has given away is at the other.
    fn stop(&self, side: usize) {
        self.lanes[side].stop(&Direction::from(self, side));
    }

    fn end(&self) {
        if self.ended.swap(true, Ordering::SeqCst) {
            return;
        }
        lock(&self.registry.connections).retain(|other| other.number != self.number);
        if let Some(entry) = lock(&self.registry.names).get_mut(&self.name) {
            for client in entry
                .clients
                .iter_mut()
                .filter(|client| client.id == self.id)
            {
                client.joined = false;
            }
        }
        for end in &self.ends {
            if let Some((pipe, peer)) = end.pipe.get() {
                let by_peer = !end.core.detach(*pipe);
                let peer = peer.clone();
                end.core.hub.emit(Event::Disconnected { peer, by_peer });
            }
            end.core.remove_attachment();
        }
    }
}

/// What an end sends, to the other one.
struct Direction<'a> {
    connection: &'a InprocConnection,
    from: &'a End,
    to: &'a End,
}

impl<'a> Direction<'a> {
    fn from(connection: &'a InprocConnection, side: usize) -> Self {
        Direction {
            connection,
            from: &connection.ends[side],
            to: &connection.ends[1 - side],
        }
    }

    /// The pipes of both ends, once they are attached.
    fn pipes(&self) -> Option<[PipeId; 2]> {
        let (from, to) = (self.from.pipe.get()?, self.to.pipe.get()?);
        Some([from.0, to.0])
    }
}

impl Ends<Item> for Direction<'_> {
    fn deliver(&self, moving: &mut VecDeque<Item>) -> Delivered {
        let Some([_, sink]) = self.pipes() else {
            return Delivered {
                some: false,
                full: true,
            };
        };
        let delivered = self.to.core.deliver(sink, moving);
        Delivered {
            some: delivered.queued > 0,
            full: delivered.full,
        }
    }

    fn fetch(&self, moving: &mut VecDeque<Item>) -> bool {
        let Some([source, sink]) = self.pipes() else {
            return false;
        };
        let Some(room) = self.to.core.input_room(sink) else {
            return false;
        };
        self.from.core.take_outbound(source, moving, room);
        true
    }

    fn may_wait(&self) -> bool {
        !self.from.core.conflates() && !self.to.core.takes_at_once()
    }

    fn are_joined(&self) -> bool {
        self.pipes().is_some()
    }

    fn are_parted(&self) -> bool {
        self.connection.ended.load(Ordering::SeqCst)
    }

    fn part(&self) {
        self.connection.end();
    }
}

/// The link of one end.
struct Side {
    connection: Arc<InprocConnection>,
    side: usize,
}

impl Link for Side {
    fn output_ready(&self, _alone: bool) {
        self.connection.pump(self.side);
    }

    fn input_wanted(&self) {
        self.connection.pump(1 - self.side);
    }

    fn keeps_output_back(&self) -> bool {
        true
    }

    fn disconnect(&self, reason: Dismissal) {
        let InprocConnection { name, number, .. } = &*self.connection;
        let cause = reason.cause();
        for (side, end) in self.connection.ends.iter().enumerate() {
            let peer = end.pipe.get().map(|(_, peer)| peer.clone());
            let accepted = side == SERVER;
            let failure = failure(name, Some(*number), accepted, cause.clone(), peer);
            end.core.hub.emit(Event::Failed(failure));
        }
        self.connection.end();
    }

    fn finish(&self) {
        self.connection.finish(self.side);
        self.connection.end();
    }
}
