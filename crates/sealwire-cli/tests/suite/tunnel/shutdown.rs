//! Stopping: nobody new, those under way finish or are told.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::thread;

use super::ends::{ANY, Keys, Tunnel, as_str, content, dial, echo, service};
use crate::support::{Unread, eventually};

/// Connections that are under way for sure: each had something back.
fn established(entry: &str, count: usize) -> Vec<TcpStream> {
    let connect = |_| {
        let mut socket = dial(entry);
        socket.write_all(b"x").expect("it reads");
        socket.read_exact(&mut [0]).expect("an answer");
        socket
    };
    (0..count).map(connect).collect()
}

/// Waits until nobody can connect any more: it has begun to stop.
fn is_stopping(endpoint: &str) {
    let address = endpoint.trim_start_matches("tcp://");
    while TcpStream::connect(address).is_ok() {
        thread::yield_now();
    }
}

#[test]
fn what_is_under_way_finishes_on_either_side() {
    for side in 0..2 {
        let tunnel = Tunnel::with(&service(echo), &["--grace", "1m"], &["--grace", "1m"]);
        let sockets = established(&tunnel.entry, 4);
        let Tunnel {
            listener,
            connector,
            entry,
            ..
        } = tunnel;
        let stopped = if side == 0 { listener } else { connector };
        stopped.interrupt();
        if side == 1 {
            is_stopping(&entry);
        }
        let clients = sockets.into_iter().map(|mut socket| {
            thread::spawn(move || {
                let text = content(500_000);
                let mut back = socket.try_clone().expect("a socket");
                let sent = text.clone();
                let sending = thread::spawn(move || {
                    socket.write_all(&sent).expect("it reads");
                    socket.shutdown(Shutdown::Write).expect("a socket");
                });
                let mut received = Vec::new();
                back.read_to_end(&mut received).expect("a clean end");
                assert!(received == text);
                sending.join().expect("no panic");
            })
        });
        for client in clients.collect::<Vec<_>>() {
            client.join().expect("no panic");
        }
        stopped.finish().expect_code(0);
    }
}

#[test]
fn what_does_not_finish_in_time_is_broken_off_and_told() {
    let tunnel = Tunnel::with(&service(echo), &["--grace", "200ms"], &[]);
    let mut sockets = established(&tunnel.entry, 3);
    let Tunnel {
        listener,
        mut connector,
        ..
    } = tunnel;
    listener.interrupt();
    for socket in &mut sockets {
        assert!(socket.read(&mut [0]).is_err(), "no clean end");
    }
    connector.await_line("the other side was stopped");
    let stopped = listener.finish().expect_code(7);
    assert!(
        stopped.stderr.contains("3 connections broken off"),
        "{stopped:?}"
    );
}

#[test]
fn with_nothing_under_way_it_ends_at_once() {
    let Tunnel {
        listener,
        connector,
        ..
    } = Tunnel::with(&service(echo), &["--grace", "1h"], &["--grace", "1h"]);
    for running in [listener, connector] {
        running.interrupt();
        running.finish().expect_code(0);
    }
}

/// An interrupt may come once others can connect, even while its first line waits for a reader.
#[test]
#[cfg(target_os = "linux")]
fn an_interrupt_as_soon_as_it_listens_ends_it_as_any_other() {
    let keys = Keys::new();
    let options = ["--grace", "0s"];
    let ends = [
        keys.listening(ANY, &options),
        keys.connecting("alice", ANY, &options),
    ];
    for mut arguments in ends {
        // A free port of an address that nobody else uses.
        let free = std::net::TcpListener::bind("127.83.0.1:0").and_then(|port| port.local_addr());
        let address = free.expect("all of 127 is here");
        let bind = arguments.iter().position(|argument| argument == "--bind");
        arguments[bind.expect("an option") + 1] = format!("tcp://{address}");
        let end = Unread::start(&as_str(&arguments));
        eventually("it listens", || TcpStream::connect(address).is_ok());
        // Its thread is held up by the line that nobody reads.
        assert_eq!(end.interrupted(), Some(7));
    }
}
