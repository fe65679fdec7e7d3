//! Where attacks take place: a ROUTER that echoes, an allow-list, and a bystander who must not
//! notice anything.

use std::collections::{HashMap, HashSet};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use sealwire::auth::AllowedKeys;
use sealwire::blocking::Socket;
use sealwire::{
    ConnectionFailure, Context, Endpoint, Error, Event, FailureCause, Generate as _, KeyPair,
    Monitor, PeerAddress, ProtocolError, PublicKey, Security, SocketBuilder, SocketType,
};

use crate::support::{TIMEOUT, await_event, eventually, options, texts};
use sealwire_relay::{Carried, Format, Relay, Script};

/// Long enough for an honest handshake on a slow machine.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(4);
/// Larger messages are refused.
pub(crate) const MAX_MESSAGE_SIZE: usize = 4_000;

/// What protects the connections of a scene.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mechanism {
    Blake3,
    Curve,
}

impl Mechanism {
    fn server(self, keys: KeyPair, allowed: AllowedKeys) -> Security {
        match self {
            Mechanism::Blake3 => Security::blake3_server(keys, allowed).into(),
            Mechanism::Curve => Security::curve_server(keys, allowed),
        }
    }

    fn client(self, server: PublicKey, keys: KeyPair) -> Security {
        match self {
            Mechanism::Blake3 => Security::blake3_client_with_keys(server, keys).into(),
            Mechanism::Curve => Security::curve_client(server, keys),
        }
    }
}

pub(crate) struct Scene {
    mechanism: Mechanism,
    pub(crate) server_keys: KeyPair,
    /// Allowed, and attacked or attacking.
    pub(crate) victim_keys: KeyPair,
    pub(crate) server: Socket,
    pub(crate) address: SocketAddr,
    clients: Context,
    bystander: Socket,
    bystander_connection: u64,
    chronicle: Arc<Chronicle>,
    received: Arc<Received>,
    threads: Vec<JoinHandle<()>>,
}

impl Scene {
    pub(crate) fn new() -> Scene {
        Scene::with(|server| server)
    }

    /// With other options for the server.
    pub(crate) fn with(change: impl FnOnce(SocketBuilder) -> SocketBuilder) -> Scene {
        Scene::protected_by(Mechanism::Blake3, change)
    }

    /// With another mechanism, and other options for the server.
    pub(crate) fn protected_by(
        mechanism: Mechanism,
        change: impl FnOnce(SocketBuilder) -> SocketBuilder,
    ) -> Scene {
        let [server_keys, victim_keys, bystander_keys] = [(); 3].map(|()| KeyPair::generate());
        let allowed = AllowedKeys::new()
            .allow_as(victim_keys.public(), "victim")
            .allow_as(bystander_keys.public(), "bystander");
        let builder = options(SocketType::Router)
            .security(mechanism.server(server_keys.clone(), allowed))
            .handshake_timeout(HANDSHAKE_TIMEOUT)
            .max_message_size(MAX_MESSAGE_SIZE)
            .linger(Duration::ZERO)
            .context(&Context::new().unwrap());
        let server = change(builder).build_blocking().unwrap();
        let monitor = server.monitor();
        let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
        let address = address_of(&endpoint);
        let (chronicle, received) = (Arc::<Chronicle>::default(), Arc::<Received>::default());
        let threads = vec![
            thread::spawn({
                let chronicle = chronicle.clone();
                move || chronicle.write(&monitor)
            }),
            thread::spawn({
                let (server, received) = (server.clone(), received.clone());
                move || echo(&server, &received)
            }),
        ];
        let security = mechanism.client(server_keys.public(), bystander_keys);
        let clients = Context::new().unwrap();
        let bystander = options(SocketType::Dealer)
            .security(security)
            .context(&clients)
            .build_blocking()
            .unwrap();
        let monitor = bystander.monitor();
        bystander.connect(endpoint).unwrap();
        let bystander_connection = await_ready(&monitor);
        let scene = Scene {
            mechanism,
            server_keys,
            victim_keys,
            server,
            address,
            clients,
            bystander,
            bystander_connection,
            chronicle,
            received,
            threads,
        };
        scene.bystander_is_served();
        scene
    }

