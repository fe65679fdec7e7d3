//! STREAM: bytes both ways between our socket and libzmq's, either side bound; and who ends it.

use std::time::Instant;

use interop::Side::{self, Ours, Theirs};
use interop::{LIBZMQ, Link, Path, TIMEOUT, Transport, options};
use sealwire::blocking::Socket;
use sealwire::{Frame, Message, SocketType};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// More than the system holds on the way, so that both sides must go on together.
const LENGTH: usize = 12_000_000;

fn paths() -> Vec<Path> {
    if !LIBZMQ.is_there() {
        return Vec::new();
    }
    let paths = [Transport::Tcp, Transport::Ipc].into_iter();
    let bound = |binds: Side| move |transport| Path::null(LIBZMQ, transport, binds);
    paths
        .clone()
        .map(bound(Ours))
        .chain(paths.map(bound(Theirs)))
        .collect()
}

fn open(path: Path, script: &[&str]) -> (Link, Frame) {
    let script = [&["--type", "stream"], script].concat();
    let link = path.open(options(SocketType::Stream), &script);
    let (id, body) = receive(&link);
    assert!(body.is_empty(), "no message of a new connection: {body:?}");
    (link, id)
}

/// The id of a connection and what came over it.
fn receive(link: &Link) -> (Frame, Vec<u8>) {
    let message = link.ours.recv().unwrap();
    let [id, body] = message.frames() else {
        panic!("not an id and a body: {message:?}")
    };
    (id.clone(), body.to_vec())
}

fn receive_bytes(link: &Link, id: &Frame, length: usize) -> Vec<u8> {
    let deadline = Instant::now() + TIMEOUT;
    let mut all = Vec::new();
    while all.len() < length {
        assert!(Instant::now() < deadline, "{} of {length}", all.len());
        let (from, body) = receive(link);
        assert_eq!(from, *id);
        assert!(!body.is_empty(), "the connection ended after {}", all.len());
        all.extend(body);
    }
    all
}

fn send(ours: &Socket, id: &Frame, body: &[u8]) {
    let body = Frame::copy_from_slice(body);
    ours.send(Message::multipart([id.clone(), body])).unwrap();
}

fn pattern() -> Vec<u8> {
    (0..LENGTH as u32)
        .map(|n| (n.wrapping_mul(n) >> 7) as u8)
        .collect()
}

fn assert_seen(seen: &Value, bytes: &[u8], ended_by_us: bool) {
    assert_eq!(seen["length"], bytes.len());
    assert_eq!(seen["sha256"], hex::encode(Sha256::digest(bytes)));
    assert_eq!(seen["ended"], ended_by_us);
}

#[test]
fn libzmq_sends_back_what_we_send_and_we_end_it() {
    let bytes = pattern();
    let length = bytes.len().to_string();
    for path in paths() {
        let (mut link, id) = open(path, &["--recv", &length, "--echo"]);
        std::thread::scope(|scope| {
            let (ours, bytes, to) = (&link.ours, &bytes, &id);
            scope.spawn(move || {
                for chunk in bytes.chunks(100_000) {
                    send(ours, to, chunk);
                }
            });
            assert!(receive_bytes(&link, &id, bytes.len()) == *bytes, "{path}");
        });
        send(&link.ours, &id, b"");
        assert_seen(&link.peer.event("bytes"), &bytes, true);
        link.peer.finish();
    }
}

#[test]
fn we_send_back_what_libzmq_sends_and_it_ends_it() {
    let size = 1_000_003;
    let script = [
        "--send", "3", "--size", "1000003", "--recv", "3000009", "--cancel",
    ];
    let expected: Vec<u8> = (0..3)
        .flat_map(|message| (0..size).map(move |octet| ((octet + 13 * message) % 251) as u8))
        .collect();
    for path in paths() {
        let (mut link, id) = open(path, &script);
        let mut all = Vec::new();
        while all.len() < expected.len() {
            let (from, body) = receive(&link);
            assert_eq!(from, id);
            send(&link.ours, &id, &body);
            all.extend(body);
        }
        assert!(all == expected, "{path}");
        assert_eq!(receive(&link), (id, Vec::new()), "{path}");
        assert_seen(&link.peer.event("bytes"), &expected, false);
        link.peer.finish();
    }
}
