//! Binding, unbinding, disconnecting, reconnecting, closing and lingering.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::{Path, TIMEOUT, await_event, eventually, has_ipv6};
use sealwire::blocking::Socket;
use sealwire::{Endpoint, Error, Event, Security, SocketType};
use sealwire_relay::{Act, Format, Relay, honest, since};

#[test]
fn port_zero_is_told() {
    let socket = Socket::builder(SocketType::Pull).security(Security::plain_text());
    let socket = socket.build_blocking().unwrap();
    let mut texts = vec!["tcp://127.0.0.1:0", "tcp://*:*", "tcp://localhost:0"];
    texts.extend(has_ipv6().then_some("tcp://[::1]:0"));
    let count = texts.len();
    for text in texts {
        let Endpoint::Tcp { port, .. } = socket.bind(text).unwrap() else {
            panic!("no tcp")
        };
        assert_ne!(port, 0, "{text}");
    }
    assert_eq!(socket.bound_endpoints().len(), count);
}

#[test]
fn names_are_resolved() {
    let pull = Socket::new(SocketType::Pull).unwrap();
    let Endpoint::Tcp { port, .. } = pull.bind("tcp://localhost:0").unwrap() else {
        panic!("no tcp")
    };
    let push = Socket::new(SocketType::Push).unwrap();
    push.connect(format!("tcp://localhost:{port}")).unwrap();
    push.send("by name").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"by name");

    let lost = Socket::builder(SocketType::Push).security(Security::plain_text());
    let lost = lost.build_blocking().unwrap();
    let monitor = lost.monitor();
    lost.connect("tcp://no-such-host.invalid:1").unwrap();
    await_event(&monitor, "the name does not resolve", |event| match event {
        Event::Failed(failure) => failure.to_string().contains("resolve").then_some(()),
        _ => None,
    });
}

#[test]
fn what_is_taken_cannot_be_bound() {
    for path in Path::all() {
        let first = path.server(SocketType::Pull).build_blocking().unwrap();
        let endpoint = first.bind(path.endpoint()).unwrap();
        let second = path.server(SocketType::Pull).build_blocking().unwrap();
        assert!(
            matches!(second.bind(&endpoint), Err(Error::Bind { .. })),
            "{}",
            path.name()
        );
        first.unbind(&endpoint).unwrap();
        assert!(matches!(
            first.unbind(&endpoint),
            Err(Error::UnknownEndpoint(_))
        ));
        eventually("free again", || second.bind(&endpoint).is_ok());
    }
}

#[test]
fn a_socket_file_left_behind_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists(), "left behind");
    let socket = Socket::new(SocketType::Pull).unwrap();
    let endpoint = socket.bind(format!("ipc://{}", path.display())).unwrap();
    socket.unbind(&endpoint).unwrap();
    eventually("tidied up", || !path.exists());
    // A file that is not a socket is never removed.
    std::fs::write(&path, "precious").unwrap();
    assert!(matches!(socket.bind(endpoint), Err(Error::Bind { .. })));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn unbinding_keeps_connections_and_refuses_new_ones() {
    for path in Path::all() {
        let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
        eventually("connected", || push.peers().len() == 1);
        pull.unbind(pull.bound_endpoints().remove(0)).unwrap();
        push.send("still connected").unwrap();
        assert_eq!(pull.recv().unwrap().as_bytes(), b"still connected");
    }
}

#[test]
fn disconnecting_sends_what_is_queued_and_stays_away() {
    for path in Path::all() {
        let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
        eventually("connected", || push.peers().len() == 1);
        (0..100).for_each(|_| push.send(vec![0; 10_000]).unwrap());
        push.disconnect(push.connected_endpoints().remove(0))
            .unwrap();
        (0..100).for_each(|_| assert_eq!(pull.recv().unwrap().size(), 10_000));
        eventually("disconnected", || {
            push.peers().is_empty() && pull.peers().is_empty()
        });
        assert!(matches!(
            push.try_send("x").unwrap_err().error(),
            Error::WouldBlock
        ));
        assert!(push.connected_endpoints().is_empty());
    }
}

#[test]
fn connections_come_back_after_the_server_restarts() {
    for path in Path::all() {
        let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
        push.send("first").unwrap();
        assert_eq!(pull.recv().unwrap().as_bytes(), b"first");
        let endpoint = pull.bound_endpoints().remove(0);
        pull.close().unwrap();
        eventually("noticed", || push.peers().is_empty());
        push.send("second").unwrap();
        let pull = path.server(SocketType::Pull).build_blocking().unwrap();
        eventually("bound again", || pull.bind(&endpoint).is_ok());
        assert_eq!(pull.recv().unwrap().as_bytes(), b"second");
        push.send("third").unwrap();
        assert_eq!(pull.recv().unwrap().as_bytes(), b"third");
    }
}

