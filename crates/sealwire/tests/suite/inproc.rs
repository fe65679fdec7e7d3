//! Sockets of one process: messages that wait with their sender are as good as delivered.

use std::collections::HashMap;
use std::thread;
use std::time::Duration;

use sealwire::SocketType;
use sealwire::blocking::Socket;

use crate::support::{Path, TIMEOUT, eventually, options};

fn path() -> Path {
    Path {
        transport: "inproc",
        keys: None,
    }
}

fn number(message: &sealwire::Message) -> u32 {
    message.as_str().unwrap().parse().unwrap()
}

fn pair_with_marks(send: usize, receive: usize) -> (Socket, Socket) {
    let pull = options(SocketType::Pull)
        .receive_high_water_mark(receive)
        .build_blocking()
        .unwrap();
    let push = options(SocketType::Push)
        .send_high_water_mark(send)
        .build_blocking()
        .unwrap();
    push.connect(pull.bind(path().endpoint()).unwrap()).unwrap();
    (pull, push)
}

#[test]
fn both_queues_fill_exactly() {
    for (send, receive) in [(1, 1), (1, 4), (4, 1), (10, 7), (7, 10), (64, 64)] {
        let (pull, push) = pair_with_marks(send, receive);
        let fill = |next: &mut u32| {
            let before = *next;
            while push.try_send(next.to_string()).is_ok() {
                *next += 1;
            }
            (*next - before) as usize
        };
        let mut next = 0;
        assert_eq!(fill(&mut next), send + receive, "{send} and {receive}");
        let mut expected = 0;
        for read in [1, receive, send + receive] {
            for _ in 0..read {
                assert_eq!(number(&pull.try_recv().unwrap()), expected);
                expected += 1;
                // Room is given back once half of a queue is free.
                fill(&mut next);
            }
        }
        while let Ok(message) = pull.try_recv() {
            assert_eq!(number(&message), expected);
            expected += 1;
        }
        assert_eq!(expected, next, "{send} and {receive}");
        assert_eq!(fill(&mut next), send + receive, "again");
        push.close_with_linger(Duration::ZERO).unwrap_err();
    }
}

#[test]
fn threads_on_both_sides_lose_nothing() {
    const MESSAGES: u32 = 3_000;
    for (send, receive) in [(1, 1), (3, 50), (50, 3), (1_000, 1_000)] {
        let pull = options(SocketType::Pull)
            .receive_high_water_mark(receive)
            .build_blocking()
            .unwrap();
        let endpoint = pull.bind(path().endpoint()).unwrap();
        let senders: Vec<_> = (0..3)
            .map(|sender| {
                let push = options(SocketType::Push)
                    .send_high_water_mark(send)
                    .build_blocking()
                    .unwrap();
                push.connect(&endpoint).unwrap();
                thread::spawn(move || {
                    for number in 0..MESSAGES {
                        push.send(format!("{sender} {number}")).unwrap();
                    }
                })
            })
            .collect();
        let total = 3 * MESSAGES as usize;
        let receivers: Vec<_> = (0..2)
            .map(|_| {
                let pull = pull.clone();
                thread::spawn(move || {
                    let mut last = HashMap::new();
                    for _ in 0..total / 2 {
                        let message = pull.recv().unwrap();
                        let (sender, number) = message.as_str().unwrap().split_once(' ').unwrap();
                        let number: u32 = number.parse().unwrap();
                        let before = last.insert(sender.to_owned(), number);
                        assert!(before.is_none_or(|before| before < number), "in order");
                    }
                })
            })
            .collect();
        for thread in senders.into_iter().chain(receivers) {
            thread.join().unwrap();
        }
        assert!(pull.try_recv().is_err(), "no more than was sent");
        assert_eq!(pull.counters().messages_received, total as u64);
    }
}

#[test]
fn a_sender_that_closes_leaves_its_messages() {
    let (pull, push) = pair_with_marks(100, 100);
    for number in 0..150 {
        push.send(number.to_string()).unwrap();
    }
    let closing = thread::spawn(move || drop(push));
    for expected in 0..150 {
        assert_eq!(number(&pull.recv().unwrap()), expected);
    }
    closing.join().unwrap();
}

