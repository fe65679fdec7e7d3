//! Peers that are let in and then send without end. What they occupy has a bound, and the others
//! are served meanwhile.

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use sealwire::account::Kind;
use sealwire::auth::{AllowAnyone, Client};
use sealwire::blocking::Socket;
use sealwire::{FailureCause, Generate as _, KeyPair, ProtocolError, Security, SocketType};

use crate::forger::{self, Channel, Forger};
use crate::memory::{self, Growth};
use crate::scene::{Chronicle, End, Scene, address_of};
use crate::support::{eventually, options};
use sealwire_relay::zmtp::{self, COMMAND, MORE};

/// Bytes that the relay between forger and server hold at most, and what else moves a little.
const NOISE: usize = 16 << 20;

fn intruder(scene: &Scene) -> Channel {
    Forger::authenticated(
        scene.address,
        &scene.server_keys.public(),
        &scene.victim_keys,
        &forger::metadata("DEALER"),
    )
}

/// Empty frames count, although they have no bytes.
#[test]
fn a_message_that_never_ends() {
    let _alone = memory::alone();
    let scene = Scene::new();
    let mut channel = intruder(&scene);
    let growth = Growth::start();
    for _ in 0..70 {
        let frames: Vec<u8> = (0..1_000).flat_map(|_| channel.seal(MORE, b"")).collect();
        channel.write_ignoring_errors(&frames);
    }
    let expected = ProtocolError::TooManyFrames { limit: 65_536 };
    assert_eq!(scene.fault_of(channel.address()), expected);
    growth.assert_below(NOISE);

    // Frames that have some.
    let mut channel = intruder(&scene);
    for _ in 0..50 {
        let frame = channel.seal(MORE, &[b'x'; 100]);
        channel.write_ignoring_errors(&frame);
    }
    let limit = crate::scene::MAX_MESSAGE_SIZE;
    assert_eq!(
        scene.fault_of(channel.address()),
        ProtocolError::MessageTooLarge { limit }
    );
    assert!(scene.received().is_empty());
}

/// Commands without end, from someone who reads no answer: a few PONGs are owed at a time.
#[test]
fn pings_and_unknown_commands() {
    let _alone = memory::alone();
    let scene = Scene::new();
    let mut channel = intruder(&scene);
    let growth = Growth::start();
    // The longest time to live that a PING can ask for.
    let ping = zmtp::command("PING", b"\xff\xffsixteen octets..");
    let unknown = zmtp::command("JOIN", &[b'g'; 200]);
    for _ in 0..100 {
        let commands: Vec<u8> = (0..1_000)
            .flat_map(|number| {
                channel.seal(COMMAND, if number % 2 == 0 { &ping } else { &unknown })
            })
            .collect();
        channel.stream.write_all(&commands).unwrap();
        scene.bystander_is_served();
    }
    growth.assert_below(NOISE);
    channel.send(0, b"and still connected");
    eventually("the message arrives", || {
        scene.received() == [["and still connected"]]
    });
}

/// Each PING moves the deadline by which the peer must be heard of. A deadline that was moved must
/// not stay behind: they may be 6,553 seconds away.
#[test]
fn deadlines_that_are_moved_all_the_time() {
    let _alone = memory::alone();
    let scene = Scene::new();
    let mut channel = intruder(&scene);
    channel.send(COMMAND, &zmtp::command("PING", b"\xff\xff"));
    zmtp::read_frame(&mut channel.stream)
        .unwrap()
        .expect("PONG");
    let growth = Growth::start();
    for _ in 0..200_000 {
        // Each frame arrives by itself and wakes the server, which reads each in a time slice of its own.
        let frame = channel.seal(COMMAND, b"\x04JOIN");
        channel.stream.write_all(&frame).unwrap();
    }
    scene.bystander_is_served();
    growth.assert_below(4 << 20);
}

/// A PUB socket with a subscriber who is an honest bystander.
struct Publisher {
    keys: KeyPair,
    socket: Socket,
    address: SocketAddr,
    subscriber: Socket,
    chronicle: Arc<Chronicle>,
}

impl Publisher {
    fn new() -> Publisher {
        let keys = KeyPair::generate();
        let socket = options(SocketType::Pub)
            .security(Security::blake3_server(keys.clone(), AllowAnyone))
            .linger(Duration::ZERO)
            .build_blocking()
            .unwrap();
        let monitor = socket.monitor();
        let endpoint = socket.bind("tcp://127.0.0.1:0").unwrap();
        let chronicle = Arc::<Chronicle>::default();
        thread::spawn({
            let chronicle = chronicle.clone();
            move || chronicle.write(&monitor)
        });
        let subscriber = options(SocketType::Sub)
            .security(Security::blake3_client(keys.public()))
            .build_blocking()
            .unwrap();
        subscriber.subscribe("news").unwrap();
        subscriber.connect(&endpoint).unwrap();
        let publisher = Publisher {
            keys,
            socket,
            address: address_of(&endpoint),
            subscriber,
            chronicle,
        };
        eventually("subscribed", || {
            publisher.socket.send("news").unwrap();
            publisher.subscriber.try_recv().is_ok()
        });
        // Sent before the publisher knows of it.
        publisher.socket.send("news: the last").unwrap();
        while publisher.subscriber.recv().unwrap().as_bytes() != b"news: the last" {}
        publisher
    }

    fn intruder(&self) -> Channel {
        Forger::authenticated(
            self.address,
            &self.keys.public(),
            &KeyPair::generate(),
            &forger::metadata("SUB"),
        )
    }

    fn subscriber_is_served(&self) {
        self.socket.send("news").unwrap();
        assert_eq!(self.subscriber.recv().unwrap().as_bytes(), b"news");
    }
}