#[test]
fn closing_sends_what_is_queued() {
    for path in Path::all() {
        let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
        // Nobody waits for the connection here: closing does.
        (0..500).for_each(|_| push.send(vec![7; 2_000]).unwrap());
        push.close().unwrap();
        (0..500).for_each(|_| assert_eq!(pull.recv().unwrap().size(), 2_000));
    }
}

/// As long as the linger time lasts, a connection that ends while a socket closes is made again for what it left.
#[test]
fn closing_connects_again_for_what_is_left() {
    // Names that nobody else takes meanwhile.
    for path in Path::all()
        .into_iter()
        .filter(|path| path.transport == "ipc")
    {
        let pull = path.server(SocketType::Pull).receive_high_water_mark(1);
        let pull = pull.build_blocking().unwrap();
        let endpoint = pull.bind(path.endpoint()).unwrap();
        let push = path.client(SocketType::Push).linger(TIMEOUT);
        let push = push.build_blocking().unwrap();
        push.connect(&endpoint).unwrap();
        push.wait_connected(1).unwrap();
        // More than the system takes on its way to somebody who does not read.
        (0..60).for_each(|_| push.try_send(vec![7; 1 << 20]).unwrap());
        let handle = push.clone();
        let closing = std::thread::spawn(move || push.close());
        eventually(
            "it closes",
            || matches!(handle.try_send(""), Err(error) if matches!(error.error(), Error::Closed)),
        );
        pull.unbind_and_disconnect(&endpoint).unwrap();
        eventually("its connection has ended", || {
            handle.counters().disconnects == 1
        });
        pull.bind(&endpoint).unwrap();
        while !closing.is_finished() {
            let _ = pull.recv_timeout(Duration::from_millis(10));
        }
        closing.join().unwrap().unwrap();
        assert_eq!(handle.counters().dropped_unsent, 0, "{}", path.name());
    }
}

#[test]
fn dropping_a_blocking_socket_sends_what_is_queued() {
    let path = Path::encrypted();
    let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
    push.send("last words").unwrap();
    drop(push);
    assert_eq!(pull.recv().unwrap().as_bytes(), b"last words");
}

#[test]
fn lingering_ends() {
    let path = Path::encrypted();
    let push = path
        .client(SocketType::Push)
        .linger(Duration::from_millis(100));
    let push = push.build_blocking().unwrap();
    push.connect("tcp://127.0.0.1:1").unwrap();
    push.send("to nobody").unwrap();
    let start = Instant::now();
    assert!(matches!(push.close(), Err(Error::Unsent(1))));
    assert!(start.elapsed() >= Duration::from_millis(100));
}

#[test]
fn a_closed_socket_says_so_to_all_its_handles() {
    let path = Path::encrypted();
    let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
    let waiting = std::thread::spawn({
        let pull = pull.clone();
        move || pull.recv()
    });
    let monitor = pull.monitor();
    let other = pull.clone();
    pull.close().unwrap();
    assert!(matches!(waiting.join().unwrap(), Err(Error::Closed)));
    assert!(matches!(other.try_recv(), Err(Error::Closed)));
    assert!(matches!(
        other.bind("tcp://127.0.0.1:0"),
        Err(Error::Closed)
    ));
    while monitor.wait_next().is_some() {}
    drop(push);
}

#[test]
fn counters_and_events_tell_what_happened() {
    let path = Path::encrypted();
    let pull = path.server(SocketType::Pull).build_blocking().unwrap();
    let monitor = pull.monitor();
    let endpoint = pull.bind(path.endpoint()).unwrap();
    let push = path.client(SocketType::Push).build_blocking().unwrap();
    push.connect(&endpoint).unwrap();
    push.send("twelve bytes").unwrap();
    pull.recv().unwrap();
    await_event(&monitor, "listening", |event| {
        matches!(event, Event::Listening { endpoint: bound, .. } if *bound == endpoint)
            .then_some(())
    });
    let number = await_event(&monitor, "accepted", |event| match event {
        Event::Accepted { connection, .. } => Some(*connection),
        _ => None,
    });
    let peer = await_event(&monitor, "ready", |event| match event {
        Event::Ready { peer } => Some(peer.clone()),
        _ => None,
    });
    assert_eq!(peer.connection(), number);
    push.close().unwrap();
    await_event(&monitor, "disconnected", |event| {
        matches!(event, Event::Disconnected { peer, .. } if peer.connection() == number)
            .then_some(())
    });
    let counters = pull.counters();
    assert_eq!(
        (counters.messages_received, counters.bytes_received),
        (1, 12)
    );
    assert_eq!(
        (counters.handshakes_completed, counters.handshakes_failed),
        (1, 0)
    );
    assert_eq!(counters.disconnects, 1);
}

