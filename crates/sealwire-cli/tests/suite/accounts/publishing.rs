//! Subscriptions, and changes of them that nobody reads.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use sealwire::account::{Excess, Kind};
use sealwire::blocking::Socket;
use sealwire::{Event, FailureCause, Message, SocketBuilder, SocketType};

use super::bystander::{LIMIT, ROUND_TRIPS, eventually, options, peer_named, within_bound};

const BOUND: usize = 16 << 20;
/// As many topics as fit into the bound, of this size.
const SIZE: usize = 60_000;
const COUNT: u32 = 240;

fn topic(number: u32) -> Vec<u8> {
    let mut topic = vec![b't'; SIZE];
    topic[..4].copy_from_slice(&number.to_be_bytes());
    topic
}

fn named(socket_type: SocketType, name: &str) -> SocketBuilder {
    options(socket_type).routing_id(name)
}

/// Waits until the socket has told of a peer that reached this bound.
fn await_limit(socket: &Socket, monitor: &sealwire::Monitor, kind: Kind) {
    eventually("the cause is told", || {
        let event = monitor.wait_next_timeout(LIMIT).expect("an event in time");
        matches!(event, Event::Failed(failure) if matches!(
            failure.cause(),
            FailureCause::LimitExceeded(exceeded) if exceeded.kind == kind
        ))
    });
    assert!(socket.counters().exceeded(kind) > 0);
}

/// A SUB that speaks NULL, and never stops where ours would.
fn raw_subscriber(port: u16) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let mut greeting = [0; 64];
    (greeting[0], greeting[9]) = (0xff, 0x7f);
    greeting[10..12].copy_from_slice(&[3, 1]);
    greeting[12..16].copy_from_slice(b"NULL");
    stream.write_all(&greeting).unwrap();
    let ready = b"\x05READY\x0bSocket-Type\x00\x00\x00\x03SUB";
    stream.write_all(&[4, ready.len() as u8]).unwrap();
    stream.write_all(ready).unwrap();
    stream.read_exact(&mut greeting).unwrap();
    stream
}

/// A subscriber of more topics than are kept for one is disconnected.
pub(crate) fn subscriptions() {
    assert_eq!(Kind::Subscriptions.excess(), Excess::Disconnected);
    let publisher = options(SocketType::Pub).build_blocking().unwrap();
    let monitor = publisher.monitor();
    let endpoint = publisher.bind("tcp://127.0.0.1:0").unwrap();
    let bystander = named(SocketType::Sub, "bystander");
    let bystander = bystander.build_blocking().unwrap();
    bystander.connect(endpoint.clone()).unwrap();
    bystander.subscribe("b").unwrap();
    let works = || {
        for number in 0..ROUND_TRIPS {
            publisher.send(format!("b{number}")).unwrap();
            let message = bystander.recv().unwrap();
            assert_eq!(message.as_bytes(), format!("b{number}").as_bytes());
        }
    };
    eventually("subscribed", || {
        let mut peers = publisher.peers().into_iter();
        peers.any(|peer| peer.account().held(Kind::Subscriptions) > 0)
    });
    works();

    let port = endpoint.to_string();
    let port = port.rsplit(':').next().unwrap().parse().unwrap();
    let mut attacker = raw_subscriber(port);
    let mut sent = 0;
    // It writes until it is disconnected.
    for number in 0..2 * COUNT {
        let body = [b"\x09SUBSCRIBE", &topic(number)[..]].concat();
        let header = [&[6][..], &(body.len() as u64).to_be_bytes()].concat();
        if attacker.write_all(&header).is_err() || attacker.write_all(&body).is_err() {
            break;
        }
        sent += 1;
        for peer in publisher.peers() {
            within_bound(peer.account(), Kind::Subscriptions, BOUND);
        }
        if number % 60 == 0 {
            works();
        }
    }
    assert!(sent * SIZE > BOUND / 2, "it was disconnected after {sent}");
    await_limit(&publisher, &monitor, Kind::Subscriptions);
    works();
}

/// A publisher that does not read what is subscribed to and cancelled is disconnected.
pub(crate) fn changes() {
    assert_eq!(Kind::SubscriptionChanges.excess(), Excess::Disconnected);
    let xsub = options(SocketType::XSub).send_high_water_mark(10);
    let xsub = xsub.build_blocking().unwrap();
    let monitor = xsub.monitor();
    let endpoint = xsub.bind("tcp://127.0.0.1:0").unwrap();
    let connected = |builder: SocketBuilder| {
        let socket = builder.build_blocking().unwrap();
        socket.connect(endpoint.clone()).unwrap();
        socket
    };
    let deaf = connected(named(SocketType::XPub, "deaf").receive_high_water_mark(1));
    let bystander = connected(named(SocketType::XPub, "bystander"));
    eventually("connected", || xsub.peers().len() == 2);
    let drained = || while bystander.try_recv().is_ok() {};
    let works = || {
        for number in 0..ROUND_TRIPS {
            bystander.send(format!("b{number}")).unwrap();
            assert_eq!(
                xsub.recv().unwrap().as_bytes(),
                format!("b{number}").as_bytes()
            );
            drained();
        }
    };
    // The bystander reads, so nothing may pile up for it.
    let kept_up = || {
        eventually("the bystander reads", || {
            drained();
            xsub.accounts();
            let account = peer_named(&xsub, "bystander");
            account.account().held(Kind::SubscriptionChanges) < BOUND / 4
        });
    };
    xsub.subscribe("b").unwrap();
    for number in 0..COUNT {
        xsub.subscribe(topic(number)).unwrap();
        kept_up();
    }
    for _ in 0..=COUNT {
        assert_eq!(deaf.recv().unwrap().as_bytes()[0], 1);
    }
    eventually("told", || {
        drained();
        xsub.accounts();
        let account = peer_named(&xsub, "bystander");
        account.account().held(Kind::SubscriptionChanges) == 0
    });
    works();

    // What waits behind a full queue cannot leave before it.
    let attacks = peer_named(&xsub, "deaf");
    let mut full = 0;
    while full < 200 {
        let before = xsub.counters().dropped_at_send;
        xsub.send(Message::from(vec![b'x'; 64 << 10])).unwrap();
        drained();
        full = match xsub.counters().dropped_at_send > before {
            true => full + 1,
            false => 0,
        };
        std::thread::yield_now();
    }
    // The system's buffers take some of the first rounds, and none of the others.
    for round in 0..10 {
        for number in 0..COUNT {
            xsub.unsubscribe(topic(1_000 * round + number)).unwrap();
            xsub.subscribe(topic(1_000 * (round + 1) + number)).unwrap();
            within_bound(attacks.account(), Kind::SubscriptionChanges, BOUND);
            kept_up();
        }
        if xsub.counters().exceeded(Kind::SubscriptionChanges) > 0 {
            break;
        }
    }
    await_limit(&xsub, &monitor, Kind::SubscriptionChanges);
    works();
}
