//! Faults of both ends of a tunnel: what fails ends one connection, and the next one works.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use socket2::SockRef;

use super::peers::OF_ACCEPT;
use super::system::{failing, start as start_command};
use crate::support::{Running, start};
use crate::tunnel::ends::{
    self, Keys, Tunnel, as_str, content, dial, echo, exchange, is_over, service,
};

/// Starts one end with a fault in it. `None` where nothing can be traced.
fn faulty(rules: &[&str], arguments: &[String]) -> Option<Running> {
    let mut command = failing(rules, &as_str(arguments))?;
    println!("{rules:?}: {}", arguments[1]);
    Some(start_command(&mut command))
}

/// Sends through the tunnel and gets it back.
fn works(socket: &mut TcpStream) -> bool {
    let mut back = [0];
    socket.write_all(b"x").is_ok() && socket.read_exact(&mut back).is_ok() && &back == b"x"
}

/// Connections through the tunnel work again, however many were lost before.
fn works_again(entry: &str) -> TcpStream {
    let deadline = Instant::now() + ends::TIMEOUT;
    loop {
        let mut socket = dial(entry);
        if works(&mut socket) {
            return socket;
        }
        assert!(Instant::now() < deadline, "the tunnel does not work again");
    }
}

/// Interrupted, it ends by itself.
fn ends_well(end: Running) {
    end.interrupt();
    end.finish().expect_end(0, "");
}

/// Interrupted, it ends by itself, and says so if it broke off connections whose end was lost.
fn ends_or_breaks_off(end: Running) {
    end.interrupt();
    let ended = end.finish();
    match ended.code {
        Some(7) => ended.expect_end(7, "broken off"),
        _ => ended.expect_end(0, ""),
    };
}

/// A tunnel works again after these faults of its listener, and after the same of its connector.
fn works_in_spite_of(rules: &[&str]) {
    let (keys, service) = (Keys::new(), service(echo));
    for of_listener in [true, false] {
        let mut listener = if of_listener {
            match faulty(rules, &keys.listening(&service, &[])) {
                Some(listener) => listener,
                None => return,
            }
        } else {
            keys.listen(&service, &[])
        };
        let to = listener.endpoint();
        let mut connector = if of_listener {
            keys.connect("alice", &to, &[])
        } else {
            match faulty(rules, &keys.connecting("alice", &to, &[])) {
                Some(connector) => connector,
                None => return,
            }
        };
        let entry = connector.endpoint();
        let mut socket = works_again(&entry);
        for _ in 0..3 {
            drop(works_again(&entry));
        }
        assert!(works(&mut socket), "what is there goes on");
        drop(socket);
        for end in [connector, listener] {
            // A peer that is not told of the end of what came does not end its own half.
            match rules[0].starts_with("shutdown") {
                true => ends_or_breaks_off(end),
                false => ends_well(end),
            }
        }
    }
}

#[test]
fn tunnels_accept_again() {
    for error in OF_ACCEPT {
        works_in_spite_of(&[&format!("accept4:error={error}:when=1..3")]);
    }
}

#[test]
fn tunnels_connect_again() {
    for rule in [
        "connect:error=EMFILE:when=1..2",
        "connect:error=ENOBUFS:when=1..2",
        "connect:error=EADDRNOTAVAIL:when=1..2",
        "connect:error=ETIMEDOUT:when=1..2",
        // The first is what is listened on.
        "socket:error=EMFILE:when=2..3",
        "socket:error=ENFILE:when=2..3",
        // After the waker and the listener.
        "epoll_ctl:error=ENOSPC:when=4..5",
    ] {
        works_in_spite_of(&[rule]);
    }
}

#[test]
fn tunnels_survive_connections_that_break() {
    for rule in [
        "recvfrom:error=ECONNRESET:when=3..4",
        "sendto:error=EPIPE:when=3..4",
        "sendto:error=ENOBUFS:when=3..4",
        "shutdown:error=ENOTCONN:when=1..2",
        "setsockopt:error=EINVAL:when=3..4",
    ] {
        works_in_spite_of(&[rule]);
    }
}

/// Calls that a signal interrupts are made again: nothing is lost.
#[test]
fn interrupted_calls_lose_nothing() {
    let (keys, service) = (Keys::new(), service(echo));
    let rules = [
        "epoll_wait:error=EINTR:when=1+2",
        "accept4:error=EINTR:when=1+2",
        "recvfrom:error=EINTR:when=1+3",
        "sendto,writev,sendmsg:error=EINTR:when=1+3",
    ];
    let Some(mut listener) = faulty(&rules, &keys.listening(&service, &[])) else {
        return;
    };
    let to = listener.endpoint();
    let Some(mut connector) = faulty(&rules, &keys.connecting("alice", &to, &[])) else {
        return;
    };
    let sent = content(300_000);
    let (received, read) = exchange(dial(&connector.endpoint()), sent.clone());
    read.expect("the end of what came");
    assert!(received == sent, "{} bytes came back", received.len());
    ends_well(connector);
    ends_well(listener);
}

/// Writes as long as anything is taken, and counts the bytes.
fn flood(mut socket: TcpStream, written: Arc<AtomicU64>) {
    socket.set_write_timeout(None).expect("a socket");
    thread::spawn(move || {
        while let Ok(bytes) = socket.write(&[7; 16_384]) {
            written.fetch_add(bytes as u64, Ordering::SeqCst);
        }
    });
}

