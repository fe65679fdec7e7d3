//! A server of monte's wire whose peers do what none should, up to taking all descriptors.
#![cfg(all(feature = "monte-compat", unix))]

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketType, connect, socket};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sealwire_rpc::monte::{Event, UnauthenticatedConn, UnauthenticatedServer};

/// Nothing here takes that long unless it is broken.
const TIMEOUT: Duration = Duration::from_secs(60);

fn echo_server(
    on_event: impl Fn(&Event) + Send + Sync + 'static,
) -> (UnauthenticatedServer, SocketAddr) {
    let echo = |message: &sealwire_rpc::monte::Message<'_>| {
        assert!(message.body != b"trouble", "asked for");
        message.is_request.then(|| message.body.to_vec())
    };
    let server = UnauthenticatedServer::bind_with_events("127.0.0.1:0", echo, on_event).unwrap();
    let address = server.address();
    (server, address)
}

fn connected(address: SocketAddr) -> Option<UnauthenticatedConn> {
    UnauthenticatedConn::connect(address, TIMEOUT, |_| None).ok()
}

fn works(conn: &UnauthenticatedConn) {
    assert_eq!(conn.request(b"works", TIMEOUT).unwrap(), b"works");
}

/// Whether the other side has closed the connection, without waiting for that.
fn is_closed(mut stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    match stream.read(&mut [0]) {
        Ok(bytes) => bytes == 0,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !condition() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        thread::yield_now();
    }
}

/// One test, since the limit of descriptors is the process's.
#[test]
fn a_server_of_montes_wire_bears_what_peers_do() {
    let soft = 512;
    let before = getrlimit(Resource::Nofile);
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: Some(soft),
            maximum: before.maximum,
        },
    )
    .unwrap();
    let (failed, failures) = mpsc::channel();
    let (_server, address) = echo_server(move |event| {
        if let Event::HandshakeFailed { .. } = event {
            failed.send(()).unwrap();
            // That is contained as well.
            panic!("asked for");
        }
    });
    let bystander = connected(address).unwrap();
    works(&bystander);

    // A panic in the handler ends nothing.
    bystander.send(b"trouble").unwrap();
    works(&bystander);

    // A key that comes byte by byte has the time of a handshake and no more.
    let mut slow = TcpStream::connect(address).unwrap();
    while failures.try_recv().is_err() {
        thread::sleep(Duration::from_millis(200));
        if slow.write(b"k").is_err() {
            break;
        }
    }
    eventually("the slow one is closed", || is_closed(&slow));
    works(&bystander);

    // One address has a quarter of the handshakes that descriptors are enough for: 128.
    let silent: Vec<_> = (0..33)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    eventually("the oldest gives way", || is_closed(&silent[0]));
    works(&connected(address).unwrap());
    drop(silent);

    // No descriptor is left. Connections on the backlog are refused, and those that are there go on.
    let idle = [(); 2].map(|()| socket(AddressFamily::INET, SocketType::STREAM, None).unwrap());
    let mut taken = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        taken.push(file);
    }
    let waiting = idle.map(|idle| {
        connect(&idle, &address).unwrap();
        TcpStream::from(idle)
    });
    eventually("they are closed", || waiting.iter().all(is_closed));
    works(&bystander);
    drop((taken, waiting));
    let mut new = None;
    eventually("there is room again", || {
        new = connected(address);
        new.is_some()
    });
    works(&new.unwrap());
    setrlimit(Resource::Nofile, before).unwrap();
}
