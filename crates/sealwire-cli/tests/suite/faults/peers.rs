//! Faults of connections: what fails ends by itself, and the next peer is served.

use super::system::{failing, start as start_command};
use crate::support::{Running, run, start};

const ANY: &str = "tcp://127.0.0.1:0";

/// Errors of `accept` that concern one connection, or pass.
pub(crate) const OF_ACCEPT: [&str; 8] = [
    "EMFILE",
    "ENFILE",
    "ENOBUFS",
    "ENOMEM",
    "ECONNABORTED",
    "EPROTO",
    "EPERM",
    "EINTR",
];

/// Starts a server whose first three calls of `accept` fail, and has a client talk to it.
fn accepts_again(arguments: &[&str], talk: impl Fn(&mut Running)) {
    for error in OF_ACCEPT {
        let rule = format!("accept4:error={error}:when=1..3");
        let Some(mut command) = failing(&[&rule], arguments) else {
            return;
        };
        println!("{rule}: {arguments:?}");
        let mut server = start_command(&mut command);
        talk(&mut server);
        server.interrupt();
        server.finish().expect_code(0);
    }
}

/// Where the frontend of a proxy listens, and its backend.
pub(crate) fn sides_of(proxy: &mut Running) -> [String; 2] {
    let lines = [(); 2].map(|()| proxy.await_line("listening"));
    ["frontend", "backend"].map(|side| {
        let line = lines.iter().find(|line| line.starts_with(side));
        let endpoint = line.expect("both sides").rsplit(' ').next();
        endpoint.expect("an endpoint").to_owned()
    })
}

#[test]
fn sockets_accept_again() {
    accepts_again(&["rep", "-b", ANY, "--echo"], |server| {
        let req = run(&["req", "-c", &server.endpoint(), "-d", "hello", "-n", "3"]);
        assert_eq!(req.expect_code(0).text(), "hello\nhello\nhello\n");
    });
}

#[test]
fn servers_of_calls_accept_again() {
    accepts_again(&["rpc", "serve", "-b", ANY, "--exec", "cat"], |server| {
        // Each fault may cost one connection: a call connects again.
        let call = run(&["rpc", "call", "-c", &server.endpoint(), "-d", "hello"]);
        assert_eq!(call.expect_code(0).text(), "hello");
    });
}

#[test]
fn proxies_accept_again() {
    let sides = ["--frontend-type", "router", "--frontend-bind", ANY];
    let proxy = ["proxy", "--backend-type", "dealer", "--backend-bind", ANY];
    accepts_again(&[&proxy[..], &sides].concat(), |proxy| {
        let [frontend, backend] = sides_of(proxy);
        let worker = start(&["rep", "-c", &backend, "--echo", "-n", "1"]);
        let asked = run(&["req", "-c", &frontend, "-d", "hello"]);
        assert_eq!(asked.expect_code(0).text(), "hello\n");
        worker.finish().expect_code(0);
    });
}

/// One connection is lost to a fault of the system, and others come.
#[test]
fn a_connection_that_breaks_concerns_nobody_else() {
    for (call, error) in [
        ("writev", "ENOBUFS"),
        ("writev", "ENOMEM"),
        ("writev", "EPIPE"),
        ("recvfrom,read", "ECONNRESET"),
        ("setsockopt", "ENOMEM"),
        ("setsockopt", "EINVAL"),
        ("getsockname", "ENOBUFS"),
        ("getpeername", "ENOTCONN"),
        ("epoll_ctl", "ENOSPC"),
        ("epoll_ctl", "ENOMEM"),
    ] {
        // After what the program does to start.
        let when = if call == "epoll_ctl" {
            "4..5"
        } else if call.contains("read") {
            "40..41"
        } else if call == "setsockopt" {
            "8..9"
        } else {
            "3..4"
        };
        let rule = format!("{call}:error={error}:when={when}");
        let Some(mut command) = failing(&[&rule], &["rep", "-b", ANY, "--echo"]) else {
            return;
        };
        println!("{rule}");
        let mut server = start_command(&mut command);
        let endpoint = server.endpoint();
        let mut served = 0;
        for _ in 0..20 {
            let req = run(&["req", "-c", &endpoint, "-d", "hello", "-t", "20s"]);
            match req.code {
                Some(0) => served += 1,
                // Its request went down with the connection.
                Some(6 | 4) => {}
                _ => panic!("{rule}: {req:?}"),
            }
        }
        assert!(served >= 16, "{rule}: {served} of 20");
        server.interrupt();
        server.finish().expect_code(0);
    }
}

/// A client whose attempts to connect fail goes on trying.
#[test]
fn clients_connect_again() {
    let mut server = start(&["rep", "-b", ANY, "--echo"]);
    let endpoint = server.endpoint();
    for rule in [
        "connect:error=ENOBUFS:when=1..3",
        "connect:error=EADDRNOTAVAIL:when=1..3",
        "connect:error=ENETUNREACH:when=1..3",
        "connect:error=ETIMEDOUT:when=1..3",
        "connect:error=EINTR:when=1",
        "socket:error=EMFILE:when=1..3",
        "epoll_ctl:error=ENOMEM:when=3",
    ] {
        let Some(mut command) = failing(&[rule], &["req", "-c", &endpoint, "-d", "hello"]) else {
            return;
        };
        println!("{rule}");
        let req = start_command(&mut command).finish();
        assert_eq!(req.expect_end(0, "").text(), "hello\n", "{rule}");
    }
    server.interrupt();
    server.finish().expect_code(0);
}
