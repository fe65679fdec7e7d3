//! The event loop: one thread for all connections.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Interest, Poll, Token, Waker};
use sealwire_newplex::schemes::keys::PublicKey;

use super::allow::AllowList;
use super::connection::{Connection, LEAVE_TIME, Settings, Target, Wants};
use super::events::Events;
use super::failure::Failed;
use crate::exit::{Code, Failure};

const LISTENER: Token = Token(0);
const WAKER: Token = Token(1);
/// How exactly deadlines are kept.
const TICK: Duration = Duration::from_millis(50);
/// Handshakes under way at a time, of a listener. The oldest gives way to a new one, so that those who
/// only connect cannot keep others out.
const MAX_STRANGERS: usize = 64;

/// Which end of the tunnel this is.
#[derive(Debug)]
pub(super) enum Role {
    /// Strangers connect; some are let in.
    Listener(AllowList),
    /// Programs of this machine connect.
    Connector,
}

/// How much, and how long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) max_connections: usize,
    /// How long connections may go on when the program is to stop.
    pub(super) grace: Duration,
}

/// Tells a server to stop.
#[derive(Debug, Clone)]
pub(super) struct Stop {
    waker: Arc<Waker>,
    requested: Arc<AtomicBool>,
}

impl Stop {
    pub(super) fn request(&self) {
        self.requested.store(true, Ordering::Release);
        // If that fails, so does everything else.
        let _ = self.waker.wake();
    }
}

/// A tunnel's end with all its connections.
pub(super) struct Server {
    poll: Poll,
    stop: Stop,
    /// Gone once the server is to stop.
    listener: Option<TcpListener>,
    connections: BTreeMap<u64, Connection>,
    next_id: u64,
    settings: Settings,
    role: Role,
    limits: Limits,
    events: Events,
    /// Those that have something to do.
    busy: BTreeSet<u64>,
    /// When deadlines are to be looked at.
    tick: Option<Instant>,
    /// When what is still under way is broken off.
    stop_at: Option<Instant>,
}

impl Server {
    pub(super) fn bind(
        bind: &Target,
        settings: Settings,
        role: Role,
        limits: Limits,
        events: Events,
    ) -> Result<Self, Failure> {
        let cannot = |error| failed(format!("cannot listen on {}: {error}", bind.name));
        let poll = Poll::new().map_err(cannot)?;
        let mut listener = listen(bind).map_err(cannot)?;
        let bound = listener.local_addr().map_err(cannot)?;
        let registry = poll.registry();
        registry
            .register(&mut listener, LISTENER, Interest::READABLE)
            .map_err(cannot)?;
        let stop = Stop {
            waker: Arc::new(Waker::new(registry, WAKER).map_err(cannot)?),
            requested: Arc::default(),
        };
        events.listening(&format!("tcp://{bound}"));
        Ok(Server {
            poll,
            stop,
            listener: Some(listener),
            connections: BTreeMap::new(),
            next_id: 1,
            settings,
            role,
            limits,
            events,
            busy: BTreeSet::new(),
            tick: None,
            stop_at: None,
        })
    }

    pub(super) fn stop_handle(&self) -> Stop {
        self.stop.clone()
    }

    /// Serves until it is told to stop and everything has ended.
    pub(super) fn run(mut self) -> Result<(), Failure> {
        let mut ready = mio::Events::with_capacity(256);
        self.accept();
        loop {
            match self.poll.poll(&mut ready, self.patience()) {
                Err(error) if error.kind() != ErrorKind::Interrupted => {
                    return Err(failed(format!("cannot wait for connections: {error}")));
                }
                _ => {}
            }
            let mut is_connection_waiting = false;
            for event in &ready {
                match event.token() {
                    LISTENER => is_connection_waiting = true,
                    WAKER => {}
                    _ => self.busy.extend(connection_of(event)),
                }
            }
            for id in std::mem::take(&mut self.busy) {
                self.drive(id);
            }
            if is_connection_waiting {
                self.accept();
            }
            self.keep_deadlines();
            if self.stop.requested.load(Ordering::Acquire) && self.is_over() {
                return Ok(());
            }
        }
    }

    /// How long to wait for something to happen.
    fn patience(&self) -> Option<Duration> {
        if !self.busy.is_empty() {
            return Some(Duration::ZERO);
        }
        self.tick
            .map(|tick| tick.saturating_duration_since(Instant::now()))
    }

