//! The end of a connection whose key was withdrawn: what still goes out, and how long it may take.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

use super::*;

/// A client that reads nothing until its connection is on its way to its end gets what was queued for it.
#[test]
fn what_is_queued_for_this_peer_alone_goes_out() {
    const MESSAGES: usize = 200;
    const SIZE: usize = 64 << 10;
    for with in With::BOTH {
        let [old, new] = [(); 2].map(|()| KeyPair::generate());
        let server = options(SocketType::Router)
            .linger(Duration::from_secs(60 * 60))
            .security(with.server(&[&old]));
        let server = server.build_blocking().unwrap();
        let monitor = server.monitor();
        let endpoint = server.bind("tcp://127.0.0.1:*").unwrap();
        let client = options(SocketType::Dealer)
            .receive_high_water_mark(1)
            .security(with.client(&old, &KeyPair::generate()));
        let client = client.build_blocking().unwrap();
        client.connect(&endpoint).unwrap();
        exchange(&server, &client, "before");
        client.send("everything").unwrap();
        let request = server.recv().unwrap();
        for number in 0..MESSAGES {
            let to = Frame::copy_from_slice(&request.frames()[0]);
            let body = Frame::from(vec![number as u8; SIZE]);
            server.send(Message::from_iter([to, body])).unwrap();
        }
        protect(&server, &endpoint, Withdrawn::End, with.server(&[&new]));
        for number in 0..MESSAGES {
            let message = client.recv().unwrap();
            assert_eq!(message.as_bytes()[0], number as u8);
        }
        await_event(&monitor, "the end", withdrawn_of);
        assert_eq!(server.counters().dropped_unsent, 0);
    }
}

/// A message that may go to others waits for the next connection, and the old one ends though its queue is full.
#[test]
fn what_may_go_to_others_goes_over_the_next_connection() {
    let keys = KeyPair::generate();
    let [old, new] = [(); 2].map(|()| KeyPair::generate());
    let with = With::Blake3;
    let server = options(SocketType::Pull)
        .receive_high_water_mark(1)
        .security(with.server(&[&keys]));
    let server = server.build_blocking().unwrap();
    let endpoint = server.bind("tcp://127.0.0.1:*").unwrap();
    let client = options(SocketType::Push)
        .linger(Duration::from_secs(60 * 60))
        .security(with.client(&keys, &old));
    let client = client.build_blocking().unwrap();
    let monitor = client.monitor();
    client.connect(&endpoint).unwrap();
    client.wait_connected(1).unwrap();
    // The buffers of the system hold less than this, and the queue of the socket the rest.
    const MESSAGES: usize = 1_500;
    const SIZE: usize = 64 << 10;
    let mut sent = 0;
    while sent < MESSAGES && client.try_send(vec![1; SIZE]).is_ok() {
        sent += 1;
    }
    assert!(sent > 1_000, "the queue alone takes as many");
    protect(&client, &endpoint, Withdrawn::End, with.client(&keys, &new));
    let mut last = None;
    for _ in 0..sent {
        let message = server.recv().unwrap();
        last = message.peer().unwrap().public_key();
    }
    assert_eq!(last, Some(new.public()));
    await_event(&monitor, "the end", withdrawn_of);
    assert_eq!(client.counters().dropped_unsent, 0);
}

/// A DEALER with NULL that does what a test says, byte by byte.
fn raw_dealer(server: &Socket, endpoint: &Endpoint) -> TcpStream {
    let address = endpoint.to_string().replace("tcp://", "");
    let mut raw = TcpStream::connect(address).unwrap();
    let mut greeting = [0; 64];
    greeting[0] = 0xff;
    greeting[9] = 0x7f;
    greeting[10] = 3;
    greeting[12..16].copy_from_slice(b"NULL");
    raw.write_all(&greeting).unwrap();
    raw.write_all(b"\x04\x1c\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER")
        .unwrap();
    raw.set_read_timeout(Some(TIMEOUT)).unwrap();
    server.wait_connected(1).unwrap();
    raw
}

/// A peer that ends its half before it has read gets what is on its way, as any does; the rest is counted. Its end is told
/// as that of a withdrawn key.
#[test]
fn a_peer_that_has_ended_its_half_is_one_of_a_withdrawn_key_all_the_same() {
    const MESSAGES: usize = 24;
    const SIZE: usize = 1 << 20;
    let server = options(SocketType::Router)
        .security(Security::plain_text())
        .linger(Duration::from_secs(60 * 60));
    let server = server.build_blocking().unwrap();
    let monitor = server.monitor();
    let endpoint = server.bind("tcp://127.0.0.1:*").unwrap();
    let mut raw = raw_dealer(&server, &endpoint);
    raw.write_all(b"\x00\x02hi").unwrap();
    let request = server.recv().unwrap();
    for _ in 0..MESSAGES {
        let to = Frame::copy_from_slice(&request.frames()[0]);
        let body = Frame::from(vec![1; SIZE]);
        server.send(Message::from_iter([to, body])).unwrap();
    }
    let keys = KeyPair::generate();
    let security = With::Blake3.server(&[&keys]);
    protect(&server, &endpoint, Withdrawn::End, security);
    // Once another one is there the I/O thread has heard of it.
    let (other, _) = client(With::Blake3, &endpoint, &keys);
    other.wait_connected(1).unwrap();
    raw.shutdown(Shutdown::Write).unwrap();
    await_event(&monitor, "the end", withdrawn_of);
    // With a greeting and READY before them.
    let read = raw.read_to_end(&mut Vec::new()).unwrap();
    let dropped = server.counters().dropped_unsent as usize;
    assert_eq!(read / SIZE + dropped, MESSAGES, "{read} bytes");
}

/// A peer that does not end its half has the linger time and no more.
#[test]
fn a_peer_that_never_ends_is_not_waited_for_beyond_the_linger_time() {
    let server = options(SocketType::Router)
        .security(Security::plain_text())
        .linger(Duration::ZERO);
    let server = server.build_blocking().unwrap();
    let monitor = server.monitor();
    let endpoint = server.bind("tcp://127.0.0.1:*").unwrap();
    let mut raw = raw_dealer(&server, &endpoint);
    let keys = KeyPair::generate();
    let security = With::Blake3.server(&[&keys]);
    protect(&server, &endpoint, Withdrawn::End, security);
    await_event(&monitor, "the end", withdrawn_of);
    raw.read_to_end(&mut Vec::new()).unwrap();
}
