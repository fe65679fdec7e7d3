//! Workers that leave: ours leaves libzmq's PUSH by `drain`, and libzmq's leaves ours by closing. How many messages
//! each has then depends on the system's buffers; that none comes twice or out of order does not.
//!
//! Senders that leave a worker by `disconnect`: it gets what was sent before, and the next all that is sent after.

use std::collections::HashMap;

use interop::Side::{self, Ours, Theirs};
use interop::{LIBZMQ, Link, Path, Peer, Shape, TIMEOUT, Transport, describe, eventually, options};
use sealwire::blocking::Socket;
use sealwire::{Error, Message, SocketType};
use serde_json::Value;

const MESSAGES: usize = 500;
/// No two of the messages are alike.
const SHAPE: Shape = Shape {
    parts: 1,
    sizes: &[20_000, 20_001, 20_002],
};
/// Received before a worker leaves.
const BEFORE: usize = 15;
/// Bytes that the system is asked to hold for a worker of ours, far less than all messages.
const HELD: usize = 16_000;

fn body(index: usize) -> Vec<u8> {
    SHAPE.message("", index).remove(0)
}

/// The number of a message, which is whole.
fn number(message: &Message) -> usize {
    let bytes = message.as_bytes();
    let alike = |index: &usize| {
        bytes.len() == SHAPE.sizes[index % 3] && usize::from(bytes[0]) == 13 * index % 251
    };
    let index = (0..MESSAGES).find(alike).expect("one of the messages");
    assert!(bytes == body(index), "message {index} as it was sent");
    index
}

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

/// A libzmq PUSH that sends, and our PULL, which leaves it after some messages. Returns how many those are that came: the first,
/// without a gap.
fn leave(binds: Side) -> (Link, usize) {
    let path = Path::null(LIBZMQ, Transport::Tcp, binds);
    let (count, sizes) = (MESSAGES.to_string(), SHAPE.sizes_argument());
    let script = ["--type", "push", "--send", &count, "--size", &sizes];
    let pull = options(SocketType::Pull)
        .receive_buffer(HELD)
        .receive_high_water_mark(10);
    let link = path.open(pull, &script);
    let before = (0..BEFORE).map(|_| number(&link.ours.recv().unwrap()));
    let mut received: Vec<_> = before.collect();
    let (more, cut_off) = drain(&link.ours);
    received.extend(more);
    assert_eq!(received, Vec::from_iter(0..received.len()));
    // Only within a message.
    assert!(
        cut_off == 0 || cut_off == 1 && received.len() < MESSAGES,
        "{cut_off}"
    );
    let counters = link.ours.counters();
    let counted = (counters.messages_received, counters.dropped_unread);
    assert_eq!(counted, (received.len() as u64, 0));
    (link, received.len())
}

/// What the next worker gets of a peer that ends once it has sent what it has: the last messages, without a gap.
/// Returns the number of the first.
fn rest(next: &Socket, peer: Peer) -> usize {
    next.wait_connected(1).unwrap();
    peer.finish();
    let (received, cut_off) = drain(next);
    let first = MESSAGES - received.len();
    assert_eq!(received, Vec::from_iter(first..MESSAGES));
    assert_eq!(cut_off, 0);
    first
}

/// What it had queued for the worker is gone. What its program had not sent goes to the next.
#[test]
fn a_worker_leaves_libzmq_that_is_bound_with_what_came() {
    if !LIBZMQ.is_there() {
        return;
    }
    let (link, received) = leave(Theirs);
    let next = options(SocketType::Pull).build_blocking().unwrap();
    next.connect(link.endpoint.as_str()).unwrap();
    let first = rest(&next, link.peer);
    assert!(first >= received, "{first} of {received} again");
}

/// What it had queued waits for the next worker at the endpoint, but for what it had encoded: at most the end of a message and the
/// beginning of another, as each has more bytes than its batch (8,192).
#[test]
fn a_worker_leaves_libzmq_that_connects_and_the_next_gets_the_rest() {
    if !LIBZMQ.is_there() {
        return;
    }
    let (link, received) = leave(Ours);
    let next = options(SocketType::Pull).build_blocking().unwrap();
    next.bind(link.endpoint.as_str()).unwrap();
    let first = rest(&next, link.peer);
    assert!(
        (received..=received + 2).contains(&first),
        "{received} came, then those from {first} on"
    );
}