#[test]
fn a_sender_without_linger_time_leaves_what_there_is_room_for_to_who_is_fetching_it() {
    const MESSAGES: u32 = 500;
    for _ in 0..300 {
        let pull = options(SocketType::Pull).build_blocking().unwrap();
        let push = options(SocketType::Push).linger(Duration::ZERO);
        let push = push.build_blocking().unwrap();
        push.connect(pull.bind(path().endpoint()).unwrap()).unwrap();
        let reader = thread::spawn(move || {
            for expected in 0..MESSAGES {
                assert_eq!(number(&pull.recv_timeout(TIMEOUT).unwrap()), expected);
            }
        });
        for number in 0..MESSAGES {
            push.send(number.to_string()).unwrap();
        }
        drop(push);
        reader.join().unwrap();
    }
}

#[test]
fn senders_that_close_before_or_while_somebody_binds_lose_nothing() {
    const SENDERS: u32 = 30;
    let endpoint = path().endpoint();
    let senders: Vec<_> = (0..SENDERS)
        .map(|sender| {
            let endpoint = endpoint.clone();
            thread::spawn(move || {
                let push = options(SocketType::Push).linger(TIMEOUT);
                let push = push.build_blocking().unwrap();
                push.connect(endpoint).unwrap();
                push.send(sender.to_string()).unwrap();
                push.close().unwrap();
            })
        })
        .collect();
    let pull = options(SocketType::Pull).build_blocking().unwrap();
    pull.bind(endpoint).unwrap();
    let mut senders_heard: Vec<_> = (0..SENDERS)
        .map(|_| number(&pull.recv().unwrap()))
        .collect();
    senders_heard.sort_unstable();
    assert!(senders_heard.into_iter().eq(0..SENDERS));
    for sender in senders {
        sender.join().unwrap();
    }
}

#[test]
fn a_receiver_that_closes_leaves_them_to_another() {
    let (first, push) = pair_with_marks(100, 100);
    for number in 0..50 {
        push.send(number.to_string()).unwrap();
    }
    assert_eq!(number(&first.recv().unwrap()), 0);
    push.send("50").unwrap();
    drop(first);
    let second = options(SocketType::Pull).build_blocking().unwrap();
    push.connect(second.bind(path().endpoint()).unwrap())
        .unwrap();
    push.send("51").unwrap();
    for expected in [50, 51] {
        assert_eq!(number(&second.recv().unwrap()), expected);
    }
}

#[test]
fn subscriptions_take_effect_before_they_are_read() {
    let publisher = options(SocketType::XPub).build_blocking().unwrap();
    let endpoint = publisher.bind(path().endpoint()).unwrap();
    let subscriber = options(SocketType::Sub).build_blocking().unwrap();
    for topic in ["a", "b", "c"] {
        subscriber.subscribe(topic).unwrap();
    }
    subscriber.connect(&endpoint).unwrap();
    subscriber.subscribe("d").unwrap();
    eventually("the last subscription works", || {
        publisher.send("d").unwrap();
        subscriber.try_recv().is_ok()
    });
}

#[test]
fn the_latest_message_replaces_those_before() {
    let pull = options(SocketType::Pull)
        .conflate(true)
        .build_blocking()
        .unwrap();
    let push = options(SocketType::Push).build_blocking().unwrap();
    push.connect(pull.bind(path().endpoint()).unwrap()).unwrap();
    for number in 0..10 {
        push.send(number.to_string()).unwrap();
    }
    assert_eq!(number(&pull.recv().unwrap()), 9);
    assert!(pull.try_recv().is_err());
}

#[cfg(unix)]
#[test]
fn a_descriptor_that_comes_late_tells_of_all_that_follows() {
    let (pull, push) = pair_with_marks(100, 100);
    for number in 0..3 {
        push.send(number.to_string()).unwrap();
    }
    let readiness = pull.readiness().unwrap();
    assert!(readiness.take().receive);
    assert_eq!(pull.counters().messages_received, 3);
    push.send("3").unwrap();
    assert_eq!(pull.counters().messages_received, 4);
    for expected in 0..4 {
        assert_eq!(number(&pull.recv_timeout(TIMEOUT).unwrap()), expected);
    }
}
