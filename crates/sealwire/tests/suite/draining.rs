//! Workers that leave in good order: `drain`.

use std::future::Future as _;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

#[cfg(feature = "wss")]
use crate::support::authority::Authority;
use crate::support::{Path, TIMEOUT, block_on, eventually, options};
use sealwire::blocking::Socket;
use sealwire::{Endpoint, Error, Event, Operation, SocketBuilder, SocketType};

const MESSAGES: usize = 500;
const SIZE: usize = 2_000;
/// Bytes that the system is asked to hold for a connection; far less than all messages need.
const HELD: usize = 16_000;

fn message(number: usize) -> Vec<u8> {
    let mut message = vec![number as u8; SIZE];
    message[..8].copy_from_slice(&(number as u64).to_le_bytes());
    message
}

fn number(message: &sealwire::Message) -> usize {
    let number = message.as_bytes().first_chunk().expect("eight bytes");
    u64::from_le_bytes(*number) as usize
}

/// Everything that comes until the socket is drained, and how many connections were cut off.
fn rest(pull: &Socket) -> (Vec<usize>, usize) {
    let mut received = Vec::new();
    loop {
        match pull.recv() {
            Ok(message) => received.push(number(&message)),
            Err(Error::Drained { cut_off }) => return (received, cut_off),
            Err(error) => panic!("{error}"),
        }
    }
}

/// The messages that were not received so far come here, and none comes twice.
fn has_the_rest(pull: &Socket, mut received: Vec<usize>) {
    while received.len() < MESSAGES {
        received.push(number(&pull.recv().unwrap()));
    }
    received.sort_unstable();
    assert_eq!(received, Vec::from_iter(0..MESSAGES));
}

fn push(builder: SocketBuilder) -> Socket {
    builder.send_buffer(HELD).build_blocking().unwrap()
}

/// It holds little as well, so that much of what it is sent waits with the sender.
fn worker(builder: SocketBuilder, endpoint: &Endpoint) -> Socket {
    let worker = builder.receive_buffer(HELD).receive_high_water_mark(10);
    let worker = worker.build_blocking().unwrap();
    worker.connect(endpoint.clone()).unwrap();
    worker.wait_connected(1).unwrap();
    worker
}

#[test]
fn a_worker_that_leaves_and_the_one_that_stays_get_every_message() {
    for path in Path::all() {
        let (server, client) = (SocketType::Push, SocketType::Pull);
        leave(path.endpoint(), path.server(server), || path.client(client));
    }
}

#[cfg(feature = "wss")]
#[test]
fn over_tls_too() {
    let authority = Authority::new();
    let push = options(SocketType::Push).tls_identity(authority.identity());
    let pull = || options(SocketType::Pull).tls_trust(authority.trust());
    leave("wss://127.0.0.1:*/".into(), push, pull);
}

fn leave(endpoint: String, server: SocketBuilder, client: impl Fn() -> SocketBuilder) {
    println!("{endpoint}");
    let push = push(server);
    let endpoint = push.bind(endpoint).unwrap();
    let (leaving, staying) = (worker(client(), &endpoint), worker(client(), &endpoint));
    push.wait_connected(2).unwrap();
    let sender = push.clone();
    let sending = thread::spawn(move || {
        for number in 0..MESSAGES {
            sender.send(message(number)).unwrap();
        }
    });
    let mut received: Vec<_> = (0..15).map(|_| number(&leaving.recv().unwrap())).collect();
    leaving.drain(TIMEOUT).unwrap();
    let (more, cut_off) = rest(&leaving);
    assert_eq!(cut_off, 0);
    // Asked again it says so again.
    assert!(matches!(
        leaving.try_recv(),
        Err(Error::Drained { cut_off: 0 })
    ));
    received.extend(more);
    has_the_rest(&staying, received);
    sending.join().unwrap();
    assert_eq!(push.counters().dropped_unsent, 0);
}

