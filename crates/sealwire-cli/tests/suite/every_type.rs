//! The commands of the socket types for messages of one frame, of groups, and of plain TCP.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};

use serde_json::Value;

use crate::support::{TIMEOUT, run, start, start_with_input};

const ANY: &str = "tcp://127.0.0.1:0";

#[test]
fn lines_are_scattered_and_gathered() {
    let mut gather = start(&["gather", "-b", ANY, "-n", "3"]);
    let scatter = start_with_input(&["scatter", "-c", &gather.endpoint()], b"one\ntwo\nthree\n");
    scatter.finish().expect_code(0);
    assert_eq!(gather.finish().expect_code(0).text(), "one\ntwo\nthree\n");
}

#[test]
fn the_members_of_a_group_get_what_is_for_it_from_the_first_message_on() {
    let mut radio = start_with_input(&["radio", "-b", ANY, "-g", "news"], b"rain\nsun\n");
    let endpoint = radio.endpoint();
    let mut other = start(&["dish", "-c", &endpoint, "-j", "sport", "-v"]);
    other.await_line("ready");
    let member = ["dish", "-c", &endpoint, "-j", "sport", "-j", "news"];
    let member = start(&[&member[..], &["-n", "2"]].concat());
    assert_eq!(
        member.finish().expect_code(0).text(),
        "news\train\nnews\tsun\n"
    );
    radio.finish().expect_code(0);
}

/// A datagram may be lost, and nobody knows when its receiver is there: so it is sent again and again.
#[cfg(unix)]
#[test]
fn a_group_is_reached_over_udp() {
    let mut dish = start(&["dish", "-b", "udp://127.0.0.1:0", "-j", "log", "-n", "1"]);
    let endpoint = dish.endpoint();
    let radio = ["radio", "-c", &endpoint, "-g", "log", "-d", "line"];
    let radio = start(&[&radio[..], &["-n", "0", "-i", "10ms"]].concat());
    assert_eq!(dish.finish().expect_code(0).text(), "log\tline\n");
    radio.interrupted().expect_code(0);
}

#[test]
fn a_channel_talks_both_ways() {
    let bound = ["channel", "-b", ANY, "-d", "hi", "-n", "1", "--json"];
    let mut bound = start(&bound);
    let connected = start(&["channel", "-c", &bound.endpoint(), "-d", "ho", "-n", "1"]);
    assert_eq!(connected.finish().expect_code(0).text(), "hi\n");
    let heard = bound.finish().expect_code(0);
    let heard: Value = serde_json::from_str(heard.text()).expect("one JSON object");
    assert_eq!(heard["frames"][0]["text"], "ho");
    assert_eq!(heard["peer"]["socket_type"], "CHANNEL");
}

#[test]
fn a_server_answers_the_client_that_asked() {
    let mut echo = start(&["server", "-b", ANY, "--echo", "-n", "2"]);
    let endpoint = echo.endpoint();
    for question in ["first", "second"] {
        let client = run(&["client", "-c", &endpoint, "-d", question, "-n", "1"]);
        assert_eq!(client.expect_code(0).text(), format!("{question}\n"));
    }
    // The numbers by which it knows its clients are not printed.
    assert_eq!(echo.finish().expect_code(0).text(), "first\nsecond\n");

    let mut fixed = start(&["server", "-b", ANY, "-d", "pong", "-n", "1", "--json"]);
    let client = run(&["client", "-c", &fixed.endpoint(), "-d", "ping", "-n", "1"]);
    assert_eq!(client.expect_code(0).text(), "pong\n");
    let asked = fixed.finish().expect_code(0);
    let asked: Value = serde_json::from_str(asked.text()).expect("one JSON object");
    assert_eq!(asked["frames"][0]["text"], "ping");
    assert_eq!(asked["bytes"], 4);
    assert_eq!(asked["peer"]["socket_type"], "CLIENT");
}

#[test]
fn a_server_that_has_no_answer_receives() {
    let mut server = start(&["server", "-b", ANY, "-n", "2"]);
    let client = ["client", "-c", &server.endpoint(), "-n", "0"];
    let client = start_with_input(&client, b"one\ntwo\n");
    client.finish().expect_code(0);
    assert_eq!(server.finish().expect_code(0).text(), "one\ntwo\n");
}

#[test]
fn peers_talk_with_whom_they_connect_to_and_answer_those_who_come() {
    let mut echo = start(&["peer", "-b", ANY, "--echo", "-n", "2"]);
    let endpoint = echo.endpoint();
    for _ in 0..2 {
        let asking = run(&["peer", "-c", &endpoint, "-d", "hello", "-n", "1"]);
        assert_eq!(asking.expect_code(0).text(), "hello\n");
    }
    assert_eq!(echo.finish().expect_code(0).text(), "hello\nhello\n");
}

#[test]
fn a_stream_answers_a_program_without_zeromq() {
    let mut echo = start(&["stream", "-b", ANY, "--echo", "-n", "1", "-o", "raw"]);
    let endpoint = echo.endpoint();
    let address = endpoint.trim_start_matches("tcp://");
    let mut program = TcpStream::connect(address).expect("it listens");
    program.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    program.write_all(b"hello").expect("it reads");
    let mut answer = [0; 5];
    program.read_exact(&mut answer).expect("an answer");
    assert_eq!(&answer, b"hello");
    // Else the program would wait for this end, as it does for peers.
    drop(program);
    assert_eq!(echo.finish().expect_code(0).stdout, b"hello");
}

