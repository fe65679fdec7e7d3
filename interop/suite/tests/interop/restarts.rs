//! Either side goes away and comes back in the same place: messages flow again, and subscriptions
//! need not be repeated by hand.

use std::thread;
use std::time::{Duration, Instant};

use interop::Side::{self, Ours, Theirs};
use interop::{
    LIBZMQ, OMQ, OMQ_CODEC, Path, TIMEOUT, Transport, await_ready, describe, eventually, is_sync,
    options, sync,
};
use sealwire::blocking::Socket;
use sealwire::{Error, Message, SocketType};

/// Time between two of the messages by which a publisher finds its subscribers.
const SYNC_PERIOD: Duration = Duration::from_millis(10);

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

/// The same for a publisher that hides subscriptions: that ours were sent again shows in what comes.
fn of_a_publisher(path: Path) {
    if !path.program.is_there() {
        return;
    }
    for kind in [SocketType::Sub, SocketType::XSub] {
        let script = ["--type", "pub", "--send", "1", "--topic", "a."];
        let mut link = path.open(options(kind), &script);
        link.ours.subscribe("a.").unwrap();
        for _ in 0..3 {
            // Once it was told to begin, its last message follows, so nothing of it is left behind.
            let mut message = link.ours.recv().unwrap();
            while is_sync(message.frames()) {
                link.peer.tell();
                message = link.ours.recv().unwrap();
            }
            assert_eq!(message.as_bytes()[..2], *b"a.");
            link.peer.event("done");
            link.restart_peer();
        }
        assert_eq!(link.ours.counters().dropped_at_receive, 0);
    }
}

/// A subscriber crashes: its subscriptions go with it, and those of the next one count.
fn of_a_subscriber(path: Path) {
    if !path.program.is_there() {
        return;
    }
    for kind in ["sub", "xsub"] {
        let script = ["--type", kind, "--recv", "1", "--subscribe", "a."];
        let mut link = path.open(options(SocketType::Pub), &script);
        for round in ["a. first", "a. second", "a. third"] {
            while !link.peer.prints("synced", SYNC_PERIOD) {
                link.ours.send("b. not asked for").unwrap();
                link.ours.send(sync("a.")).unwrap();
            }
            link.ours.send(round).unwrap();
            assert_eq!(link.peer.message(), [describe(round.as_bytes())]);
            link.restart_peer();
        }
    }
}

/// The client crashes and asks again; the server crashes with a request, which is reported.
fn of_a_request(path: Path) {
    if !path.program.is_there() {
        return;
    }
    let mut link = path.open(options(SocketType::Rep), &["--type", "req", "--send", "1"]);
    for _ in 0..3 {
        let request = link.ours.recv().unwrap();
        link.ours
            .send(Message::from(request.into_frames()))
            .unwrap();
        link.peer.event("done");
        link.restart_peer();
    }

    let mut link = path.open(
        options(SocketType::Req),
        &["--type", "rep", "--recv", "100"],
    );
    for (round, text) in [(1, "first"), (2, "second")] {
        await_ready(&link.monitor);
        link.ours.send(text).unwrap();
        assert_eq!(link.ours.recv().unwrap().as_bytes(), text.as_bytes());
        link.peer.signal("STOP");
        link.ours.send("nobody reads this").unwrap();
        eventually("it is on its way", || {
            link.ours.counters().messages_sent == 2 * round
        });
        link.restart_peer();
        assert!(matches!(link.ours.recv(), Err(Error::RequestLost)));
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
    let deadline = Instant::now() + TIMEOUT;
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

/// Every way to reach libzmq in which either may be bound.
fn ways() -> Vec<Path> {
    let mut ways = Vec::new();
    for binds in [Ours, Theirs] {
        for transport in [Transport::Tcp, Transport::Ipc] {
            ways.push(Path::null(LIBZMQ, transport, binds));
        }
        for server in [Ours, Theirs] {
            ways.push(Path::plain(LIBZMQ, binds, server));
            ways.push(Path::curve(LIBZMQ, binds, server));
        }
    }
    ways
}

#[test]
fn of_libzmqs_publisher() {
    ways().into_iter().for_each(of_a_publisher);
}

#[test]
fn of_libzmqs_subscriber() {
    ways().into_iter().for_each(of_a_subscriber);
}

#[test]
fn of_libzmqs_req_and_rep() {
    ways().into_iter().for_each(of_a_request);
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
