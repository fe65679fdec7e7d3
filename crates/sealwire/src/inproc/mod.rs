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
//! A socket that closes while messages wait for a first peer stays a client of its names for its linger time, so
//! that they reach a socket which is bound meanwhile.
//!
//! Locks are never nested: a lane holds its own while it takes from one socket, then gives to
//! the other.

mod connection;
mod lane;

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, OnceLock, PoisonError};

use sealwire_zmtp::error::Incompatible;

use self::connection::{CLIENT, InprocConnection, SERVER, failure};
use self::sync::Mutex;
use crate::core::{Registration, RegistrationKind, SocketCore};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::options::EndpointOptions;

/// What a lane is made of: the tests put what loom has in its place.
mod sync {
    pub(super) use std::sync::Mutex;
    pub(super) use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
}

/// The names in use in a context, and the connections between their users.
#[derive(Default)]
pub(crate) struct Registry {
    names: Mutex<Names>,
    connections: Mutex<Vec<Arc<InprocConnection>>>,
}

#[derive(Default)]
struct Names {
    used: HashMap<String, Name>,
    /// The context ends: no socket can be bound any more.
    ending: bool,
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
    /// The number of that `bind` or `connect`.
    id: u64,
    routing_id: Vec<u8>,
    as_libzmq: bool,
    /// Set once it has left those who came through its name.
    left: Arc<OnceLock<()>>,
}

impl User {
    fn new(core: &Arc<SocketCore>, options: &EndpointOptions, id: u64) -> Self {
        User {
            core: core.clone(),
            id,
            routing_id: options.routing_id.clone(),
            as_libzmq: options.as_libzmq,
            left: Arc::default(),
        }
    }

    fn is(&self, core: &Arc<SocketCore>) -> bool {
        Arc::ptr_eq(&self.core, core)
    }
}

#[derive(Clone)]
struct Client {
    user: User,
    joined: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    /// Whether a socket of this context is bound to the name.
    pub(crate) fn is_bound(&self, name: &str) -> bool {
        let names = lock(&self.names);
        let entry = names.used.get(name);
        entry.is_some_and(|entry| entry.bound.is_some())
    }

