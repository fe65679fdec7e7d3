//! The socket commands, each with its counterpart.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::support::{Keys, start, start_interactive, start_with_input};
use serde_json::{Value, json};

const ANY: &str = "tcp://127.0.0.1:0";

#[test]
fn lines_are_pushed_and_pulled_with_keys() {
    let keys = Keys::new();
    let mut pull = keys.server(&["pull", "--count", "3"]);
    let endpoint = pull.endpoint();
    let (server, alice) = (keys.path("server.pub"), keys.path("alice.key"));
    let push = start_with_input(
        &[
            "push",
            "-c",
            &endpoint,
            "--server-key",
            &server,
            "--secret-key-file",
            &alice,
        ],
        b"one\ntwo\r\n\n",
    );
    push.finish().expect_code(0);
    assert_eq!(pull.finish().expect_code(0).text(), "one\ntwo\n\n");
}

#[test]
fn json_lines_tell_the_frames_and_who_sent_them() {
    let keys = Keys::new();
    let binary = keys.path("binary");
    fs::write(&binary, b"\xff\x00").expect("a file");
    let mut pull = keys.server(&["pull", "--json", "-n", "1"]);
    let endpoint = pull.endpoint();
    let message = [
        "push", "-c", &endpoint, "-f", &binary, "-d", "héllo", "-d", "",
    ];
    keys.client("alice", &message).finish().expect_code(0);
    let pulled = pull.finish().expect_code(0);
    let record: Value = serde_json::from_str(pulled.text()).expect("one JSON object");
    assert_eq!(
        record["frames"],
        json!([{"text": "héllo"}, {"text": ""}, {"hex": "ff00"}])
    );
    assert_eq!(record["bytes"], 8);
    let peer = &record["peer"];
    assert_eq!(peer["user_id"], "alice");
    assert_eq!(peer["mechanism"], "BLAKE3");
    assert_eq!(peer["socket_type"], "PUSH");
    assert!(
        peer["address"]
            .as_str()
            .is_some_and(|text| text.starts_with("tcp://127.0.0.1:"))
    );
    let key = peer["public_key"].as_str().expect("a key");
    assert!(
        fs::read_to_string(keys.path("alice.pub"))
            .expect("a file")
            .contains(key)
    );
    let listening = pulled.stderr.lines().next().expect("a line");
    let listening: Value = serde_json::from_str(listening).expect("events are JSON as well");
    assert_eq!(listening["event"], "listening");
    assert_eq!(listening["endpoint"], *endpoint);
}

#[test]
fn a_whole_input_arrives_byte_by_byte() {
    let input: Vec<u8> = (0..300_000_u32).map(|i| (i % 251) as u8).collect();
    let mut pull = start(&["pull", "-b", ANY, "-n", "1", "--output", "raw"]);
    let push = start_with_input(&["push", "--raw", "-c", &pull.endpoint()], &input);
    push.finish().expect_code(0);
    assert_eq!(pull.finish().expect_code(0).stdout, input);
}

#[test]
fn several_endpoints_take_turns() {
    let mut first = start(&["pull", "-b", ANY, "-n", "2", "--output", "quoted"]);
    let mut second = start(&["pull", "-b", ANY, "-b", ANY, "-n", "2"]);
    let (one, two) = (first.endpoint(), second.endpoint());
    let both = [
        "push",
        "-c",
        &one,
        "-c",
        &two,
        "--wait-peers",
        "2",
        "-d",
        "x",
        "-n",
        "4",
    ];
    start(&both).finish().expect_code(0);
    assert_eq!(first.finish().expect_code(0).text(), "\"x\"\n\"x\"\n");
    assert_eq!(second.finish().expect_code(0).text(), "x\nx\n");
}

#[test]
fn subscribers_get_their_topics_from_the_first_message_on() {
    let mut publisher = start_with_input(
        &["pub", "-b", ANY, "--wait-peers", "2"],
        b"weather rain\nnews none\nweather sun\n",
    );
    let endpoint = publisher.endpoint();
    let weather = start(&["sub", "-c", &endpoint, "-s", "weather", "-n", "2"]);
    let all = start(&["sub", "-c", &endpoint, "-n", "3", "-o", "hex"]);
    assert_eq!(
        weather.finish().expect_code(0).text(),
        "weather rain\nweather sun\n"
    );
    assert_eq!(
        all.finish().expect_code(0).text().lines().nth(1),
        Some("6e657773206e6f6e65")
    );
    publisher.finish().expect_code(0);
}

#[test]
fn requests_are_echoed_or_answered() {
    let mut echo = start(&["rep", "-b", ANY, "--echo", "-n", "2"]);
    let req = start_with_input(&["req", "-c", &echo.endpoint()], b"first\nsecond\n");
    assert_eq!(req.finish().expect_code(0).text(), "first\nsecond\n");
    assert_eq!(echo.finish().expect_code(0).text(), "first\nsecond\n");

    let mut rep = start(&["rep", "-b", ANY, "-d", "a", "-d", "b", "-n", "3"]);
    let req = start(&["req", "-c", &rep.endpoint(), "-d", "?", "-n", "3"]);
    assert_eq!(req.finish().expect_code(0).text(), "a\tb\na\tb\na\tb\n");
    rep.finish().expect_code(0);

    let mut rep = start_with_input(&["rep", "-b", ANY, "-n", "2"], b"yes\nno\n");
    let req = start(&["req", "-c", &rep.endpoint(), "-d", "?", "-n", "2"]);
    assert_eq!(req.finish().expect_code(0).text(), "yes\nno\n");
    rep.finish().expect_code(0);
}

