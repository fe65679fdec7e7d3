//! Readers that stall: of what the program prints, and of what it sends.

use std::io::{ErrorKind, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::system::PROGRAM;
use crate::support::{TIMEOUT, run};

/// Somewhere to write to that takes nothing any more, and the end that keeps it open.
fn full() -> (UnixStream, OwnedFd) {
    let (reader, mut writer) = UnixStream::pair().expect("a pair");
    writer.set_nonblocking(true).expect("a socket");
    loop {
        match writer.write(&[b'.'; 1_000]) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    writer.set_nonblocking(false).expect("a socket");
    (reader, writer.into())
}

/// A server under way, ended when dropped.
struct Server(
    Child,
    #[expect(dead_code, reason = "keeps it open")] UnixStream,
);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program with a standard output or error that nobody reads.
fn unread(output: bool, arguments: &[&str]) -> Server {
    let (reader, writer) = full();
    let mut command = Command::new(PROGRAM);
    command.args(arguments).stdin(Stdio::null());
    if output {
        command.stdout(writer).stderr(Stdio::null());
    } else {
        command.stdout(Stdio::null()).stderr(writer);
    }
    Server(command.spawn().expect("it starts"), reader)
}

fn endpoint(folder: &tempfile::TempDir) -> String {
    format!("ipc://{}", folder.path().join("socket").display())
}

/// The I/O thread prints nothing itself: reports that nobody reads hold up reports, and no messages.
#[test]
fn reports_that_nobody_reads_hold_up_no_messages() {
    let folder = tempfile::tempdir().expect("a folder");
    let endpoint = endpoint(&folder);
    let _server = unread(false, &["rep", "-b", &endpoint, "--echo", "--verbose"]);
    for _ in 0..20 {
        let req = run(&["req", "-c", &endpoint, "-d", "hello", "-n", "3"]);
        assert_eq!(req.expect_code(0).text(), "hello\nhello\nhello\n");
    }
}

#[test]
fn reports_that_nobody_reads_hold_up_no_calls() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = endpoint(&folder);
    let _server = unread(false, &["rpc", "serve", "-b", &at, "--exec", "cat"]);
    // It does not say when it listens.
    let deadline = Instant::now() + TIMEOUT;
    while !folder.path().join("socket").exists() {
        assert!(Instant::now() < deadline, "it listens");
        std::thread::yield_now();
    }
    for _ in 0..5 {
        let call = run(&["rpc", "call", "-c", &at, "-d", "hello"]);
        assert_eq!(call.expect_code(0).text(), "hello");
    }
}

/// Messages that nobody takes off standard output wait, and their senders in the end; what was read
/// before the output was full is answered, and a new sender is let in.
#[test]
fn output_that_nobody_reads_holds_up_senders_and_no_handshakes() {
    let folder = tempfile::tempdir().expect("a folder");
    let endpoint = endpoint(&folder);
    let _server = unread(true, &["pull", "-b", &endpoint]);
    let body = "x".repeat(20_000);
    let flood = run(&[
        "push", "-c", &endpoint, "-d", &body, "-n", "20000", "-t", "500ms",
    ]);
    let flood = flood.expect_end(3, "");
    assert!(flood.stderr.contains("500ms"), "{}", flood.stderr);
    // The queue of another peer is its own.
    run(&["push", "-c", &endpoint, "-d", "hello"]).expect_code(0);
}
