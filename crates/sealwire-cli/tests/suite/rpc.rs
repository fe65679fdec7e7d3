//! `sealwire rpc`: a server, a call, and the exit codes.

use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
#[cfg(unix)]
use std::{
    fs::File,
    io::{self, Read as _},
    net::Shutdown,
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
    sync::mpsc::{self, Receiver},
    thread,
};

#[cfg(unix)]
use crate::support::start_with_input;
use crate::support::{self, eventually, run, start};

/// The exit code of a call without an answer in time.
const TIMED_OUT: i32 = 3;
/// That of one that nobody was there for.
const UNREACHABLE: i32 = 5;
/// That of a message that was not sent in time.
#[cfg(unix)]
const LOST: i32 = 6;

/// A server that ends with the test.
struct Serving {
    child: Child,
    endpoint: String,
}

impl Serving {
    fn start(arguments: &[&str]) -> Self {
        Self::start_with(&[], arguments)
    }

    fn start_with(options: &[&str], arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sealwire"))
            .args(["rpc", "serve", "-b", "tcp://127.0.0.1:0"])
            .args(options)
            .arg("--exec")
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        let endpoint = line.strip_prefix("listening on ").unwrap().to_owned();
        Serving { child, endpoint }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(unix)]
#[test]
fn a_call_is_the_input_of_a_program_and_its_output_the_answer() {
    let server = Serving::start(&["tr", "--", "a-z", "A-Z"]);
    let answer = run(&["rpc", "call", "-c", &server.endpoint, "-d", "hello"]).expect_code(0);
    assert_eq!(answer.text(), "HELLO");
}

#[cfg(unix)]
#[test]
fn a_program_that_fails_is_an_error_with_what_it_said() {
    let server = Serving::start(&["sh", "--", "-c", "echo oh no >&2; exit 3"]);
    run(&["rpc", "call", "-c", &server.endpoint, "-d", ""]).expect_code(1);
}

#[cfg(unix)]
#[test]
fn a_program_whose_caller_has_gone_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let began = folder.path().join("began");
    let script = format!(
        "echo $$ > {0}.new; mv {0}.new {0}; exec sleep 1000",
        began.display()
    );
    let server = Serving::start(&["sh", "--", "-c", &script]);
    let caller = start(&["rpc", "call", "-c", &server.endpoint, "-d", "", "-t", "1h"]);
    eventually("the program begins", || began.exists());
    drop(caller);
    let pid = std::fs::read_to_string(began).unwrap();
    eventually("the program is ended", || {
        let asked = Command::new("kill").args(["-0", pid.trim()]).output();
        !asked.unwrap().status.success()
    });
}

/// A script that leaves a child, which has the pipes of the script and lives for long.
#[cfg(unix)]
struct Leaving {
    script: String,
    told: Receiver<()>,
    _folder: tempfile::TempDir,
}

#[cfg(unix)]
impl Leaving {
    fn and_then(last: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        let made = Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        let script = format!(
            "exec 3>{}; sleep 1000 & echo here >&3; {last}",
            fifo.display()
        );
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            let mut fifo = BufReader::new(File::open(fifo).unwrap());
            fifo.read_line(&mut String::new()).unwrap();
            tell.send(()).unwrap();
            // Both have it open, and end that way alone.
            let _ = fifo.read_to_end(&mut Vec::new());
            tell.send(()).unwrap();
        });
        Leaving {
            script,
            told,
            _folder: folder,
        }
    }

    /// Waits until the child is there, then until nobody is left.
    fn await_next(&self) {
        self.told
            .recv_timeout(support::TIMEOUT)
            .expect("it is told");
    }
}

