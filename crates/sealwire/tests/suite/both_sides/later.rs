//! Failures of connections that had been of use.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::told;
use crate::support::primitives::{Hook, Hooked, Primitive};
use crate::support::{Path, TIMEOUT, eventually, options};
use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::options::Withdrawn;
use sealwire::{Endpoint, Generate as _, KeyPair, Monitor, Security, SocketBuilder, SocketType};
use sealwire_relay::{Act, Carried, Format, Relay, Script, honest, since, zmtp};

fn address(endpoint: &Endpoint) -> SocketAddr {
    let endpoint = endpoint.to_string();
    endpoint.trim_start_matches("tcp://").parse().unwrap()
}

/// Two sockets that are connected.
struct Connected {
    server: Socket,
    client: Socket,
    monitors: [Monitor; 2],
}

impl Connected {
    fn new(server: SocketBuilder, client: SocketBuilder) -> Self {
        let (connected, endpoint) = Connected::apart(server, client);
        connected.client.connect(endpoint).unwrap();
        connected.ready()
    }

    fn apart(server: SocketBuilder, client: SocketBuilder) -> (Self, Endpoint) {
        let [server, client] = [server, client].map(|it| it.build_blocking().unwrap());
        let monitors = [server.monitor(), client.monitor()];
        let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
        let connected = Connected {
            server,
            client,
            monitors,
        };
        (connected, endpoint)
    }

    /// Through someone who does as these say.
    fn through(
        server: SocketBuilder,
        client: SocketBuilder,
        [to_server, to_client]: [Script; 2],
    ) -> (Self, Carried) {
        let (connected, endpoint) = Connected::apart(server, client);
        let relay = Relay::before(address(&endpoint), Format::Zmtp);
        connected.client.connect(relay.endpoint()).unwrap();
        let carried = relay.carry(to_server, to_client);
        (connected.ready(), carried)
    }

    fn ready(self) -> Self {
        for socket in [&self.server, &self.client] {
            eventually("connected", || socket.peers().len() == 1);
        }
        self
    }

    fn told(&self) -> [&'static str; 2] {
        self.monitors.each_ref().map(told)
    }
}

fn pair() -> [SocketBuilder; 2] {
    let path = Path::encrypted();
    [path.server(SocketType::Pair), path.client(SocketType::Pair)]
}

/// Carries bytes between a client and a server until each side that is named has sent bytes that were not read; then
/// both connections are closed. The system resets those with such bytes.
fn closed_unread(unread: [bool; 2]) -> [&'static str; 2] {
    let [server, client] = pair();
    let (connected, endpoint) = Connected::apart(server, client);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let entry = format!("tcp://{}", listener.local_addr().unwrap());
    connected.client.connect(entry).unwrap();
    let (client, _) = listener.accept().unwrap();
    let server = TcpStream::connect(address(&endpoint)).unwrap();
    let stops = Arc::<AtomicBool>::default();
    let pumps = [(&server, &client), (&client, &server)].map(|(from, to)| {
        let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        let stops = stops.clone();
        from.set_read_timeout(Some(Duration::from_millis(5)))
            .unwrap();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while !stops.load(Ordering::SeqCst) {
                if let Ok(count) = from.read(&mut bytes) {
                    to.write_all(&bytes[..count]).unwrap();
                }
            }
        })
    });
    let connected = connected.ready();
    stops.store(true, Ordering::SeqCst);
    for pump in pumps {
        pump.join().unwrap();
    }
    let sides = [(&connected.server, &server), (&connected.client, &client)];
    for ((socket, stream), unread) in sides.into_iter().zip(unread) {
        if unread {
            socket.send("lost").unwrap();
            stream.set_read_timeout(Some(TIMEOUT)).unwrap();
            assert!(stream.peek(&mut [0]).unwrap() > 0);
        }
    }
    drop((server, client));
    connected.told()
}

pub(super) fn reset() -> [&'static str; 2] {
    closed_unread([true, true])
}

pub(super) fn reset_on_one_side() -> [&'static str; 2] {
    closed_unread([true, false])
}

/// Half of the first frame that comes once the switch is set goes on, and nothing after it.
pub(super) fn cut_in_a_message() -> [&'static str; 2] {
    let cuts = Arc::<AtomicBool>::default();
    let half = |_, unit: Vec<u8>| Act::forward_and_cut(&unit[..unit.len() / 2]);
    let scripts = [since(&cuts, Box::new(half)), honest()];
    let [server, client] = pair();
    let (connected, _carried) = Connected::through(server, client, scripts);
    cuts.store(true, Ordering::SeqCst);
    connected.client.send("a message").unwrap();
    connected.told()
}

