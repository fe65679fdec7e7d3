//! What `ws` and `wss` are both held to, over a connection that the caller makes.

use std::thread;

use sealwire::blocking::Socket;
use sealwire::{Mechanism, Message};

use super::{eventually, texts};

/// Two PAIRs send each other a message of several parts, and messages of all these sizes.
pub(crate) fn every_size_arrives(
    bound: &Socket,
    other: &Socket,
    sizes: &[u32],
    mechanism: Option<Mechanism>,
) {
    other.send(Message::multipart(["to", "you"])).unwrap();
    let message = bound.recv().unwrap();
    assert_eq!(texts(&message), ["to", "you"], "{mechanism:?}");
    assert_eq!(message.peer().unwrap().mechanism(), mechanism);
    for &size in sizes {
        let body: Vec<u8> = (0..size).map(|n| (n ^ n >> 8) as u8).collect();
        for (from, to) in [(bound, other), (other, bound)] {
            from.send(body.clone()).unwrap();
            let arrived = to.recv().unwrap().as_bytes() == body;
            assert!(arrived, "{mechanism:?} {size}");
        }
    }
}

/// A PUSH that closes sends what is queued first.
pub(crate) fn what_is_queued_leaves_first(pull: &Socket, push: Socket) {
    for number in 0..900 {
        push.send(vec![number as u8; 5_000]).unwrap();
    }
    let closing = thread::spawn(move || push.close());
    for number in 0..900 {
        assert_eq!(pull.recv().unwrap().as_bytes(), vec![number as u8; 5_000]);
    }
    closing.join().unwrap().unwrap();
    eventually("the peer is gone", || pull.peers().is_empty());
}
