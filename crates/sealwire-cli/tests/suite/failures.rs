//! Failures are reported, each kind with an exit code of its own.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::Instant;

use crate::support::{Keys, TIMEOUT, run, start, start_command};
use serde_json::Value;

const ANY: &str = "tcp://127.0.0.1:0";

#[test]
fn a_client_that_is_not_allowed_learns_why_and_gives_up() {
    let keys = Keys::new();
    let mut pull = keys.server(&["pull"]);
    let push = ["push", "-c", &pull.endpoint(), "-d", "x", "--timeout", "1s"];
    let refused = keys.client("mallory", &push).finish().expect_code(4);
    assert!(
        refused.stderr.contains("this key is not allowed here"),
        "{}",
        refused.stderr
    );
    let told = refused.stderr.matches("not allowed").count();
    assert_eq!(
        told, 2,
        "once when it happened, once at the end: {}",
        refused.stderr
    );
    pull.await_line("this key is not allowed here");
}

#[test]
fn a_client_without_a_key_is_a_stranger() {
    let keys = Keys::new();
    let mut rep = keys.server(&["rep", "--echo"]);
    let server = keys.path("server.pub");
    let endpoint = rep.endpoint();
    let req = [
        "req",
        "-c",
        &endpoint,
        "-d",
        "x",
        "-t",
        "1s",
        "--server-key",
        &server,
    ];
    run(&req).expect_code(4);
}

/// Peers that fail in turns, as often as they like, cause a line a second that counts the others.
#[test]
fn strangers_fill_no_log() {
    let mut pull = start(&["pull", "-b", "tcp://127.0.0.1:0"]);
    let endpoint = pull.endpoint();
    let address = endpoint.trim_start_matches("tcp://");
    // Two ways of not speaking the protocol.
    let fail = |number: usize| {
        let mut socket = TcpStream::connect(address).expect("it listens");
        let words: [&[u8]; 2] = [b"GET / HTTP/1.1\r\n\r\n", &[0xff; 64]];
        let _ = socket.write_all(words[number % 2]);
        let _ = socket.read_to_end(&mut Vec::new());
    };
    let began = Instant::now();
    let mut told = Vec::new();
    let mut failures = 0;
    while !told
        .iter()
        .any(|line: &String| line.contains("more like this"))
        || failures < 300
    {
        assert!(began.elapsed() < TIMEOUT, "{told:?}");
        fail(failures);
        failures += 1;
        told.extend(pull.lines_so_far());
    }
    pull.interrupt();
    let finished = pull.finish().expect_code(0);
    // However long it took: one line a second, of each of the causes that JSON knows, and one to begin.
    let lines = finished.stderr.lines().count() - 1;
    let seconds = began.elapsed().as_secs() as usize + 1;
    assert!(lines <= 2 * seconds, "{lines} lines in {seconds} s");
}

#[test]
fn a_wrong_server_key_is_named_as_the_likely_reason() {
    let keys = Keys::new();
    let mut pull = keys.server(&["pull"]);
    let (wrong, alice) = (keys.path("mallory.pub"), keys.path("alice.key"));
    let endpoint = pull.endpoint();
    let push = run(&[
        "push",
        "-c",
        &endpoint,
        "-d",
        "x",
        "-t",
        "1s",
        "--server-key",
        &wrong,
        "--secret-key-file",
        &alice,
    ]);
    let failed = push.expect_code(4);
    assert!(
        failed.stderr.contains("its key is probably not the one"),
        "{}",
        failed.stderr
    );
    pull.await_line("another server key");
}

#[test]
fn different_mechanisms_are_told_apart() {
    let keys = Keys::new();
    let mut pull = keys.server(&["pull"]);
    let failed = run(&["push", "-c", &pull.endpoint(), "-d", "x", "-t", "1s"]).expect_code(4);
    assert!(failed.stderr.contains("mechanism"), "{}", failed.stderr);
}