#[cfg(unix)]
#[test]
fn the_children_of_a_program_that_is_ended_do_not_keep_its_place() {
    // The program waits for its child, or has ended before.
    for last in ["wait", "exit"] {
        let leaving = Leaving::and_then(last);
        let script = format!("read word; [ $word = second ] && exit; {}", leaving.script);
        let server = Serving::start_with(&["--concurrency", "1"], &["sh", "--", "-c", &script]);
        let call = ["rpc", "call", "-c", &server.endpoint, "-t", "1h", "-d"];
        let first = start(&[&call[..], &["first\n"]].concat());
        leaving.await_next();
        drop(first);
        run(&[&call[..], &["second\n"]].concat()).expect_code(0);
        leaving.await_next();
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_server_leaves_no_program() {
    let leaving = Leaving::and_then("wait");
    let serve = ["rpc", "serve", "-b", "tcp://127.0.0.1:0", "--grace", "0s"];
    let program = ["--exec", "sh", "--", "-c", &leaving.script];
    let mut server = start(&[&serve[..], &program].concat());
    let endpoint = server.endpoint();
    let _caller = start(&["rpc", "call", "-c", &endpoint, "-d", "", "-t", "1h"]);
    leaving.await_next();
    let stopped = server.interrupted().expect_code(7);
    assert!(
        stopped.stderr.contains("1 call not finished"),
        "{stopped:?}"
    );
    leaving.await_next();
}

#[cfg(unix)]
#[test]
fn a_call_without_an_answer_in_time_has_an_exit_code_of_its_own() {
    let server = Serving::start(&["sleep", "--", "1000"]);
    run(&[
        "rpc",
        "call",
        "-c",
        &server.endpoint,
        "-d",
        "",
        "-t",
        "100ms",
    ])
    .expect_code(TIMED_OUT);
}

/// A port where nobody listens, and nobody else can while the value beside it lives.
fn nobody() -> (String, impl Sized) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // The port of a connection is taken, and not listened on.
    let taken = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let endpoint = format!("tcp://{}", taken.local_addr().unwrap());
    (endpoint, (listener, taken))
}

#[test]
fn nobody_there_has_an_exit_code_of_its_own() {
    let (endpoint, _taken) = nobody();
    // The first attempt has this time to be refused.
    let call = ["rpc", "call", "-c", &endpoint, "-d", "hello", "-t", "3s"];
    let failed = run(&call).expect_code(UNREACHABLE);
    assert!(failed.stderr.contains("refused"), "{}", failed.stderr);
}

/// A server that is started late, or again, is waited for.
#[cfg(unix)]
#[test]
fn a_call_connects_again_until_its_time_is_over() {
    for one_way in [&[][..], &["--one-way"]] {
        let folder = tempfile::tempdir().unwrap();
        let endpoint = format!("ipc://{}", folder.path().join("socket").display());
        let call = ["rpc", "call", "-c", &endpoint, "-d", "hello", "-t", "1h"];
        let mut caller = start(&[&call[..], one_way].concat());
        caller.await_line("trying again");
        let mut server = start(&["rpc", "serve", "-b", &endpoint, "--exec", "cat"]);
        server.endpoint();
        let answer = if one_way.is_empty() { "hello" } else { "" };
        assert_eq!(caller.finish().expect_code(0).text(), answer);
    }
}

/// A server behind somebody who hands on the handshake and little more, and then leaves or stays.
#[cfg(unix)]
fn behind_a_dam(server: &str, dam: &Path, leaves: bool) -> String {
    /// More than the handshake and the greeting, and less than the message.
    const HANDED_ON: u64 = 64 << 10;
    let listener = UnixListener::bind(dam).unwrap();
    let server = server.strip_prefix("ipc://").unwrap().to_owned();
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let server = UnixStream::connect(&server).unwrap();
            let (mut answers, mut to_client) =
                (server.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || io::copy(&mut answers, &mut to_client));
            thread::spawn(move || {
                let _ = io::copy(&mut (&client).take(HANDED_ON), &mut &server);
                if leaves {
                    let _ = client.shutdown(Shutdown::Both);
                }
                // Open until the test ends.
                std::mem::forget((client, server));
            });
        }
    });
    format!("ipc://{}", dam.display())
}

