//! Told to stop, a command finishes what it has accepted and ends with 0, or counts what it gave up.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

use sealwire::blocking::Socket;
use sealwire::{Security, SocketType};
use serde_json::Value;

use crate::support::{Keys, Running, TIMEOUT, eventually, start, start_interactive};

const ANY: &str = "tcp://127.0.0.1:0";

/// A socket of this process, which waits for as long as a program may take.
fn socket(socket_type: SocketType) -> Socket {
    let builder = Socket::builder(socket_type)
        .security(Security::plain_text())
        .send_timeout(TIMEOUT)
        .receive_timeout(TIMEOUT)
        .linger(TIMEOUT);
    builder.build_blocking().expect("a socket")
}

#[test]
fn with_nothing_under_way_every_command_ends_with_0() {
    let binds: [&[&str]; 13] = [
        &["pull"],
        &["sub"],
        &["gather"],
        &["dish", "-j", "group"],
        &["push"],
        &["pub"],
        &["xpub"],
        &["xsub"],
        &["rep", "--echo"],
        &["router"],
        &["dealer"],
        &["rpc", "serve", "--exec", "cat"],
        &["work", "serve"],
    ];
    for command in binds {
        for terminate in [false, true] {
            let mut running = start_interactive(&[command, &["-b", ANY, "--grace", "1h"]].concat());
            running.endpoint();
            let stopped = match terminate {
                true => running.terminated(),
                false => running.interrupted(),
            };
            let stopped = stopped.expect_code(0);
            assert_eq!(
                stopped.stderr.lines().count(),
                1,
                "{command:?}: {stopped:?}"
            );
        }
    }
}

#[test]
fn a_worker_prints_what_came_before_it_ends() {
    let push = socket(SocketType::Push);
    let endpoint = push.bind(ANY).expect("an endpoint").to_string();
    let mut pull = start(&["pull", "-c", &endpoint, "-v", "--grace", "1h"]);
    pull.await_line("ready");
    let sent = 20_000;
    for number in 0..sent {
        push.send(format!("{number}")).expect("room");
    }
    pull.terminate();
    let ended = pull.finish().expect_code(0);
    // Those that had not left go to the next worker, which has begun where this one ended.
    let first = ended.text().lines().count();
    let others = sent - first;
    if others > 0 {
        let count = others.to_string();
        let rest = start(&["pull", "-c", &endpoint, "-n", &count, "-t", "60s"]).finish();
        let rest = rest.expect_code(0);
        assert_eq!(rest.text().lines().next(), Some(&*first.to_string()));
    }
}

#[test]
fn what_was_read_is_sent_before_the_end_and_nothing_more_is_read() {
    let pull = socket(SocketType::Pull);
    let endpoint = pull.bind(ANY).expect("an endpoint").to_string();
    let mut push = start_interactive(&["push", "-c", &endpoint, "--grace", "1h"]);
    push.write("one\ntwo\nnot a whole li");
    assert_eq!(pull.recv().expect("a message").as_bytes(), b"one");
    assert_eq!(pull.recv().expect("a message").as_bytes(), b"two");
    push.terminated().expect_code(0);
    assert!(pull.try_recv().is_err(), "no part of a line");
}

#[test]
fn messages_that_cannot_be_sent_in_time_are_counted() {
    // It greets nobody, so that messages wait.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let endpoint = format!("tcp://{}", silent.local_addr().expect("a port"));
    let push = [
        "push",
        "-c",
        &endpoint,
        "--wait-peers",
        "0",
        "--grace",
        "100ms",
        "--json",
    ];
    let mut push = start_interactive(&push);
    push.write("one\ntwo\nthree\n");
    let (mut stream, _) = silent.accept().expect("it connects");
    // It has sent its greeting, and reads its input beside that: until it has all, less is given up.
    stream.read_exact(&mut [0; 10]).expect("a greeting");
    eventually("the input is read", || unread_input(&push) == 0);
    let ended = push.terminated().expect_code(7);
    let last = ended.stderr.lines().last().expect("a line");
    let record: Value = serde_json::from_str(last).expect("JSON");
    assert_eq!(record["exit_code"], 7);
    assert_eq!(record["given_up"]["unsent"], 3, "{record}");
    assert!(
        record["message"]
            .as_str()
            .expect("text")
            .contains("3 messages not sent")
    );
}

/// Bytes of its standard input, a pipe, that the program has not read.
pub(crate) fn unread_input(running: &Running) -> u64 {
    let path = format!("/proc/{}/fd/0", running.id());
    let pipe = std::fs::File::open(Path::new(&path)).expect("a pipe");
    rustix::io::ioctl_fionread(pipe).expect("a pipe")
}

#[test]
fn messages_of_the_command_line_that_have_no_peer_are_given_up() {
    let mut push = start_interactive(&["push", "-b", ANY, "-d", "x", "-n", "5"]);
    push.endpoint();
    let ended = push.terminated().expect_code(7);
    assert!(ended.stderr.contains("5 messages not sent"), "{ended:?}");
}

