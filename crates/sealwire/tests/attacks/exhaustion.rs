//! Connections that cost the attacker next to nothing: slow ones, silent ones, half-open ones.

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sealwire::{FailureCause, ProtocolError};
use sealwire_zmtp::error::Step;

use crate::forger::{self, Forger};
use crate::memory::{self, Growth};
use crate::scene::{End, Scene};
use crate::support::PATIENCE;
use crate::wire;

const SHORT: Duration = Duration::from_secs(1);

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
        trickle(slow_greeting, wire::greeting("BLAKE3", false).into()),
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

/// The oldest handshake gives way to the newest, so at most `max_handshakes` (1,024) are kept: that
/// bounds the memory, and a client that completes its handshake gets through.
#[test]
fn ten_thousand_half_open_connections() {
    const CONNECTIONS: usize = 10_000;
    const MAX_HANDSHAKES: usize = 1_024;
    const MEMORY_BOUND: usize = 64 << 20;

    let _alone = memory::alone();
    allow_open_files((CONNECTIONS + 4 * MAX_HANDSHAKES) as u64);
    let scene = Scene::with(|server| server.handshake_timeout(Duration::from_secs(60)));
    let greeting = wire::greeting("BLAKE3", false);
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
            scene.bystander_is_served();
            let client = scene
                .victim()
                .reconnect(SHORT / 100, SHORT)
                .build_blocking()
                .unwrap();
            client.connect(format!("tcp://{}", scene.address)).unwrap();
            client.send("honest").unwrap();
            assert_eq!(client.recv_for(PATIENCE).unwrap().as_bytes(), b"honest");
            growth.assert_below(MEMORY_BOUND);
        }
    }
    for stream in &half_open[..CONNECTIONS - MAX_HANDSHAKES] {
        let end = scene.end_of(stream.local_addr().unwrap());
        assert!(
            matches!(&end, End::Failed(failure)
                if matches!(failure.cause(), FailureCause::HandshakeEvicted)),
            "{end:?}"
        );
    }
    growth.assert_below(MEMORY_BOUND);
}
