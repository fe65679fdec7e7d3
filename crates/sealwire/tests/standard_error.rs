//! The first failed handshake of a socket goes to standard error, where the process has no log.
//!
//! Standard error and the log belong to a process, so each test starts processes: this program again, for one test and
//! with a role. There the threads that write have ended when all is written, and Linux counts threads.
#![cfg(target_os = "linux")]

#[expect(dead_code, reason = "the suite uses the rest")]
mod support;

use std::io::{self, PipeReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use std::{env, fs};

use nix::sys::signal::{SigHandler, Signal, signal};
use sealwire::auth::{AllowAnyone, AllowedKeysFile, Authenticator as _};
use sealwire::blocking::Socket;
use sealwire::limits::{MAX_LISTS_ON_STANDARD_ERROR, MAX_SOCKETS_ON_STANDARD_ERROR};
use sealwire::{
    ConnectionFailure, Event, Generate as _, KeyPair, Monitor, Security, SocketBuilder, SocketType,
};
use support::{await_event, eventually, link, options};
use tracing::subscriber::{NoSubscriber, set_global_default};

const ROLE: &str = "SEALWIRE_TEST_ROLE";
/// Long enough for anything that a child does here, in seconds.
const LIMIT: libc::c_uint = 120;
/// What a child prints at its end.
const DONE: &str = "did what it should";

/// What the children do.
#[test]
fn child() {
    let Ok(role) = env::var(ROLE) else {
        return;
    };
    // SAFETY: the default action of the signal ends a child that hangs.
    unsafe { libc::alarm(LIMIT) };
    let (pull, push) = link("tcp://127.0.0.1:0", plain_pull(), plain_push());
    let exchange = || {
        push.send("x").unwrap();
        assert_eq!(pull.recv().unwrap().as_bytes(), b"x");
    };
    // From here on all threads are there that stay.
    exchange();
    let before = threads();
    match role.as_str() {
        "again" => drop(fail(3)),
        "full" => drop(fail(1)),
        "sockets" => drop([(); MAX_SOCKETS_ON_STANDARD_ERROR + 2].map(|()| fail(1))),
        "list" => break_list(3),
        "lists" => (0..MAX_LISTS_ON_STANDARD_ERROR + 2).for_each(|_| break_list(1)),
        "list with a log" => {
            set_global_default(NoSubscriber::new()).unwrap();
            break_list(1);
        }
        "subscriber" => {
            set_global_default(NoSubscriber::new()).unwrap();
            drop(fail(3));
        }
        "silenced" => {
            sealwire::waits::silence_standard_error();
            drop(fail(3));
        }
        "absent" => absent(),
        "broken" => {
            // As in programs that are not written in Rust.
            // SAFETY: the default action runs no code of this process.
            unsafe { signal(Signal::SIGPIPE, SigHandler::SigDfl) }.unwrap();
            drop(fail(1));
            fail_here();
        }
        "closed" => {
            nix::unistd::close(2).unwrap();
            drop(fail(1));
        }
        "connection" => connection_instead(before),
        other => panic!("no role {other}"),
    }
    exchange();
    if role != "full" {
        all_is_written(before);
    }
    println!("{DONE}");
}

fn plain_pull() -> SocketBuilder {
    options(SocketType::Pull).security(Security::plain_text())
}

fn plain_push() -> SocketBuilder {
    options(SocketType::Push).security(Security::plain_text())
}

fn threads() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}

/// Each thread that writes is started before monitors have the event.
fn all_is_written(before: usize) {
    eventually("the threads that write end", || threads() == before);
}

/// A client whose handshake failed that often, for want of the right key. Its server is in the parent.
fn fail(times: usize) -> Socket {
    let client = options(SocketType::Pull)
        .security(Security::blake3_client(KeyPair::generate().public()))
        .reconnect(Duration::from_millis(1), Duration::from_millis(1))
        .linger(Duration::ZERO)
        .build_blocking()
        .unwrap();
    let monitor = client.monitor();
    client.connect(env::var(ENDPOINT).unwrap()).unwrap();
    for _ in 0..times {
        await_failure(&monitor, ConnectionFailure::is_handshake_failure);
    }
    client
}

fn await_failure(monitor: &Monitor, fits: fn(&ConnectionFailure) -> bool) {
    await_event(monitor, "a failure", |event| match event {
        Event::Failed(failure) => fits(failure).then_some(()),
        _ => None,
    });
}

/// Fails on this thread, which takes signals.
fn fail_here() {
    let pull = plain_pull().build_blocking().unwrap();
    let other = plain_pull().build_blocking().unwrap();
    let monitor = other.monitor();
    let endpoint = pull.bind("inproc://failing").unwrap();
    let _ = other.connect(endpoint);
    let Some(Event::Failed(failure)) = monitor.try_next() else {
        panic!("it did not fail here");
    };
    assert!(failure.is_handshake_failure());
}

