//! `--metrics`: what each command serves, to whom, and what a reader cannot do to it.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

use crate::support::{Running, TIMEOUT, eventually, run, start, start_interactive};
use crate::tunnel::ends::Keys;

const ANY: &str = "tcp://127.0.0.1:0";
const HERE: [&str; 2] = ["--metrics", "127.0.0.1:0"];

/// Where a command serves its metrics.
#[track_caller]
fn address(running: &mut Running) -> SocketAddr {
    let line = running.await_line("metrics at http://");
    let (_, url) = line.split_once("http://").expect("a URL");
    let (address, rest) = url.split_once("/metrics").expect("the path");
    assert!(rest.is_empty() || rest.starts_with('"'), "{line}");
    address.parse().expect("an address")
}

fn connect(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).expect("it listens");
    stream.set_read_timeout(Some(TIMEOUT)).expect("a socket");
    stream.set_write_timeout(Some(TIMEOUT)).expect("a socket");
    stream
}

/// All that comes until the end of a connection.
#[track_caller]
fn read_all(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[track_caller]
fn ask(to: SocketAddr, request: &str) -> String {
    let mut stream = connect(to);
    stream.write_all(request.as_bytes()).expect("it reads");
    read_all(stream)
}

/// The numbers.
#[track_caller]
fn scrape(from: SocketAddr) -> String {
    let answer = ask(
        from,
        &format!("GET /metrics HTTP/1.1\r\nHost: {from}\r\n\r\n"),
    );
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    body.to_owned()
}

#[track_caller]
fn eventually_has(from: SocketAddr, line: &str) {
    eventually(line, || scrape(from).lines().any(|other| other == line));
}

#[test]
fn a_command_serves_what_its_sockets_do() {
    let mut pull = start(&[&["pull", "-b", ANY][..], &HERE].concat());
    let metrics = address(&mut pull);
    let endpoint = pull.endpoint();
    eventually_has(metrics, r#"sealwire_peers{socket="1",type="PULL"} 0"#);
    run(&["push", "-c", &endpoint, "-d", "hello", "-n", "3"]).expect_code(0);
    let messages = r#"sealwire_messages_total{socket="1",type="PULL",direction="in"} 3"#;
    eventually_has(metrics, messages);
    let text = scrape(metrics);
    let of_endpoint = format!(
        r#"sealwire_endpoint_bytes_total{{socket="1",type="PULL",role="bound",endpoint="{endpoint}",direction="in"}} 15"#
    );
    assert!(text.lines().any(|line| line == of_endpoint), "{text}");
    for line in text.lines() {
        let name = line.trim_start_matches("# HELP ");
        let name = name.trim_start_matches("# TYPE ");
        assert!(name.starts_with("sealwire_"), "{line}");
    }
    #[cfg(unix)]
    pull.terminated().expect_code(0);
    assert!(TcpStream::connect(metrics).is_err() || cfg!(not(unix)));
}

#[test]
fn every_command_that_runs_for_long_has_it() {
    let keys = Keys::new();
    let (secret, public) = (keys.path("server.key"), keys.path("server.pub"));
    let (alice, to) = (keys.path("alice.key"), "tcp://127.0.0.1:9");
    let of_sockets = "sealwire_context_age_seconds";
    let of_tunnels = "sealwire_tunnel_connections 0";
    let mut commands: Vec<(Vec<&str>, &str)> = Vec::new();
    for name in [
        "push", "pull", "scatter", "gather", "pub", "sub", "rep", "pair", "channel", "dealer",
        "router", "client", "server", "peer", "stream", "xpub", "xsub", "req", "radio",
    ] {
        let mut command = vec![name, "-b", ANY];
        match name {
            "radio" => command.extend(["--group", "g"]),
            "rep" | "server" | "peer" | "stream" => command.push("--echo"),
            _ => {}
        }
        commands.push((command, of_sockets));
    }
    commands.push((vec!["dish", "-b", ANY, "--join", "g"], of_sockets));
    let serve = vec!["rpc", "serve", "-b", ANY, "--exec", "cat"];
    commands.push((serve, of_sockets));
    let of_work = "sealwire_work_pending 0";
    commands.push((vec!["work", "serve", "-b", ANY], of_work));
    let of_workers = "sealwire_worker_received_total 0";
    commands.push((vec!["work", "take", "-c", to], of_workers));
    let mut proxy = vec!["proxy", "--frontend-type", "xsub", "--frontend-bind", ANY];
    proxy.extend(["--backend-type", "xpub", "--backend-bind", ANY]);
    commands.push((proxy, of_sockets));
    let tunnel = |end| vec!["tunnel", end, "--bind", ANY, "--to", to];
    let listen = ["--secret-key-file", &secret, "--allow", &public];
    commands.push(([&tunnel("listen")[..], &listen].concat(), of_tunnels));
    let connect = ["--server-key", &public, "--secret-key-file", &alice];
    commands.push(([&tunnel("connect")[..], &connect].concat(), of_tunnels));
    for (number, (command, line)) in commands.into_iter().enumerate() {
        let inspected = keys.path(&format!("{number}.sock"));
        let more = ["--json", "--inspect", &inspected];
        let mut running = start_interactive(&[&command[..], &HERE, &more].concat());
        let metrics = address(&mut running);
        let text = scrape(metrics);
        assert!(
            text.lines().any(|other| other.starts_with(line)),
            "{command:?}: {text}"
        );
        #[cfg(target_os = "linux")]
        {
            let snapshot = crate::top::snapshot(&inspected);
            let name = snapshot["command"].as_str().expect("text");
            assert!(command.join(" ").starts_with(name), "{command:?}: {name}");
            let has_numbers = snapshot["numbers"]
                .as_object()
                .is_some_and(|it| it.keys().any(|name| line.split(' ').next() == Some(name)));
            assert_eq!(has_numbers, line != of_sockets, "{command:?}: {snapshot}");
        }
    }
}

#[test]
fn a_tunnel_counts_connections_bytes_and_failures() {
    let keys = Keys::new();
    let service = TcpListener::bind("127.0.0.1:0").expect("a port");
    let to = format!("tcp://{}", service.local_addr().expect("a port"));
    let (secret, allowed) = (keys.path("server.key"), keys.path("alice.pub"));
    let listen = [
        &["tunnel", "listen", "--bind", ANY, "--to", &to][..],
        &["--secret-key-file", &secret, "--allow", &allowed],
        &HERE,
    ];
    let mut listener = start(&listen.concat());
    let metrics = address(&mut listener);
    let sealed = listener.endpoint();
    let public = keys.path("server.pub");
    let ends = ["alice", "mallory"].map(|name| {
        let key = keys.path(&format!("{name}.key"));
        let connect = [
            &["tunnel", "connect", "--bind", ANY, "--to", &sealed][..],
            &["--server-key", &public, "--secret-key-file", &key],
            &HERE,
        ];
        let mut end = start(&connect.concat());
        (address(&mut end), end.endpoint(), end)
    });
    let plain = |endpoint: &str| {
        let address = endpoint.trim_start_matches("tcp://");
        connect(address.parse().expect("an address"))
    };
    let [(of_alice, alice, _alice), (of_mallory, mallory, _mallory)] = &ends;
    let mut client = plain(alice);
    client.write_all(b"question").expect("it reads");
    let (mut served, _) = service.accept().expect("a connection");
    served.read_exact(&mut [0; 8]).expect("the question");
    for at in [metrics, *of_alice] {
        eventually_has(at, "sealwire_tunnel_connections 1");
        eventually_has(at, "sealwire_tunnel_ready_total 1");
    }
    served.write_all(b"the answer").expect("it reads");
    drop(served);
    client.shutdown(Shutdown::Write).expect("a connection");
    assert_eq!(read_all(client), "the answer");
    for (at, out, incoming) in [(metrics, 10, 8), (*of_alice, 8, 10)] {
        eventually_has(at, "sealwire_tunnel_ended_total 1");
        eventually_has(at, "sealwire_tunnel_connections 0");
        for (direction, bytes) in [("out", out), ("in", incoming)] {
            let line = format!("sealwire_tunnel_bytes_total{{direction=\"{direction}\"}} {bytes}");
            eventually_has(at, &line);
        }
    }
    let _refused = plain(mallory);
    let refused = r#"sealwire_tunnel_failures_total{cause="not_allowed"} 1"#;
    eventually_has(metrics, refused);
    let told = r#"sealwire_tunnel_failures_total{cause="refused"} 1"#;
    eventually_has(*of_mallory, told);
}

#[test]
fn what_it_serves_has_a_path_a_method_and_a_media_type() {
    let mut pull = start(&[&["pull", "-b", ANY][..], &HERE].concat());
    let metrics = address(&mut pull);
    let asked = |line: &str| {
        let answer = ask(
            metrics,
            &format!("{line} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        );
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let length = format!("Content-Length: {}", body.len());
        let has = |wanted: &str| head.lines().any(|line| line == wanted);
        assert!(has("Connection: close"), "{head}");
        match line.starts_with("HEAD") {
            true => assert_eq!(body, ""),
            false => assert!(has(&length), "{head}"),
        }
        head.to_owned()
    };
    let head = asked("GET /metrics");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let media_type = "Content-Type: text/plain; version=0.0.4; charset=utf-8";
    assert!(head.lines().any(|line| line == media_type), "{head}");
    assert!(asked("HEAD /metrics").starts_with("HTTP/1.1 200 "));
    assert!(asked("GET /").starts_with("HTTP/1.1 404 "));
    let head = asked("DELETE /metrics");
    assert!(head.starts_with("HTTP/1.1 405 "), "{head}");
    assert!(
        head.lines().any(|line| line == "Allow: GET, HEAD"),
        "{head}"
    );
    assert!(ask(metrics, "metrics, please\r\n\r\n").starts_with("HTTP/1.1 400 "));
    let rebound = "GET /metrics HTTP/1.1\r\nHost: example.org\r\n\r\n";
    assert!(ask(metrics, rebound).starts_with("HTTP/1.1 421 "));
    // The body that comes with it does not take the answer away.
    let long = "a".repeat(32 * 1024);
    let post =
        format!("POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 32768\r\n\r\n{long}");
    assert!(ask(metrics, &post).starts_with("HTTP/1.1 405 "));
    let head = format!("GET /metrics HTTP/1.1\r\nHost: localhost\r\nA: {long}\r\n\r\n");
    assert!(ask(metrics, &head).starts_with("HTTP/1.1 431 "));
}

/// Whether the other side has ended a connection, without an answer.
fn is_ended(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).expect("a socket");
    match stream.read(&mut [0]) {
        Ok(count) => count == 0,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

#[test]
fn readers_that_do_nothing_hold_up_nobody_and_are_ended() {
    let mut pull = start(&[&["pull", "-b", ANY][..], &HERE].concat());
    let metrics = address(&mut pull);
    // More than there is room for: some have said nothing, some have begun.
    let mut idle: Vec<TcpStream> = Vec::new();
    for number in 0..20 {
        let mut stream = connect(metrics);
        if number % 2 == 0 {
            stream.write_all(b"GET /metrics HT").expect("it reads");
        }
        idle.push(stream);
        scrape(metrics);
    }
    // The first have made room, with nobody's time being up.
    eventually("room", || is_ended(&mut idle[0]) && is_ended(&mut idle[1]));
    // The time of each is bounded, though no other comes.
    let mut last = idle.pop().expect("twenty");
    eventually("time", || is_ended(&mut last));
    scrape(metrics);
}

#[test]
fn a_reader_that_does_not_read_is_ended() {
    let mut pull = start(&[&["pull", "-b", ANY][..], &HERE].concat());
    let metrics = address(&mut pull);
    let mut stream = connect(metrics);
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {metrics}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    // The answer is there, and this side stays open: the other one ends it all the same.
    stream.set_nonblocking(true).expect("a socket");
    eventually("the end", || {
        stream
            .write(b"a")
            .is_err_and(|error| error.kind() != ErrorKind::WouldBlock)
    });
    scrape(metrics);
}

#[test]
fn an_address_that_others_reach_needs_a_word_for_it() {
    let pull = ["pull", "-b", ANY, "--metrics"];
    let refused = run(&[&pull[..], &["0.0.0.0:0"]].concat()).expect_code(2);
    assert!(
        refused.stderr.contains("--metrics-plain-text"),
        "{refused:?}"
    );
    assert!(!refused.stderr.contains("listening"), "{refused:?}");
    let mut open = start(&[&pull[..], &["0.0.0.0:0", "--metrics-plain-text"]].concat());
    let port = address(&mut open).port();
    let request = "GET /metrics HTTP/1.1\r\nHost: example.org\r\n\r\n";
    let answer = ask(([127, 0, 0, 1], port).into(), request);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    // The word alone says nothing.
    run(&["pull", "-b", ANY, "--metrics-plain-text"]).expect_code(2);
}

#[test]
fn an_address_that_cannot_be_bound_ends_the_command_before_it_listens() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("a port").to_string();
    let failed = run(&["pull", "-b", ANY, "--metrics", &address]).expect_code(1);
    let problem = format!("cannot serve --metrics on {address}: ");
    assert!(failed.stderr.contains(&problem), "{failed:?}");
    assert!(!failed.stderr.contains("listening"), "{failed:?}");
    for text in ["9090", "localhost:9090", "127.0.0.1", ""] {
        let refused = run(&["pull", "-b", ANY, "--metrics", text]).expect_code(2);
        assert!(refused.stderr.contains("127.0.0.1:9090"), "{refused:?}");
    }
}
