//! Listeners that a service manager passes, and ports that several processes share, for each command that binds.

use std::fs;
use std::net::{SocketAddr, TcpListener};

use crate::support::{Finished, Running, run, start, start_passed, start_passed_as};
use crate::tunnel::ends::{self, dial, echo, exchange, service};

const ANY: &str = "tcp://127.0.0.1:0";

/// A socket that the test holds as a service manager does, and its endpoint.
fn passed() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let endpoint = format!("tcp://{}", listener.local_addr().expect("a port"));
    (listener, endpoint)
}

/// A port that those can listen on who share it. The socket keeps it, and does not listen itself.
fn shared() -> (socket2::Socket, String) {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
    let socket = socket.expect("a socket");
    socket.set_reuse_port(true).expect("the option");
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    socket.bind(&any.into()).expect("a port");
    let address = socket.local_addr().expect("a port");
    let endpoint = format!("tcp://{}", address.as_socket().expect("a port"));
    (socket, endpoint)
}

fn refused(finished: Finished, needle: &str) {
    let refused = finished.expect_code(2);
    assert!(refused.stderr.contains(needle), "{refused:?}");
}

#[test]
fn a_socket_command_listens_on_what_was_passed() {
    let (listener, endpoint) = passed();
    // It waits in the queue until somebody accepts.
    let asking = start(&["req", "-c", &endpoint, "-d", "before"]);
    // Peers over the network answer it.
    let beats = ["--heartbeat", "30s"];
    let rep = ["rep", "--listen-fds", "--echo", "-n", "2"];
    let mut rep = start_passed(&listener, &[&rep[..], &beats].concat());
    assert_eq!(rep.endpoint(), endpoint);
    assert_eq!(asking.finish().expect_code(0).text(), "before\n");
    let asked = run(&["req", "-c", &endpoint, "-d", "after"]).expect_code(0);
    assert_eq!(asked.text(), "after\n");
    rep.finish().expect_code(0);
    let router = ["router", "--listen-fds", "-d", "answer", "-n", "1"];
    let mut router = start_passed(&listener, &router);
    assert_eq!(router.endpoint(), endpoint);
    let asked = run(&["req", "-c", &endpoint, "-d", "x"]).expect_code(0);
    assert_eq!(asked.text(), "answer\n");
    router.finish().expect_code(0);
}

/// One that talks with its single peer has no place for others.
#[test]
fn a_peer_that_connects_takes_no_socket() {
    let (listener, endpoint) = passed();
    let words = [
        "peer",
        "--listen-fds",
        "-c",
        &endpoint,
        "-d",
        "x",
        "-t",
        "1s",
    ];
    refused(start_passed(&listener, &words).finish(), "--echo");
}

/// It also binds and connects, as without.
#[test]
fn what_was_passed_stands_beside_other_endpoints() {
    let (listener, endpoint) = passed();
    let mut push = start(&["push", "-b", ANY, "-d", "fetched"]);
    let pull = ["pull", "--listen-fds", "-b", ANY, "-n", "3", "-c"];
    let of_push = push.endpoint();
    let mut pull = start_passed(&listener, &[&pull[..], &[&of_push]].concat());
    let mut listening = [pull.endpoint(), pull.endpoint()];
    listening.sort_by_key(|it| *it != endpoint);
    assert_eq!(listening[0], endpoint);
    for endpoint in &listening {
        run(&["push", "-c", endpoint, "-d", "brought"]).expect_code(0);
    }
    let pulled = pull.finish().expect_code(0);
    let mut lines: Vec<_> = pulled.text().lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["brought", "brought", "fetched"]);
    push.finish().expect_code(0);
}

#[test]
fn what_was_passed_beyond_this_machine_needs_keys_too() {
    let everywhere = TcpListener::bind("0.0.0.0:0").expect("a port");
    for command in [
        &["rep", "--listen-fds", "--echo"][..],
        &["work", "serve", "--listen-fds"],
    ] {
        let tried = start_passed(&everywhere, command).finish();
        refused(tried, "leaves this machine");
    }
    let proxy = proxy(&["--listen-fds", "--backend-bind", ANY]);
    let tried = start_passed_as("frontend", "/dev/null", &everywhere, &proxy).finish();
    refused(tried, "leaves this machine");
    let keys = ends::Keys::new();
    let tried = start_passed(&everywhere, &connect(&keys, "tcp://127.0.0.1:1")).finish();
    refused(tried, "leaves this machine");
}

#[test]
fn a_distributor_listens_on_what_was_passed() {
    let (listener, endpoint) = passed();
    let tasks = tempfile::NamedTempFile::new().expect("a file");
    fs::write(tasks.path(), "one\ntwo\n").expect("a file");
    let taking = ["work", "take", "-c", &endpoint, "-n", "2"];
    let taking = start(&taking);
    let input = tasks.path().to_str().expect("text");
    let serve = ["work", "serve", "--listen-fds"];
    let mut serving = start_passed_as("", input, &listener, &serve);
    assert_eq!(serving.endpoint(), endpoint);
    assert_eq!(taking.finish().expect_code(0).text(), "one\ntwo\n");
    serving.finish().expect_code(0);
}

fn proxy<'a>(ends: &[&'a str]) -> Vec<&'a str> {
    let types = ["--frontend-type", "router", "--backend-type", "dealer"];
    [&["proxy"], &types[..], ends].concat()
}

