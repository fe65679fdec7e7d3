//! High-water marks: what waits, what drops, and that nothing grows without bound.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{self, Path, TIMEOUT, eventually};
use sealwire::account::Kind;
use sealwire::{Error, SocketType};

/// More than loopback's own buffers take, so that the queues must fill.
const BODY: usize = 64 << 10;

#[test]
fn push_waits_when_nobody_reads_and_loses_nothing() {
    for path in Path::all() {
        let (pull, push) = path.link(
            path.server(SocketType::Pull).receive_high_water_mark(10),
            path.client(SocketType::Push).send_high_water_mark(10),
        );
        eventually("connected", || push.peers().len() == 1);

        let mut sent: u32 = 0;
        let body = |number: u32| {
            let mut body = vec![0; BODY];
            body[..4].copy_from_slice(&number.to_be_bytes());
            body
        };
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match push.send_timeout(body(sent), Duration::from_millis(100)) {
                Ok(()) => sent += 1,
                Err(_) if sent >= 20 => break,
                // The thread that moves messages may not have run during this time.
                Err(_) => assert!(
                    Instant::now() < deadline,
                    "{}: both queues are used",
                    path.name()
                ),
            }
            assert!(sent < 2_000, "{}: it must fill up", path.name());
        }
        assert!(
            pull.counters().messages_received <= 10 + 1,
            "the mark is exact"
        );

        // Once someone reads, everything comes, in order.
        let sender = thread::spawn({
            let push = push.clone();
            move || push.send(body(sent)).unwrap()
        });
        for number in 0..=sent {
            assert_eq!(pull.recv().unwrap().as_bytes()[..4], number.to_be_bytes());
        }
        sender.join().unwrap();
        assert_eq!(push.counters().dropped_at_send, 0);
    }
}

#[test]
fn who_waits_for_room_goes_on_although_less_than_half_of_the_queue_gets_free() {
    const MARK: usize = 100;
    // Small buffers of the system: each time that one is full it has taken a few messages, and no more.
    for path in Path::all() {
        for _ in 0..5 {
            let (_pull, push) = path.link(
                (path.server(SocketType::Pull).receive_buffer(4 << 10))
                    .receive_high_water_mark(MARK),
                (path.client(SocketType::Push).send_buffer(4 << 10))
                    .send_high_water_mark(MARK)
                    .linger(Duration::ZERO),
            );
            let (done, all_sent) = mpsc::channel();
            thread::spawn(move || {
                // As many as both queues take, which nobody reads.
                (0..2 * MARK).for_each(|_| push.send(vec![0; 8 << 10]).unwrap());
                done.send(()).unwrap();
                push
            });
            let waited = all_sent.recv_timeout(TIMEOUT);
            assert!(waited.is_ok(), "{}: it waits beside room", path.name());
        }
    }
}

#[test]
fn a_slow_subscriber_misses_messages_and_delays_nobody() {
    let path = Path::encrypted();
    let publisher = path.server(SocketType::XPub).send_high_water_mark(10);
    let publisher = publisher.build_blocking().unwrap();
    let endpoint = publisher.bind(path.endpoint()).unwrap();
    let subscribe = |topic: &[u8]| {
        let socket = path.client(SocketType::Sub).receive_high_water_mark(10);
        let socket = socket.build_blocking().unwrap();
        socket.subscribe(topic).unwrap();
        socket.connect(&endpoint).unwrap();
        socket
    };
    // Two topics that fit all bodies, so that the publisher hears of both subscribers.
    let (slow, quick) = (subscribe(b""), subscribe(&[0]));
    publisher.recv().unwrap();
    publisher.recv().unwrap();
    let mut number: u32 = 0;
    eventually("the slow one misses some", || {
        let mut body = vec![0; BODY];
        body[..4].copy_from_slice(&number.to_be_bytes());
        publisher.send(body).unwrap();
        // The quick one reads along and gets every one.
        assert_eq!(quick.recv().unwrap().as_bytes()[..4], number.to_be_bytes());
        number += 1;
        publisher.counters().dropped_at_send > 0
    });
    assert_eq!(slow.recv().unwrap().as_bytes()[..4], 0_u32.to_be_bytes());
}