    /// Options of an allowed client that makes one attempt and does not come back.
    pub(crate) fn victim(&self) -> SocketBuilder {
        let security = self
            .mechanism
            .client(self.server_keys.public(), self.victim_keys.clone());
        options(SocketType::Dealer)
            .security(security)
            .context(&self.clients)
            .handshake_timeout(HANDSHAKE_TIMEOUT)
            .max_message_size(MAX_MESSAGE_SIZE)
            .reconnect(Duration::from_secs(600), Duration::from_secs(600))
            .linger(Duration::ZERO)
    }

    /// Such a client, which connects to this listener of the attacker's, and what happens to it.
    pub(crate) fn victim_of(&self, listener: &TcpListener) -> (Socket, Monitor) {
        let client = self.victim().build_blocking().unwrap();
        let monitor = client.monitor();
        let address = listener.local_addr().unwrap();
        client.connect(format!("tcp://{address}")).unwrap();
        (client, monitor)
    }

    /// A client whose one connection goes through a relay with these scripts.
    pub(crate) fn attacked_client(&self, to_server: Script, to_client: Script) -> Attacked {
        let relay = Relay::before(self.address, Format::Zmtp);
        let socket = self.victim().build_blocking().unwrap();
        let monitor = socket.monitor();
        socket.connect(relay.endpoint()).unwrap();
        Attacked {
            carried: relay.carry(to_server, to_client),
            socket,
            monitor,
        }
    }

    /// Waits until the server has accepted `count` connections.
    pub(crate) fn await_accepted(&self, count: usize) {
        self.chronicle.await_accepted(count);
    }

    /// What the server says about the connection that came from this address, once it is over.
    pub(crate) fn end_of(&self, address: SocketAddr) -> End {
        self.chronicle.end_of(address)
    }

    /// Waits for `least` ends among the connections from these addresses.
    pub(crate) fn ends_of(&self, addresses: &HashSet<SocketAddr>, least: usize) -> Vec<End> {
        self.chronicle.ends_of(addresses, least)
    }

    /// The fault of the protocol that the server found on a connection.
    pub(crate) fn fault_of(&self, address: SocketAddr) -> ProtocolError {
        match self.end_of(address) {
            End::Failed(failure) => fault(&failure),
            End::Clean => panic!("a clean end"),
        }
    }

    /// Messages that came from others than the bystander, oldest first.
    pub(crate) fn received(&self) -> Vec<Vec<String>> {
        let all = self.server.counters().messages_received;
        eventually("all that was delivered is read", || {
            self.received.all.load(Ordering::SeqCst) >= all
        });
        self.received.from_strangers.lock().unwrap().clone()
    }

    /// One message there and back, on the connection that was there from the beginning.
    pub(crate) fn bystander_is_served(&self) {
        self.bystander.send("still here").unwrap();
        assert_eq!(self.bystander.recv().unwrap().as_bytes(), b"still here");
        let peers = self.bystander.peers();
        assert_eq!(peers[0].connection(), self.bystander_connection);
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.bystander_is_served();
        }
        // Ends the threads; nothing of interest is left unsent.
        let _ = self.server.clone().close();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() && !thread::panicking() {
                panic!("the server failed");
            }
        }
    }
}

/// A client with someone in the middle.
pub(crate) struct Attacked {
    pub(crate) carried: Carried,
    pub(crate) socket: Socket,
    pub(crate) monitor: Monitor,
}

impl Attacked {
    /// The fault of the protocol that the client found.
    pub(crate) fn fault(&self) -> ProtocolError {
        fault(&self.failure())
    }

    pub(crate) fn failure(&self) -> ConnectionFailure {
        await_event(&self.monitor, "a failed connection", |event| match event {
            Event::Failed(failure) => Some(failure.clone()),
            _ => None,
        })
    }
}

pub(crate) fn fault(failure: &ConnectionFailure) -> ProtocolError {
    match failure.cause() {
        FailureCause::Protocol(error) => error.clone(),
        other => panic!("no fault of the protocol: {other}"),
    }
}

fn await_ready(monitor: &Monitor) -> u64 {
    await_event(monitor, "ready", |event| match event {
        Event::Ready { peer } => Some(peer.connection()),
        _ => None,
    })
}