/// Time is over, or the server gone: it was taken for sent.
#[cfg(unix)]
#[test]
fn a_message_that_the_server_does_not_read_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let endpoint = format!("ipc://{}", path("server").display());
    let mut server = start(&["rpc", "serve", "-b", &endpoint, "--exec", "cat"]);
    server.endpoint();
    let message = "x".repeat(4 << 20);
    let call = |server: &str, limit: &str| {
        let call = ["rpc", "call", "-c", server, "--one-way", "-t", limit];
        start_with_input(&call, message.as_bytes()).finish()
    };
    call(&endpoint, "1h").expect_code(0);

    let leaves = behind_a_dam(&endpoint, &path("leaves"), true);
    let ended = call(&leaves, "1h").expect_code(LOST);
    let said = "left before it had read the message of 4194304 bytes";
    assert!(ended.stderr.contains(said), "{ended:?}");

    let stays = behind_a_dam(&endpoint, &path("stays"), false);
    // Where the machine stalls, the time may be over before there is a connection.
    let said = "did not read the message of 4194304 bytes within --timeout";
    let is_lost = ["1s", "5s", "60s"].into_iter().any(|limit| {
        let ended = call(&stays, limit);
        assert_ne!(ended.code, Some(0), "{ended:?}");
        ended.code == Some(LOST) && ended.stderr.contains(said)
    });
    assert!(is_lost, "it has never come so far");
}

#[cfg(unix)]
#[test]
fn a_server_that_refuses_has_the_exit_code_of_the_help() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for name in ["server", "client", "stranger"] {
        run(&["keygen", "--out", &path(name)]).expect_code(0);
    }
    let key = path("server.key");
    let server = Serving::start_with(
        &[
            "--server",
            "--secret-key-file",
            &key,
            "--allow",
            &path("client.pub"),
        ],
        &["cat"],
    );
    let call = |key: &str, server_key: &str, limit: &str| {
        let (key, server_key) = (path(key), path(server_key));
        let security = ["--server-key", &server_key, "--secret-key-file", &key];
        let call = ["rpc", "call", "-c", &server.endpoint, "-d", "hello"];
        run(&[&call[..], &security, &["-t", limit]].concat())
    };
    let answered = call("client.key", "server.pub", "1h");
    assert_eq!(answered.expect_code(0).text(), "hello");
    // Neither a client that is not let in nor a server with another key is unreachable.
    call("stranger.key", "server.pub", "1h").expect_code(4);
    // A client with the wrong key of a server tries again: the first attempt has this time.
    call("client.key", "stranger.pub", "3s").expect_code(4);
}

#[test]
fn the_benchmark_measures_calls_and_messages_between_two_processes() {
    let output = run(&["rpc", "bench", "--json", "--seconds", "50ms"]).expect_code(0);
    let records: Vec<serde_json::Value> = output
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let measured: Vec<_> = records
        .iter()
        .map(|record| (record["what"].as_str().unwrap(), &record["in_flight"]))
        .collect();
    let expected = [
        ("bare TCP", &1.into()),
        ("calls", &1.into()),
        ("calls", &64.into()),
        ("calls", &1_024.into()),
        ("one-way", &serde_json::Value::Null),
    ];
    assert_eq!(measured, expected);
    for record in records {
        assert!(record["per_second"].as_f64().unwrap() > 0.0, "{record}");
    }
}

/// An interrupt may come once the file is there, even while its first line waits for a reader.
#[cfg(unix)]
#[test]
fn an_interrupt_as_soon_as_it_listens_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let endpoint = format!("ipc://{}", path.display());
    let server = support::Unread::start(&["rpc", "serve", "-b", &endpoint, "--exec", "cat"]);
    eventually("it listens", || path.exists());
    assert_eq!(server.interrupted(), Some(0));
    let left: Vec<_> = folder.path().read_dir().unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
