//! zmq.rs (the crate `zeromq`) 0.7 as publisher and as subscriber: NULL over TCP.

use interop::Side::{Ours, Theirs};
use interop::{MULTIPART, PAIRINGS, Path, SINGLE_PARTS, Transport, ZMQ_RS};
use sealwire::SocketType;

/// Every pairing of a publisher with a subscriber.
fn publishing(path: Path) {
    if path.program.is_there() {
        let subscribers = [SocketType::Sub, SocketType::XSub];
        let publishing = PAIRINGS.iter().filter(|pairing| {
            [pairing.ours, pairing.theirs]
                .iter()
                .any(|kind| subscribers.contains(kind))
        });
        for pairing in publishing {
            path.exchange(*pairing, &SINGLE_PARTS);
            path.exchange(*pairing, &MULTIPART);
        }
    }
}

#[test]
fn zmq_rs_connects() {
    publishing(Path::null(ZMQ_RS, Transport::Tcp, Ours));
}

#[test]
fn zmq_rs_binds() {
    publishing(Path::null(ZMQ_RS, Transport::Tcp, Theirs));
}
