//! Subscriptions as the publisher sees them, one by one. That they work, cancellations by
//! subscribers included, is part of every pairing.

use interop::Side::{Ours, Theirs};
use interop::{LIBZMQ, OMQ, OMQ_CODEC, Path, Transport, ZMQ_RS, await_ready, describe, options};
use sealwire::SocketType;

/// A peer's XPUB sees each topic once when it is wanted first, and once when it no longer is.
fn are_seen_by_a_peer(path: Path) {
    if !path.program.is_there() {
        return;
    }
    for kind in [SocketType::Sub, SocketType::XSub] {
        let mut link = path.open(options(kind), &["--type", "xpub", "--recv", "5"]);
        let mut sees = |expected: &[u8]| assert_eq!(link.peer.message(), [describe(expected)]);
        link.ours.subscribe("early").unwrap();
        await_ready(&link.monitor);
        sees(b"\x01early");
        link.ours.subscribe("late").unwrap();
        // The second of two subscriptions to the same topic is our own affair.
        link.ours.subscribe("late").unwrap();
        sees(b"\x01late");
        link.ours.unsubscribe("late").unwrap();
        link.ours.unsubscribe("early").unwrap();
        sees(b"\0early");
        link.ours.subscribe("").unwrap();
        sees(b"\x01");
        link.ours.unsubscribe("late").unwrap();
        sees(b"\0late");
        link.peer.finish();
    }
}

#[test]
fn libzmq_sees_our_subscriptions() {
    for binds in [Ours, Theirs] {
        are_seen_by_a_peer(Path::null(LIBZMQ, Transport::Tcp, binds));
    }
}

#[test]
fn zmq_rs_sees_our_subscriptions() {
    for binds in [Ours, Theirs] {
        are_seen_by_a_peer(Path::null(ZMQ_RS, Transport::Tcp, binds));
    }
}

#[test]
fn omq_sees_our_subscriptions() {
    for server in [Ours, Theirs] {
        are_seen_by_a_peer(Path::blake3(OMQ, server, server));
        are_seen_by_a_peer(Path::blake3(OMQ_CODEC, server, server));
    }
}