#[test]
fn nobody_there_is_unreachable_and_nothing_said_a_timeout() {
    let folder = tempfile::tempdir().expect("a folder");
    let nowhere = format!("ipc://{}", folder.path().join("nowhere").display());
    run(&["push", "-c", &nowhere, "-d", "x", "-t", "300ms"]).expect_code(5);
    run(&["pull", "-b", ANY, "-t", "300ms"]).expect_code(3);
    run(&["push", "-b", ANY, "-d", "x", "-t", "300ms"]).expect_code(3);
    run(&["pub", "-b", ANY, "-d", "x", "-t", "300ms"]).expect_code(3);
}

#[test]
fn options_that_do_not_go_together_are_wrong_usage() {
    const KEY: &str = "0000000000000000000000000000000000000001";
    for arguments in [
        &["pull"][..],
        &["pull", "-b", "nowhere"],
        &["pull", "-b", ANY, "--timeout", "soon"],
        &["pull", "-b", ANY, "--mechanism", "blake3"],
        &["pull", "-b", ANY, "--server"],
        &["pull", "-b", ANY, "--allow-anyone"],
        &[
            "pull",
            "-b",
            ANY,
            "--mechanism",
            "null",
            "--server-key",
            KEY,
        ],
        &["pull", "-b", ANY, "--server-key", "neither key nor file"],
        &["pull", "-c", "tcp://*:1"],
        &["pull", "-c", "inproc://elsewhere"],
        &["push", "-b", ANY, "--raw", "--data", "x"],
        &["bench", "latency", "--pattern", "push-pull"],
    ] {
        let failed = run(arguments).expect_code(2);
        assert!(
            failed.stderr.contains("error"),
            "{arguments:?}: {}",
            failed.stderr
        );
    }
}

/// 40 characters without an underscore: which of the two it is nobody guesses.
#[test]
fn a_path_that_reads_as_a_public_key_has_to_say_that_it_is_a_path() {
    const PATH: &str = "the-public-key-of-the-server-in-room.pub";
    let keys = Keys::new();
    fs::copy(keys.path("server.pub"), keys.path(PATH)).expect("a copy");
    let from = |server: &str| {
        let push = ["push", "-c", "tcp://127.0.0.1:9", "-d", "x"];
        let rest = ["--server-key", server, "--timeout", "100ms"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealwire"));
        command.args([&push[..], &rest].concat());
        start_command(command.current_dir(keys.path("")))
    };
    let refused = from(PATH).finish().expect_code(2).stderr;
    assert!(
        refused.contains("a public key and the path of a file"),
        "{refused}"
    );
    // Nobody is there, with the key of the file.
    from(&format!("./{PATH}")).finish().expect_code(5);
}

#[test]
fn a_secret_key_that_others_can_read_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let keys = Keys::new();
    let leaked = keys.path("server.key");
    let mode = fs::Permissions::from_mode(0o644);
    fs::set_permissions(&leaked, mode).expect("permissions");
    let pull = run(&[
        "pull",
        "-b",
        ANY,
        "--server",
        "--allow-anyone",
        "--secret-key-file",
        &leaked,
    ]);
    assert!(pull.expect_code(1).stderr.contains("chmod 600"));
}

#[test]
fn a_password_file_that_others_can_read_or_change_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("passwords");
    fs::write(&file, "alice wonderland\n").expect("a file");
    let path = file.to_str().expect("text");
    let plain = ["-t", "100ms", "--mechanism", "plain"];
    let server = ["pull", "-b", ANY, "--passwords", path];
    let client = ["push", "-c", "tcp://127.0.0.1:9", "-d", "x", "--username"];
    let client = [&client[..], &["alice", "--password-file", path]].concat();
    let hash = ["newplex", "hash-password", "--cost", "10"];
    let hash = [&hash[..], &["--password-file", path]].concat();
    let server = [&server[..], &plain].concat();
    let client = [&client[..], &plain].concat();
    for (mode, problem) in [
        (0o600, None),
        (0o400, None),
        (0o640, Some("read by others")),
        (0o604, Some("read by others")),
        (0o620, Some("changed by others")),
        (0o602, Some("changed by others")),
    ] {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(&file, mode).expect("permissions");
        for arguments in [&server, &client, &hash] {
            let ran = run(arguments);
            match problem {
                Some(text) => {
                    let refused = ran.expect_code(1);
                    assert!(refused.stderr.contains(text), "{refused:?}");
                    assert!(refused.stderr.contains("chmod 600"), "{refused:?}");
                }
                None => assert!(!ran.stderr.contains("chmod"), "{ran:?}"),
            }
        }
    }
}