/// The worker that leaves takes nothing meanwhile. It and the system hold less than 150 messages, with those that are framed.
#[test]
fn a_worker_that_leaves_slowly_keeps_no_message_from_others() {
    let path = Path::encrypted();
    let push = push(path.server(SocketType::Push));
    let endpoint = push.bind(path.endpoint()).unwrap();
    let client = || path.client(SocketType::Pull);
    let (leaving, staying) = (worker(client(), &endpoint), worker(client(), &endpoint));
    push.wait_connected(2).unwrap();
    for number in 0..MESSAGES {
        push.send(message(number)).unwrap();
    }
    leaving.drain(TIMEOUT).unwrap();
    eventually("the sender lets it go", || push.peers().len() == 1);
    // More than its half of them.
    let of_others = MESSAGES * 3 / 5;
    let mut received: Vec<_> = (0..of_others)
        .map(|_| number(&staying.recv().unwrap()))
        .collect();
    let (more, cut_off) = rest(&leaving);
    assert_eq!(cut_off, 0);
    received.extend(more);
    has_the_rest(&staying, received);
}

#[test]
fn a_sender_connects_again_before_the_last_messages_are_taken() {
    let path = Path::encrypted();
    let bound = || path.server(SocketType::Pull).receive_high_water_mark(10);
    let leaving = bound().receive_buffer(HELD).build_blocking().unwrap();
    let endpoint = leaving.bind(path.endpoint()).unwrap();
    let push = push(path.client(SocketType::Push));
    push.connect(endpoint.clone()).unwrap();
    for number in 0..MESSAGES {
        push.send(message(number)).unwrap();
    }
    let mut received = vec![number(&leaving.recv().unwrap())];
    leaving.drain(TIMEOUT).unwrap();
    let next = bound().build_blocking().unwrap();
    eventually("the endpoint is free", || {
        next.bind(endpoint.clone()).is_ok()
    });
    received.push(number(&next.recv().unwrap()));
    received.extend(rest(&leaving).0);
    has_the_rest(&next, received);
}

#[test]
fn a_thread_that_waits_learns_that_the_socket_was_drained() {
    for path in Path::all() {
        let (push, pull) = path.pair(SocketType::Push, SocketType::Pull);
        push.send(message(1)).unwrap();
        assert_eq!(number(&pull.recv().unwrap()), 1);
        let waiting = pull.clone();
        let waiting = thread::spawn(move || waiting.recv().map(|message| number(&message)));
        // It may begin to wait before or after.
        pull.drain(TIMEOUT).unwrap();
        let waited = waiting.join().unwrap();
        assert!(
            matches!(waited, Err(Error::Drained { cut_off: 0 })),
            "{}: {waited:?}",
            path.name()
        );
        eventually("the sender learns of it", || push.peers().is_empty());
    }
}

#[test]
fn a_socket_that_is_drained_takes_no_new_peers_and_says_so() {
    let path = Path::encrypted();
    let pull = path.server(SocketType::Pull).build_blocking().unwrap();
    let monitor = pull.monitor();
    let endpoint = pull.bind(path.endpoint()).unwrap();
    pull.drain(TIMEOUT).unwrap();
    assert!(pull.bound_endpoints().is_empty());
    let unbound =
        |event: &Event| matches!(event, Event::Unbound { endpoint: of, .. } if *of == endpoint);
    assert!(std::iter::from_fn(|| monitor.wait_next_timeout(TIMEOUT)).any(|event| unbound(&event)));
    assert!(matches!(pull.recv(), Err(Error::Drained { cut_off: 0 })));
    for refused in [
        pull.bind(path.endpoint()).map(drop),
        pull.connect(endpoint.clone()),
        pull.bind("inproc://drained").map(drop),
    ] {
        assert!(matches!(refused, Err(Error::Drained { .. })), "{refused:?}");
    }
    // It can be closed as any other.
    pull.close().unwrap();
}