    /// Takes whoever waits, if there is room.
    fn accept(&mut self) {
        while let Some(listener) = &self.listener {
            if matches!(self.role, Role::Connector)
                && self.connections.len() >= self.limits.max_connections
            {
                // They wait until another has ended.
                return;
            }
            match listener.accept() {
                Ok((socket, address)) => self.begin(socket, address),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.events
                        .warning(format!("cannot accept a connection: {error}"));
                    // What is short, such as descriptors, may be there later.
                    self.tick.get_or_insert(Instant::now() + TICK);
                    return;
                }
            }
        }
    }

    fn begin(&mut self, socket: TcpStream, address: SocketAddr) {
        let (id, settings) = (self.next_id, &self.settings);
        self.next_id += 1;
        let (connection, sealed) = match self.role {
            Role::Listener(_) => (Connection::accepted(socket, address, settings), true),
            Role::Connector => (Connection::requested(socket, address, settings), false),
        };
        if matches!(self.role, Role::Listener(_)) {
            self.make_room();
        }
        self.connections.insert(id, connection);
        self.tick.get_or_insert(Instant::now() + TICK);
        match self.register(id, sealed) {
            Ok(()) => drop(self.busy.insert(id)),
            Err(failed) => self.fail(id, &failed),
        }
    }

    /// The oldest stranger gives way if there are too many.
    fn make_room(&mut self) {
        let is_stranger = |(_, connection): &(&u64, &Connection)| connection.is_stranger();
        let mut strangers = self.connections.iter().filter(is_stranger);
        let oldest = strangers.next().map(|(id, _)| *id);
        if let Some(oldest) = oldest.filter(|_| strangers.count() + 1 >= MAX_STRANGERS) {
            self.fail(oldest, &Failed::Displaced { max: MAX_STRANGERS });
        }
    }

    fn register(&mut self, id: u64, sealed: bool) -> Result<(), Failed> {
        let connection = self.connections.get_mut(&id);
        let Some(socket) = connection.and_then(|connection| connection.socket(sealed)) else {
            return Ok(());
        };
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.poll
            .registry()
            .register(socket, token_of(id), interest)
            .map_err(|error| Failed::System(format!("cannot watch a connection: {error}")))
    }

    /// Lets a connection do what it can.
    fn drive(&mut self, id: u64) {
        let Some(connection) = self.connections.get_mut(&id) else {
            return;
        };
        let wants = match connection.drive(&self.settings) {
            Ok(wants) => wants,
            Err(failed) => return self.fail(id, &failed),
        };
        if connection.deadline().is_some() {
            self.tick.get_or_insert(Instant::now() + TICK);
        }
        match wants {
            Wants::Nothing => {}
            Wants::Again => drop(self.busy.insert(id)),
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

    /// Whether the peer is let in.
    fn decide(&mut self, id: u64, peer: PublicKey) {
        let Role::Listener(list) = &self.role else {
            return;
        };
        let max = self.limits.max_connections;
        let inside = |connection: &&Connection| !connection.is_stranger();
        let refusal = match list.allows(&peer) {
            Err(failure) => Some(Failed::AllowList(failure.message().to_owned())),
            Ok(false) => Some(Failed::NotAllowed(Box::new(peer))),
            // This one is counted.
            Ok(true) if self.connections.values().filter(inside).count() > max => {
                Some(Failed::Busy { max })
            }
            Ok(true) => None,
        };
        match (refusal, self.connections.get_mut(&id)) {
            (Some(failed), _) => self.fail(id, &failed),
            (None, Some(connection)) => {
                connection.admit(&self.settings);
                self.busy.insert(id);
            }
            (None, None) => {}
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
        if connection.fail(failed) {
            self.tick.get_or_insert(Instant::now() + TICK);
            self.busy.insert(id);
        } else {
            self.remove(id);
        }
    }

    /// Its place is free.
    fn remove(&mut self, id: u64) {
        self.connections.remove(&id);
        self.busy.remove(&id);
        if matches!(self.role, Role::Connector) {
            self.accept();
        }
    }

    /// Ends what is overdue.
    fn keep_deadlines(&mut self) {
        let now = Instant::now();
        if self.tick.is_none_or(|tick| tick > now) {
            return;
        }
        let overdue = |(id, connection): (&u64, &Connection)| {
            let deadline = connection.deadline().filter(|deadline| *deadline <= now);
            deadline.map(|_| (*id, connection.overdue(&self.settings)))
        };
        let overdue: Vec<_> = self.connections.iter().filter_map(overdue).collect();
        for (id, failed) in overdue {
            self.fail(id, &failed);
        }
        let waits = |connection: &Connection| connection.deadline().is_some();
        let waits = self.stop_at.is_some() || self.connections.values().any(waits);
        self.tick = waits.then_some(now + TICK);
        self.accept();
    }

    /// Once it is to stop: takes no more, and gives what is under way its time to finish. Whether
    /// nothing is left.
    fn is_over(&mut self) -> bool {
        let now = Instant::now();
        if self.listener.take().is_some() {
            self.stop_at = Some(now + self.limits.grace);
            self.tick.get_or_insert(now + TICK);
        }
        let Some(stop_at) = self.stop_at else {
            return true;
        };
        if now >= stop_at {
            let left = |(_, connection): &(&u64, &Connection)| !connection.is_leaving();
            let ids: Vec<_> = self
                .connections
                .iter()
                .filter(left)
                .map(|(id, _)| *id)
                .collect();
            for id in ids {
                self.fail(id, &Failed::Stopped);
            }
        }
        self.connections.is_empty() || now >= stop_at + LEAVE_TIME
    }
}

/// Listens on the first address that can be listened on.
fn listen(bind: &Target) -> io::Result<TcpListener> {
    let mut last = io::Error::new(ErrorKind::NotFound, "the name has no address");
    for address in bind.addresses.iter() {
        match TcpListener::bind(*address) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn token_of(id: u64) -> Token {
    Token(id as usize + WAKER.0)
}

fn connection_of(event: &Event) -> Option<u64> {
    event.token().0.checked_sub(WAKER.0).map(|id| id as u64)
}

fn failed(message: String) -> Failure {
    Failure::new(Code::Failed, message)
}
