//! Heartbeats in both directions, plain and sealed: a quiet connection lives, a silent peer is
//! noticed.

use std::time::{Duration, Instant};

use interop::Side::{Ours, Theirs};
use interop::{
    LIBZMQ, Link, OMQ, OMQ_CODEC, PYZMQ, Path, Transport, await_failure, await_ready, options,
};
use sealwire::{Event, FailureCause, ProtocolError, SocketBuilder, SocketType};

/// Time between PINGs.
const INTERVAL: Duration = Duration::from_millis(50);
/// Silence after which we give a peer up.
const TIMEOUT: Duration = Duration::from_millis(500);
/// Longer than any of the sides stands silence.
const QUIET: Duration = Duration::from_millis(1_200);

fn beating(socket_type: SocketType) -> SocketBuilder {
    options(socket_type).heartbeat(INTERVAL, TIMEOUT, TIMEOUT)
}

/// After a time without messages the connection is the same and carries a message there and back.
fn stays_alive(mut link: Link) {
    await_ready(&link.monitor);
    let end = Instant::now() + QUIET;
    while let Some(event) = link.monitor.wait_next_for(end - Instant::now()) {
        assert!(matches!(event, Event::Warning { .. }), "{event}");
    }
    link.ours.send("still there?").unwrap();
    assert_eq!(link.ours.recv().unwrap().as_bytes(), b"still there?");
    assert_eq!(link.ours.counters().handshakes_completed, 1);
    link.peer.event("done");
}

fn paths() -> Vec<Path> {
    let mut paths = Vec::new();
    for side in [Ours, Theirs] {
        paths.push(Path::null(LIBZMQ, Transport::Tcp, side));
        paths.push(Path::null(PYZMQ, Transport::Ipc, side));
        paths.push(Path::curve(LIBZMQ, side, side));
        paths.push(Path::curve(PYZMQ, side, side));
        paths.push(Path::blake3(OMQ, side, side));
        paths.push(Path::blake3(OMQ_CODEC, side, side));
    }
    paths.retain(|path| path.program.is_there());
    paths
}

#[test]
fn of_peers_are_answered() {
    // libzmq gives a peer up when nothing comes within one interval after its PING.
    let script = [
        "--type",
        "pair",
        "--recv",
        "1",
        "--echo",
        "--heartbeat-ms",
        "100",
    ];
    for path in paths() {
        stays_alive(path.open(options(SocketType::Pair), &script));
    }
}

#[test]
fn of_ours_are_answered() {
    let script = ["--type", "pair", "--recv", "1", "--echo"];
    for path in paths() {
        stays_alive(path.open(beating(SocketType::Pair), &script));
    }
}

#[test]
fn a_peer_that_hangs_is_given_up_and_found_again() {
    let script = ["--type", "router", "--recv", "1"];
    for path in paths() {
        // The codec's program ends with its connection.
        if path.program == OMQ_CODEC {
            continue;
        }
        let mut link = path.open(beating(SocketType::Dealer), &script);
        await_ready(&link.monitor);
        link.peer.signal("STOP");
        let failure = await_failure(&link.monitor);
        let silent = FailureCause::Protocol(ProtocolError::HeartbeatTimeout);
        assert_eq!(failure.cause().to_string(), silent.to_string());
        assert!(failure.was_ready());
        link.peer.signal("CONT");
        link.ours.send("awake?").unwrap();
        assert_eq!(link.ours.recv().unwrap().as_bytes(), b"awake?");
        link.peer.event("done");
    }
}
