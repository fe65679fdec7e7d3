//! `doctor` against real peers: each exit code that this machine can cause.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

use serde_json::Value;

use crate::support::{Finished, Keys, run, start};

fn address(listener: &TcpListener) -> String {
    format!("tcp://{}", listener.local_addr().unwrap())
}

/// A listener that does this with its first connection.
fn listener(first: impl FnOnce(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = address(&listener);
    thread::spawn(move || first(listener.accept().unwrap().0));
    address
}

#[track_caller]
fn says(finished: &Finished, step: &str, sentence: &str) {
    assert!(finished.text().contains(step), "{step}: {finished:?}");
    assert!(
        finished.stderr.contains(sentence),
        "{sentence}: {finished:?}"
    );
}

#[test]
fn a_connection_that_works_passes_every_step() {
    let keys = Keys::new();
    let mut rep = keys.server(&["rep", "--echo"]);
    let doctor = keys.client("alice", &["doctor", &rep.endpoint()]);
    let fine = doctor.finish().expect_code(0);
    let steps = [
        "name",
        "route",
        "connection",
        "greeting",
        "mechanism",
        "key",
        "authorisation",
        "socket types",
        "answer",
    ];
    let told: Vec<&str> = fine.text().lines().collect();
    assert_eq!(told.len(), steps.len(), "{fine:?}");
    for (line, step) in told.iter().zip(steps) {
        assert!(line.starts_with(step) && line.contains(" ok "), "{line}");
    }
    assert!(fine.text().contains("BLAKE3"), "{fine:?}");
    assert!(fine.text().contains("a PING was answered"), "{fine:?}");
    assert_eq!(fine.stderr, "");
}

#[test]
fn scripts_read_the_steps_as_json() {
    let mut rep = start(&["rep", "--echo", "-b", "tcp://127.0.0.1:0"]);
    let endpoint = rep.endpoint();
    let fine = run(&["doctor", &endpoint, "--json"]).expect_code(0);
    let records: Vec<Value> = fine
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let steps: Vec<&str> = records
        .iter()
        .map(|record| record["step"].as_str().unwrap())
        .collect();
    assert_eq!(
        steps,
        [
            "name",
            "route",
            "connection",
            "greeting",
            "mechanism",
            "authorisation",
            "socket_types",
            "answer"
        ]
    );
    assert!(records.iter().all(|record| record["ok"] == true));
    let failed = run(&["doctor", &endpoint, "--as", "sub", "--json"]).expect_code(19);
    let last = failed.text().lines().next_back().unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    assert_eq!(last["ok"], false);
    assert_eq!(last["cause"], "incompatible");
    let error: Value = serde_json::from_str(failed.stderr.trim()).unwrap();
    assert_eq!(error["exit_code"], 19);
}

#[test]
fn nobody_listens() {
    let gone = address(&TcpListener::bind("127.0.0.1:0").unwrap());
    let refused = run(&["doctor", &gone]).expect_code(12);
    says(
        &refused,
        "connection     FAILED",
        "nothing listens at that port",
    );
    let folder = tempfile::tempdir().unwrap();
    let endpoint = format!("ipc://{}", folder.path().join("socket").display());
    let missing = run(&["doctor", &endpoint]).expect_code(12);
    says(&missing, "connection     FAILED", "does not exist");
}

#[test]
fn somebody_else_listens() {
    let web = listener(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let web = run(&["doctor", &web]).expect_code(15);
    says(&web, "greeting       FAILED", "as a web server does");

    let closes = run(&["doctor", &listener(drop)]).expect_code(15);
    says(&closes, "greeting       FAILED", "another program");

    let silent = listener(|mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let silent = run(&["doctor", &silent, "--timeout", "1s"]).expect_code(15);
    says(&silent, "greeting       FAILED", "says nothing");
}

#[test]
fn another_mechanism() {
    let keys = Keys::new();
    let mut rep = keys.server(&["rep", "--echo"]);
    let plain = run(&["doctor", &rep.endpoint()]).expect_code(16);
    says(&plain, "mechanism      FAILED", "BLAKE3");
}

#[test]
fn another_key() {
    let (keys, others) = (Keys::new(), Keys::new());
    let mut rep = keys.server(&["rep", "--echo"]);
    let wrong = others.client("alice", &["doctor", &rep.endpoint()]);
    let wrong = wrong.finish().expect_code(17);
    says(&wrong, "key            FAILED", "compare --server-key");
    assert!(wrong.text().contains("mechanism      ok"), "{wrong:?}");
    assert_eq!(wrong.text().lines().count(), 6, "{wrong:?}");
}

#[test]
fn a_client_that_is_not_let_in() {
    let keys = Keys::new();
    let mut rep = keys.server(&["rep", "--echo"]);
    let mallory = keys.client("mallory", &["doctor", &rep.endpoint()]);
    let mallory = mallory.finish().expect_code(18);
    says(&mallory, "authorisation  FAILED", "allow-list");
    assert!(mallory.text().contains("key            ok"), "{mallory:?}");
    assert_eq!(mallory.text().lines().count(), 7, "{mallory:?}");
}

#[test]
fn types_that_do_not_fit() {
    let mut publisher = start(&[
        "pub",
        "-b",
        "tcp://127.0.0.1:0",
        "--wait-peers",
        "1",
        "-d",
        "x",
    ]);
    let endpoint = publisher.endpoint();
    let req = run(&["doctor", &endpoint]).expect_code(19);
    says(
        &req,
        "socket types   FAILED",
        "connect to it with SUB or XSUB",
    );
    assert!(!req.text().contains("key "), "NULL has none: {req:?}");
    run(&["doctor", &endpoint, "--as", "sub"]).expect_code(0);

    // The server of a mechanism sees the type first, and does not say its own.
    let keys = Keys::new();
    let mut pull = keys.server(&["pull"]);
    let req = keys.client("alice", &["doctor", &pull.endpoint()]);
    let req = req.finish().expect_code(19);
    says(&req, "socket types   FAILED", "--as");
}

#[test]
fn what_cannot_be_tried_is_refused() {
    let over_udp = run(&["doctor", "udp://127.0.0.1:5555"]).expect_code(2);
    assert!(over_udp.stderr.contains("over udp"), "{over_udp:?}");
    let far = run(&["doctor", "tcp://192.0.2.1:5555"]).expect_code(2);
    assert!(far.stderr.contains("leaves this machine"), "{far:?}");
    run(&["doctor", "tcp://127.0.0.1:1", "--as", "stream"]).expect_code(2);
    run(&["doctor", "tcp://127.0.0.1:1", "--as", "nothing"]).expect_code(2);
}

/// A greeting of ZMTP 3.1.
fn greeting(mechanism: &[u8]) -> [u8; 64] {
    let mut greeting = [0; 64];
    greeting[0] = 0xff;
    greeting[8] = 1;
    greeting[9..12].copy_from_slice(&[0x7f, 3, 1]);
    greeting[12..12 + mechanism.len()].copy_from_slice(mechanism);
    greeting
}

#[test]
fn a_peer_that_leaves_after_the_handshake() {
    const READY: &[u8] = b"\x04\x19\x05READY\x0bSocket-Type\0\0\0\x03REP";
    let agrees = |stream: &mut TcpStream| {
        stream.write_all(&greeting(b"NULL")).unwrap();
        stream.write_all(READY).unwrap();
        // Theirs: a greeting, and the begin of READY.
        stream.read_exact(&mut [0; 66]).unwrap();
    };
    let closes = listener(move |mut stream| {
        agrees(&mut stream);
        stream.shutdown(Shutdown::Write).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let left = run(&["doctor", &closes]).expect_code(20);
    says(
        &left,
        "answer         FAILED",
        "closed the connection at once",
    );
    let breaks = listener(move |mut stream| {
        agrees(&mut stream);
        // No frame of ZMTP.
        stream.write_all(&[0xff; 64]).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let broken = run(&["doctor", &breaks]).expect_code(20);
    says(&broken, "answer         FAILED", "broke the connection");
    for finished in [left, broken] {
        assert!(
            finished.text().contains("socket types   ok"),
            "{finished:?}"
        );
        let steps = finished.text().lines().count();
        assert_eq!(steps, 8, "each is told once: {finished:?}");
    }
}

/// libzmq reads our greeting to its end before it has sent its own, and closes if the mechanisms differ.
#[test]
fn the_mechanism_of_a_peer_that_closes_before_it_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = address(&listener);
    thread::spawn(move || {
        let (mut first, _) = listener.accept().unwrap();
        first.write_all(&greeting(b"CURVE")[..10]).unwrap();
        first.read_exact(&mut [0; 64]).unwrap();
        first.shutdown(Shutdown::Write).unwrap();
        let (mut second, _) = listener.accept().unwrap();
        second.read_exact(&mut [0; 11]).unwrap();
        second.write_all(&greeting(b"CURVE")).unwrap();
    });
    let found = run(&["doctor", &address]).expect_code(16);
    says(
        &found,
        "mechanism      FAILED",
        "has the mechanism CURVE and this side NULL",
    );
    assert!(found.text().contains("greeting       ok"), "{found:?}");
    assert!(!found.text().contains("key "), "NULL has none: {found:?}");
}