#[test]
fn messages_that_were_to_come_are_missing() {
    let mut pull = start_interactive(&["pull", "-b", ANY, "-n", "3", "-v"]);
    let push = socket(SocketType::Push);
    push.connect(pull.endpoint().as_str()).expect("a peer");
    push.send("one").expect("room");
    pull.await_line("ready");
    let ended = pull.terminated().expect_code(7);
    assert_eq!(ended.text(), "one\n");
    assert!(ended.stderr.contains("2 messages of --count"), "{ended:?}");
}

#[test]
fn a_request_waits_for_its_answer_within_the_grace() {
    let rep = socket(SocketType::Rep);
    let endpoint = rep.bind(ANY).expect("an endpoint").to_string();
    let ask = |grace: &str| {
        let req = [
            "req", "-c", &endpoint, "-d", "question", "-n", "0", "-i", "1h", "--grace", grace,
        ];
        let req = start_interactive(&req);
        assert_eq!(rep.recv().expect("a request").as_bytes(), b"question");
        req.terminate();
        req
    };
    let in_time = ask("1h");
    rep.send("answer").expect("room");
    assert_eq!(in_time.finish().expect_code(0).text(), "answer\n");
    let too_late = ask("50ms").finish().expect_code(7);
    assert!(
        too_late.stderr.contains("1 request not answered"),
        "{too_late:?}"
    );
}

#[test]
fn calls_under_way_are_answered_within_the_grace() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (begun, may_end) = (path("begun"), path("may end"));
    let script =
        format!("touch '{begun}'; until [ -e '{may_end}' ]; do sleep 0.01; done; echo done");
    let serve = [
        "rpc", "serve", "-b", ANY, "--grace", "1h", "--exec", "sh", "--", "-c", &script,
    ];
    let mut server = start_interactive(&serve);
    let call = start(&[
        "rpc",
        "call",
        "-c",
        &server.endpoint(),
        "-d",
        "",
        "-t",
        "60s",
    ]);
    eventually("the call has begun", || Path::new(&begun).exists());
    server.terminate();
    std::fs::write(&may_end, "").expect("a file");
    assert_eq!(call.finish().expect_code(0).text(), "done\n");
    server.finish().expect_code(0);
}

#[test]
fn what_waits_in_a_proxy_passes_through_before_it_ends() {
    let sides = ["--frontend-type", "pull", "--backend-type", "push"];
    let ends = [
        "--frontend-bind",
        ANY,
        "--backend-bind",
        ANY,
        "--grace",
        "1h",
    ];
    let mut proxy = start(&[&["proxy"][..], &sides, &ends].concat());
    let of = |line: String| line.rsplit(' ').next().expect("an endpoint").to_owned();
    let lines = [proxy.await_line("listening"), proxy.await_line("listening")];
    let [front, back] = ["frontend", "backend"].map(|side| {
        let line = lines.iter().find(|line| line.starts_with(side));
        of(line.expect("both sides").clone())
    });
    let push = socket(SocketType::Push);
    push.connect(front.as_str()).expect("a proxy");
    for number in 0..500 {
        push.send(format!("{number}")).expect("room");
    }
    push.close().expect("all is sent");
    proxy.terminate();
    // Nobody was there to take them.
    let pull = socket(SocketType::Pull);
    pull.connect(back.as_str()).expect("a proxy");
    for number in 0..500 {
        let message = pull.recv().expect("a message");
        assert_eq!(message.as_bytes(), format!("{number}").as_bytes());
    }
    proxy.finish().expect_code(0);
}

#[test]
fn a_refused_caller_leaves_a_line_with_the_cause() {
    let keys = Keys::new();
    let serve = ["rpc", "serve", "--exec", "cat"];
    let mut server = keys.server(&serve);
    let endpoint = server.endpoint();
    let call = ["rpc", "call", "-c", &endpoint, "-d", "x", "-t", "60s"];
    keys.client("mallory", &call).finish().expect_code(4);
    server.await_line("refused");
    let mut server = keys.server(&[&serve[..], &["--json", "-v"]].concat());
    let endpoint = server.endpoint();
    let call = ["rpc", "call", "-c", &endpoint, "-d", "x", "-t", "60s"];
    keys.client("alice", &call).finish().expect_code(0);
    let ready: Value = serde_json::from_str(&server.await_line("\"ready\"")).expect("JSON");
    assert!(ready["public_key"].is_string(), "{ready}");
    keys.client("mallory", &call).finish().expect_code(4);
    let failed: Value = serde_json::from_str(&server.await_line("\"failed\"")).expect("JSON");
    assert!(failed["cause"].is_string(), "{failed}");
}

/// A connection that was accepted, and on which nothing more comes, does not hold the end up.
#[test]
fn a_peer_that_does_not_say_who_it_is_holds_nothing_up() {
    let mut rep = start_interactive(&["rep", "-b", ANY, "--echo", "--grace", "1h", "-v"]);
    let endpoint = rep.endpoint();
    let mut peer = TcpStream::connect(endpoint.trim_start_matches("tcp://")).expect("a port");
    peer.write_all(&[0xff]).expect("it reads");
    rep.await_line("accepted");
    rep.terminated().expect_code(0);
}
