//! High-water marks, waiting for room and its time limit, and what happens where nobody waits.

use std::collections::VecDeque;
use std::thread;
use std::time::{Duration, Instant};

use sealwire::blocking::Socket;
use sealwire::{Error, Message, Operation, SocketType};

use super::{inproc, number, numbered, numbers, pull_for, push_with_room_for_three};
use crate::support::{Path, TIMEOUT, eventually};

/// More than loopback's own buffers take, so that the queues must fill.
const BODY: usize = 64 << 10;

fn large(numbers: std::ops::Range<u32>) -> VecDeque<Message> {
    let body = |number: u32| {
        let mut body = vec![0; BODY];
        body[..4].copy_from_slice(&number.to_be_bytes());
        Message::from(body)
    };
    numbers.map(body).collect()
}

#[test]
fn a_batch_waits_when_nobody_reads_and_loses_nothing() {
    for path in Path::all() {
        let (pull, push) = path.link(
            path.server(SocketType::Pull).receive_high_water_mark(10),
            path.client(SocketType::Push).send_high_water_mark(10),
        );
        eventually("connected", || push.peers().len() == 1);

        let mut queue = large(0..2_000);
        eventually("both queues are used and no more goes", || {
            let error = push
                .send_many_timeout(&mut queue, Duration::from_millis(100))
                .expect_err("it must fill up");
            let ran_out = matches!(
                error,
                Error::TimedOut {
                    operation: Operation::Send,
                    ..
                }
            );
            assert!(ran_out, "{}: {error}", path.name());
            queue.len() <= 2_000 - 20
        });
        assert!(
            pull.counters().messages_received <= 10 + 1,
            "the mark is exact"
        );

        // Once someone reads, everything comes, in order.
        queue.truncate(50);
        let last = number(queue.back().unwrap());
        let sender = thread::spawn({
            let push = push.clone();
            move || assert_eq!(push.send_many(&mut queue).unwrap(), 50)
        });
        for expected in 0..=last {
            assert_eq!(number(&pull.recv().unwrap()), expected);
        }
        sender.join().unwrap();
        assert_eq!(push.counters().dropped_at_send, 0);
    }
}