#[test]
fn a_stream_prints_what_comes_until_the_other_side_ends_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let endpoint = format!("tcp://{}", listener.local_addr().expect("an address"));
    let asked = start_with_input(
        &["stream", "-c", &endpoint, "--raw", "-o", "raw"],
        b"GET /\r\n",
    );
    let (mut server, _) = listener.accept().expect("it connects");
    let mut request = [0; 7];
    server.read_exact(&mut request).expect("a request");
    assert_eq!(&request, b"GET /\r\n");
    let answer = vec![b'x'; 300_000];
    server.write_all(&answer).expect("it reads");
    drop(server);
    assert!(asked.finish().expect_code(0).stdout == answer);
}

/// The address of who has sent it stands in front of what it prints, and what it answers goes there.
#[test]
fn datagrams_are_exchanged_with_a_program_without_zeromq() {
    let mut echo = start(&["dgram", "-b", "udp://127.0.0.1:0", "--echo", "-n", "1"]);
    let endpoint = echo.endpoint();
    let there = endpoint.trim_start_matches("udp://");
    let program = UdpSocket::bind("127.0.0.1:0").expect("a port");
    program.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    program.send_to(b"hello", there).expect("a way");
    let mut answer = [0; 9];
    let (length, from) = program.recv_from(&mut answer).expect("an answer");
    assert_eq!(
        (&answer[..length], from.to_string()),
        (&b"hello"[..], there.to_owned())
    );
    let here = program.local_addr().expect("an address").to_string();
    assert_eq!(
        echo.finish().expect_code(0).text(),
        format!("{here}\thello\n")
    );

    let asked = [
        "dgram",
        "-b",
        "udp://127.0.0.1:0",
        "--to",
        &here,
        "-d",
        "who",
        "-n",
        "1",
    ];
    let mut asking = start(&asked);
    let endpoint = asking.endpoint();
    let (length, from) = program.recv_from(&mut answer).expect("a question");
    assert_eq!(
        (&answer[..length], format!("udp://{from}")),
        (&b"who"[..], endpoint)
    );
    program.send_to(b"me", from).expect("a way");
    assert_eq!(
        asking.finish().expect_code(0).text(),
        format!("{here}\tme\n")
    );
}

#[test]
fn what_a_type_cannot_do_is_refused_before_anything_is_opened() {
    let stream = &["stream", "-b", "tcp://127.0.0.1:1"][..];
    for (arguments, reason) in [
        (
            &["scatter", "-b", ANY, "-d", "a", "-d", "b"][..],
            "one frame",
        ),
        (&["channel", "-b", ANY, "-d", "a", "-d", "b"], "one frame"),
        (
            &["client", "-c", "tcp://127.0.0.1:1", "-d", "a", "-d", "b"],
            "one frame",
        ),
        (&["server", "-b", ANY, "-d", "a", "-d", "b"], "one frame"),
        (
            &["peer", "-c", "tcp://127.0.0.1:1", "-d", "a", "-d", "b"],
            "one frame",
        ),
        (
            &["radio", "-b", ANY, "-g", "g", "-d", "a", "-d", "b"],
            "one frame",
        ),
        (&["radio", "-b", ANY, "-d", "a"], "--group"),
        (&["radio", "-b", ANY, "-g", "", "-d", "a"], "1 to 255 bytes"),
        (&["dish", "-b", ANY], "--join"),
        (&["radio", "-b", "udp://127.0.0.1:1", "-g", "g"], "over udp"),
        (
            &["dish", "-b", ANY, "-c", "udp://127.0.0.1:1", "-j", "g"],
            "over udp",
        ),
        (&["push", "-b", ANY, "-c", "udp://127.0.0.1:1"], "over udp"),
        (
            &[
                "radio",
                "-c",
                "udp://127.0.0.1:1",
                "-g",
                "g",
                "--wait-peers",
                "1",
            ],
            "--wait-peers",
        ),
        (
            &[
                "dish",
                "-b",
                "udp://127.0.0.1:0",
                "-j",
                "g",
                "--heartbeat",
                "1s",
            ],
            "--heartbeat",
        ),
        (
            &["peer", "-b", ANY, "-c", "tcp://127.0.0.1:1"],
            "--connect once",
        ),
        (
            &[
                "stream",
                "-c",
                "tcp://127.0.0.1:1",
                "-c",
                "tcp://127.0.0.1:2",
            ],
            "--connect once",
        ),
        (&["stream", "-b", "ws://127.0.0.1:0"], "plain TCP"),
        (&["dgram", "-b", ANY], "plain datagrams"),
        (&["dgram", "-c", "udp://127.0.0.1:1"], "dgram bind"),
        (
            &["dgram", "-b", "udp://127.0.0.1:0", "--to", "localhost:1"],
            "--to",
        ),
        (
            &["dgram", "-b", "udp://127.0.0.1:0", "-d", "a", "-d", "b"],
            "one frame",
        ),
        (
            &[stream, &["--heartbeat", "1s"]].concat(),
            "no option heartbeat",
        ),
        (
            &["rep", "-b", ANY, "--echo", "--conflate"],
            "no option conflate",
        ),
        (
            &["pull", "-b", ANY, "--reconnect-interval", "1s"],
            "--connect",
        ),
        (
            &[
                "pull",
                "-c",
                "tcp://127.0.0.1:1",
                "--reconnect-interval",
                "2s",
                "--reconnect-max",
                "1s",
            ],
            "is shorter than",
        ),
        (&["pull", "-b", ANY, "--heartbeat", "0"], "more than zero"),
    ] {
        let refused = run(arguments).expect_code(2);
        let (said, told) = (&refused.stderr, "listening on");
        assert!(
            said.contains(reason) && !said.contains(told),
            "{arguments:?}: {said}"
        );
    }
}