pub(crate) fn address_of(endpoint: &Endpoint) -> SocketAddr {
    let Endpoint::Tcp { host, port } = endpoint else {
        panic!("no tcp")
    };
    SocketAddr::new(host.parse().unwrap(), *port)
}

#[derive(Default)]
struct Received {
    all: AtomicU64,
    from_strangers: Mutex<Vec<Vec<String>>>,
}

/// Sends everything back to where it came from, and notes what strangers say.
fn echo(server: &Socket, received: &Received) {
    loop {
        let message = match server.recv() {
            Ok(message) => message,
            Err(Error::TimedOut { .. }) => continue,
            Err(_) => return,
        };
        match message.peer().unwrap().user_id() {
            Some("bystander") => {}
            Some("victim") => {
                let frames = texts(&message)[1..].into();
                received.from_strangers.lock().unwrap().push(frames);
            }
            other => panic!("{other:?} is not on the list"),
        }
        received.all.fetch_add(1, Ordering::SeqCst);
        if server.send(message).is_err() {
            return;
        }
    }
}

/// How a connection ended.
#[derive(Debug, Clone)]
pub(crate) enum End {
    Clean,
    Failed(ConnectionFailure),
}

/// The ends of a socket's connections, by the peer's address.
#[derive(Default)]
pub(crate) struct Chronicle {
    pages: Mutex<Pages>,
    written: Condvar,
}

#[derive(Default)]
struct Pages {
    ends: HashMap<SocketAddr, End>,
    /// Connections that were accepted.
    accepted: usize,
    /// Events that the monitor dropped, since they came faster than they were written down here.
    lost: u64,
}

impl Chronicle {
    /// Writes until the socket is closed.
    pub(crate) fn write(&self, monitor: &Monitor) {
        while let Some(event) = monitor.wait_next() {
            let (address, end) = match event {
                Event::Failed(failure) => (failure.address().clone(), Some(End::Failed(failure))),
                Event::Disconnected { peer, .. } => (peer.address().clone(), Some(End::Clean)),
                // Addresses are used again.
                Event::Accepted { address, .. } => (address, None),
                _ => continue,
            };
            let PeerAddress::Tcp(address) = address else {
                continue;
            };
            let mut pages = self.pages.lock().unwrap();
            pages.lost = monitor.lost();
            match end {
                Some(end) => {
                    pages.ends.insert(address, end);
                }
                None => {
                    pages.accepted += 1;
                    pages.ends.remove(&address);
                }
            }
            self.written.notify_all();
        }
    }

    /// Waits for the end of the connection from this address, and forgets it: addresses are used
    /// again, and nobody may read the end of an earlier connection.
    pub(crate) fn end_of(&self, address: SocketAddr) -> End {
        self.wait(
            &format!("the end of the connection of {address}"),
            |pages| pages.ends.remove(&address),
        )
    }

    /// Waits for `least` ends among the connections from these addresses.
    pub(crate) fn ends_of(&self, addresses: &HashSet<SocketAddr>, least: usize) -> Vec<End> {
        self.wait(&format!("{least} connections that ended"), |pages| {
            let have_ended = |address: &&SocketAddr| pages.ends.contains_key(address);
            let ended: Vec<_> = addresses
                .iter()
                .copied()
                .filter(|a| have_ended(&a))
                .collect();
            (ended.len() >= least).then(|| {
                let ends = ended.iter().map(|address| pages.ends.remove(address));
                ends.map(|end| end.expect("it is there")).collect()
            })
        })
    }

    /// Waits until `count` connections were accepted. A test that makes more than a monitor keeps events of
    /// has to wait in between.
    pub(crate) fn await_accepted(&self, count: usize) {
        self.wait(&format!("{count} connections accepted"), |pages| {
            (pages.accepted >= count).then_some(())
        });
    }

    fn wait<T>(&self, what: &str, mut found: impl FnMut(&mut Pages) -> Option<T>) -> T {
        let deadline = Instant::now() + TIMEOUT;
        let mut pages = self.pages.lock().unwrap();
        loop {
            if let Some(found) = found(&mut pages) {
                return found;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let lost = pages.lost;
            assert!(!left.is_zero(), "not in time: {what}; {lost} events lost");
            pages = self.written.wait_timeout(pages, left).unwrap().0;
        }
    }
}