#[test]
fn the_backlog_for_absent_peers_is_bounded() {
    let path = Path::encrypted();
    let push = path
        .client(SocketType::Push)
        .send_high_water_mark(3)
        .linger(Duration::ZERO);
    let push = push.build_blocking().unwrap();
    assert!(matches!(
        push.try_send("no endpoint yet").unwrap_err().error(),
        Error::WouldBlock
    ));
    let monitor = push.monitor();
    push.connect("tcp://127.0.0.1:1").unwrap();
    support::await_event(&monitor, "refused", |event| {
        matches!(event, sealwire::Event::Failed(_)).then_some(())
    });
    for _ in 0..3 {
        push.try_send("waits for a peer").unwrap();
    }
    assert!(matches!(
        push.try_send("one too many").unwrap_err().error(),
        Error::WouldBlock
    ));
    let error = push
        .send_timeout("and still", Duration::from_millis(200))
        .unwrap_err();
    let Error::TimedOut {
        last_failure: Some(failure),
        ..
    } = error.error()
    else {
        panic!("the error tells why: {error}")
    };
    assert!(
        failure.to_string().contains("tcp://127.0.0.1:1"),
        "{failure}"
    );
}

#[test]
fn messages_over_the_size_limit_end_that_connection_only() {
    let path = Path::encrypted();
    let pull = path
        .server(SocketType::Pull)
        .max_message_size(1_000)
        .build_blocking()
        .unwrap();
    let endpoint = pull.bind(path.endpoint()).unwrap();
    let connect = || {
        let push = path.client(SocketType::Push).build_blocking().unwrap();
        push.connect(&endpoint).unwrap();
        push
    };
    let (offender, other) = (connect(), connect());
    let monitor = pull.monitor();
    other.send("before").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"before");
    offender.send(vec![0; 1_001]).unwrap();
    let failure = support::await_event(&monitor, "disconnected", |event| match event {
        sealwire::Event::Failed(failure) => Some(failure.to_string()),
        _ => None,
    });
    assert!(failure.contains("1000 bytes"), "{failure}");
    other.send(vec![0; 1_000]).unwrap();
    assert_eq!(pull.recv().unwrap().size(), 1_000);
}

#[test]
fn accounts_tell_what_lies_in_the_queues_and_how_often_they_were_full() {
    for path in Path::all() {
        let (pull, push) = path.link(
            path.server(SocketType::Pull).receive_high_water_mark(10),
            path.client(SocketType::Push).send_high_water_mark(10),
        );
        eventually("connected", || push.peers().len() == 1);
        let name = path.name();
        let held = |socket: &sealwire::blocking::Socket, kind| {
            let accounts = socket.accounts();
            assert!(accounts.len() <= 1, "{name}");
            accounts.first().map_or(0, |peer| peer.account().held(kind))
        };
        // Both queues are full, and what lies between them.
        let mut sent = 0;
        eventually("full", || {
            while push.try_send(vec![0; BODY]).is_ok() {
                sent += 1;
            }
            held(&pull, Kind::Received) >= 10 * BODY && held(&push, Kind::Queued) >= 10 * BODY
        });
        assert!(held(&pull, Kind::Received) <= 11 * (BODY + 16), "{name}");
        assert!(held(&push, Kind::Queued) <= 11 * (BODY + 16), "{name}");
        assert_eq!(held(&push, Kind::Received), 0, "{name}");
        assert!(push.counters().exceeded(Kind::Queued) > 0, "{name}");
        if path.transport != "inproc" {
            // Within the process the sender's queue is the one that fills.
            eventually("paused", || pull.counters().exceeded(Kind::Received) > 0);
        }

        let (peer, exceeded) = (pull.accounts().remove(0), pull.counters());
        for _ in 5..sent {
            pull.recv().unwrap();
        }
        push.close().unwrap();
        eventually("gone", || pull.peers().is_empty());
        assert_eq!(held(&pull, Kind::Received), 5 * (BODY + 16), "{name}");
        for _ in 0..5 {
            pull.recv().unwrap();
        }
        assert!(pull.accounts().is_empty(), "{name}");
        assert_eq!(peer.account().held(Kind::Received), 0, "{name}");
        let still = pull.counters().exceeded(Kind::Received);
        assert!(still >= exceeded.exceeded(Kind::Received), "{name}");
    }
}
