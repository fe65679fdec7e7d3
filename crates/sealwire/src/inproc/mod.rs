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

mod connection;
mod lane;

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};

use sealwire_zmtp::error::Incompatible;

use self::connection::{CLIENT, InprocConnection, SERVER, failure};
use self::sync::Mutex;
use crate::core::{Registration, RegistrationKind, SocketCore};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::monitor::Event;
use crate::options::EndpointOptions;

/// What a lane is made of: the tests put what loom has in its place.
mod sync {
    pub(super) use std::sync::Mutex;
    pub(super) use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
}

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
    ) -> Result<(), Error> {
        let endpoint = Endpoint::Inproc(name.into());
        let user = User::new(core, options);
        let bound = {
            let mut names = lock(&self.names);
            // Under the lock: a socket that leaves withdraws what it has registered.
            let kind = RegistrationKind::Connected;
            core.register(Registration::new(endpoint, id, kind, options))?;
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
            for (user, theirs) in [(client, types[SERVER]), (server, types[CLIENT])] {
                let ours = user.core.socket_type();
                let cause = sealwire_zmtp::Error::from(Incompatible::SocketTypes { ours, theirs });
                user.core
                    .hub
                    .emit(Event::Failed(failure(name, None, cause.into(), None)));
            }
            return;
        }
        let number = client.core.context().next_number();
        let connection = InprocConnection::new(self.clone(), name, id, number, [client, server]);
        lock(&self.connections).push(connection.clone());
        for side in [CLIENT, SERVER] {
            connection.ends[side].core.add_attachment();
        }
        for side in [CLIENT, SERVER] {
            if let Err(reason) = connection.attach(side) {
                for end in &connection.ends {
                    let cause = reason.cause();
                    end.core
                        .hub
                        .emit(Event::Failed(failure(name, Some(number), cause, None)));
                }
                connection.end();
                return;
            }
        }
        // Messages queued before both ends were there have not been moved yet.
        connection.pump(CLIENT);
        connection.pump(SERVER);
    }

    /// A connection has ended: its client waits for a binder again.
    fn forget(&self, connection: &InprocConnection) {
        lock(&self.connections).retain(|other| other.number != connection.number);
        if let Some(entry) = lock(&self.names).get_mut(&connection.name) {
            let of_connection = |client: &&mut Client| client.id == connection.id;
            for client in entry.clients.iter_mut().filter(of_connection) {
                client.joined = false;
            }
        }
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
