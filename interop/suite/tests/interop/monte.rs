//! Go's monte, either side as the server.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use interop::MONTE;
use sealwire_rpc::monte::{
    MonteError, OVERHEAD, UnauthenticatedConn, UnauthenticatedServer, WireLimits,
};

/// Nothing here takes that long unless it is broken.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The largest payload that monte reads by default, in bytes.
const LARGEST: usize = 4_076;

/// A server, ended when dropped.
struct Server {
    program: Child,
    address: String,
}

impl Server {
    fn start(options: &[&str]) -> Self {
        let program = Command::new(MONTE.path())
            .arg("server")
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut program = program.unwrap();
        let mut address = String::new();
        let output = program.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut address).unwrap();
        Server {
            program,
            address: address.trim_end().to_owned(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

#[test]
fn a_client_of_ours_calls_a_server_of_monte() {
    if !MONTE.is_there() {
        return;
    }
    let server = Server::start(&[]);
    let (told, messages) = mpsc::channel();
    let conn = UnauthenticatedConn::connect(&*server.address, TIMEOUT, move |message| {
        if !message.is_request {
            told.send(message.body.to_vec()).unwrap();
        }
        message.is_request.then(|| message.body.to_vec())
    });
    let conn = conn.unwrap();
    thread::scope(|scope| {
        for thread in 0..8_u8 {
            let conn = &conn;
            scope.spawn(move || {
                for size in [1, 2, 1_000, LARGEST] {
                    for _ in 0..50 {
                        let body = vec![thread; size];
                        assert_eq!(conn.request(&body, TIMEOUT).unwrap(), body);
                    }
                }
            });
        }
    });
    // It asks in turn, while it owes an answer.
    assert_eq!(conn.request(b"ask who", TIMEOUT).unwrap(), b" who");
    // Its answer to a message is a message.
    conn.send(b"a message").unwrap();
    assert_eq!(messages.recv_timeout(TIMEOUT).unwrap(), b"a message");
    let too_large = conn.request(&vec![0; LARGEST + 1], TIMEOUT);
    assert!(matches!(too_large, Err(MonteError::Frame(_))));
    assert_eq!(conn.request(b"still", TIMEOUT).unwrap(), b"still");
}

#[test]
fn frames_are_as_large_as_the_buffer_of_monte() {
    if !MONTE.is_there() {
        return;
    }
    const FRAME: usize = 1 << 16;
    let server = Server::start(&["65536"]);
    let mut limits = WireLimits::default();
    limits.max_frame = FRAME;
    let conn = UnauthenticatedConn::builder(|_| None)
        .limits(limits)
        .connect(&*server.address)
        .unwrap();
    let mut body = vec![7; FRAME - OVERHEAD];
    assert_eq!(conn.request(&body, TIMEOUT).unwrap(), body);
    body.push(7);
    let refused = conn.request(&body, TIMEOUT);
    assert!(matches!(refused, Err(MonteError::Frame(_))));
    // monte takes a byte more for none of its frames.
    limits.max_frame = FRAME + 1;
    let conn = UnauthenticatedConn::builder(|_| None)
        .limits(limits)
        .connect(&*server.address)
        .unwrap();
    let ended = conn.request(&body, TIMEOUT);
    assert!(matches!(ended, Err(MonteError::Lost | MonteError::Io(_))));
}

#[test]
fn a_server_of_ours_is_called_by_a_client_of_monte() {
    if !MONTE.is_there() {
        return;
    }
    let (told, messages) = mpsc::channel();
    let server = UnauthenticatedServer::bind("127.0.0.1:0", move |message| {
        if !message.is_request {
            told.send(()).unwrap();
        }
        message.is_request.then(|| message.body.to_vec())
    });
    let server = server.unwrap();
    let output = Command::new(MONTE.path())
        .args(["client", &server.address().to_string()])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(told, "500 messages and 2000 answers\n", "{failed}");
    // It has up to four connections, and does not wait for what it only sends.
    for number in 0..500 {
        let message = messages.recv_timeout(TIMEOUT);
        assert!(message.is_ok(), "{number} of 500 messages");
    }
}
