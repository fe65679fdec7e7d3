//! `--inspect` and `sealwire top`: what a command says of itself, to whom, and how that is drawn.

mod terminal;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use sealwire::blocking::Socket;
use sealwire::{Context, Message, Security, SocketType};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{Keys, Running, TIMEOUT, eventually, run, start, start_command};

const ANY: &str = "tcp://127.0.0.1:0";

/// A folder with the path of a socket in it.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Place {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    fn path(&self) -> String {
        let path = self.folder.path().join("inspected.sock");
        path.to_str().expect("text").to_owned()
    }
}

/// A PULL that is inspected there, and its endpoint.
fn pull(path: &str) -> (Running, String) {
    let mut pull = start(&["pull", "-b", ANY, "--inspect", path]);
    let endpoint = pull.endpoint();
    (pull, endpoint)
}

#[track_caller]
pub(crate) fn snapshot(path: &str) -> Value {
    let top = run(&["top", path, "--json", "--once", "--timeout", "60s"]).expect_code(0);
    let text = top.text();
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn a_snapshot_has_a_sockets_peers_and_what_failed() {
    let (keys, place) = (Keys::new(), Place::new());
    let path = place.path();
    let mut pull = keys.server(&["pull", "--inspect", &path]);
    let endpoint = pull.endpoint();
    let push = [
        "push",
        "-c",
        &endpoint,
        "-n",
        "0",
        "--interval",
        "60s",
        "-d",
    ];
    let _alice = keys.client("alice", &[&push[..], &["hello"]].concat());
    let _mallory = keys.client("mallory", &[&push[..], &["never"]].concat());
    let mut last = Value::Null;
    eventually("a message and a refusal", || {
        last = snapshot(&path);
        let socket = &last["sockets"][0];
        socket["traffic"]["messages_received"] == 1 && socket["failures"][0]["count"].is_u64()
    });
    assert_eq!(
        (&last["version"], &last["command"]),
        (&1.into(), &"pull".into())
    );
    assert_eq!(last["process"], pull.id());
    assert_eq!(last["sockets"].as_array().map(Vec::len), Some(1), "{last}");
    let socket = &last["sockets"][0];
    assert_eq!(
        (&socket["type"], &socket["connected"]),
        (&"PULL".into(), &1.into())
    );
    let alice = &socket["peers"][0];
    assert_eq!(alice["user_id"], "alice");
    assert_eq!(alice["traffic"]["bytes_received"], 5);
    assert!(alice["age"].as_f64().expect("a number") > 0.0);
    let failure = &socket["failures"][0];
    assert_eq!(
        (&failure["stage"], &failure["cause"]),
        (&"handshake".into(), &"refused".into())
    );
    let recent = socket["recent_failures"][0]["message"].as_str();
    assert!(recent.expect("text").contains("not allowed"), "{socket}");
    let at = &socket["endpoints"][0];
    assert_eq!(
        (&at["endpoint"], &at["role"]),
        (&endpoint.into(), &"bound".into())
    );
    assert!(at["failures"][0]["count"].as_u64() >= Some(1));
}

#[test]
fn the_file_is_its_owners_alone_and_goes_with_the_command() {
    let place = Place::new();
    let path = place.path();
    // Whatever the umask leaves to others.
    let mut pull = start_command(Command::new("sh").args([
        "-c",
        "umask 0 && exec \"$@\"",
        "sh",
        env!("CARGO_BIN_EXE_sealwire"),
        "pull",
        "-b",
        ANY,
        "--inspect",
        &path,
    ]));
    pull.endpoint();
    let file = fs::symlink_metadata(&path).expect("a file");
    assert!(file.file_type().is_socket());
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
    snapshot(&path);
    pull.terminated().expect_code(0);
    assert!(!Path::new(&path).exists());
}

#[test]
fn a_path_that_cannot_be_served_ends_the_command_before_it_listens() {
    let place = Place::new();
    let path = place.path();
    let (_first, _) = pull(&path);
    let second = run(&["pull", "-b", ANY, "--inspect", &path]).expect_code(1);
    assert!(
        second.stderr.contains("cannot serve --inspect at"),
        "{second:?}"
    );
    assert!(!second.stderr.contains("listening"), "{second:?}");
    run(&["pull", "-b", ANY, "--inspect", "@name"]).expect_code(2);
    snapshot(&path);
}

#[test]
fn what_a_killed_command_left_is_replaced() {
    let place = Place::new();
    let path = place.path();
    let (first, _) = pull(&path);
    // It is killed.
    drop(first);
    assert!(Path::new(&path).exists());
    let (second, _) = pull(&path);
    assert_eq!(snapshot(&path)["process"], second.id());
}

/// A reader that is not `top`.
fn stranger(path: &str) -> Socket {
    let socket = Socket::builder(SocketType::Req)
        .context(&Context::new().expect("a context"))
        .security(Security::plain_text())
        .send_timeout(TIMEOUT)
        .receive_timeout(TIMEOUT)
        .linger(Duration::ZERO)
        .build_blocking()
        .expect("a socket");
    socket
        .connect(&*format!("ipc://{path}"))
        .expect("an endpoint");
    socket
}

fn ask(socket: &Socket, request: Message) -> Value {
    socket.send(request).expect("it is there");
    let answer = socket.recv().expect("an answer");
    serde_json::from_slice(&answer.frames()[0]).expect("JSON")
}

#[test]
fn other_requests_are_told_what_to_ask() {
    let place = Place::new();
    let path = place.path();
    let (_pull, _) = pull(&path);
    let reader = stranger(&path);
    for request in [
        Message::from("other"),
        Message::from(""),
        ["snapshot", "again"]
            .map(sealwire::Frame::from)
            .into_iter()
            .collect(),
    ] {
        let answer = ask(&reader, request);
        assert!(
            answer["error"]
                .as_str()
                .expect("text")
                .contains("'snapshot'")
        );
        assert_eq!(answer["sockets"].as_array().map(Vec::len), Some(0));
    }
    assert_eq!(ask(&reader, "snapshot".into())["command"], "pull");
    // One that is too long ends its connection, and nothing else.
    let other = stranger(&path);
    let monitor = other.monitor();
    other.send("snapshot".repeat(100)).expect("it is there");
    eventually("turned away", || {
        let next = monitor.wait_next_timeout(TIMEOUT).expect("an event");
        let is_end = |event: &sealwire::Event| {
            matches!(
                event,
                sealwire::Event::Failed(_) | sealwire::Event::Disconnected { .. }
            )
        };
        is_end(&next)
    });
    snapshot(&path);
}

#[test]
fn readers_are_few_and_one_beyond_is_turned_away() {
    let place = Place::new();
    let path = place.path();
    let (_pull, _) = pull(&path);
    let readers: Vec<_> = (0..16).map(|_| stranger(&path)).collect();
    for reader in &readers {
        assert_eq!(ask(reader, "snapshot".into())["command"], "pull");
    }
    let top = ["top", &path, "--json", "--once", "--timeout"];
    run(&[&top[..], &["500ms"]].concat()).expect_code(5);
    drop(readers);
    snapshot(&path);
}

#[test]
fn another_user_is_turned_away_although_the_file_lets_it_in() {
    let user = Command::new("id").arg("-u").output().expect("id");
    if user.stdout.trim_ascii() != b"0" {
        eprintln!("not tried: only root can become another user");
        return;
    }
    let place = Place::new();
    let path = place.path();
    let (_pull, _) = pull(&path);
    // Where everybody reaches it.
    let program = place.folder.path().join("sealwire");
    fs::copy(env!("CARGO_BIN_EXE_sealwire"), &program).expect("a copy");
    for (of, mode) in [(place.folder.path(), 0o755), (Path::new(&path), 0o666)] {
        fs::set_permissions(of, fs::Permissions::from_mode(mode)).expect("it is ours");
    }
    let nobody = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let mut other = Command::new("setpriv");
    other.args(nobody).arg(&program);
    other.args(["top", &path, "--json", "--once", "--timeout", "500ms"]);
    let finished = start_command(&mut other).finish();
    assert_ne!(finished.code, Some(0), "{finished:?}");
    assert!(
        finished.stdout.is_empty() && finished.stderr.contains("does not answer"),
        "{finished:?}"
    );
    // It was not the program or the path that failed.
    snapshot(&path);
    let mut owner = Command::new(&program);
    owner.args(["top", &path, "--json", "--once", "--timeout", "60s"]);
    start_command(&mut owner).finish().expect_code(0);
}

#[test]
fn lines_of_json_come_until_it_ends() {
    let place = Place::new();
    let path = place.path();
    let (_pull, _) = pull(&path);
    let mut top = Command::new(env!("CARGO_BIN_EXE_sealwire"))
        .args(["top", &path, "--json", "--interval", "10ms"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let lines = BufReader::new(top.stdout.take().expect("a pipe")).lines();
    let mut ages = Vec::new();
    for line in lines.take(20) {
        let line: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
        ages.push(line["age"].as_f64().expect("a number"));
    }
    top.kill().expect("it runs");
    top.wait().expect("a child");
    assert!(ages.is_sorted(), "{ages:?}");
    assert!(ages[0] < ages[19], "{ages:?}");
}

#[test]
fn what_cannot_be_shown_says_why() {
    let place = Place::new();
    let path = place.path();
    let top = run(&["top", &path]).expect_code(2);
    assert!(top.stderr.contains("--json"), "{top:?}");
    run(&["top", &path, "--once"]).expect_code(2);
    let absent = run(&["top", &path, "--json", "--timeout", "100ms"]).expect_code(5);
    assert!(absent.stderr.contains("--inspect"), "{absent:?}");
    // Something else that answers there.
    let mut rep = start(&[
        "rep",
        "-b",
        &format!("ipc://{path}"),
        "-d",
        "{\"version\":2}",
    ]);
    rep.endpoint();
    let other = run(&["top", &path, "--json", "--timeout", "60s"]).expect_code(1);
    assert!(other.stderr.contains("version 2"), "{other:?}");
    rep.terminated().expect_code(0);
    let mut rep = start(&["rep", "-b", &format!("ipc://{path}"), "-d", "hello"]);
    rep.endpoint();
    let other = run(&["top", &path, "--json", "--timeout", "60s"]).expect_code(1);
    assert!(
        other.stderr.contains("something else than a snapshot"),
        "{other:?}"
    );
}
