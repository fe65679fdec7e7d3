//! Time and places are limited.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;

use crate::ends::{Keys, Tunnel, dial, echo, service};

#[test]
fn who_does_not_greet_in_time_is_out() {
    let keys = Keys::new();
    let mut listener = keys.listen(&service(echo), &["--handshake-timeout", "200ms"]);
    let endpoint = listener.endpoint();
    let mut silent = dial(&endpoint);
    let mut slow = dial(&endpoint);
    slow.write_all(&[0; 31]).expect("it reads");
    for socket in [&mut silent, &mut slow] {
        assert!(matches!(socket.read(&mut [0]), Ok(0) | Err(_)));
    }
    listener.await_line("took longer than 200ms");
}

#[test]
fn strangers_cannot_keep_others_out() {
    let keys = Keys::new();
    let mut listener = keys.listen(&service(echo), &["--handshake-timeout", "1h"]);
    let endpoint = listener.endpoint();
    // More of them than there are places, and all of them stay.
    let mut strangers: Vec<_> = (0..80).map(|_| dial(&endpoint)).collect();
    assert!(matches!(strangers[0].read(&mut [0]), Ok(0) | Err(_)));
    listener.await_line("made room for newer ones");
    let mut connector = keys.connect("alice", &endpoint, &[]);
    let mut socket = dial(&connector.endpoint());
    socket.write_all(b"x").expect("it reads");
    socket.read_exact(&mut [0]).expect("an answer");
}

#[test]
fn a_listener_refuses_more_connections_than_it_may_have() {
    let mut tunnel = Tunnel::with(&service(echo), &["--max-connections", "1"], &[]);
    let mut first = dial(&tunnel.entry);
    first.write_all(b"x").expect("it reads");
    first.read_exact(&mut [0]).expect("an answer");
    let mut second = dial(&tunnel.entry);
    assert!(second.read(&mut [0]).is_err());
    tunnel
        .connector
        .await_line("as many connections as it takes");
    tunnel.listener.await_line("--max-connections");
    first.write_all(b"x").expect("it reads");
    first.read_exact(&mut [0]).expect("an answer");
}

#[test]
fn a_connector_lets_more_connections_wait() {
    let tunnel = Tunnel::with(&service(echo), &[], &["--max-connections", "1"]);
    let mut first = dial(&tunnel.entry);
    first.write_all(b"x").expect("it reads");
    first.read_exact(&mut [0]).expect("an answer");
    let mut second = dial(&tunnel.entry);
    second.write_all(b"y").expect("there is room");
    drop(first);
    let mut back = [0];
    second
        .read_exact(&mut back)
        .expect("an answer, once it is its turn");
    assert_eq!(&back, b"y");
}

#[test]
fn one_open_way_that_nothing_comes_through_does_not_stay() {
    let (leave, left) = std::sync::mpsc::channel::<()>();
    let left = std::sync::Arc::new(std::sync::Mutex::new(left));
    // Reads to the end, and then neither answers nor ends.
    let silent = service(move |mut socket| {
        let _ = socket.read_to_end(&mut Vec::new());
        let _ = left.lock().map(|left| left.recv());
    });
    let mut tunnel = Tunnel::with(&silent, &["--half-closed-timeout", "200ms"], &[]);
    let mut socket = dial(&tunnel.entry);
    socket.write_all(b"x").expect("it reads");
    socket.shutdown(Shutdown::Write).expect("a socket");
    assert!(socket.read(&mut [0]).is_err());
    tunnel.listener.await_line("--half-closed-timeout");
    drop(leave);
}
