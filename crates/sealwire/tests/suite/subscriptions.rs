//! Subscriptions that a peer makes another process hold: behind a publisher that does not read,
//! and behind a forwarder.

use std::collections::BTreeSet;
use std::thread;

use crate::support::{Path, await_event, eventually};
use sealwire::account::Kind;
use sealwire::blocking::Socket;
use sealwire::{Error, Event, FailureCause, SocketType, proxy};

/// More than loopback's own buffers take of a few.
const BODY: usize = 64 << 10;

fn topic(number: u32, length: usize) -> Vec<u8> {
    let mut topic = vec![b't'; length];
    topic[..4].copy_from_slice(&number.to_be_bytes());
    topic
}

/// An XPUB that does not read, and an XSUB whose queue is full.
fn silent_publisher(path: &Path) -> (Socket, Socket) {
    let (xpub, xsub) = path.link(
        path.server(SocketType::XPub).receive_high_water_mark(1),
        path.client(SocketType::XSub).send_high_water_mark(10),
    );
    eventually("connected", || xsub.peers().len() == 1);
    fill(&xsub);
    (xpub, xsub)
}

/// Sends until nothing moves any more.
fn fill(xsub: &Socket) {
    let dropped = || xsub.counters().dropped_at_send;
    let mut in_a_row = 0;
    while in_a_row < 200 {
        let before = dropped();
        xsub.send(vec![b'x'; BODY]).unwrap();
        in_a_row = if dropped() > before { in_a_row + 1 } else { 0 };
        thread::yield_now();
    }
}

fn changes_held(socket: &Socket) -> usize {
    let accounts = socket.accounts();
    let held = |kind| accounts.iter().map(move |peer| peer.account().held(kind));
    held(Kind::SubscriptionChanges).sum()
}

#[test]
fn toggles_of_one_topic_are_one_topic() {
    for path in Path::all() {
        let (xpub, xsub) = silent_publisher(&path);
        let topic = topic(7, 60_000);
        let mut most = 0;
        for _ in 0..3_000 {
            xsub.subscribe(&topic).unwrap();
            most = most.max(changes_held(&xsub));
            xsub.unsubscribe(&topic).unwrap();
        }
        xsub.subscribe(&topic).unwrap();
        assert!(most <= 2 * topic.len(), "{}: {most}", path.name());
        // Once it reads it knows.
        loop {
            let message = xpub.recv().unwrap();
            if message.as_bytes()[0] == 1 {
                assert!(message.as_bytes()[1..] == topic);
                break;
            }
        }
        eventually("all is told", || changes_held(&xsub) == 0);
        let held = xpub.accounts()[0].account().held(Kind::Subscriptions);
        assert_eq!(held, topic.len() + 512, "{}", path.name());
    }
}

#[test]
fn a_publisher_that_reads_no_changes_is_disconnected_and_told_again() {
    let path = Path::encrypted();
    let (xpub, xsub) = path.link(
        path.server(SocketType::XPub).receive_high_water_mark(1),
        path.client(SocketType::XSub).send_high_water_mark(10),
    );
    let monitor = xsub.monitor();
    let count = 240;
    for number in 0..count {
        xsub.subscribe(topic(number, 60_000)).unwrap();
    }
    for _ in 0..count {
        assert_eq!(xpub.recv().unwrap().as_bytes()[0], 1);
    }
    fill(&xsub);
    // The system's buffers take some of the first changes, and none of the others. Not one is made once the
    // publisher is over the limit: it may be back already, and would be over it again.
    let mut wanted: BTreeSet<u32> = (0..count).collect();
    let over = || xsub.counters().exceeded(Kind::SubscriptionChanges) > 0;
    for number in 0..10 * count {
        xsub.unsubscribe(topic(number, 60_000)).unwrap();
        wanted.remove(&number);
        if over() {
            break;
        }
        xsub.subscribe(topic(count + number, 60_000)).unwrap();
        wanted.insert(count + number);
        if over() {
            break;
        }
    }
    assert!(over(), "{} changes, and it is still connected", 20 * count);
    let cause = await_event(&monitor, "the end", |event| match event {
        Event::Failed(failure) => Some(failure.cause().clone()),
        _ => None,
    });
    assert!(
        matches!(&cause, FailureCause::LimitExceeded(exceeded)
            if exceeded.kind == Kind::SubscriptionChanges),
        "{cause:?}"
    );
    assert_eq!(xsub.counters().exceeded(Kind::SubscriptionChanges), 1);
    // It is connected again and knows what is wanted now. No connection before could: it was not told the last
    // change.
    let mut told: BTreeSet<u32> = (0..count).collect();
    while told != wanted {
        let message = xpub.recv().unwrap();
        let number = |topic: &[u8]| u32::from_be_bytes(topic[..4].try_into().unwrap());
        match message.as_bytes() {
            [1, topic @ ..] => assert!(told.insert(number(topic))),
            [0, topic @ ..] => assert!(told.remove(&number(topic))),
            _ => {}
        }
    }
    let last = topic(*wanted.last().unwrap(), 60_000);
    xpub.send(last.clone()).unwrap();
    assert!(xsub.recv().unwrap().as_bytes() == last);
}

/// A forwarder between a publisher and subscribers.
struct Forwarder {
    publisher: Socket,
    frontend: Socket,
    backend: Socket,
    path: Path,
    endpoint: sealwire::Endpoint,
    device: thread::JoinHandle<Result<(), Error>>,
}

