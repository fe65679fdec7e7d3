//! Sockets of libzmq under rules, beside sockets that are written for the engine.

mod keeping;
mod own;
mod refused;
mod talking;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use libc::c_int;
use sealwire::blocking::Socket as Native;
use sealwire::{Event, Generate as _, KeyPair, Monitor, Security, SocketType, keys};
use sealwire_policy::Policy;
use sealwire_zmtp::Frames;
use tempfile::TempDir;

use super::Governing;
use crate::context::Context;
use crate::options::number;
use crate::socket::Socket;

/// Nothing here takes that long unless it is broken.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A folder with keys, and rules over it.
struct Rules {
    folder: TempDir,
    server: KeyPair,
    old: KeyPair,
    client: KeyPair,
}

impl Rules {
    /// The pairs `server`, `old` and `client`, and `clients` that lists the last as alice.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [server, old, client] = [(); 3].map(|()| KeyPair::generate());
        for (name, pair) in [("server", &server), ("old", &old), ("client", &client)] {
            keys::write_key_pair(folder.path().join(name), pair).unwrap();
        }
        let rules = Rules {
            folder,
            server,
            old,
            client,
        };
        let listed = format!("{} alice\n", rules.client.public());
        fs::write(rules.path("clients"), listed).unwrap();
        rules
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn governing(&self, rules: &str) -> Arc<Governing> {
        let text = format!("version = 1\n{rules}");
        let policy = Policy::parse(&self.path("rules"), &text, false);
        Arc::new(Governing::new(policy.map(Some)))
    }

    /// A server of BLAKE3 at any endpoint that begins so.
    fn server(&self, endpoint: &str) -> Arc<Governing> {
        self.governing(&format!("[[rule]]\nbind = \"{endpoint}\"\n{SERVER}"))
    }
}

const SERVER: &str =
    "mechanism = \"blake3\"\nsecret_key_file = \"server.key\"\nallow = \"clients\"\n";
const CLIENT: &str =
    "mechanism = \"blake3\"\nserver_key_file = \"server.pub\"\nsecret_key_file = \"client.key\"\n";

fn socket(governing: &Arc<Governing>, socket_type: SocketType) -> Arc<Socket> {
    Arc::new(Context::new(governing.clone())).open_briefly(socket_type)
}

fn native(socket_type: SocketType, security: impl Into<Security>) -> Native {
    Native::builder(socket_type)
        .security(security)
        .send_timeout(TIMEOUT)
        .receive_timeout(TIMEOUT)
        .build_blocking()
        .unwrap()
}

/// The next event, or a failure where none comes.
fn next(monitor: &Monitor) -> Event {
    let event = monitor.wait_next_timeout(TIMEOUT);
    event.expect("an event within the time limit")
}

fn text(socket: &Socket, option: c_int) -> String {
    let answer = socket.get(option, 1_000).unwrap();
    String::from_utf8(answer[..answer.len() - 1].to_vec()).unwrap()
}

fn int(socket: &Socket, option: c_int) -> c_int {
    c_int::from_ne_bytes(socket.get(option, 4).unwrap()[..].try_into().unwrap())
}

fn mechanism(socket: &Socket) -> c_int {
    int(socket, number::MECHANISM)
}

/// Binds, and gives the endpoint with its port.
fn bound(socket: &Socket, endpoint: &str) -> String {
    socket.bind(endpoint).unwrap();
    text(socket, number::LAST_ENDPOINT).replace("0.0.0.0", "127.0.0.1")
}

/// Whether the handshake of a native client fails.
fn is_refused(endpoint: &str, security: impl Into<Security>) -> bool {
    let client = native(SocketType::Push, security);
    let monitor = client.monitor();
    client.connect(endpoint).unwrap();
    loop {
        match next(&monitor) {
            Event::Failed(_) => return true,
            Event::Ready { .. } => return false,
            _ => {}
        }
    }
}

/// One message from the native socket to that of libzmq.
fn arrives(from: &Native, to: &Socket) {
    from.send("payload").unwrap();
    assert_eq!(to.receive(0).unwrap().as_bytes(), b"payload");
}

/// One message between two sockets of libzmq.
fn passes(from: &Socket, to: &Socket) {
    from.send(&mut Frames::single(&b"payload"[..]), 0).unwrap();
    assert_eq!(to.receive(0).unwrap().as_bytes(), b"payload");
}

/// One message the other way.
fn leaves(from: &Socket, to: &Native) -> sealwire::Message {
    from.send(&mut Frames::single(&b"payload"[..]), 0).unwrap();
    to.recv().unwrap()
}