    pub(crate) fn bind(
        self: &Arc<Self>,
        core: &Arc<SocketCore>,
        options: &EndpointOptions,
        name: &str,
        id: u64,
    ) -> Result<(), Error> {
        let endpoint = Endpoint::Inproc(name.into());
        let user = User::new(core, options, id);
        let waiting: Vec<Client> = {
            let mut names = lock(&self.names);
            let entry = names.used.entry(name.into()).or_default();
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
            self.join(client.user, user.clone(), name);
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
        let user = User::new(core, options, id);
        let bound = {
            let mut names = lock(&self.names);
            // Under the lock: a socket that leaves withdraws what it has registered.
            let kind = RegistrationKind::Connected;
            let registration = Registration::new(endpoint, id, kind, options);
            core.register(registration.with_routing_id(routing_id))?;
            let entry = names.used.entry(name.into()).or_default();
            let joined = entry.bound.is_some();
            entry.clients.push(Client {
                user: user.clone(),
                joined,
            });
            entry.bound.clone()
        };
        if let Some(server) = bound {
            self.join(user, server, name);
        }
        Ok(())
    }

    /// Gives the name free; connections that came through it stay.
    pub(crate) fn unbind(&self, core: &Arc<SocketCore>, name: &str) {
        self.take_bound(name);
        core.remove_attachment();
    }

    /// Gives the name free, and ends the connections that came through it once what is queued for them is with them.
    pub(crate) fn unbind_and_disconnect(&self, core: &Arc<SocketCore>, name: &str, id: u64) {
        if let Some(bound) = self.take_bound(name) {
            // Before the connections are looked through: one that is being made is found there, or finds this.
            let _ = bound.left.set(());
        }
        for connection in self.connections(core) {
            if connection.ends[SERVER].id == id {
                connection.finish(SERVER);
            }
        }
        core.withdrawn(id);
        core.remove_attachment();
    }

    fn take_bound(&self, name: &str) -> Option<User> {
        let mut names = lock(&self.names);
        let bound = names.used.get_mut(name)?.bound.take();
        names.forget_unused(name);
        bound
    }

    pub(crate) fn disconnect(&self, core: &Arc<SocketCore>, name: &str, id: u64) {
        let withdrawn = self.take_client(name, id);
        for connection in self.connections(core) {
            if connection.ends[CLIENT].id == id {
                connection.finish(CLIENT);
            }
        }
        release(core, usize::from(withdrawn));
    }

    /// Takes out what one `connect` made, if it is there.
    fn take_client(&self, name: &str, id: u64) -> bool {
        let mut names = lock(&self.names);
        let Some(entry) = names.used.get_mut(name) else {
            return false;
        };
        let before = entry.clients.len();
        entry.clients.retain(|client| client.user.id != id);
        let taken = entry.clients.len() < before;
        names.forget_unused(name);
        taken
    }

    /// Lets the connections of a closing socket send what is queued, and withdraws it from all names. Where messages
    /// wait for a first peer it goes on as a client of those that it connected to.
    pub(crate) fn close(&self, core: &Arc<SocketCore>) {
        let mut withdrawn = self.withdraw_bound(core);
        if !self.waits_for_binders(core) {
            withdrawn += self.withdraw_clients(core, |_| true);
        }
        for (connection, side) in self.ends_of(core) {
            connection.finish(side);
        }
        release(core, withdrawn);
    }

    /// Withdraws a socket that is drained from all names, and ends its connections once what has left their
    /// senders is here.
    pub(crate) fn drain(&self, core: &Arc<SocketCore>) {
        let withdrawn = self.withdraw_bound(core) + self.withdraw_clients(core, |_| true);
        for (connection, side) in self.ends_of(core) {
            connection.stop(1 - side);
        }
        release(core, withdrawn);
    }

    /// Has a closing socket wait for binders no longer once nothing waits for a first peer. One that it is joined to may
    /// leave before it has taken everything.
    pub(crate) fn settle(&self, core: &Arc<SocketCore>) {
        if core.is_closing() && !self.waits_for_binders(core) {
            let withdrawn = self.withdraw_clients(core, |client| !client.joined);
            release(core, withdrawn);
        }
    }

    /// Ends what is left of a closing socket, whose linger time is over. What it has sent and its peers have room for is
    /// theirs.
    pub(crate) fn abort(&self, core: &Arc<SocketCore>) {
        let withdrawn = self.withdraw_clients(core, |_| true);
        for (connection, side) in self.ends_of(core) {
            connection.abandon(side);
        }
        release(core, withdrawn);
    }

    /// The context ends, and no socket can be bound any more: none that is closing waits for that.
    pub(crate) fn end(&self) {
        let waiting: Vec<Arc<SocketCore>> = {
            let mut names = lock(&self.names);
            names.ending = true;
            let clients = names.used.values().flat_map(|entry| &entry.clients);
            clients.map(|client| client.user.core.clone()).collect()
        };
        for core in waiting {
            self.settle(&core);
        }
    }

    /// Whether a closing socket has messages for a peer that is still to be bound.
    fn waits_for_binders(&self, core: &Arc<SocketCore>) -> bool {
        !lock(&self.names).ending && !core.has_failed() && core.backlog() > 0
    }

    /// Gives up the names that a socket is bound to, and says how many those are.
    fn withdraw_bound(&self, core: &Arc<SocketCore>) -> usize {
        let mut withdrawn = 0;
        lock(&self.names).used.retain(|_, entry| {
            let bound = entry.bound.take_if(|bound| bound.is(core));
            withdrawn += usize::from(bound.is_some());
            !entry.is_unused()
        });
        withdrawn
    }

    /// Takes a socket out of those names that it connected to, and says how many these are.
    fn withdraw_clients(&self, core: &Arc<SocketCore>, which: impl Fn(&Client) -> bool) -> usize {
        let mut withdrawn = 0;
        lock(&self.names).used.retain(|_, entry| {
            let before = entry.clients.len();
            (entry.clients).retain(|client| !(client.user.is(core) && which(client)));
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

    fn connections(&self, core: &Arc<SocketCore>) -> Vec<Arc<InprocConnection>> {
        let all = lock(&self.connections);
        let of_core = all
            .iter()
            .filter(|connection| connection.ends.iter().any(|end| end.is(core)));
        of_core.cloned().collect()
    }

    /// Makes the connection between two sockets, if they fit.
    fn join(self: &Arc<Self>, client: User, server: User, name: &str) {
        let id = client.id;
        let types = [&client, &server].map(|user| user.core.socket_type());
        // libzmq lets sockets of one process have any types.
        let any_types = client.as_libzmq && server.as_libzmq;
        if !any_types && !types[CLIENT].accepts(types[SERVER]) {
            let users = [
                (client, types[SERVER], false),
                (server, types[CLIENT], true),
            ];
            for (user, theirs, accepted) in users {
                let ours = user.core.socket_type();
                let cause = sealwire_zmtp::Error::from(Incompatible::SocketTypes { ours, theirs });
                let cause = cause.into();
                let failure = failure(name, None, accepted, cause, None);
                user.core.tell_failure(failure);
            }
            self.unjoin(name, id);
            return;
        }
        let number = client.core.context().next_number();
        let (core, left) = (client.core.clone(), server.left.clone());
        let connection = InprocConnection::new(self.clone(), name, number, [client, server]);
        lock(&self.connections).push(connection.clone());
        for side in [CLIENT, SERVER] {
            connection.ends[side].core.add_attachment();
        }
        if left.get().is_some() {
            return connection.end();
        }
        for side in [CLIENT, SERVER] {
            if let Err(reason) = connection.attach(side) {
                for (side, end) in connection.ends.iter().enumerate() {
                    let (accepted, cause) = (side == SERVER, reason.cause());
                    let failure = failure(name, Some(number), accepted, cause, None);
                    end.core.tell_failure(failure);
                }
                connection.end();
                return;
            }
        }
        // Messages queued before both ends were there have not been moved yet.
        connection.pump(CLIENT);
        connection.pump(SERVER);
        if core.is_closing() {
            // It may have begun before the connection could be found.
            connection.finish(CLIENT);
            self.settle(&core);
        }
    }

    /// A connection has ended. Its client waits for another socket to be bound, but as libzmq does: then this says whether the
    /// name was taken out.
    fn forget(&self, connection: &InprocConnection) -> bool {
        lock(&self.connections).retain(|other| other.number != connection.number);
        let client = &connection.ends[CLIENT];
        if client.as_libzmq {
            return self.take_client(&connection.name, client.id);
        }
        self.unjoin(&connection.name, client.id);
        false
    }

    /// Has a client wait for another socket to be bound.
    fn unjoin(&self, name: &str, id: u64) {
        if let Some(entry) = lock(&self.names).used.get_mut(name) {
            for client in entry
                .clients
                .iter_mut()
                .filter(|client| client.user.id == id)
            {
                client.joined = false;
            }
        }
    }
}

/// Takes back what as many names counted as.
fn release(core: &SocketCore, names: usize) {
    for _ in 0..names {
        core.remove_attachment();
    }
}

impl Names {
    fn forget_unused(&mut self, name: &str) {
        if self.used.get(name).is_some_and(Name::is_unused) {
            self.used.remove(name);
        }
    }
}

impl Name {
    fn is_unused(&self) -> bool {
        self.bound.is_none() && self.clients.is_empty()
    }
}
