//! Subscribers that subscribe to a topic twice and leave it twice: each of them says so in its own
//! way, and none may stay subscribed.

use interop::Side::{Ours, Theirs};
use interop::{LIBZMQ, OMQ, OMQ_CODEC, PYZMQ, Path, Transport, ZMQ_RS, await_ready, options};
use sealwire::SocketType;

fn end_with_the_last_cancellation(path: Path, kinds: &[&str]) {
    if !path.program.is_there() {
        return;
    }
    for kind in kinds {
        let script = ["--type", kind, "--subscribe", "A", "--subscribe", "A"];
        let script = [&script[..], &["--recv", "1", "--cancel"]].concat();
        let link = path.open(options(SocketType::XPub), &script);
        await_ready(&link.monitor);
        assert_eq!(link.ours.recv().unwrap().as_bytes(), b"\x01A");
        link.ours.send("A message").unwrap();
        assert_eq!(link.ours.recv().unwrap().as_bytes(), b"\0A", "{kind}");
        // It was a cancellation: the peer is still there until it is told to end.
        assert_eq!(link.ours.peers().len(), 1, "{kind}");
        link.peer.finish();
    }
}

#[test]
fn libzmq_leaves_what_it_subscribed_to_twice() {
    for binds in [Ours, Theirs] {
        for program in [LIBZMQ, PYZMQ] {
            let path = Path::null(program, Transport::Tcp, binds);
            end_with_the_last_cancellation(path, &["sub", "xsub"]);
        }
    }
}

#[test]
fn libzmq_leaves_it_under_curve() {
    for program in [LIBZMQ, PYZMQ] {
        end_with_the_last_cancellation(Path::curve(program, Ours, Ours), &["sub"]);
    }
}

/// It sends each subscription and each cancellation, and to a peer that comes later each topic once.
#[test]
fn zmq_rs_leaves_what_it_subscribed_to_twice() {
    for binds in [Ours, Theirs] {
        let path = Path::null(ZMQ_RS, Transport::Tcp, binds);
        end_with_the_last_cancellation(path, &["sub", "xsub"]);
    }
}

#[test]
fn omq_leaves_what_it_subscribed_to_twice() {
    for program in [OMQ, OMQ_CODEC] {
        end_with_the_last_cancellation(Path::blake3(program, Ours, Ours), &["sub", "xsub"]);
    }
}