/// Nothing reaches the server once the switch is set, until it has given up.
pub(super) fn silent() -> [&'static str; 2] {
    let stops = Arc::<AtomicBool>::default();
    let scripts = [since(&stops, Box::new(|_, _| Act::drop())), honest()];
    let [server, client] = pair();
    let server = server
        .heartbeat(Duration::from_millis(50))
        .heartbeat_timeout(Duration::from_secs(3));
    let (connected, _carried) = Connected::through(server, client, scripts);
    stops.store(true, Ordering::SeqCst);
    connected.told()
}

pub(super) fn changed_on_its_way() -> [&'static str; 2] {
    let changes = Arc::<AtomicBool>::default();
    let flipped = |_, mut unit: Vec<u8>| {
        *unit.last_mut().unwrap() ^= 1;
        Act::forward(unit)
    };
    let scripts = [since(&changes, Box::new(flipped)), honest()];
    let [server, client] = pair();
    let (connected, _carried) = Connected::through(server, client, scripts);
    changes.store(true, Ordering::SeqCst);
    connected.client.send("a message").unwrap();
    connected.told()
}

/// Its reserved bits are set.
#[cfg(feature = "ws")]
pub(super) fn no_frame_of_a_websocket() -> [&'static str; 2] {
    let changes = Arc::<AtomicBool>::default();
    let flagged = |_, mut unit: Vec<u8>| {
        unit[0] |= 0x70;
        Act::forward(unit)
    };
    let [server, client] = pair().map(|it| it.build_blocking().unwrap());
    let monitors = [server.monitor(), client.monitor()];
    let relay = super::before::before_websocket(&server);
    let port = relay.address().port();
    client.connect(format!("ws://127.0.0.1:{port}")).unwrap();
    let _carried = relay.carry(since(&changes, Box::new(flagged)), honest());
    let connected = Connected {
        server,
        client,
        monitors,
    };
    let connected = connected.ready();
    changes.store(true, Ordering::SeqCst);
    connected.client.send("a message").unwrap();
    connected.told()
}

pub(super) fn larger_than_allowed() -> [&'static str; 2] {
    let [server, client] = pair();
    let connected = Connected::new(server.max_message_size(10), client);
    connected.client.send("more than ten bytes").unwrap();
    connected.told()
}

/// The subscriber counts its topics too: someone on the path adds as many as are one too many.
pub(super) fn too_many_topics() -> [&'static str; 2] {
    const LENGTH: usize = 60_000;
    // 16 MiB, where a topic costs 512 bytes more than it has.
    const FIT: u32 = (16 << 20) / (LENGTH as u32 + 512);
    let adds = Arc::<AtomicBool>::default();
    let more = |_, mut unit: Vec<u8>| {
        for number in 0..=FIT {
            let mut topic = vec![b't'; LENGTH];
            topic[..4].copy_from_slice(&number.to_be_bytes());
            let subscribe = zmtp::command("SUBSCRIBE", &topic);
            unit.extend(zmtp::frame(zmtp::COMMAND, &subscribe));
        }
        Act::forward(unit)
    };
    let scripts = [since(&adds, Box::new(more)), honest()];
    let [server, client] = [SocketType::Pub, SocketType::Sub]
        .map(|socket_type| options(socket_type).security(Security::plain_text()));
    let (connected, _carried) = Connected::through(server, client, scripts);
    adds.store(true, Ordering::SeqCst);
    connected.client.subscribe("one").unwrap();
    connected.told()
}

pub(super) fn key_replaced() -> [&'static str; 2] {
    let [old, new] = [(); 2].map(|()| KeyPair::generate());
    let server = |keys| Security::blake3_server(keys, AllowAnyone);
    let client = Security::blake3_client(old.public());
    let connected = Connected::new(
        options(SocketType::Pull).security(server(old)),
        options(SocketType::Push).security(client),
    );
    let endpoint = &connected.server.bound_endpoints()[0];
    let options = connected.server.endpoint_options(endpoint).unwrap();
    let renewed = options.security(server(new));
    let outcome = connected
        .server
        .reconfigure_endpoint(endpoint, renewed, Withdrawn::End);
    outcome.unwrap();
    connected.told()
}

/// Panics where something is opened, once that is wanted.
#[derive(Debug)]
struct Fails(Arc<AtomicBool>);

impl Hook for Fails {
    fn called(&self, primitive: Primitive) {
        let fails = primitive == Primitive::Open && self.0.swap(false, Ordering::SeqCst);
        assert!(!fails, "on purpose");
    }
}

pub(super) fn panics() -> [&'static str; 2] {
    let fails = Arc::<AtomicBool>::default();
    let [server, client] = pair();
    let server = server.provider(Hooked::new(Fails(fails.clone())));
    let connected = Connected::new(server, client);
    fails.store(true, Ordering::SeqCst);
    connected.client.send("a message").unwrap();
    connected.told()
}