/// Time between two heartbeats.
const TICK: Duration = Duration::from_millis(50);

/// A receiver that gives a silent peer up after ten heartbeats.
fn beating(path: &Path) -> Socket {
    let pull = path.server(SocketType::Pull);
    let pull = pull
        .heartbeat(TICK)
        .heartbeat_timeout(10 * TICK)
        .heartbeat_ttl(40 * TICK);
    pull.build_blocking().unwrap()
}

/// A machine that stalls may end a connection; heartbeats that are not answered end each.
#[test]
fn heartbeats_keep_a_silent_connection() {
    let path = Path::encrypted();
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let (pull, push) = (beating(&path), path.client(SocketType::Push));
        let (monitor, push) = (pull.monitor(), push.build_blocking().unwrap());
        push.connect(pull.bind(path.endpoint()).unwrap()).unwrap();
        await_event(&monitor, "connected", |event| {
            matches!(event, Event::Ready { .. }).then_some(())
        });
        // Twenty heartbeats pass while both applications are silent.
        let Some(ended) = monitor.wait_next_timeout(20 * TICK) else {
            break;
        };
        assert!(Instant::now() < deadline, "{ended:?}");
    }
}

#[test]
fn heartbeats_end_a_dead_connection() {
    let path = Path::encrypted();
    let pull = beating(&path);
    let endpoint = pull.bind(path.endpoint()).unwrap();
    let monitor = pull.monitor();
    let Endpoint::Tcp { port, .. } = endpoint else {
        panic!("no tcp")
    };
    let relay = Relay::before(([127, 0, 0, 1], port).into(), Format::Pieces);
    let silent = path.client(SocketType::Push).build_blocking().unwrap();
    silent.connect(relay.endpoint()).unwrap();
    let dead = Arc::<AtomicBool>::default();
    let _carried = relay.carry(since(&dead, Box::new(|_, _| Act::drop())), honest());
    await_event(&monitor, "connected through the relay", |event| {
        matches!(event, Event::Ready { .. }).then_some(())
    });
    // From here on the network swallows what the client says; its side stays open.
    dead.store(true, Ordering::SeqCst);
    let failure = await_event(&monitor, "noticed", |event| match event {
        Event::Failed(failure) => Some(failure.clone()),
        _ => None,
    });
    assert!(failure.was_ready(), "{failure}");
}

#[test]
fn a_socket_with_a_full_queue_closes_at_once() {
    let pull = Socket::builder(SocketType::Pull)
        .receive_high_water_mark(1)
        .linger(Duration::from_secs(60))
        .build_blocking()
        .unwrap();
    let push = Socket::builder(SocketType::Push)
        .linger(Duration::ZERO)
        .build_blocking()
        .unwrap();
    push.connect(pull.bind("tcp://127.0.0.1:0").unwrap())
        .unwrap();
    for _ in 0..3 {
        push.send("more than fits").unwrap();
    }
    eventually("the queue is full", || {
        pull.counters().messages_received == 1 && push.counters().messages_sent == 3
    });
    push.close().unwrap();
    let begun = Instant::now();
    pull.close().unwrap();
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "nothing is left to linger for"
    );
}

#[cfg(unix)]
#[test]
fn nobody_else_may_connect_to_a_socket_file_unless_its_mode_says_so() {
    use std::os::unix::fs::MetadataExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let endpoint = format!("ipc://{}", path.display());
    let builders = [
        (0o600, Socket::builder(SocketType::Pull)),
        (0o666, Socket::builder(SocketType::Pull).ipc_mode(0o666)),
    ];
    for (mode, builder) in builders {
        let pull = builder.build_blocking().unwrap();
        pull.bind(&*endpoint).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, mode);
        let push = Socket::new(SocketType::Push).unwrap();
        push.connect(&*endpoint).unwrap();
        push.send("work").unwrap();
        assert_eq!(pull.recv().unwrap().as_bytes(), b"work");
        pull.close().unwrap();
        eventually("tidied up", || !path.exists());
    }
}
