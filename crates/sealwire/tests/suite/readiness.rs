//! A descriptor is readable when a socket or a monitor has something to do.

#![cfg(unix)]

use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use sealwire::{
    Error, Event, Readiness, Ready, Security, SocketType, StateError, blocking::Socket,
};

use crate::support::{Path, TIMEOUT, eventually, options};

const IDLE: Ready = Ready {
    receive: false,
    send: false,
    closed: false,
};
const SENDS: Ready = Ready { send: true, ..IDLE };
const RECEIVES: Ready = Ready {
    receive: true,
    ..IDLE
};

fn is_signalled(readiness: &Readiness, limit: Duration) -> bool {
    let limit = Timespec {
        tv_sec: limit.as_secs() as i64,
        tv_nsec: limit.subsec_nanos().into(),
    };
    loop {
        let mut polled = [PollFd::new(readiness, PollFlags::IN)];
        match poll(&mut polled, Some(&limit)) {
            Ok(count) => return count > 0,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Sleeps on the descriptor, and only on it, until the condition holds.
fn await_ready(readiness: &Readiness, what: &str, condition: impl Fn(Ready) -> bool) -> Ready {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let ready = readiness.take();
        if condition(ready) {
            return ready;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        assert!(
            is_signalled(readiness, left),
            "no wake-up: {what}, {ready:?}"
        );
    }
}

fn inproc(server: SocketType, client: SocketType) -> (Socket, Socket) {
    let path = Path {
        transport: "inproc",
        keys: None,
    };
    path.pair(server, client)
}

#[test]
fn it_is_readable_from_the_start_and_once() {
    let socket = Socket::new(SocketType::Pull).unwrap();
    let readiness = socket.readiness().unwrap();
    assert!(is_signalled(&readiness, TIMEOUT));
    assert_eq!(readiness.take(), IDLE);
    assert!(!is_signalled(&readiness, Duration::ZERO));
    readiness.rearm();
    assert!(is_signalled(&readiness, TIMEOUT));
}

#[test]
fn every_type_says_what_it_can_do_alone_and_with_a_peer() {
    use SocketType::*;
    for (socket_type, peer, alone, expecting, together) in [
        (Pair, Pair, IDLE, SENDS, SENDS),
        (Pub, Sub, SENDS, SENDS, SENDS),
        (XPub, Sub, SENDS, SENDS, SENDS),
        (Sub, Pub, IDLE, IDLE, IDLE),
        (XSub, Pub, SENDS, SENDS, SENDS),
        (Req, Rep, IDLE, SENDS, SENDS),
        (Rep, Req, IDLE, IDLE, IDLE),
        (Dealer, Router, IDLE, SENDS, SENDS),
        (Router, Dealer, SENDS, SENDS, SENDS),
        (Push, Pull, IDLE, SENDS, SENDS),
        (Pull, Push, IDLE, IDLE, IDLE),
        (Client, Server, IDLE, SENDS, SENDS),
        (Server, Client, SENDS, SENDS, SENDS),
        (Peer, Peer, SENDS, SENDS, SENDS),
        (Radio, Dish, SENDS, SENDS, SENDS),
        (Dish, Radio, IDLE, IDLE, IDLE),
        (Scatter, Gather, IDLE, SENDS, SENDS),
        (Gather, Scatter, IDLE, IDLE, IDLE),
        (Channel, Channel, IDLE, SENDS, SENDS),
    ] {
        let socket = Socket::new(socket_type).unwrap();
        let readiness = socket.readiness().unwrap();
        assert_eq!(readiness.take(), alone, "{socket_type:?} alone");

        let name = format!("inproc://readiness-{socket_type:?}");
        socket.connect(name.as_str()).unwrap();
        if alone != expecting {
            assert!(is_signalled(&readiness, TIMEOUT), "{socket_type:?}");
        }
        assert_eq!(readiness.take(), expecting, "{socket_type:?} connecting");

        let other = Socket::new(peer).unwrap();
        other.bind(name.as_str()).unwrap();
        assert!(is_signalled(&readiness, TIMEOUT), "{socket_type:?}");
        assert_eq!(readiness.take(), together, "{socket_type:?} connected");
    }
}

#[test]
fn messages_are_told_over_every_transport() {
    for path in Path::all() {
        let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
        let readiness = pull.readiness().unwrap();
        for _ in 0..20 {
            push.send("work").unwrap();
            await_ready(&readiness, &path.name(), |ready| ready.receive);
            assert_eq!(pull.try_recv().unwrap().as_bytes(), b"work");
        }
    }
}

#[test]
fn one_message_per_wake_up_is_enough() {
    for receive in [
        |socket: &Socket| assert_eq!(socket.try_recv().unwrap().as_bytes(), b"work"),
        |socket: &Socket| {
            let mut messages = Vec::new();
            assert_eq!(socket.recv_many(&mut messages, 1).unwrap(), 1);
        },
    ] {
        for (server, client) in [
            (SocketType::Pull, SocketType::Push),
            (SocketType::Router, SocketType::Dealer),
        ] {
            let (server, client) = Path::encrypted().pair(server, client);
            let readiness = server.readiness().unwrap();
            const COUNT: usize = 500;
            for _ in 0..COUNT {
                client.send("work").unwrap();
            }
            for _ in 0..COUNT {
                await_ready(&readiness, "the next", |ready| ready.receive);
                match server.socket_type() {
                    SocketType::Pull => receive(&server),
                    _ => assert_eq!(server.try_recv().unwrap().len(), 2),
                }
            }
        }
    }
}

#[test]
fn what_is_left_where_it_is_wakes_nobody() {
    let (pull, push) = inproc(SocketType::Pull, SocketType::Push);
    let readiness = pull.readiness().unwrap();
    push.send("first").unwrap();
    assert_eq!(readiness.take(), RECEIVES);
    assert!(!is_signalled(&readiness, Duration::ZERO));
    assert_eq!(readiness.take(), RECEIVES);
    push.send("second").unwrap();
    assert!(is_signalled(&readiness, TIMEOUT));
    assert_eq!(readiness.take(), RECEIVES);
    pull.recv().unwrap();
    assert!(is_signalled(&readiness, TIMEOUT), "one is left");
    pull.recv().unwrap();
    assert_eq!(readiness.take(), IDLE);
}

#[test]
fn room_is_told() {
    for (socket_type, peer) in [
        (SocketType::Push, SocketType::Pull),
        (SocketType::Dealer, SocketType::Dealer),
        (SocketType::Pair, SocketType::Pair),
    ] {
        let full = options(socket_type)
            .send_high_water_mark(2)
            .build_blocking()
            .unwrap();
        let reader = options(peer)
            .receive_high_water_mark(2)
            .build_blocking()
            .unwrap();
        let name = format!("inproc://room-{socket_type:?}");
        let readiness = full.readiness().unwrap();
        full.connect(name.as_str()).unwrap();
        let fill = || {
            let mut sent = 0;
            while full.try_send("x").is_ok() {
                sent += 1;
            }
            sent
        };
        assert_eq!(fill(), 2, "in the backlog");
        assert_eq!(
            readiness.take(),
            IDLE,
            "{socket_type:?}: the backlog is full"
        );

        reader.bind(name.as_str()).unwrap();
        await_ready(&readiness, "room behind the backlog", |ready| ready.send);
        let more = fill();
        assert!(more > 0);
        assert_eq!(readiness.take(), IDLE, "{socket_type:?}: the queue is full");
        for _ in 0..2 + more {
            reader.recv().unwrap();
        }
        await_ready(&readiness, "room in the queue", |ready| ready.send);
        full.try_send("x").unwrap();
    }
}

#[test]
fn a_publisher_that_drops_nothing_waits_for_room() {
    let publisher = options(SocketType::XPub)
        .xpub_no_drop(true)
        .send_high_water_mark(1)
        .build_blocking()
        .unwrap();
    let subscriber = options(SocketType::Sub)
        .receive_high_water_mark(1)
        .build_blocking()
        .unwrap();
    publisher.bind("inproc://no-drop").unwrap();
    subscriber.connect("inproc://no-drop").unwrap();
    subscriber.subscribe("").unwrap();
    assert_eq!(publisher.recv().unwrap().as_bytes(), b"\x01");
    let readiness = publisher.readiness().unwrap();
    let mut sent = 0;
    while publisher.try_send("x").is_ok() {
        sent += 1;
    }
    assert_eq!(readiness.take(), IDLE);
    for _ in 0..sent {
        subscriber.recv().unwrap();
    }
    await_ready(&readiness, "room", |ready| ready.send);
}

#[test]
fn requests_and_answers_take_turns() {
    for path in Path::all() {
        let (rep, req) = path.pair(SocketType::Rep, SocketType::Req);
        let asks = req.readiness().unwrap();
        let answers = rep.readiness().unwrap();
        for _ in 0..5 {
            assert_eq!(asks.take(), SENDS);
            assert_eq!(answers.take(), IDLE);
            req.try_send("question").unwrap();
            assert_eq!(asks.take(), IDLE, "an answer is due");

            await_ready(&answers, "the question", |ready| ready == RECEIVES);
            rep.try_recv().unwrap();
            assert_eq!(answers.take(), SENDS, "an answer is owed");
            rep.try_send("answer").unwrap();
            assert_eq!(answers.take(), IDLE);

            await_ready(&asks, "the answer", |ready| ready == RECEIVES);
            req.try_recv().unwrap();
        }
        // Out of turn the answer is an error, and no wake-up was promised.
        let error = req.try_recv().unwrap_err();
        assert!(matches!(error, Error::State(StateError::NothingAsked)));
    }
}

#[test]
fn a_lost_request_is_told() {
    let (rep, req) = Path::encrypted().pair(SocketType::Rep, SocketType::Req);
    let readiness = req.readiness().unwrap();
    req.send("question").unwrap();
    rep.recv().unwrap();
    rep.close().unwrap();
    await_ready(&readiness, "the loss", |ready| ready.receive);
    assert!(matches!(req.try_recv().unwrap_err(), Error::RequestLost));
}

#[test]
fn many_waiters_are_all_told() {
    let (pull, push) = Path::encrypted().pair(SocketType::Pull, SocketType::Push);
    let waiters: Vec<_> = (0..8).map(|_| pull.readiness().unwrap()).collect();
    thread::scope(|scope| {
        for readiness in &waiters {
            scope.spawn(|| {
                await_ready(readiness, "the message", |ready| ready.receive);
            });
        }
        push.send("for all to see").unwrap();
    });
    thread::scope(|scope| {
        for readiness in &waiters {
            scope.spawn(|| await_ready(readiness, "the end", |ready| ready.closed));
        }
        pull.clone().close().unwrap();
    });
}

#[test]
fn several_threads_share_out_what_comes() {
    const COUNT: usize = 2_000;
    let (pull, push) = Path::encrypted().pair(SocketType::Pull, SocketType::Push);
    let received = std::sync::atomic::AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let readiness = pull.readiness().unwrap();
                loop {
                    let ready = await_ready(&readiness, "more", |ready| ready != IDLE);
                    if ready.closed {
                        return;
                    }
                    // Another thread may have been faster.
                    if pull.try_recv().is_ok() {
                        received.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    }
                }
            });
        }
        for _ in 0..COUNT {
            push.send("work").unwrap();
        }
        eventually("all received", || {
            received.load(std::sync::atomic::Ordering::SeqCst) == COUNT
        });
        pull.clone().close().unwrap();
    });
}

