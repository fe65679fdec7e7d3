//! Heartbeats in both directions, plain and sealed: a quiet connection lives, a silent peer is
//! noticed.

use std::thread;
use std::time::{Duration, Instant};

use interop::Side::{Ours, Theirs};
use interop::{
    LIBZMQ, Link, OMQ, OMQ_CODEC, Own, PYZMQ, Path, Peer, SEALWIRE, TIMEOUT, Transport,
    await_failure, await_ready, describe, options,
};
use sealwire::{Event, FailureCause, ProtocolError, SocketBuilder, SocketType};

/// Time between PINGs.
const INTERVAL: Duration = Duration::from_millis(50);
/// Silence after which we give a peer up.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_millis(500);
/// Longer than any of the sides stands silence.
const QUIET: Duration = Duration::from_millis(1_200);

fn beating(socket_type: SocketType) -> SocketBuilder {
    options(socket_type)
        .heartbeat(INTERVAL)
        .heartbeat_timeout(HEARTBEAT_TIMEOUT)
}

/// Not given up by a machine that only stalls.
fn patient(socket_type: SocketType) -> SocketBuilder {
    options(socket_type)
        .heartbeat(INTERVAL)
        .heartbeat_timeout(4 * HEARTBEAT_TIMEOUT)
}

/// After a time without messages the connection is the same and carries a message there and back.
/// A machine that stalls may end one; that beats go unanswered ends each.
fn stays_alive(open: impl Fn() -> Link) {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let mut link = open();
        await_ready(&link.monitor);
        let end = Instant::now() + QUIET;
        let ended = loop {
            match link.monitor.wait_next_timeout(end - Instant::now()) {
                None => break None,
                Some(Event::Warning { .. }) => {}
                Some(event) => break Some(event),
            }
        };
        if let Some(event) = ended {
            assert!(Instant::now() < deadline, "{event}");
            continue;
        }
        link.ours.send("still there?").unwrap();
        assert_eq!(link.ours.recv().unwrap().as_bytes(), b"still there?");
        link.peer.event("done");
        return;
    }
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
        stays_alive(|| path.open(options(SocketType::Pair), &script));
    }
}

#[test]
fn of_ours_are_answered() {
    let script = ["--type", "pair", "--recv", "1", "--echo"];
    for path in paths() {
        stays_alive(|| path.open(beating(SocketType::Pair), &script));
    }
}

/// Its queue is full, so it reads no PING; it says by PONG that it is there, once a second. Every peer takes that.
#[test]
fn a_slow_worker_of_ours_keeps_its_connection() {
    // More than two systems' buffers hold.
    let script = ["--type", "push", "--send", "200", "--size", "150000"];
    let mut tried = Vec::new();
    for path in paths() {
        if tried.contains(&path.program) {
            continue;
        }
        tried.push(path.program);
        let mut link = path.open(
            options(SocketType::Pull).receive_high_water_mark(1),
            &script,
        );
        await_ready(&link.monitor);
        // It says so twice meanwhile, or less often where the machine is slow: nothing below depends on that.
        thread::sleep(Duration::from_millis(2_500));
        for index in 0..200 {
            let message = link.ours.recv().unwrap();
            assert_eq!(message.as_bytes().len(), 150_000, "{index}");
        }
        link.peer.event("done");
        assert_eq!(link.ours.counters().handshakes_completed, 1);
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
        is_given_up(&link);
        link.peer.signal("CONT");
        link.ours.send("awake?").unwrap();
        assert_eq!(link.ours.recv().unwrap().as_bytes(), b"awake?");
        link.peer.event("done");
    }
}

/// A subscriber that was given up comes back with its subscription, to the same publisher; and a
/// publisher hears ours again.
#[test]
fn subscriptions_outlive_a_peer_that_hung() {
    for side in [Ours, Theirs] {
        for path in [
            Path::null(LIBZMQ, Transport::Tcp, side),
            Path::curve(LIBZMQ, side, side),
        ] {
            if !path.program.is_there() {
                return;
            }
            let script = ["--type", "sub", "--recv", "2", "--subscribe", "a."];
            let mut link = path.open(patient(SocketType::XPub), &script);
            for message in ["a. first", "a. second"] {
                assert_eq!(link.ours.recv().unwrap().as_bytes(), b"\x01a.");
                link.ours.send(message).unwrap();
                assert_eq!(link.peer.message(), [describe(message.as_bytes())]);
                if message == "a. first" {
                    is_given_up(&link);
                    assert_eq!(link.ours.recv().unwrap().as_bytes(), b"\0a.");
                    link.peer.signal("CONT");
                }
            }

            // This one goes on publishing.
            let script = ["--type", "pub", "--topic", "a."];
            let link = path.open(patient(SocketType::Sub), &script);
            link.ours.subscribe("a.").unwrap();
            for stops in [true, false] {
                let connection = await_ready(&link.monitor).connection();
                while link.ours.recv().unwrap().peer().unwrap().connection() != connection {}
                if stops {
                    is_given_up(&link);
                    link.peer.signal("CONT");
                }
            }
        }
    }
}

/// Stops the peer until our side has given it up.
fn is_given_up(link: &Link) {
    link.peer.signal("STOP");
    let failure = await_failure(&link.monitor);
    assert!(failure.was_ready(), "{failure}");
    let silent = FailureCause::Protocol(ProtocolError::HeartbeatTimeout);
    assert_eq!(failure.cause().to_string(), silent.to_string());
}

/// Our program is stopped: libzmq gives it up, and both find each other again.
#[test]
fn of_libzmq_notice_that_our_program_hangs() {
    if !LIBZMQ.is_there() || !SEALWIRE.is_there() {
        return;
    }
    let beats = ["--heartbeat-ms", "200", "--monitor"];
    let publisher = [&["--type", "pub", "--topic", "a."], &beats[..]].concat();
    let publisher = |place: [&str; 2]| {
        let script = [&publisher[..], &place].concat();
        let script = script.into_iter().map(String::from).collect();
        Peer::start(LIBZMQ, script)
    };
    for binds in [Ours, Theirs] {
        let (ours, mut theirs) = match binds {
            Ours => {
                let ours = Own::start(&["sub", "--bind", "tcp://127.0.0.1:0"]);
                let endpoint = ours.event("listening")["endpoint"].clone();
                let endpoint = endpoint.as_str().unwrap();
                let theirs = publisher(["--connect", endpoint]);
                (ours, theirs)
            }
            Theirs => {
                let mut theirs = publisher(["--bind", "tcp://127.0.0.1:0"]);
                let ours = Own::start(&["sub", "--connect", &theirs.endpoint()]);
                (ours, theirs)
            }
        };
        for round in 1..=2 {
            ours.event("ready");
            theirs.events("handshake", round);
            ours.message();
            ours.signal("STOP");
            theirs.events("disconnected", round);
            ours.signal("CONT");
        }
        theirs.events("handshake", 3);
        ours.event("ready");
    }
}