impl Forwarder {
    fn new() -> Self {
        let path = Path::encrypted();
        let (publisher, frontend) = path.pair(SocketType::XPub, SocketType::XSub);
        let backend = path.server(SocketType::XPub).build_blocking().unwrap();
        let endpoint = backend.bind(path.endpoint()).unwrap();
        let device = thread::spawn({
            let (frontend, backend) = (frontend.clone(), backend.clone());
            move || proxy(&frontend, &backend)
        });
        Forwarder {
            publisher,
            frontend,
            backend,
            path,
            endpoint,
            device,
        }
    }

    fn subscriber(&self) -> Socket {
        let socket = self.path.client(SocketType::Sub).build_blocking().unwrap();
        socket.connect(self.endpoint.clone()).unwrap();
        socket
    }

    /// Reads at the publisher until it knows of just these topics, by their first bytes.
    fn publisher_knows(&self, known: &mut BTreeSet<Vec<u8>>, expected: &BTreeSet<Vec<u8>>) {
        while known != expected {
            let message = self.publisher.recv();
            let message = message.unwrap_or_else(|error| {
                let wrong: Vec<_> = known.symmetric_difference(expected).take(3).collect();
                panic!("{error}; wrong are {wrong:?} and others")
            });
            let (octet, topic) = message.as_bytes().split_first().unwrap();
            let topic = topic[..topic.len().min(4)].to_vec();
            let changed = match octet {
                1 => known.insert(topic),
                _ => known.remove(&topic),
            };
            assert!(changed, "nothing is told twice");
        }
    }

    fn end(self) {
        assert!(!self.device.is_finished(), "the device goes on");
        self.frontend.close().unwrap();
        assert!(matches!(self.device.join().unwrap(), Err(Error::Closed)));
        assert_eq!(self.backend.counters().exceeded(Kind::Subscriptions), 0);
    }
}

fn name(text: &str) -> BTreeSet<Vec<u8>> {
    BTreeSet::from([text.as_bytes()[..text.len().min(4)].to_vec()])
}

#[test]
fn topics_of_two_lawful_subscribers_do_not_end_a_forwarder() {
    let forwarder = Forwarder::new();
    let bystander = forwarder.subscriber();
    bystander.subscribe("news").unwrap();
    let mut known = BTreeSet::new();
    forwarder.publisher_knows(&mut known, &name("news"));

    // 12 MiB each, where a publisher takes 16 of one peer.
    let greedy: Vec<_> = (0..2).map(|_| forwarder.subscriber()).collect();
    for (first, socket) in greedy.iter().enumerate() {
        for number in 0..200 {
            let number = 1_000 * first as u32 + number;
            socket.subscribe(topic(number, 60_000)).unwrap();
        }
    }
    forwarder.publisher_knows(&mut known, &name(""));
    forwarder.publisher.send("news of today").unwrap();
    assert_eq!(bystander.recv().unwrap().as_bytes(), b"news of today");
    // The publisher hears no more of which topics these are, so it cannot tell when the last is there.
    eventually("the last topic", || {
        forwarder.publisher.send(topic(1_199, 60_000)).unwrap();
        let received = greedy[1].try_recv();
        received.is_ok_and(|message| message.as_bytes() == topic(1_199, 60_000))
    });

    // When they have gone the publisher is asked for what is left.
    for socket in greedy {
        socket.close().unwrap();
    }
    forwarder.publisher_knows(&mut known, &name("news"));
    forwarder.publisher.send("news of tomorrow").unwrap();
    assert_eq!(bystander.recv().unwrap().as_bytes(), b"news of tomorrow");
    forwarder.end();
}

#[test]
fn a_subscriber_that_comes_again_and_again_does_not_end_a_forwarder() {
    let forwarder = Forwarder::new();
    let bystander = forwarder.subscriber();
    bystander.subscribe("news").unwrap();
    let mut known = BTreeSet::new();
    forwarder.publisher_knows(&mut known, &name("news"));
    for round in 0..8 {
        let subscriber = forwarder.subscriber();
        for number in 0..12_000 {
            subscriber
                .subscribe(topic(100_000 * round + number, 8))
                .unwrap();
        }
        let mine = (0..12_000).map(|number| (100_000 * round + number).to_be_bytes().to_vec());
        let expected = name("news").into_iter().chain(mine).collect();
        forwarder.publisher_knows(&mut known, &expected);
        subscriber.close().unwrap();
        forwarder.publisher_knows(&mut known, &name("news"));
    }
    forwarder.publisher.send("news of today").unwrap();
    assert_eq!(bystander.recv().unwrap().as_bytes(), b"news of today");
    forwarder.end();
}

#[test]
fn a_message_that_one_side_refuses_does_not_end_a_device() {
    let path = Path::encrypted();
    let (frontend, push) = path.pair(SocketType::Pull, SocketType::Push);
    let (backend, dealer) = path.link(
        path.server(SocketType::Router).router_mandatory(true),
        path.client(SocketType::Dealer).routing_id("worker"),
    );
    eventually("connected", || backend.peers().len() == 1);
    let device = thread::spawn({
        let (frontend, backend) = (frontend.clone(), backend.clone());
        move || proxy(&frontend, &backend)
    });
    for name in ["nobody", "worker", "nobody", "worker"] {
        let message = sealwire::Message::multipart([name, "work"]);
        push.send(message).unwrap();
    }
    for _ in 0..2 {
        assert_eq!(dealer.recv().unwrap().as_bytes(), b"work");
    }
    assert_eq!(backend.counters().dropped_at_send, 2);
    assert!(!device.is_finished());
    frontend.close().unwrap();
    assert!(matches!(device.join().unwrap(), Err(Error::Closed)));
}