#[test]
fn a_connection_that_a_thread_read_directly_is_read_on() {
    for path in Path::all() {
        let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
        eventually("connected", || pull.peers().len() == 1);
        for _ in 0..5 {
            // Mostly the receiver waits first, and so reads the connection itself.
            thread::scope(|scope| {
                let received = scope.spawn(|| pull.recv().unwrap());
                thread::yield_now();
                push.send("direct").unwrap();
                received.join().unwrap();
            });
        }
        let readiness = pull.readiness().unwrap();
        push.send("told").unwrap();
        await_ready(&readiness, &path.name(), |ready| ready.receive);
        assert_eq!(pull.try_recv().unwrap().as_bytes(), b"told");
        // And with a thread that waits as before.
        push.send("blocking").unwrap();
        assert_eq!(pull.recv().unwrap().as_bytes(), b"blocking");
        push.send("told again").unwrap();
        await_ready(&readiness, &path.name(), |ready| ready.receive);
    }
}

#[test]
fn it_can_be_made_while_a_thread_reads_directly() {
    for _ in 0..20 {
        let (pull, push) = Path::encrypted().pair(SocketType::Pull, SocketType::Push);
        eventually("connected", || pull.peers().len() == 1);
        thread::scope(|scope| {
            let received = scope.spawn(|| pull.recv().unwrap());
            thread::yield_now();
            let readiness = pull.readiness().unwrap();
            push.send("one").unwrap();
            push.send("two").unwrap();
            received.join().unwrap();
            await_ready(&readiness, "the other", |ready| ready.receive);
            pull.try_recv().unwrap();
        });
    }
}

