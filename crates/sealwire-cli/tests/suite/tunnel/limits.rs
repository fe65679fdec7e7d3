//! Time and places are limited.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;

use super::ends::{Keys, Tunnel, dial, echo, is_over, service};

#[test]
fn who_does_not_greet_in_time_is_out() {
    let keys = Keys::new();
    let mut listener = keys.listen(&service(echo), &["--handshake-timeout", "200ms"]);
    let endpoint = listener.endpoint();
    let silent = dial(&endpoint);
    let mut slow = dial(&endpoint);
    slow.write_all(&[0; 31]).expect("it reads");
    for socket in [&silent, &slow] {
        assert!(is_over(socket));
    }
    listener.await_line("took longer than 200ms");
}

#[test]
fn strangers_cannot_keep_others_out() {
    let keys = Keys::new();
    let options = ["--handshake-timeout", "1h", "--max-handshakes", "64"];
    let mut listener = keys.listen(&service(echo), &options);
    let endpoint = listener.endpoint();
    // More of them than there are places, and all of them stay.
    let strangers: Vec<_> = (0..80).map(|_| dial(&endpoint)).collect();
    assert!(is_over(&strangers[0]));
    listener.await_line("its address had 16 handshakes");
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

/// One address has a quarter of the handshakes, whatever it does: who began before from another one
/// goes on.
#[test]
#[cfg(target_os = "linux")]
fn one_address_cannot_displace_another() {
    let keys = Keys::new();
    let options = ["--handshake-timeout", "1h", "--max-handshakes", "8"];
    let mut listener = keys.listen(&service(echo), &options);
    let endpoint = listener.endpoint();
    let mut honest = dial_from("127.0.0.2", &endpoint);
    let strangers: Vec<_> = (0..30).map(|_| dial(&endpoint)).collect();
    // All but the last two were displaced, and those by their own address.
    for stranger in &strangers[..28] {
        assert!(is_over(stranger));
    }
    listener.await_line("its address had 2 handshakes");
    // The honest one is answered, as far as a wrong request is: it is read to its end.
    honest.write_all(&[0; 48]).expect("it is still there");
    assert!(is_over(&honest));
    listener.await_line("127.0.0.2");
}

#[cfg(target_os = "linux")]
fn dial_from(address: &str, endpoint: &str) -> std::net::TcpStream {
    use std::net::SocketAddr;
    let to: SocketAddr = endpoint
        .trim_start_matches("tcp://")
        .parse()
        .expect("an address");
    let from = SocketAddr::new(address.parse().expect("an address"), 0);
    let socket =
        socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    socket.bind(&from.into()).expect("all of 127 is here");
    socket.connect(&to.into()).expect("it listens");
    super::ends::with_timeouts(socket.into())
}

/// Descriptors that run out are given up by the handshakes of the address that has most.
#[test]
#[cfg(target_os = "linux")]
fn descriptors_that_run_out_keep_nobody_out() {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let keys = Keys::new();
    let mut listener = keys.listen(&service(echo), &["--handshake-timeout", "1h"]);
    let endpoint = listener.endpoint();
    let mut connector = keys.connect("alice", &endpoint, &[]);
    let entry = connector.endpoint();
    // Its own limits would have kept it from that.
    let id = i32::try_from(listener.id()).expect("an id");
    let few = Rlimit {
        current: Some(40),
        maximum: Some(40),
    };
    prlimit(Pid::from_raw(id), Resource::Nofile, few).expect("the limit");
    let (mut strangers, mut tunnels) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        strangers.extend((0..60).map(|_| dial(&endpoint)));
        let mut socket = dial(&entry);
        socket.write_all(b"x").expect("it reads");
        socket.read_exact(&mut [0]).expect("an answer");
        tunnels.push(socket);
    }
    listener.await_line("no file descriptors are left");
    for socket in &mut tunnels {
        socket.write_all(b"y").expect("it reads");
        socket.read_exact(&mut [0]).expect("an answer");
    }
}

/// What the limit of descriptors is enough for is told at the start.
#[test]
#[cfg(target_os = "linux")]
fn limits_follow_from_the_descriptors() {
    let keys = Keys::new();
    let options = ["--max-connections", "60000", "--max-handshakes", "60000"];
    let mut listener = keys.listen(&service(echo), &options);
    listener.await_line("the limit of file descriptors (ulimit -n) is enough for");
}

/// A key that is taken off the list loses the connections that it has.
#[test]
fn a_key_that_is_taken_off_the_list_loses_its_tunnels() {
    let keys = Keys::new();
    let mut listener = keys.listen(&service(echo), &[]);
    let endpoint = listener.endpoint();
    let mut connector = keys.connect("alice", &endpoint, &[]);
    let entry = connector.endpoint();
    let mut socket = dial(&entry);
    let allowed = keys.path("alice.pub");
    let whole = std::fs::read(&allowed).expect("a file");
    let half = whole.len() - 10;
    let works = |socket: &mut std::net::TcpStream| {
        socket.write_all(b"x").expect("it reads");
        socket.read_exact(&mut [0]).expect("an answer");
    };
    works(&mut socket);
    // Half a file takes nobody off, and is told.
    std::fs::write(&allowed, &whole[..half]).expect("a file");
    listener.await_line("what it said last stays allowed");
    works(&mut socket);
    std::fs::copy(keys.path("mallory.pub"), &allowed).expect("a file");
    assert!(is_over(&socket), "nothing was sent that could be echoed");
    listener.await_line("is not allowed any more");
    let again = dial(&entry);
    assert!(is_over(&again));
    listener.await_line("is not allowed (--allow)");
}
