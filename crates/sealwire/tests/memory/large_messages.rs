//! A single large message: what it takes of memory, and what it does to heartbeats.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::alone;
use crate::counting::{in_use, peak_of};
use crate::support::{Path, TIMEOUT, eventually, every_mechanism, link, options};
use bytes::Bytes;
use sealwire::{Endpoint, Event, Generate as _, KeyPair, SocketType};

/// The application keeps what it sends, so that it must not be changed. What arrives takes its size
/// once more, and nothing else does; with CURVE one copy does, as its tag stands before what it covers.
/// Once the application drops what it received, nothing of it is left.
#[test]
fn a_large_message_is_not_copied_to_be_sealed() {
    alone(large_messages_are_sealed);
}

fn large_messages_are_sealed() {
    const SIZE: usize = 48 << 20;
    const NOISE: usize = 4 << 20;
    let payload = Bytes::from_iter((0..SIZE).map(|i| (i * 7) as u8));
    let before = in_use();
    for (mechanism, server, client) in every_mechanism() {
        let (pull, push) = link(
            "tcp://127.0.0.1:*",
            options(SocketType::Pull).security(server),
            options(SocketType::Push).security(client),
        );
        push.send("ready").unwrap();
        pull.recv().unwrap();
        assert!(in_use() < before + NOISE);
        let peak = peak_of(|| {
            push.send(payload.clone()).unwrap();
            let received = pull.recv_timeout(TIMEOUT).unwrap();
            assert!(received.as_bytes() == payload);
        });
        let growth = peak - before;
        println!("{mechanism}: {} KiB at the most", growth >> 10);
        let copies = if mechanism == "CURVE" { 2 } else { 1 };
        assert!(
            growth + NOISE > SIZE && growth < copies * SIZE + NOISE,
            "{mechanism}: {growth} bytes"
        );
        eventually("it is gone", || in_use() < before + NOISE);
    }
}

/// PING cannot overtake a frame. While that is on its way, the peer has not failed to answer.
#[test]
fn a_large_message_on_a_slow_way_outlasts_heartbeats() {
    alone(large_messages_outlast_heartbeats);
}

fn large_messages_outlast_heartbeats() {
    for keys in [None, Some(KeyPair::generate())] {
        let path = Path {
            transport: "tcp",
            keys,
        };
        // A machine that stalls may end one; heartbeats that count the way end each.
        let deadline = Instant::now() + TIMEOUT;
        while let Some(event) = end_of_a_slow_transfer(&path) {
            assert!(Instant::now() < deadline, "{}: {event}", path.name());
        }
    }
}

/// What ended the connection before a message was on the other side, which takes four times as long as
/// a heartbeat may.
fn end_of_a_slow_transfer(path: &Path) -> Option<Event> {
    const SIZE: usize = 24 << 20;
    const TICK: Duration = Duration::from_millis(50);
    let pull = path.server(SocketType::Pull).build_blocking().unwrap();
    let push = path.client(SocketType::Push).linger(Duration::ZERO);
    let push = push
        .heartbeat(TICK)
        .heartbeat_timeout(20 * TICK)
        .heartbeat_ttl(Duration::ZERO);
    let push = push.build_blocking().unwrap();
    let monitor = push.monitor();
    let Endpoint::Tcp { port, .. } = pull.bind("tcp://127.0.0.1:*").unwrap() else {
        panic!("no tcp")
    };
    push.connect(slow_way_to(port)).unwrap();
    let payload = Bytes::from(vec![7; SIZE]);
    push.send(payload.clone()).unwrap();
    push.send("and still connected").unwrap();
    let mut ended = None;
    eventually("all of it is there, or the connection is over", || {
        ended = std::iter::from_fn(|| monitor.try_next())
            .find(|event| matches!(event, Event::Failed(_) | Event::Disconnected { .. }));
        ended.is_some() || pull.counters().messages_received == 2
    });
    if ended.is_none() {
        assert!(pull.recv().unwrap().as_bytes() == payload);
        assert_eq!(pull.recv().unwrap().as_bytes(), b"and still connected");
    }
    ended
}

/// An endpoint that leads there, at some 6 MB a second.
fn slow_way_to(port: u16) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || -> io::Result<()> {
        let (mut client, _) = listener.accept()?;
        let mut server = TcpStream::connect(("127.0.0.1", port))?;
        let (mut back_from, mut back_to) = (server.try_clone()?, client.try_clone()?);
        thread::spawn(move || io::copy(&mut back_from, &mut back_to));
        let mut buffer = vec![0; 64 << 10];
        loop {
            let length = client.read(&mut buffer)?;
            if length == 0 {
                return Ok(());
            }
            server.write_all(&buffer[..length])?;
            thread::sleep(Duration::from_millis(10));
        }
    });
    format!("tcp://{address}")
}