#[test]
fn the_end_is_told_and_outlived() {
    let (pull, push) = inproc(SocketType::Pull, SocketType::Push);
    let (reads, writes) = (pull.readiness().unwrap(), push.readiness().unwrap());
    push.send("never read").unwrap();
    assert_eq!((reads.take(), writes.take()), (RECEIVES, SENDS));
    let closed = Ready {
        closed: true,
        ..IDLE
    };
    pull.close().unwrap();
    assert!(is_signalled(&reads, TIMEOUT));
    assert_eq!(reads.take(), closed);
    // The peer that is gone takes its room along; the endpoint is still being connected to.
    await_ready(&writes, "a peer can be expected", |ready| ready.send);
    drop(push);
    await_ready(&writes, "the end", |ready| ready == closed);
}

#[test]
fn a_monitor_tells_of_events_and_of_the_end() {
    let socket = options(SocketType::Pull).build_blocking().unwrap();
    let monitor = socket.monitor();
    let readiness = monitor.readiness().unwrap();
    assert_eq!(readiness.take(), IDLE);
    for _ in 0..3 {
        socket.bind("tcp://127.0.0.1:0").unwrap();
    }
    // One event per wake-up.
    for _ in 0..3 {
        await_ready(&readiness, "listening", |ready| ready.receive);
        let event = monitor.try_next();
        assert!(matches!(event, Some(Event::Listening { .. })), "{event:?}");
    }
    socket.close().unwrap();
    await_ready(&readiness, "the end", |ready| ready.closed);
    while let Some(event) = monitor.try_next() {
        assert!(matches!(event, Event::Unbound { .. }), "{event:?}");
    }
    let ended = Ready {
        closed: true,
        ..IDLE
    };
    assert_eq!(readiness.take(), ended);
}

#[test]
fn those_who_do_not_look_any_more_cost_nothing() {
    let (pull, push) = inproc(SocketType::Pull, SocketType::Push);
    // More than a process may have descriptors.
    for _ in 0..5_000 {
        let readiness = pull.readiness().unwrap();
        readiness.take();
    }
    push.send("on").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"on");
}

#[test]
fn a_server_with_another_key_is_no_reason_to_wake_up_for_good() {
    // A client that is refused over and over: its descriptor says that nothing can be received.
    let path = Path::encrypted();
    let server = path.server(SocketType::Rep).build_blocking().unwrap();
    let endpoint = server.bind(path.endpoint()).unwrap();
    let other = Path::encrypted();
    let wrong = Security::blake3_client(other.keys.unwrap().public());
    let client = options(SocketType::Req)
        .security(wrong)
        .build_blocking()
        .unwrap();
    let monitor = client.monitor();
    let (events, readiness) = (monitor.readiness().unwrap(), client.readiness().unwrap());
    client.connect(endpoint).unwrap();
    loop {
        await_ready(&events, "the failure", |ready| ready.receive);
        if let Some(Event::Failed(_)) = monitor.try_next() {
            break;
        }
    }
    assert_eq!(readiness.take(), SENDS);
}