#[test]
fn who_waits_for_peers_learns_that_none_will_come() {
    struct Woken(AtomicBool);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let pull = options(SocketType::Pull).build().unwrap();
    pull.bind(Path::encrypted().endpoint()).unwrap();
    let woken = Arc::new(Woken(AtomicBool::new(false)));
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    let mut waiting = pin!(pull.wait_connected(1));
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    pull.drain(TIMEOUT).unwrap();
    assert!(woken.0.load(Ordering::SeqCst), "it is not told");
    let waited = waiting.poll(&mut context);
    assert!(
        matches!(waited, Poll::Ready(Err(Error::Drained { .. }))),
        "{waited:?}"
    );
}

#[test]
fn a_stream_of_messages_ends_when_all_were_received() {
    let path = Path::encrypted();
    let (push, pull) = path.pair(SocketType::Push, SocketType::Pull);
    for number in 0..MESSAGES / 10 {
        push.send(message(number)).unwrap();
    }
    let sent = push.close();
    let pull = sealwire::Socket::from(pull);
    block_on(async {
        let mut received = Vec::new();
        let mut incoming = pull.incoming();
        received.push(number(&incoming.next().await.unwrap().unwrap()));
        pull.drain(TIMEOUT).unwrap();
        while let Some(message) = incoming.next().await {
            received.push(number(&message.unwrap()));
        }
        assert_eq!(received, Vec::from_iter(0..MESSAGES / 10));
        assert!(incoming.next().await.is_none());
    });
    sent.unwrap();
}

#[test]
fn a_subscriber_leaves_with_what_was_published() {
    let path = Path::encrypted();
    let publisher = path.server(SocketType::Pub).build_blocking().unwrap();
    let subscriber = path.client(SocketType::Sub).build_blocking().unwrap();
    subscriber
        .connect(publisher.bind(path.endpoint()).unwrap())
        .unwrap();
    subscriber.subscribe("").unwrap();
    publisher.wait_subscribed("", 1).unwrap();
    for number in 0..20 {
        publisher.send(message(number)).unwrap();
    }
    // The last of them is on its way when the first is here.
    let first = number(&subscriber.recv().unwrap());
    eventually("all is written", || {
        publisher.counters().messages_sent == 20
    });
    subscriber.drain(TIMEOUT).unwrap();
    let (more, cut_off) = rest(&subscriber);
    assert_eq!((first, more, cut_off), (0, Vec::from_iter(1..20), 0));
}

#[test]
fn types_that_answer_cannot_be_drained() {
    for socket_type in SocketType::ALL {
        let socket = options(socket_type).build_blocking().unwrap();
        let drained = socket.drain(Duration::ZERO);
        match socket_type {
            SocketType::Pull | SocketType::Gather | SocketType::Sub | SocketType::Dish => {
                drained.unwrap();
                assert!(matches!(socket.recv(), Err(Error::Drained { cut_off: 0 })));
            }
            _ => assert!(
                matches!(drained, Err(Error::Unsupported(Operation::Drain))),
                "{socket_type}"
            ),
        }
    }
}

/// A socket that keeps sending, a receiver that does not read: what has no room is not waited for.
#[test]
fn what_finds_no_room_within_the_limit_is_cut_off() {
    let small = |builder: SocketBuilder| builder.receive_high_water_mark(1).build_blocking();
    let path = Path::encrypted();
    let push = path.server(SocketType::Push).build_blocking().unwrap();
    let endpoint = push.bind(path.endpoint()).unwrap();
    let pull = small(path.client(SocketType::Pull)).unwrap();
    pull.connect(endpoint).unwrap();
    for number in 0..20 {
        push.send(message(number)).unwrap();
    }
    eventually("the queue is full", || {
        pull.counters().messages_received > 0
    });
    pull.drain(Duration::from_millis(10)).unwrap();
    eventually("it is cut off", || pull.peers().is_empty());
    let (received, cut_off) = rest(&pull);
    assert_eq!(cut_off, 1);
    let counters = push.counters();
    let unread = pull.counters().dropped_unread as usize;
    let least = received.len() + unread + counters.dropped_unsent as usize;
    // The rest is still with the sender, for the next worker.
    assert!(received.len() < 20 && least <= 20);
}
