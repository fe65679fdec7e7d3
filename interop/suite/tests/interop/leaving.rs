//! A worker that leaves libzmq's PUSH in good order: what libzmq had given to the system arrives. What becomes of the
//! rest depends on which side was bound.

use interop::Side::{Ours, Theirs};
use interop::{LIBZMQ, Link, Path, Peer, Shape, Side, TIMEOUT, Transport, options};
use sealwire::blocking::Socket;
use sealwire::{Error, SocketType};

const MESSAGES: usize = 500;
const SHAPE: Shape = Shape {
    parts: 1,
    // No two messages are alike.
    sizes: &[20_000, 20_001, 20_002],
};

/// The numbers of the messages until the socket is drained, and how many connections were cut off.
fn drain(pull: &Socket) -> (Vec<usize>, usize) {
    // Longer than either side takes to end a connection.
    pull.drain(TIMEOUT).unwrap();
    let mut received = Vec::new();
    loop {
        match pull.recv() {
            Ok(message) => received.push(number(&message)),
            Err(Error::Drained { cut_off }) => return (received, cut_off),
            Err(error) => panic!("{error}"),
        }
    }
}

/// The same for another worker of a peer that ends once it has sent what it has.
fn rest(next: &Socket, peer: Peer) -> (Vec<usize>, usize) {
    next.wait_connected(1).unwrap();
    peer.finish();
    drain(next)
}

/// A libzmq PUSH that sends, and the PULL that leaves it after some messages. Says how many came.
fn leave(binds: Side) -> (Link, usize) {
    let path = Path::null(LIBZMQ, Transport::Tcp, binds);
    let (count, size) = (MESSAGES.to_string(), SHAPE.sizes_argument());
    let script = ["--type", "push", "--send", &count, "--size", &size];
    let link = path.open(options(SocketType::Pull), &script);
    let mut received: Vec<_> = (0..15)
        .map(|_| number(&link.ours.recv().unwrap()))
        .collect();
    let (more, cut_off) = drain(&link.ours);
    received.extend(more);
    assert!(cut_off <= 1, "{cut_off}");
    // Without a gap from the first on, and nothing twice.
    assert_eq!(received, Vec::from_iter(0..received.len()));
    (link, received.len())
}

/// The number of a message, which is whole.
fn number(message: &sealwire::Message) -> usize {
    let found = (0..MESSAGES).find(|&index| message.as_bytes() == SHAPE.message("", index)[0]);
    found.expect("a message as it was sent")
}

/// It takes the end of our half for the end of the connection, and what it had queued for this worker goes with that. A
/// message that it had begun is cut off, which we tell.
#[test]
fn libzmq_that_is_bound_drops_what_it_has_not_written() {
    if !LIBZMQ.is_there() {
        return;
    }
    let (link, received) = leave(Theirs);
    let next = options(SocketType::Pull).build_blocking().unwrap();
    next.connect(link.endpoint.as_str()).unwrap();
    let (more, _) = rest(&next, link.peer);
    assert_eq!(more, []);
    assert!(received < MESSAGES, "all of it was with the system");
}

/// The same, but it connects again, and what it had queued waits for that.
#[test]
fn libzmq_that_connects_keeps_what_it_has_not_written_for_the_endpoint() {
    if !LIBZMQ.is_there() {
        return;
    }
    let (link, received) = leave(Ours);
    let next = options(SocketType::Pull).build_blocking().unwrap();
    next.bind(link.endpoint.as_str()).unwrap();
    let (more, cut_off) = rest(&next, link.peer);
    // But for those that it had encoded.
    let lost = more[0] - received;
    assert!(lost < 10, "{lost}");
    assert_eq!(more, Vec::from_iter(received + lost..MESSAGES));
    assert_eq!(cut_off, 0);
}