fn absent() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let client = plain_pull().build_blocking().unwrap();
    let monitor = client.monitor();
    client.connect(format!("tcp://{address}")).unwrap();
    for _ in 0..2 {
        await_failure(&monitor, |failure| !failure.is_handshake_failure());
    }
}

/// Where a program closed standard error, its next connection may have that number.
fn connection_instead(before: usize) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut peer, _) = listener.accept().unwrap();
    // SAFETY: both descriptors stay open while they are used.
    assert_eq!(unsafe { libc::dup2(stream.as_raw_fd(), 2) }, 2);
    drop(fail(1));
    all_is_written(before);
    drop(stream);
    nix::unistd::close(2).unwrap();
    let mut read = String::new();
    peer.read_to_string(&mut read).unwrap();
    assert_eq!(read, "");
}

/// A list of keys that cannot be read any more, and is asked for that often.
fn break_list(times: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clients");
    fs::write(&path, KeyPair::generate().public().to_string()).unwrap();
    let list = AllowedKeysFile::open(&path).unwrap();
    replace(&path, "no key");
    for _ in 0..times {
        assert_eq!(list.revision(), Some(0));
    }
    assert_eq!(list.len(), 1);
}

/// As editors do it, so that the list is never half there.
fn replace(path: &Path, text: &str) {
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}

const ENDPOINT: &str = "SEALWIRE_TEST_ENDPOINT";

/// Runs a child beside a server whose key it does not know.
fn run(role: &str, standard_error: impl Into<Stdio>) -> Output {
    // Of the children alone is something expected.
    sealwire::waits::silence_standard_error();
    let server = options(SocketType::Push)
        .security(Security::blake3_server(KeyPair::generate(), AllowAnyone))
        .build_blocking()
        .unwrap();
    let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(ROLE, role)
        .env(ENDPOINT, endpoint.to_string())
        .stderr(standard_error)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    let ended = output.status.success() && said.contains(DONE);
    assert!(ended, "{role}: {}: {said}{told}", output.status);
    output
}

/// What it writes to standard error.
fn written(role: &str) -> String {
    String::from_utf8(run(role, Stdio::piped()).stderr).unwrap()
}

#[test]
fn a_socket_that_fails_again_and_again_has_one_line() {
    let written = written("again");
    assert_eq!(written.matches('\n').count(), 1, "{written}");
    let begins = "sealwire: connection failed: tcp://127.0.0.1:";
    assert!(written.starts_with(begins), "{written}");
    let cause = "its key is probably not the one configured";
    assert!(written.contains(cause), "{written}");
    assert!(
        written.ends_with(", SEALWIRE_LOG=info with libzmq's functions)\n"),
        "{written}"
    );
}

#[test]
fn many_sockets_have_few_lines() {
    let written = written("sockets");
    let lines = written.lines().count();
    assert_eq!(lines, MAX_SOCKETS_ON_STANDARD_ERROR, "{written}");
}

#[test]
fn a_list_that_cannot_be_read_again_is_told_of_once() {
    let of_lists = |role: &str| {
        let written = written(role);
        let of_list = |line: &&str| line.starts_with("sealwire: allowed keys in ");
        written.lines().filter(of_list).count()
    };
    assert_eq!(of_lists("list"), 1);
    assert_eq!(of_lists("lists"), MAX_LISTS_ON_STANDARD_ERROR);
    assert_eq!(of_lists("list with a log"), 0);
}

#[test]
fn a_program_with_a_log_of_its_own_has_no_line() {
    assert_eq!(written("subscriber"), "");
    assert_eq!(written("silenced"), "");
}

#[test]
fn a_peer_that_is_not_there_yet_has_no_line() {
    assert_eq!(written("absent"), "");
}

#[test]
fn a_broken_pipe_ends_no_process() {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    run("broken", writer);
}

#[test]
fn a_pipe_that_nobody_reads_stops_nothing() {
    let (reader, mut writer) = io::pipe().unwrap();
    fill(&mut writer);
    run("full", writer);
    assert!(holds(reader).iter().all(|&byte| byte == 0));
}

fn fill(pipe: &mut io::PipeWriter) {
    rustix::io::ioctl_fionbio(&*pipe, true).unwrap();
    for size in [4096, 1] {
        while pipe.write(&[0; 4096][..size]).is_ok() {}
    }
    rustix::io::ioctl_fionbio(&*pipe, false).unwrap();
}

fn holds(mut pipe: PipeReader) -> Vec<u8> {
    let mut all = Vec::new();
    pipe.read_to_end(&mut all).unwrap();
    all
}

#[test]
fn what_has_the_number_of_standard_error_gets_no_text() {
    run("closed", Stdio::null());
    run("connection", Stdio::null());
}
