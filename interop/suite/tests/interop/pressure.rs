//! A libzmq peer that is stopped reads no more: what must be dropped is dropped and counted, what
//! must wait waits, and what was accepted arrives when the peer goes on.

use std::thread;
use std::time::{Duration, Instant};

use interop::Side::{self, Ours, Theirs};
use interop::{
    LIBZMQ, Link, Own, Path, Peer, Protection, SEALWIRE, TIMEOUT, await_ready, eventually, options,
};
use sealwire::{Error, Message, SocketBuilder, SocketType};
use serde_json::Value;

/// Messages that may wait for each peer.
const MARK: usize = 10;
/// Bytes of a message: the system's buffers hold a few dozen of them.
const BODY: usize = 16 << 10;
/// Bytes that the system is asked to hold in each direction.
const BUFFER: &str = "65536";
/// How long a sender waits before this counts as waiting; it may be found waiting several times.
const BLOCKED: Duration = Duration::from_millis(200);

fn path(binds: Side, protection: Protection) -> Path {
    Path::tcp(LIBZMQ, binds, protection)
}

/// Reads for ever, and holds little itself.
fn reader(socket_type: &str) -> Vec<&str> {
    let mark = ["--high-water-mark", "10", "--receive-buffer", BUFFER];
    let script = [
        "--type",
        socket_type,
        "--identity",
        "reader",
        "--recv",
        "1000000",
    ];
    [&script[..], &mark].concat()
}

fn sender(socket_type: SocketType) -> SocketBuilder {
    options(socket_type)
        .send_high_water_mark(MARK)
        .send_buffer(BUFFER.parse().unwrap())
}

/// A number, and enough to fill a buffer.
fn numbered(number: u32) -> Message {
    Message::multipart([number.to_be_bytes().to_vec(), vec![7; BODY]])
}

/// The number of a message that a peer reported.
fn number(message: &[Value]) -> u32 {
    assert_eq!(message[1]["length"], BODY);
    u32::from_str_radix(message[0]["hex"].as_str().unwrap(), 16).unwrap()
}

fn to(routing_id: &'static str, mut message: Message) -> Message {
    message.push_front(routing_id);
    message
}

/// Sends until some were dropped and as many wait as may; gives the numbers that were accepted.
fn overflow(link: &Link, mut send: impl FnMut(u32)) -> Vec<u32> {
    let deadline = Instant::now() + TIMEOUT;
    let mut accepted = Vec::new();
    // Messages handed to the connection are counted after they were taken off the queue, so this is
    // never less than what waits.
    let waiting = |accepted: &[u32]| accepted.len() as u64 - link.ours.counters().messages_sent;
    for number in 0.. {
        let (dropped, most) = (link.ours.counters().dropped_at_send, waiting(&accepted));
        send(number);
        if link.ours.counters().dropped_at_send == dropped {
            accepted.push(number);
        } else {
            assert!(
                most >= MARK as u64,
                "{number} was dropped with {most} waiting"
            );
        }
        let (dropped, waits) = (link.ours.counters().dropped_at_send, waiting(&accepted));
        if dropped >= 50 && waits == MARK as u64 {
            return accepted;
        }
        assert!(Instant::now() < deadline, "{waits} wait, {dropped} dropped");
    }
    unreachable!("numbers do not end")
}

/// Lets the peer go on, which must then get what was accepted, and what is sent last.
fn catches_up(link: &mut Link, accepted: &[u32], send: impl Fn(u32)) {
    link.peer.signal("CONT");
    eventually("the queue is empty", || {
        link.ours.counters().messages_sent == accepted.len() as u64
    });
    send(u32::MAX);
    for expected in accepted.iter().chain([&u32::MAX]) {
        assert_eq!(number(&link.peer.message()), *expected);
    }
}

#[test]
fn a_subscriber_misses_what_its_queue_cannot_hold_and_delays_nobody() {
    if !LIBZMQ.is_there() {
        return;
    }
    for protection in [Protection::Null, Protection::Curve { server: Ours }] {
        let sides = protection.sides();
        let mut quick: Vec<_> = reader("sub").into_iter().map(String::from).collect();
        quick.extend(sides.theirs.clone());
        let ours = sender(SocketType::XPub).xpub_verbose(true);
        let mut link = path(Ours, protection).open_with(ours, &reader("sub"), sides);
        assert_eq!(link.ours.recv().unwrap().as_bytes(), b"\x01");
        link.peer.signal("STOP");
        quick.extend(["--connect".into(), link.endpoint.clone()]);
        let mut quick = Peer::start(LIBZMQ, quick);
        assert_eq!(link.ours.recv().unwrap().as_bytes(), b"\x01");

        // Each message counts once for each of the two.
        let deadline = Instant::now() + TIMEOUT;
        let mut accepted = Vec::new();
        for sent in 0.. {
            let dropped = link.ours.counters().dropped_at_send;
            link.ours.send(numbered(sent)).unwrap();
            assert_eq!(number(&quick.message()), sent, "the quick one gets all");
            if link.ours.counters().dropped_at_send == dropped {
                accepted.push(sent);
            }
            let taken = link.ours.counters().messages_sent - u64::from(sent) - 1;
            let waits = accepted.len() as u64 - taken;
            if dropped >= 50 && waits == MARK as u64 {
                break;
            }
            assert!(Instant::now() < deadline, "{waits} wait, {dropped} dropped");
        }
        link.peer.signal("CONT");
        for expected in accepted {
            assert_eq!(number(&link.peer.message()), expected, "{protection:?}");
        }
    }
}

