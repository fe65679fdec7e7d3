//! Either side goes away and comes back in the same place: messages flow again, and subscriptions
//! need not be repeated by hand.

use std::thread;
use std::time::Instant;

use interop::Side::{self, Ours, Theirs};
use interop::{LIBZMQ, OMQ, OMQ_CODEC, PATIENCE, Path, Transport, await_ready, describe, options};
use sealwire::SocketType;
use sealwire::blocking::Socket;

/// The peer crashes and is started again.
fn of_the_peer(path: Path) {
    if !path.program.is_there() {
        return;
    }
    let script = ["--type", "router", "--recv", "1"];
    let mut link = path.open(options(SocketType::Dealer).routing_id("we"), &script);
    for question in ["first", "second", "third"] {
        await_ready(&link.monitor);
        link.ours.send(question).unwrap();
        assert_eq!(link.ours.recv().unwrap().as_bytes(), question.as_bytes());
        let expected = [b"we", question.as_bytes()].map(describe);
        assert_eq!(link.peer.message(), expected);
        link.restart_peer();
    }

    let script = ["--type", "xpub", "--send", "1", "--topic", "a"];
    let mut link = path.open(options(SocketType::Sub), &script);
    link.ours.subscribe("a").unwrap();
    for _ in 0..2 {
        assert_eq!(link.ours.recv().unwrap().as_bytes()[0], b'a');
        assert_eq!(link.peer.message(), [describe(b"\x01a")]);
        link.restart_peer();
    }
}

/// Our socket is closed and another one binds to the same endpoint with the same keys.
fn of_ours(path: Path) {
    if !path.program.is_there() {
        return;
    }
    let script = ["--type", "sub", "--recv", "3", "--subscribe", "a"];
    let mut link = path.open(options(SocketType::XPub), &script);
    for message in ["a first", "a second", "a third"] {
        assert_eq!(link.ours.recv().unwrap().as_bytes(), b"\x01a");
        link.ours.send(message).unwrap();
        assert_eq!(link.peer.message(), [describe(message.as_bytes())]);
        let next = options(SocketType::XPub).security(link.security.clone());
        let next = next.build_blocking().unwrap();
        std::mem::replace(&mut link.ours, next).close().unwrap();
        bind_again(&link.ours, &link.endpoint);
    }
    link.peer.finish();
}

/// Binds to an endpoint that was just given up. While other tests start their peers, those hold
/// our listener for the moment between fork and exec.
fn bind_again(socket: &Socket, endpoint: &str) {
    let deadline = Instant::now() + PATIENCE;
    while let Err(error) = socket.bind(endpoint) {
        assert!(Instant::now() < deadline, "{error}");
        thread::yield_now();
    }
}

fn blake3(server: Side) -> Path {
    Path::blake3(OMQ, server, server)
}

#[test]
fn of_libzmq() {
    for transport in [Transport::Tcp, Transport::Ipc] {
        for binds in [Ours, Theirs] {
            of_the_peer(Path::null(LIBZMQ, transport, binds));
        }
    }
}

#[test]
fn of_libzmq_with_curve() {
    for [binds, server] in [
        [Ours, Ours],
        [Ours, Theirs],
        [Theirs, Ours],
        [Theirs, Theirs],
    ] {
        of_the_peer(Path::curve(LIBZMQ, binds, server));
    }
}

#[test]
fn of_omq() {
    for server in [Ours, Theirs] {
        of_the_peer(blake3(server));
    }
}

#[test]
fn of_the_codec() {
    for server in [Ours, Theirs] {
        of_the_peer(Path::blake3(OMQ_CODEC, server, server));
    }
}

#[test]
fn of_ours_with_libzmq() {
    for transport in [Transport::Tcp, Transport::Ipc] {
        of_ours(Path::null(LIBZMQ, transport, Ours));
    }
}

#[test]
fn of_ours_with_libzmq_and_curve() {
    for server in [Ours, Theirs] {
        of_ours(Path::curve(LIBZMQ, Ours, server));
    }
}

#[test]
fn of_ours_with_omq() {
    of_ours(blake3(Ours));
}