/// More than the system's buffers of three connections and the tunnel's own.
const FAR_TOO_MUCH: u64 = 256 << 20;

/// A reader that stalls, at either end, holds up its writer and nobody else.
#[test]
fn readers_that_stall_hold_up_their_writers() {
    // The service reads nothing of what begins with a 7, and floods what begins with an 8.
    let from_service = Arc::new(AtomicU64::new(0));
    let count = from_service.clone();
    let mixed = service(move |mut socket| {
        let mut first = [0];
        socket.set_read_timeout(None).expect("a socket");
        match socket.read(&mut first) {
            Ok(1) if first == [7] => thread::park(),
            Ok(1) if first == [8] => flood(socket, count.clone()),
            Ok(1) => {
                socket.write_all(&first).expect("it reads");
                echo(socket);
            }
            _ => {}
        }
    });
    let at_once = ["--grace", "0s"];
    let tunnel = Tunnel::with(&mixed, &at_once, &at_once);
    let from_client = Arc::new(AtomicU64::new(0));
    flood(dial(&tunnel.entry), from_client.clone());
    let mut never_read = dial(&tunnel.entry);
    never_read.write_all(&[8]).expect("it reads");
    let mut before = [0; 2];
    loop {
        assert!(works(&mut dial(&tunnel.entry)), "a bystander");
        let now = [&from_client, &from_service].map(|count| count.load(Ordering::SeqCst));
        assert!(now.iter().all(|count| *count < FAR_TOO_MUCH), "{now:?}");
        // Both have begun, and got no further while a bystander came and went.
        if now == before && !now.contains(&0) {
            break;
        }
        before = now;
    }
    ends_with_interrupt(tunnel);
    drop(never_read);
}

fn ends_with_interrupt(tunnel: Tunnel) {
    for end in [tunnel.connector, tunnel.listener] {
        end.interrupt();
        // What stalls is broken off when the time to finish is over.
        end.finish().expect_end(7, "");
    }
}

/// One of them vanishes silently, in the middle of a connection: the rest notices, and new ones work.
#[test]
fn peers_that_vanish_end_their_connections() {
    let (keys, service) = (Keys::new(), service(echo));
    let mut listener = keys.listen(&service, &["-v"]);
    let to = listener.endpoint();
    for _ in 0..3 {
        let mut connector = keys.connect("alice", &to, &[]);
        let entry = connector.endpoint();
        let mut socket = works_again(&entry);
        // A client whose connection is reset.
        let reset = works_again(&entry);
        SockRef::from(&reset)
            .set_linger(Some(std::time::Duration::ZERO))
            .expect("a socket");
        drop(reset);
        assert!(works(&mut socket), "the other one goes on");
        // The connector is killed: the client is cut off, and the listener lets go.
        drop(connector);
        assert!(is_over(&socket));
        listener.await_line("127.0.0.1");
    }
    let mut connector = keys.connect("alice", &to, &[]);
    let entry = connector.endpoint();
    let socket = works_again(&entry);
    // The listener is killed: the client is cut off, and the connector serves the next one's tunnel.
    drop(listener);
    assert!(is_over(&socket));
    let refused = dial(&entry);
    assert!(is_over(&refused));
    let address = to.as_str();
    let again = keys.listening(&service, &[]);
    let again: Vec<&str> = as_str(&again)
        .into_iter()
        .map(|argument| {
            if argument == ends::ANY {
                address
            } else {
                argument
            }
        })
        .collect();
    let mut listener = start(&again);
    listener.endpoint();
    drop(works_again(&entry));
    ends_well(connector);
    ends_well(listener);
}

/// A disk that does not answer any more holds up only those who are not known yet.
#[test]
fn a_disk_that_hangs_holds_up_nobody_who_is_on_the_list() {
    let (keys, service) = (Keys::new(), service(echo));
    // Strangers wait as long as a handshake may take, which is not what ends this.
    let long = ["--handshake-timeout", "1h"];
    let mut listener = keys.listen(&service, &long);
    let to = listener.endpoint();
    let mut stranger = keys.connect("mallory", &to, &long);
    let mut connector = keys.connect("alice", &to, &[]);
    let entry = connector.endpoint();
    // A thread that opens a pipe waits for one that writes, and none does.
    let (list, pipe) = (keys.path("alice.pub"), keys.path("pipe"));
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("a tool").success());
    std::fs::rename(&pipe, &list).expect("a file");
    let mut socket = dial(&entry);
    // The first handshake has the list read again, which does not end.
    assert!(works(&mut socket), "who is on the list is let in");
    let refused = dial(&stranger.endpoint());
    for _ in 0..5 {
        assert!(works(&mut dial(&entry)), "a new one is let in");
        assert!(works(&mut socket), "what is there goes on");
    }
    // Nobody knows about strangers: they wait.
    refused.set_nonblocking(true).expect("a socket");
    let waits = (&refused).read(&mut [0]).expect_err("nothing was sent");
    assert_eq!(waits.kind(), std::io::ErrorKind::WouldBlock);
    drop((socket, refused, stranger));
    ends_well(connector);
    ends_well(listener);
}