#[test]
fn a_router_answers_dealers_and_reqs() {
    let mut router = start(&["router", "-b", ANY, "-d", "pong", "-n", "2", "-o", "quoted"]);
    let endpoint = router.endpoint();
    let dealer = [
        "dealer",
        "-c",
        &endpoint,
        "--routing-id",
        "d",
        "-d",
        "ping",
        "-n",
        "1",
    ];
    assert_eq!(start(&dealer).finish().expect_code(0).text(), "pong\n");
    let req = ["req", "-c", &endpoint, "--routing-id", "r", "-d", "ping"];
    assert_eq!(start(&req).finish().expect_code(0).text(), "pong\n");
    let seen = router.finish().expect_code(0);
    assert_eq!(seen.text(), "\"d\" \"ping\"\n\"r\" \"\" \"ping\"\n");
}

#[test]
fn a_router_sends_to_whom_it_names() {
    let mut router = start(&["router", "-b", ANY, "--to", "two", "-d", "job", "-n", "0"]);
    let endpoint = router.endpoint();
    let _other = start_interactive(&["dealer", "-c", &endpoint, "--routing-id", "one"]);
    let worker = start(&["dealer", "-c", &endpoint, "--routing-id", "two", "-n", "1"]);
    assert_eq!(worker.finish().expect_code(0).text(), "job\n");
    router.finish().expect_code(0);
}

#[test]
fn a_pair_talks_both_ways() {
    let mut bound = start(&["pair", "-b", ANY, "-d", "hi", "-n", "1"]);
    let connected = start(&["pair", "-c", &bound.endpoint(), "-d", "ho", "-n", "1"]);
    assert_eq!(connected.finish().expect_code(0).text(), "hi\n");
    assert_eq!(bound.finish().expect_code(0).text(), "ho\n");
}

#[test]
fn an_xpub_sees_subscriptions_and_hears_an_xsub() {
    let mut xpub = start(&["xpub", "-b", ANY, "-d", "news", "-n", "2", "-o", "quoted"]);
    let xsub = [
        "xsub",
        "-c",
        &xpub.endpoint(),
        "-s",
        "n",
        "-d",
        "thanks",
        "-n",
        "1",
    ];
    assert_eq!(start(&xsub).finish().expect_code(0).text(), "news\n");
    assert_eq!(
        xpub.finish().expect_code(0).text(),
        "\"\\x01n\"\n\"thanks\"\n"
    );
}

#[test]
fn silence_ends_a_receiver_that_got_something() {
    let mut pull = start(&["pull", "-b", ANY, "--timeout", "1s"]);
    start(&["push", "-c", &pull.endpoint(), "-d", "x"])
        .finish()
        .expect_code(0);
    assert_eq!(pull.finish().expect_code(0).text(), "x\n");
}

#[test]
fn a_sender_waits_for_a_receiver_that_comes_later() {
    let folder = tempfile::tempdir().expect("a folder");
    let endpoint = format!("ipc://{}", folder.path().join("late").display());
    let mut push = start(&["push", "-c", &endpoint, "-d", "patience"]);
    push.await_line("cannot connect");
    let pull = start(&["pull", "-b", &endpoint, "-n", "1"]);
    assert_eq!(pull.finish().expect_code(0).text(), "patience\n");
    push.finish().expect_code(0);
}

/// What a browser asks on behalf of a page is refused, unless the page's origin is allowed.
#[test]
fn web_pages_are_refused_unless_allowed() {
    let origin = "https://page.example";
    for (allowed, status) in [
        (&[][..], "403"),
        (
            &["--allow-origin", origin, "--allow-host", "name.example"],
            "101",
        ),
        (
            &["--allow-any-origin", "--allow-host", "name.example"],
            "101",
        ),
    ] {
        let mut pull = start(&[&["pull", "-b", "ws://127.0.0.1:0"], allowed].concat());
        let endpoint = pull.endpoint();
        let address = endpoint.trim_start_matches("ws://").trim_end_matches('/');
        let mut browser = TcpStream::connect(address).expect("it listens");
        browser
            .set_read_timeout(Some(Duration::from_secs(60)))
            .expect("a timeout");
        let request = format!(
            "GET / HTTP/1.1\r\nHost: name.example\r\nOrigin: {origin}\r\nUpgrade: websocket\r\n\
             Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             Sec-WebSocket-Protocol: ZWS2.0/NULL\r\nSec-WebSocket-Version: 13\r\n\r\n"
        );
        browser.write_all(request.as_bytes()).expect("it reads");
        let mut answer = [0; 12];
        browser.read_exact(&mut answer).expect("an answer");
        assert_eq!(answer, *format!("HTTP/1.1 {status}").as_bytes());
    }
}