#[test]
fn errors_and_events_are_json_where_asked_for() {
    let failed = run(&["pull", "-b", ANY, "-t", "200ms", "--json"]).expect_code(3);
    let records: Vec<Value> = failed
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON on each line"))
        .collect();
    assert_eq!(records[0]["event"], "listening");
    let last = records.last().expect("a record");
    assert_eq!(
        (&last["event"], &last["exit_code"]),
        (&"error".into(), &3.into())
    );
}

#[test]
fn verbose_tells_all_that_happens() {
    let mut pull = start(&["pull", "-b", ANY, "-v", "-n", "1"]);
    let endpoint = pull.endpoint();
    let push = run(&["push", "-c", &endpoint, "-d", "x", "-v", "--json"]).expect_code(0);
    pull.await_line("ready");
    pull.finish().expect_code(0);
    let ready = push
        .stderr
        .lines()
        .find(|line| line.contains("\"ready\""))
        .expect("an event");
    let ready: Value = serde_json::from_str(ready).expect("JSON");
    assert_eq!(ready["socket_type"], "PULL");
    assert_eq!(ready["mechanism"], "NULL");
}

#[test]
fn plain_text_leaves_the_machine_by_name_only_and_with_a_warning() {
    let silent = run(&["pull", "-b", "tcp://*:0", "-t", "100ms"]).expect_code(2);
    assert!(
        silent.stderr.contains("--mechanism null"),
        "{}",
        silent.stderr
    );
    for command in ["call", "serve"] {
        let rpc = match command {
            "call" => ["rpc", "call", "-c", "tcp://192.0.2.1:9", "-d", "x"],
            _ => ["rpc", "serve", "-b", "tcp://*:0", "--exec", "cat"],
        };
        let silent = run(&rpc).expect_code(2);
        assert!(
            silent.stderr.contains("--mechanism null"),
            "{}",
            silent.stderr
        );
    }
    let between = [
        "proxy",
        "--frontend-type",
        "pull",
        "--frontend-bind",
        "tcp://*:0",
        "--backend-type",
        "push",
        "--backend-bind",
        ANY,
    ];
    let silent = run(&between).expect_code(2);
    let named = "--frontend-mechanism null";
    assert!(silent.stderr.contains(named), "{}", silent.stderr);
    let open = run(&[
        "pull",
        "-b",
        "tcp://*:0",
        "--mechanism",
        "null",
        "-t",
        "100ms",
    ]);
    let open = open.expect_code(3);
    assert!(
        open.stderr
            .contains("warning: tcp://*:0 without encryption"),
        "{}",
        open.stderr
    );
    let local = run(&["pull", "-b", ANY, "-t", "100ms"]).expect_code(3);
    assert!(!local.stderr.contains("warning"), "{}", local.stderr);
}

#[test]
fn an_interrupted_program_tidies_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("socket");
    let mut pull = start(&["pull", "-b", &format!("ipc://{}", path.display())]);
    pull.endpoint();
    assert!(path.exists());
    pull.interrupt();
    let ended = pull.finish().expect_code(0);
    assert!(!ended.stderr.contains("error"), "{}", ended.stderr);
    assert!(!path.exists(), "the file of the Unix socket is gone");
}

#[test]
fn a_reader_that_leaves_ends_the_program_in_peace() {
    use std::io::Read as _;
    use std::process::{Command, Stdio};

    let mut push = start(&["push", "-b", ANY, "-d", "line", "-n", "0"]);
    let endpoint = push.endpoint();
    let mut pull = Command::new(env!("CARGO_BIN_EXE_sealwire"))
        .args(["pull", "-c", &endpoint])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut first = [0; 5];
    // The reader is dropped with this line, as `head` would leave.
    pull.stdout
        .take()
        .expect("a pipe")
        .read_exact(&mut first)
        .expect("a message");
    assert_eq!(&first, b"line\n");
    let ended = pull.wait_with_output().expect("a child");
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}