#[test]
fn a_proxy_takes_what_was_passed_by_its_name() {
    for side in ["frontend", "backend"] {
        let (listener, endpoint) = passed();
        let other = match side {
            "frontend" => "--backend-bind",
            _ => "--frontend-bind",
        };
        let command = proxy(&["--listen-fds", other, ANY]);
        let mut running = start_passed_as(side, "/dev/null", &listener, &command);
        let lines = [
            running.await_line("listening"),
            running.await_line("listening"),
        ];
        let of = |wanted: &str| {
            let line = lines.iter().find(|line| line.starts_with(wanted));
            line.and_then(|line| line.rsplit(' ').next()).expect(wanted)
        };
        assert_eq!(of(side), endpoint);
        let worker = start(&["rep", "-c", of("backend"), "--echo", "-n", "1"]);
        let asked = run(&["req", "-c", of("frontend"), "-d", "hello"]).expect_code(0);
        assert_eq!(asked.text(), "hello\n");
        worker.finish().expect_code(0);
        running.terminated().expect_code(0);
    }
}

#[test]
fn a_proxy_refuses_what_it_has_no_place_for() {
    let (listener, _) = passed();
    let both = proxy(&[
        "--listen-fds",
        "--frontend-bind",
        ANY,
        "--backend-bind",
        ANY,
    ]);
    let unnamed = start_passed(&listener, &both).finish();
    refused(unnamed, "frontend, backend, capture, control");
    let one = proxy(&["--listen-fds", "--frontend-bind", ANY]);
    let missing = start_passed_as("frontend", "/dev/null", &listener, &one).finish();
    refused(missing, "no socket of the name backend");
}

/// The arguments of alice's end of a tunnel that listens on what was passed.
fn connect<'a>(keys: &ends::Keys, to: &str) -> Vec<&'a str> {
    let (secret, server) = (keys.path("alice.key"), keys.path("server.pub"));
    let words = ["tunnel", "connect", "--listen-fds", "--to", to];
    let security = ["--secret-key-file", &secret, "--server-key", &server];
    let words = words.iter().chain(&security);
    // For as long as the test runs.
    words
        .map(|word| &*Box::leak((*word).to_owned().into_boxed_str()))
        .collect()
}

fn listen<'a>(keys: &'a [String; 2], door: &[&'a str], to: &'a str) -> Vec<&'a str> {
    let [secret, allowed] = keys;
    let security = ["--secret-key-file", secret, "--allow", allowed];
    let ends = ["tunnel", "listen", "--to", to];
    [&ends[..], &security, door].concat()
}

fn carries(entry: &str) {
    let (received, ended) = exchange(dial(entry), b"through the tunnel".to_vec());
    assert!(ended.is_ok() && received == b"through the tunnel");
}

#[test]
fn both_ends_of_a_tunnel_listen_on_what_was_passed() {
    let keys = ends::Keys::new();
    let own = [keys.path("server.key"), keys.path("alice.pub")];
    let echo = service(echo);
    let ((outer, to), (inner, entry)) = (passed(), passed());
    let mut listening = start_passed(&outer, &listen(&own, &["--listen-fds"], &echo));
    assert_eq!(listening.endpoint(), to);
    let mut connecting = start_passed(&inner, &connect(&keys, &to));
    assert_eq!(connecting.endpoint(), entry);
    carries(&entry);
    connecting.terminated().expect_code(0);
    // Somebody else goes on there.
    let mut connecting = start_passed(&inner, &connect(&keys, &to));
    connecting.endpoint();
    carries(&entry);
    connecting.terminated().expect_code(0);
    listening.terminated().expect_code(0);
    let two = listen(&own, &["--listen-fds", "--bind", ANY], &echo);
    refused(start_passed(&outer, &two).finish(), "one endpoint");
}

/// Two processes that share a port, and a third that does not.
fn share(endpoint: &str, command: impl Fn(&[&str]) -> Running) {
    let with = ["--reuse-port"];
    let both = [(); 2].map(|()| {
        let mut running = command(&with);
        running.await_line(&format!("listening on {endpoint}"));
        running
    });
    let alone = command(&[]).finish();
    assert_ne!(alone.code, Some(0));
    assert!(alone.stderr.contains("in use"), "{alone:?}");
    for running in both {
        running.terminated().expect_code(0);
    }
}

#[test]
fn processes_share_a_port_where_both_say_so() {
    let (_port, endpoint) = shared();
    share(&endpoint, |more| {
        start(&[&["rep", "-b", &endpoint, "--echo"], more].concat())
    });
    share(&endpoint, |more| {
        let ends = ["--frontend-bind", &endpoint, "--backend-bind", ANY];
        start(&proxy(&[&ends[..], more].concat()))
    });
    share(&endpoint, |more| {
        let serve = ["work", "serve", "-b", &endpoint];
        crate::support::start_interactive(&[&serve[..], more].concat())
    });
    let keys = ends::Keys::new();
    let own = [keys.path("server.key"), keys.path("alice.pub")];
    share(&endpoint, |more| {
        let door = [&["--bind", &endpoint], more].concat();
        start(&listen(&own, &door, "tcp://127.0.0.1:1"))
    });
}

#[test]
fn a_port_is_shared_by_those_who_bind_one() {
    let (listener, _) = passed();
    let words = ["rep", "--listen-fds", "--reuse-port", "--echo"];
    refused(start_passed(&listener, &words).finish(), "--reuse-port");
    let connects = run(&["req", "-c", ANY, "--reuse-port", "-d", "x"]);
    refused(connects, "--reuse-port");
}

#[test]
fn a_command_that_is_passed_nothing_says_so() {
    for command in [
        &["pull", "--listen-fds"][..],
        &["work", "serve", "--listen-fds"],
    ] {
        refused(run(command), "LISTEN_FDS");
    }
    refused(run(&proxy(&["--listen-fds"])), "LISTEN_FDS");
    refused(run(&["pull"]), "--bind");
}
