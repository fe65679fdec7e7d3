//! Messages to many subscribers: with NULL and PLAIN they are framed once for all of them, and nobody
//! may notice.

use std::thread;
use std::time::Duration;

use crate::support::{TIMEOUT, eventually, every_mechanism, options};
use sealwire::blocking::Socket;
use sealwire::{Frame, Message, SocketType};

const TOPICS: [&str; 5] = ["a", "b", "", "ab", "nobody says this"];

/// Small ones, long ones, some of several frames.
fn message(number: usize) -> Message {
    let topic = ["a", "ab", "b", "c"][number % 4];
    let size = [0, 1, 60, 250, 300, 7_000, 9_000, 70_000][number * 7 % 53 % 8];
    let mut first = format!("{topic} {number} ").into_bytes();
    first.resize(first.len() + size, number as u8);
    match number % 5 {
        0 => Message::from_iter([Frame::from(first), Frame::from("second"), Frame::new()]),
        _ => Message::from(first),
    }
}

fn wants(topic: &str, number: usize) -> bool {
    message(number).frames()[0].starts_with(topic.as_bytes())
}

fn endpoints(name: &str) -> Vec<String> {
    let unique = format!("sealwire-fan-out-{}-{name}", std::process::id());
    let path = std::env::temp_dir().join(&unique);
    let mut endpoints = vec![
        "tcp://127.0.0.1:*".into(),
        format!("ipc://{}", path.display()),
    ];
    if cfg!(feature = "ws") {
        endpoints.push("ws://127.0.0.1:*/fan-out".into());
    }
    if name == "NULL" {
        endpoints.push(format!("inproc://{unique}"));
    }
    endpoints
}

/// All subscribers of one publisher, on every transport, some of them slower than it.
#[test]
fn everybody_gets_what_they_asked_for_in_order() {
    const MESSAGES: usize = 3_000;
    for (mechanism, server, client) in every_mechanism() {
        let publisher = options(SocketType::XPub)
            .security(server)
            .xpub_verbose(true)
            .send_high_water_mark(0);
        let publisher = publisher.build_blocking().unwrap();
        let mut subscribers = Vec::new();
        for endpoint in endpoints(mechanism) {
            let endpoint = publisher.bind(&*endpoint).unwrap();
            for topic in TOPICS {
                let subscriber = options(SocketType::Sub).security(client.clone());
                let subscriber = subscriber
                    .receive_high_water_mark(7)
                    .build_blocking()
                    .unwrap();
                subscriber.subscribe(topic).unwrap();
                subscriber.connect(&endpoint).unwrap();
                subscribers.push((topic, subscriber));
            }
        }
        all_subscribed(&publisher, subscribers.len());
        thread::scope(|scope| {
            for (topic, subscriber) in &subscribers {
                scope.spawn(move || {
                    let expected = (0..MESSAGES).filter(|number| wants(topic, *number));
                    for number in expected {
                        let received = subscriber.recv_timeout(TIMEOUT).unwrap();
                        assert!(
                            received == message(number),
                            "{mechanism}: subscriber to {topic:?} at {number}"
                        );
                    }
                });
            }
            for number in 0..MESSAGES {
                publisher.send(message(number)).unwrap();
            }
        });
        assert_eq!(publisher.counters().dropped_at_send, 0);
    }
}

/// Reads every subscription.
fn all_subscribed(publisher: &Socket, count: usize) {
    for _ in 0..count {
        assert_eq!(publisher.recv_timeout(TIMEOUT).unwrap().as_bytes()[0], 1);
    }
}

/// Two who read nothing for now, and a publisher with room for `room` messages for each.
fn idle_subscribers(room: usize) -> (Socket, [Socket; 2]) {
    let publisher = options(SocketType::XPub).xpub_verbose(true);
    let publisher = publisher.send_high_water_mark(room).linger(Duration::ZERO);
    let publisher = publisher.build_blocking().unwrap();
    let endpoint = publisher.bind("tcp://127.0.0.1:*").unwrap();
    let subscribers = [(); 2].map(|()| {
        let subscriber = options(SocketType::Sub).receive_high_water_mark(5);
        let subscriber = subscriber.build_blocking().unwrap();
        subscriber.subscribe("").unwrap();
        subscriber.connect(&endpoint).unwrap();
        subscriber
    });
    all_subscribed(&publisher, 2);
    (publisher, subscribers)
}

fn numbered(number: u32) -> Vec<u8> {
    let mut body = vec![7; 4_000];
    body[..4].copy_from_slice(&number.to_be_bytes());
    body
}

/// The mark holds for every message and each peer, whatever they share.
#[test]
fn full_queues_drop_and_count_each_message() {
    const MESSAGES: u32 = 20_000;
    let (publisher, subscribers) = idle_subscribers(10);
    for number in 0..MESSAGES {
        publisher.send(numbered(number)).unwrap();
    }
    let dropped = publisher.counters().dropped_at_send;
    assert!(dropped > 0, "nobody reads, so the queues are full");
    let copies = 2 * u64::from(MESSAGES) - dropped;
    let mut received = 0;
    let mut last = [None; 2];
    eventually("all copies that were not dropped", || {
        for (subscriber, last) in subscribers.iter().zip(&mut last) {
            while let Ok(message) = subscriber.try_recv() {
                let number = u32::from_be_bytes(*message.as_bytes().first_chunk().unwrap());
                assert!(message.as_bytes() == numbered(number));
                assert!(*last < Some(number), "{number} after {last:?}");
                *last = Some(number);
                received += 1;
            }
        }
        received >= copies
    });
    assert_eq!(received, copies);
}

/// Messages queued for a subscriber that leaves are lost, and counted.
#[test]
fn who_leaves_takes_a_queue_of_shared_messages_along() {
    const MESSAGES: u32 = 20_000;
    let (publisher, [stays, leaves]) = idle_subscribers(0);
    for number in 0..MESSAGES {
        publisher.send(numbered(number)).unwrap();
    }
    for number in 0..MESSAGES {
        assert!(stays.recv_timeout(TIMEOUT).unwrap().as_bytes() == numbered(number));
    }
    let unsent = 2 * u64::from(MESSAGES) - publisher.counters().messages_sent;
    assert!(unsent > 0, "it read nothing");
    drop(leaves);
    // Some were on their way to the transport as well.
    eventually("counted", || publisher.counters().dropped_unsent >= unsent);
    publisher.send("and on").unwrap();
    assert_eq!(stays.recv_timeout(TIMEOUT).unwrap().as_bytes(), b"and on");
}