fn subscribe(channel: &mut Channel, topics: impl Iterator<Item = Vec<u8>>) {
    let frames: Vec<u8> = topics
        .flat_map(|topic| channel.seal(COMMAND, &zmtp::command("SUBSCRIBE", &topic)))
        .collect();
    channel.write_ignoring_errors(&frames);
}

/// One subscriber may hold 16 MiB of topics.
#[test]
fn subscriptions_without_end() {
    let _alone = memory::alone();
    let publisher = Publisher::new();
    // Long topics, and short ones, whose cost is not in their bytes.
    for (length, at_a_time, rounds) in [(60_000, 20, 60), (8, 5_000, 200)] {
        let mut channel = publisher.intruder();
        let growth = Growth::start();
        for round in 0..rounds {
            subscribe(
                &mut channel,
                (0..at_a_time).map(|number| {
                    let mut topic = vec![b't'; length];
                    topic[..8].copy_from_slice(&u64::to_be_bytes(round << 32 | number));
                    topic
                }),
            );
            publisher.subscriber_is_served();
        }
        let end = publisher.chronicle.end_of(channel.address());
        assert!(
            matches!(&end, End::Failed(failure)
                if matches!(failure.cause(), FailureCause::LimitExceeded(exceeded)
                    if exceeded.kind == Kind::Subscriptions)),
            "{end:?}"
        );
        growth.assert_below(48 << 20);
    }
}

/// The same topic again changes nothing.
#[test]
fn the_same_subscription_without_end() {
    let _alone = memory::alone();
    let publisher = Publisher::new();
    let mut channel = publisher.intruder();
    let growth = Growth::start();
    for _ in 0..40 {
        subscribe(&mut channel, (0..5_000).map(|_| b"news".to_vec()));
        publisher.subscriber_is_served();
    }
    growth.assert_below(NOISE);
}

/// An authenticator that answers nobody until the gate is opened, and counts whom it was asked
/// about.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<(bool, usize)>, Condvar)>);

impl Gate {
    fn ask(&self) -> bool {
        let (state, opened) = &*self.0;
        let mut state = state.lock().unwrap();
        state.1 += 1;
        drop(opened.wait_while(state, |(open, _)| !*open).unwrap());
        false
    }

    fn asked(&self) -> usize {
        self.0.0.lock().unwrap().1
    }

    fn open(&self) {
        self.0.0.lock().unwrap().0 = true;
        self.0.1.notify_all();
    }
}

/// A server that asks, and so many clients that wait for the answer.
fn server_with_questions(
    gate: &Gate,
    max_handshakes: usize,
    count: usize,
) -> (Socket, Vec<Forger>) {
    let keys = KeyPair::generate();
    let gate = gate.clone();
    let socket = options(SocketType::Router)
        .security(Security::blake3_server(
            keys.clone(),
            move |_: &Client<'_>| gate.ask(),
        ))
        .max_handshakes(max_handshakes)
        .max_handshakes_per_address(max_handshakes)
        // Only the bound ends a handshake, however slow the machine.
        .handshake_timeout(Duration::from_secs(3_600))
        .linger(Duration::ZERO)
        .build_blocking()
        .unwrap();
    let address = address_of(&socket.bind("tcp://127.0.0.1:0").unwrap());
    let (client, server) = (KeyPair::generate(), keys.public());
    let waiting = (0..count).map(|_| {
        let mut forger = Forger::connect(address);
        let welcome = forger.welcome(&server);
        let metadata = forger::metadata("DEALER");
        let initiate = forger.initiate(&client, &welcome, &server, &metadata);
        let frame = forger.initiate_frame(&initiate);
        forger.write(&frame);
        forger
    });
    let waiting = waiting.collect();
    (socket, waiting)
}

/// Anyone who knows a server's public key can make it ask its authenticator. One that is slow must
/// not let the questions pile up: those of connections that are gone are never asked.
#[test]
fn questions_of_clients_that_are_gone() {
    const AT_ONCE: usize = 4;
    const MAX_HANDSHAKES: usize = 8;
    let _shared = memory::shared();
    let gate = Gate::default();
    let (socket, waiting) = server_with_questions(&gate, MAX_HANDSHAKES, 200);
    let failed = || socket.counters().handshakes_failed;
    eventually("the oldest gave way", || {
        failed() == 200 - MAX_HANDSHAKES as u64
    });
    gate.open();
    eventually("the others were refused", || failed() == 200);
    assert!(
        gate.asked() <= AT_ONCE + MAX_HANDSHAKES,
        "asked {} times",
        gate.asked()
    );
    drop(waiting);
}

/// Nor do those of connections that are still there, beyond a bound.
#[test]
fn more_questions_than_can_wait() {
    const BOUND: usize = 4 + 1_024;
    let _shared = memory::shared();
    let gate = Gate::default();
    let (socket, waiting) = server_with_questions(&gate, 2_000, BOUND + 50);
    eventually("those beyond the bound were refused", || {
        socket.counters().handshakes_failed == 50
    });
    gate.open();
    eventually("the others were asked about", || gate.asked() == BOUND);
    drop(waiting);
}

/// A peer that always has something to read gets its time slices like the others.
#[test]
fn a_peer_that_is_never_done_does_not_starve_the_others() {
    let _alone = memory::alone();
    let scene = Scene::new();
    let mut channel = intruder(&scene);
    let join = zmtp::command("JOIN", &[b'g'; 60_000]);
    let flood: Vec<u8> = (0..1_000)
        .flat_map(|_| channel.seal(COMMAND, &join))
        .collect();
    let thread = thread::spawn(move || channel.stream.write_all(&flood));
    while !thread.is_finished() {
        scene.bystander_is_served();
    }
    thread.join().unwrap().unwrap();
}
