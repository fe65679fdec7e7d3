//! A server of monte's wire whose peers do what none should, up to taking all descriptors.
//!
//! A binary of its own: it changes how many descriptors the process may have.
#![cfg(all(feature = "monte-compat", unix))]

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketType, connect, socket};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sealwire_rpc::monte::{MonteEvent, UnauthenticatedConn, UnauthenticatedServer};

/// Nothing here takes that long unless it is broken.
const TIMEOUT: Duration = Duration::from_secs(60);

fn echo_server(
    on_event: impl Fn(&MonteEvent) + Send + Sync + 'static,
) -> (UnauthenticatedServer, SocketAddr) {
    let echo = |message: &sealwire_rpc::monte::MonteMessage<'_>| {
        assert!(message.body != b"trouble", "asked for");
        message.is_request.then(|| message.body.to_vec())
    };
    let server = UnauthenticatedServer::builder(echo)
        .on_event(on_event)
        .bind("127.0.0.1:0")
        .unwrap();
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

fn limit_descriptors(soft: u64) -> Rlimit {
    let before = getrlimit(Resource::Nofile);
    let limit = Rlimit {
        current: Some(soft),
        maximum: before.maximum,
    };
    setrlimit(Resource::Nofile, limit).unwrap();
    before
}

/// Takes all descriptors that are left.
fn all_descriptors() -> Vec<File> {
    std::iter::from_fn(|| File::open("/dev/null").ok()).collect()
}

/// One test, since the limit of descriptors is the process's.
#[test]
fn a_server_of_montes_wire_bears_what_peers_do() {
    let before = limit_descriptors(512);
    let (failed, failures) = mpsc::channel();
    let (_server, address) = echo_server(move |event| {
        if let MonteEvent::HandshakeFailed { reason } = event {
            failed.send(reason.clone()).unwrap();
        }
        // That is contained as well.
        panic!("asked for");
    });
    let bystander = connected(address).unwrap();
    works(&bystander);

    // A panic in the handler ends nothing.
    bystander.send(b"trouble").unwrap();
    works(&bystander);

    // No descriptor is left. A connection that gets one which was given back gives way at once, which
    // is told; those that get none are refused, and those that are there go on.
    let idle = || socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    let streams: Vec<_> = (0..200).map(|_| idle()).collect();
    let (mut taken, mut let_in, mut kept) = (all_descriptors(), 0, Vec::with_capacity(200));
    for stream in streams {
        connect(&stream, &address).unwrap();
        let waiting = TcpStream::from(stream);
        eventually("it is closed", || is_closed(&waiting));
        works(&bystander);
        kept.push(waiting);
        taken.extend(all_descriptors());
        let_in += failures.try_iter().count();
        if kept.len() - let_in >= 5 {
            break;
        }
    }
    assert!(kept.len() - let_in >= 5, "{let_in} were let in");
    drop((taken, kept));
    let mut new = None;
    eventually("there is room again", || {
        new = connected(address);
        new.is_some()
    });
    works(&new.unwrap());

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

    // A handshake gives way when no descriptor is left. One whose time was over before says nothing.
    eventually("a handshake gives way", || {
        failures.try_iter().count();
        let (silent, idle) = (TcpStream::connect(address).unwrap(), idle());
        // Accepted later, so that the silent one has been as well.
        let later = connected(address).unwrap();
        works(&later);
        let taken = all_descriptors();
        connect(&idle, &address).unwrap();
        let reason = failures.recv_timeout(TIMEOUT).unwrap();
        drop((taken, silent));
        reason.contains("end of file")
    });
    works(&bystander);

    // No more connections than the limit was enough for when the server began.
    let at_start = limit_descriptors(64);
    let (_small, address) = echo_server(|_| {});
    setrlimit(Resource::Nofile, at_start).unwrap();
    let mut held = Vec::new();
    while let Some(conn) = connected(address) {
        works(&conn);
        held.push(conn);
        assert!(held.len() <= 48, "more than three quarters of 64");
    }
    works(&held[0]);
    works(&bystander);
    setrlimit(Resource::Nofile, before).unwrap();
}