#[test]
fn a_batch_fills_the_queues_as_far_as_single_sends_do() {
    // How much goes until there is no room, to a peer of this process that reads nothing.
    let fill = |mark: usize, fill: fn(&Socket) -> u32| {
        let push = inproc().client(SocketType::Push).send_high_water_mark(mark);
        let (_pull, push) = inproc().link(
            inproc().server(SocketType::Pull).receive_high_water_mark(7),
            push.linger(Duration::ZERO),
        );
        eventually("connected", || push.peers().len() == 1);
        fill(&push)
    };
    for mark in [1, 2, 3, 10, 255, 256, 257, 1_000] {
        let single = fill(mark, |push| {
            let mut sent: u32 = 0;
            while push
                .send_timeout(&sent.to_be_bytes(), Duration::ZERO)
                .is_ok()
            {
                sent += 1;
            }
            sent
        });
        let batch = fill(mark, |push| {
            let mut queue = numbered(0..5_000);
            push.send_many_timeout(&mut queue, Duration::ZERO)
                .unwrap_err();
            number(&queue[0])
        });
        assert_eq!(batch, single, "a mark of {mark}");
        assert_eq!(batch as usize, mark + 7);
    }
    // Nobody is there yet.
    let push = push_with_room_for_three();
    let mut queue = numbered(0..10);
    assert_eq!(push.try_send_many(&mut queue).unwrap(), 3);
    assert_eq!(push.try_send_many(&mut queue).unwrap(), 0);
    assert_eq!(numbers(&queue), [3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn bytes_count_too() {
    let push = inproc().client(SocketType::Push).send_byte_budget(100);
    let push = push.linger(Duration::ZERO).build_blocking().unwrap();
    push.connect(inproc().endpoint()).unwrap();
    let mut queue: VecDeque<_> = (0..10).map(|_| Message::from(vec![0; 40])).collect();
    // The third finds 80 bytes, the fourth 120.
    assert_eq!(push.try_send_many(&mut queue).unwrap(), 3);
}

#[test]
fn a_time_limit_ends_the_wait_and_not_what_goes_on() {
    let push = push_with_room_for_three();
    let mut queue = numbered(0..5);
    let limit = Duration::from_millis(50);
    let begun = Instant::now();
    let error = push.send_many_timeout(&mut queue, limit).unwrap_err();
    assert!(begun.elapsed() >= limit);
    assert!(
        matches!(
            error,
            Error::TimedOut { operation: Operation::Send, limit: told, .. } if told == limit
        ),
        "{error}"
    );
    assert_eq!(numbers(&queue), [3, 4]);
    // The rest goes with the next call.
    let pull = pull_for(&push);
    assert_eq!(push.send_many(&mut queue).unwrap(), 2);
    for expected in 0..5 {
        assert_eq!(number(&pull.recv().unwrap()), expected);
    }
}

#[test]
fn the_time_limit_counts_from_the_last_message_that_went() {
    const LIMIT: Duration = Duration::from_secs(1);
    // A machine that stalls makes this reader too slow; that is told from a limit that counts from
    // the start.
    let deadline = Instant::now() + TIMEOUT;
    while !slow_reading(LIMIT) {
        assert!(
            Instant::now() < deadline,
            "this machine stalls all the time"
        );
    }
}

/// Reads longer than the limit in all, and not for one message. `false` when it was slower than that.
fn slow_reading(limit: Duration) -> bool {
    let push = inproc().client(SocketType::Push).send_high_water_mark(1);
    let (pull, push) = inproc().link(
        inproc().server(SocketType::Pull).receive_high_water_mark(1),
        push.send_timeout(limit).linger(Duration::ZERO),
    );
    eventually("connected", || push.peers().len() == 1);
    let sender = thread::spawn(move || {
        let begun = Instant::now();
        let sent = push.send_many(&mut numbered(0..5));
        (sent, begun.elapsed())
    });
    let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
    for expected in 0..5 {
        thread::sleep(limit * 2 / 5);
        let mut message = None;
        eventually("a message, or the sender has given up", || {
            let over = sender.is_finished();
            message = pull.try_recv().ok();
            message.is_some() || over
        });
        let Some(message) = message else { break };
        assert_eq!(number(&message), expected);
        longest = longest.max(last.elapsed());
        last = Instant::now();
    }
    let (sent, time) = sender.join().unwrap();
    match sent {
        Ok(sent) => {
            assert_eq!(sent, 5);
            assert!(time > limit, "{time:?}");
            true
        }
        Err(error) => {
            assert!(longest >= limit, "read after {longest:?} at most: {error}");
            false
        }
    }
}

#[test]
fn a_publisher_counts_what_full_queues_drop() {
    const COUNT: u32 = 1_000;
    for path in [Path::encrypted(), inproc()] {
        let publisher = path.server(SocketType::XPub).send_high_water_mark(10);
        let publisher = publisher.build_blocking().unwrap();
        let endpoint = publisher.bind(path.endpoint()).unwrap();
        let subscriber = path.client(SocketType::Sub).receive_high_water_mark(10);
        let subscriber = subscriber.build_blocking().unwrap();
        subscriber.subscribe("").unwrap();
        subscriber.connect(endpoint).unwrap();
        publisher.recv().unwrap();

        let mut queue = large(0..COUNT);
        assert_eq!(publisher.send_many(&mut queue).unwrap(), COUNT as usize);
        assert!(queue.is_empty());
        let dropped = publisher.counters().dropped_at_send;
        assert!(dropped > 0, "{}", path.name());
        // All others come, and they are in order.
        let mut last = None;
        for _ in dropped..u64::from(COUNT) {
            let number = number(&subscriber.recv().unwrap());
            assert!(last < Some(number), "{}", path.name());
            last = Some(number);
        }
        publisher.send("end").unwrap();
        assert_eq!(subscriber.recv().unwrap().as_bytes(), b"end");
    }
}

#[test]
fn a_publisher_that_drops_nothing_waits() {
    let publisher = inproc()
        .server(SocketType::XPub)
        .send_high_water_mark(2)
        .xpub_no_drop(true);
    let publisher = publisher.build_blocking().unwrap();
    let subscriber = inproc().client(SocketType::Sub).receive_high_water_mark(2);
    let subscriber = subscriber.build_blocking().unwrap();
    subscriber.subscribe("").unwrap();
    subscriber
        .connect(publisher.bind(inproc().endpoint()).unwrap())
        .unwrap();
    publisher.recv().unwrap();
    let sender = thread::spawn({
        let publisher = publisher.clone();
        move || publisher.send_many(&mut numbered(0..100)).unwrap()
    });
    for expected in 0..100 {
        assert_eq!(number(&subscriber.recv().unwrap()), expected);
    }
    assert_eq!(sender.join().unwrap(), 100);
    assert_eq!(publisher.counters().dropped_at_send, 0);
}

#[test]
fn only_the_latest_of_a_batch_waits_where_messages_replace_each_other() {
    let push = inproc().client(SocketType::Push).conflate(true);
    let push = push.build_blocking().unwrap();
    push.connect(inproc().endpoint()).unwrap();
    assert_eq!(push.send_many(&mut numbered(0..1_000)).unwrap(), 1_000);
    let pull = pull_for(&push);
    assert_eq!(number(&pull.recv().unwrap()), 999);
    assert!(matches!(pull.try_recv(), Err(Error::WouldBlock)));
}
