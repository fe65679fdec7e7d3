//! Connections that cost the attacker next to nothing: slow ones, silent ones, half-open ones, and
//! those on which a recorded HELLO is played.

use std::collections::{HashSet, VecDeque};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sealwire::blocking::Socket;
use sealwire::{AddressLimit, FailureCause, ProtocolError};
use sealwire_zmtp::error::Step;

use crate::forger::{self, Forger};
use crate::memory::{self, Growth};
use crate::replay;
use crate::scene::{End, Mechanism, Scene};
use crate::support::{TIMEOUT, eventually};
use sealwire_relay::zmtp;

/// Time for a handshake: longer than a machine that stalls takes for the beginning of one.
const SHORT: Duration = Duration::from_secs(5);

/// Sends one byte after the other, as slowly as it takes to be at it when time is up.
fn trickle(mut stream: TcpStream, bytes: Vec<u8>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        for byte in bytes {
            if stream.write_all(&[byte]).is_err() {
                return;
            }
            thread::sleep(SHORT / 16);
        }
    })
}

/// One byte in a while is not progress: the deadline counts from the start, not from the last byte.
#[test]
fn slow_and_silent_peers_are_given_up() {
    let _shared = memory::shared();
    let scene = Scene::with(|server| server.handshake_timeout(SHORT));
    let server = scene.server_keys.public();
    let start = Instant::now();

    let silent = forger::connect(scene.address);
    let slow_greeting = forger::connect(scene.address);
    let silent_after_greeting = Forger::connect(scene.address);
    let mut slow_hello = Forger::connect(scene.address);
    let hello = slow_hello.hello(&server);
    let mut silent_after_welcome = Forger::connect(scene.address);
    silent_after_welcome.welcome(&server);

    let cases: [(SocketAddr, Step); 5] = [
        (silent.local_addr().unwrap(), Step::Greeting),
        (slow_greeting.local_addr().unwrap(), Step::Greeting),
        (silent_after_greeting.address(), Step::Hello),
        (slow_hello.address(), Step::Hello),
        (silent_after_welcome.address(), Step::Initiate),
    ];
    let slow = [
        trickle(slow_greeting, zmtp::greeting("BLAKE3", false).into()),
        trickle(slow_hello.stream, hello),
    ];
    for (address, step) in cases {
        let fault = scene.fault_of(address);
        assert_eq!(fault, ProtocolError::HandshakeTimeout { step });
    }
    assert!(start.elapsed() >= SHORT);
    for thread in slow {
        thread.join().unwrap();
    }
}

/// More file descriptors than the usual soft limit of 1,024, if the hard limit allows.
fn allow_open_files(wanted: u64) {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return;
    }
    let current = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    assert!(
        current >= wanted,
        "the hard limit of open files is {current}, {wanted} are needed"
    );
    let raised = Rlimit {
        current: Some(current),
        ..limit
    };
    setrlimit(Resource::Nofile, raised).unwrap();
}

/// Connects, as often as it takes, and sends one message there and back.
fn newcomer_is_served(scene: &Scene) -> Socket {
    let client = scene
        .victim()
        .reconnect(SHORT / 500, SHORT / 5)
        .build_blocking()
        .unwrap();
    client.connect(format!("tcp://{}", scene.address)).unwrap();
    client.send("honest").unwrap();
    assert_eq!(client.recv_timeout(TIMEOUT).unwrap().as_bytes(), b"honest");
    client
}

/// The oldest handshake of an address gives way to its newest, so one address keeps at most a quarter
/// of `max_handshakes` (1,024): that bounds the memory, and a client that completes its handshake gets
/// through, from the same address too.
#[test]
fn ten_thousand_half_open_connections() {
    const CONNECTIONS: usize = 10_000;
    const MAX_HANDSHAKES: usize = 1_024 / 4;
    const MEMORY_BOUND: usize = 64 << 20;

    let _alone = memory::alone();
    allow_open_files((CONNECTIONS + 16 * MAX_HANDSHAKES) as u64);
    let scene = Scene::with(|server| server.handshake_timeout(Duration::from_secs(3_600)));
    let greeting = zmtp::greeting("BLAKE3", false);
    let growth = Growth::start();
    let mut half_open = Vec::with_capacity(CONNECTIONS);
    for number in 0..CONNECTIONS {
        let mut stream = TcpStream::connect(scene.address).unwrap();
        // Some say nothing, some greet, some begin a frame.
        match number % 3 {
            0 => {}
            1 => stream.write_all(&greeting).unwrap_or_default(),
            _ => stream
                .write_all(&[&greeting[..], b"\x04\xe8\x05HEL"].concat())
                .unwrap_or_default(),
        }
        half_open.push(stream);
        if number % 1_000 == 999 {
            // Clients and bystanders are accepted as well, so this is a little less than all.
            scene.await_accepted(number);
            scene.bystander_is_served();
            newcomer_is_served(&scene);
            growth.assert_below(MEMORY_BOUND);
        }
    }
    // Which of them are left is not said: a busy system may hand them over in another order. And a port
    // is used again once the server has reset its connection, also by a newcomer, which ends cleanly.
    let addresses = half_open.iter().map(|stream| stream.local_addr().unwrap());
    let addresses: HashSet<_> = addresses.collect();
    let mut clean = 0;
    for end in scene.ends_of(&addresses, addresses.len() - MAX_HANDSHAKES) {
        match end {
            End::Clean => clean += 1,
            End::Failed(failure) => assert!(
                matches!(
                    failure.cause(),
                    FailureCause::AddressLimit(AddressLimit::Handshakes)
                ),
                "{failure:?}"
            ),
        }
    }
    assert!(clean <= CONNECTIONS / 1_000, "{clean} clean ends");
    growth.assert_below(MEMORY_BOUND);
}