#[test]
fn a_router_drops_or_waits_as_it_was_told() {
    if !LIBZMQ.is_there() {
        return;
    }
    let script = [&reader("dealer")[..], &["--send", "1"]].concat();
    for mandatory in [false, true] {
        let ours = sender(SocketType::Router).router_mandatory(mandatory);
        let mut link = path(Ours, Protection::Null).open(ours, &script);
        assert_eq!(link.ours.recv().unwrap().frames()[0].as_slice(), b"reader");
        link.peer.signal("STOP");
        let send = |link: &Link, number| link.ours.send(to("reader", numbered(number)));
        if mandatory {
            let waiting = blocked(&link, |number| to("reader", numbered(number)));
            all_arrive(link, waiting, |number| to("reader", numbered(number)));
        } else {
            let accepted = overflow(&link, |number| send(&link, number).unwrap());
            let ours = link.ours.clone();
            catches_up(&mut link, &accepted, |number| {
                ours.send(to("reader", numbered(number))).unwrap();
            });
        }
    }
}

/// Sends until nothing more is accepted; gives how many were.
fn blocked(link: &Link, message: impl Fn(u32) -> Message) -> u32 {
    let deadline = Instant::now() + TIMEOUT;
    let (mut accepted, mut quiet) = (0, 0);
    while quiet < 3 {
        let waits = |accepted: u32| u64::from(accepted) - link.ours.counters().messages_sent;
        match link.ours.send_timeout(message(accepted), BLOCKED) {
            Ok(()) => (accepted, quiet) = (accepted + 1, 0),
            Err(error) => {
                assert!(matches!(error.error(), Error::TimedOut { .. }), "{error}");
                // A machine that stalls may look like this once, with more to be taken.
                quiet += usize::from(waits(accepted) == MARK as u64);
            }
        }
        let waits = waits(accepted);
        assert!(
            Instant::now() < deadline,
            "{accepted} accepted, {waits} wait"
        );
    }
    accepted
}

/// A sender that waits goes on with the peer, and everything arrives in order.
fn all_arrive(mut link: Link, accepted: u32, message: impl Fn(u32) -> Message) {
    let (ours, last) = (link.ours.clone(), message(accepted));
    let waiting = thread::spawn(move || ours.send(last).unwrap());
    link.peer.signal("CONT");
    for expected in 0..=accepted {
        assert_eq!(number(&link.peer.message()), expected);
    }
    waiting.join().unwrap();
    let counters = link.ours.counters();
    assert_eq!((counters.dropped_at_send, counters.dropped_unsent), (0, 0));
}

fn protections() -> [(Side, Protection); 4] {
    [
        (Ours, Protection::Null),
        (Theirs, Protection::Null),
        (Ours, Protection::Curve { server: Ours }),
        (Theirs, Protection::Curve { server: Theirs }),
    ]
}

#[test]
fn push_waits_for_a_peer_that_is_stopped_and_loses_nothing() {
    if !LIBZMQ.is_there() {
        return;
    }
    for (binds, protection) in protections() {
        let link = path(binds, protection).open(sender(SocketType::Push), &reader("pull"));
        await_ready(&link.monitor);
        link.peer.signal("STOP");
        let accepted = blocked(&link, numbered);
        all_arrive(link, accepted, numbered);
    }
}

#[test]
fn what_waited_for_a_peer_that_was_killed_goes_to_the_next() {
    if !LIBZMQ.is_there() {
        return;
    }
    for (binds, protection) in protections() {
        let mut link = path(binds, protection).open(sender(SocketType::Push), &reader("pull"));
        await_ready(&link.monitor);
        link.peer.signal("STOP");
        let accepted = blocked(&link, numbered);
        // Messages handed to the connection are lost with it.
        let lost = u32::try_from(link.ours.counters().messages_sent).unwrap();
        link.restart_peer();
        link.ours.send(numbered(accepted)).unwrap();
        for expected in lost..=accepted {
            assert_eq!(number(&link.peer.message()), expected, "{protection:?}");
        }
        assert_eq!(accepted - lost, MARK as u32);
        let counters = link.ours.counters();
        assert_eq!(counters.dropped_at_send, 0);
        // Of those that were lost, what the system had not taken yet is known.
        assert!(counters.dropped_unsent <= u64::from(lost), "{counters:?}");
        assert_eq!(counters.messages_sent, u64::from(accepted) + 1);
    }
}

#[test]
fn libzmq_waits_for_our_program_while_it_is_stopped() {
    if !LIBZMQ.is_there() || !SEALWIRE.is_there() {
        return;
    }
    let bind = ["pull", "--bind", "tcp://127.0.0.1:0"];
    let ours = Own::start(&bind);
    let endpoint = ours.event("listening")["endpoint"].clone();
    ours.signal("STOP");
    // More than two systems' buffers hold.
    let script = [
        "--send",
        "200",
        "--size",
        "150000",
        "--high-water-mark",
        "10",
    ];
    let script = [
        &["--type", "push", "--connect", endpoint.as_str().unwrap()],
        &script[..],
    ];
    let script = script.concat().into_iter().map(String::from).collect();
    let mut push = Peer::start(LIBZMQ, script);
    push.event("ready");
    assert!(!push.prints("done", BLOCKED), "it cannot have sent all");
    ours.signal("CONT");
    for index in 0..200 {
        let message = ours.message();
        let text = message["frames"][0]["hex"].as_str().unwrap();
        let start = 13 * index;
        let expected: Vec<u8> = (start..start + 150_000).map(|n| (n % 251) as u8).collect();
        assert!(text == hex::encode(expected), "message {index}");
    }
    push.finish();
}