/// It takes with it what it was sent and has not read. What waits here for it goes to the other.
#[test]
fn a_worker_of_libzmq_that_leaves_keeps_nothing_that_waited_here() {
    if !LIBZMQ.is_there() {
        return;
    }
    let numbers: HashMap<_, _> = (0..=MESSAGES)
        .map(|index| (describe(&body(index)).to_string(), index))
        .collect();
    let number = |parts: Vec<Value>| numbers[&parts[0].to_string()];
    let push = options(SocketType::Push)
        .send_buffer(HELD)
        .build_blocking()
        .unwrap();
    let endpoint = push.bind("tcp://127.0.0.1:0").unwrap().to_string();
    let worker = |count: &str| {
        let arguments = ["--type", "pull", "--connect", &endpoint, "--recv", count];
        let held = ["--high-water-mark", "10", "--receive-buffer", "16000"];
        let arguments = arguments.iter().chain(&held);
        Peer::start(LIBZMQ, arguments.map(|word| String::from(*word)).collect())
    };
    let (mut leaving, mut staying) = (worker(&BEFORE.to_string()), worker("1000000"));
    push.wait_connected(2).unwrap();
    for index in 0..MESSAGES {
        push.send(body(index)).unwrap();
    }
    let mut received: Vec<_> = (0..BEFORE).map(|_| number(leaving.message())).collect();
    assert!(received.is_sorted(), "{received:?}");
    leaving.finish();
    eventually("it has left", || push.peers().len() == 1);
    push.send(body(MESSAGES)).unwrap();
    while received.last() != Some(&MESSAGES) {
        received.push(number(staying.message()));
    }
    // Each was handed to one connection.
    let counters = push.counters();
    assert_eq!(counters.messages_sent, MESSAGES as u64 + 1);
    let lost = MESSAGES + 1 - received.len();
    assert!(counters.dropped_unsent <= lost as u64, "{counters:?}");
    received.sort_unstable();
    assert!(received.is_sorted_by(|a, b| a < b), "{received:?}");
}

/// Messages of a sender that leaves its first worker for another after half of them.
const SENT: usize = 100;

/// What the workers of a socket type and mechanism get of a libzmq sender that leaves the first.
fn left_by_theirs(sends: &str, receives: SocketType) -> [Vec<usize>; 2] {
    let workers = [(); 2].map(|()| options(receives).build_blocking().unwrap());
    let endpoints = workers.each_ref().map(|worker| {
        let bound = worker.bind("tcp://127.0.0.1:0").unwrap();
        bound.to_string()
    });
    let (count, sizes) = (SENT.to_string(), SHAPE.sizes_argument());
    let [left, next] = &endpoints;
    let arguments = ["--type", sends, "--connect", left, "--next", next];
    let script = ["--send", &count, "--size", &sizes];
    let arguments = arguments.iter().chain(&script);
    let peer = Peer::start(LIBZMQ, arguments.map(|word| String::from(*word)).collect());
    // It stays until all has arrived: half for each, or not.
    let [mut first, mut second] = [Vec::new(), Vec::new()];
    eventually("all have come", || {
        for (worker, received) in workers.iter().zip([&mut first, &mut second]) {
            received.extend(std::iter::from_fn(|| worker.try_recv().ok()).map(|it| number(&it)));
        }
        first.len() + second.len() == SENT
    });
    peer.finish();
    [first, second]
}

/// What libzmq's workers get of a sender of ours that does the same.
fn left_by_ours(sends: SocketType, receives: &str) -> [Vec<usize>; 2] {
    let numbers: HashMap<_, _> = (0..SENT)
        .map(|index| (describe(&body(index)).to_string(), index))
        .collect();
    let half = (SENT / 2).to_string();
    let mut workers = [(); 2].map(|()| {
        let script = ["--bind", "tcp://127.0.0.1:*", "--recv", &half];
        let arguments = ["--type", receives].into_iter().chain(script);
        Peer::start(LIBZMQ, arguments.map(String::from).collect())
    });
    let [left, next] = workers.each_mut().map(Peer::endpoint);
    let socket = options(sends).build_blocking().unwrap();
    socket.connect(&*left).unwrap();
    socket.wait_connected(1).unwrap();
    for index in 0..SENT {
        if index == SENT / 2 {
            socket.disconnect(&*left).unwrap();
            socket.connect(&*next).unwrap();
        }
        socket.send(body(index)).unwrap();
    }
    let received = workers.each_mut().map(|worker| {
        let parts = (0..SENT / 2).map(|_| worker.message());
        parts.map(|parts| numbers[&parts[0].to_string()]).collect()
    });
    workers.into_iter().for_each(Peer::finish);
    received
}

/// The same on both sides. Not PAIR: libzmq's takes no other peer before the connection that it has left has ended.
#[test]
fn what_is_sent_after_disconnecting_goes_to_the_next_worker() {
    if !LIBZMQ.is_there() {
        return;
    }
    let expected = [Vec::from_iter(0..SENT / 2), Vec::from_iter(SENT / 2..SENT)];
    for (sends, receives) in [
        (SocketType::Push, SocketType::Pull),
        (SocketType::Dealer, SocketType::Dealer),
    ] {
        let names = [sends, receives].map(|it| it.to_string().to_lowercase());
        let [sends_name, receives_name] = &names;
        assert_eq!(left_by_theirs(sends_name, receives), expected, "{names:?}");
        assert_eq!(left_by_ours(sends, receives_name), expected, "{names:?}");
    }
}