/// What one attacker does with a connection on which it has sent HELLO.
#[derive(Clone, Copy)]
enum Afterwards {
    /// Closes it at once, as the server works on HELLO all the same. After this number it waits for one
    /// answer: where the system's queue of connections is full, the next attempt to connect takes a second,
    /// which would end the flood.
    Forget(usize),
    /// Keeps it until it has made this number of others, and reads the answers then.
    Keep(usize),
}

/// Greeting and HELLO of an honest client, played on one connection after the other. That costs
/// the attacker a connection, and the server the Diffie-Hellman work of WELCOME.
struct HelloFlood {
    server: SocketAddr,
    hello: Vec<u8>,
    /// Size of the server's greeting and WELCOME.
    answer: usize,
    sent: AtomicUsize,
    answered: AtomicUsize,
    over: AtomicBool,
}

impl HelloFlood {
    fn against(scene: &Scene) -> HelloFlood {
        let [client, server] = replay::record(scene);
        HelloFlood {
            server: scene.address,
            hello: client[..2].concat(),
            answer: server[..2].concat().len(),
            sent: AtomicUsize::new(0),
            answered: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        }
    }

    fn sent(&self) -> usize {
        self.sent.load(Ordering::SeqCst)
    }

    fn answered(&self) -> usize {
        self.answered.load(Ordering::SeqCst)
    }

    fn attack(&self, afterwards: Afterwards) {
        let (mut kept, mut made) = (VecDeque::new(), 0);
        while !self.over.load(Ordering::SeqCst) {
            // Ports run out for a while, and the server gives connections up.
            let Ok(mut stream) = TcpStream::connect(self.server) else {
                thread::yield_now();
                continue;
            };
            if stream.write_all(&self.hello).is_err() {
                continue;
            }
            self.sent.fetch_add(1, Ordering::SeqCst);
            made += 1;
            match afterwards {
                Afterwards::Forget(period) if made % period != 0 => {}
                Afterwards::Forget(_) => self.read_answer(stream),
                Afterwards::Keep(most) => {
                    kept.push_back(stream);
                    if kept.len() > most {
                        self.read_answer(kept.pop_front().expect("one was pushed"));
                    }
                }
            }
        }
    }

    fn read_answer(&self, mut stream: TcpStream) {
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        if stream.read_exact(&mut vec![0; self.answer]).is_ok() {
            self.answered.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// Ends the flood, also when the test has failed.
struct EndOfFlood<'a>(&'a HelloFlood);

impl Drop for EndOfFlood<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::SeqCst);
    }
}

/// Prints how long round trips took. There is no promise about their time.
fn print_round_trips(when: &str, trips: &mut [Duration]) {
    trips.sort_unstable();
    println!(
        "{} round trips {when}: median {:?}, worst {:?}",
        trips.len(),
        trips[trips.len() / 2],
        trips[trips.len() - 1]
    );
}

/// Established clients are served while others make the server compute, whatever they do with the
/// results, and a client that completes its handshake gets in.
fn hellos_without_end(mechanism: Mechanism) {
    const HELLOS: usize = 10_000;
    const ANSWERS: usize = HELLOS / 4;
    const ROUND_TRIPS: usize = 200;
    const ATTACKERS: [Afterwards; 4] = [
        Afterwards::Forget(64),
        Afterwards::Keep(0),
        Afterwards::Keep(64),
        Afterwards::Keep(1_000),
    ];
    const BACKLOG: u32 = 2_048;
    const OPEN_FILES: u64 = 4_000;
    const MEMORY_BOUND: usize = 64 << 20;

    let _alone = memory::alone();
    allow_open_files(OPEN_FILES);
    let scene = Scene::protected_by(mechanism, |server| server.backlog(BACKLOG));
    let flood = HelloFlood::against(&scene);
    // With one peer, the thread that waits for its messages would read them and the I/O thread would not.
    let _second = newcomer_is_served(&scene);
    let growth = Growth::start();
    let round_trip = || {
        let start = Instant::now();
        scene.bystander_is_served();
        start.elapsed()
    };
    let mut trips: Vec<_> = (0..1_000).map(|_| round_trip()).collect();
    print_round_trips("in peace", &mut trips);

    trips.clear();
    let start = Instant::now();
    thread::scope(|scope| {
        let _end = EndOfFlood(&flood);
        for afterwards in ATTACKERS {
            let flood = &flood;
            scope.spawn(move || flood.attack(afterwards));
        }
        let newcomers = scope.spawn(|| {
            for number in 1..=3 {
                eventually("the flood is on", || flood.answered() >= number * 100);
                newcomer_is_served(&scene);
            }
        });
        while flood.sent() < HELLOS
            || flood.answered() < ANSWERS
            || trips.len() < ROUND_TRIPS
            || !newcomers.is_finished()
        {
            assert!(
                start.elapsed() < TIMEOUT,
                "{} HELLOs, {} answers and {} round trips so far",
                flood.sent(),
                flood.answered(),
                trips.len()
            );
            trips.push(round_trip());
        }
        newcomers.join().expect("newcomers are served");
        growth.assert_below(MEMORY_BOUND);
    });
    println!(
        "{mechanism:?}: {} HELLOs in {:?}, {} answers read",
        flood.sent(),
        start.elapsed(),
        flood.answered()
    );
    print_round_trips("in the flood", &mut trips);
}

#[test]
fn hellos_without_end_blake3() {
    hellos_without_end(Mechanism::Blake3);
}

#[test]
fn hellos_without_end_curve() {
    hellos_without_end(Mechanism::Curve);
}
