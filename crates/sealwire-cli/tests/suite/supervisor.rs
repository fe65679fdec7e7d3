//! What a service manager hears: `sd_notify`, with a datagram socket as systemd has it.

use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::time::Instant;

use tempfile::TempDir;

use crate::stopping::unread_input;
use crate::support::{Running, TIMEOUT, eventually, run, start_command, start_interactive};

const ANY: &str = "tcp://127.0.0.1:0";

/// The socket of a service manager.
struct Supervisor {
    socket: UnixDatagram,
    path: String,
    folder: TempDir,
}

impl Supervisor {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("notify").display().to_string();
        let socket = UnixDatagram::bind(&path).expect("a socket");
        socket.set_read_timeout(Some(TIMEOUT)).expect("a socket");
        Supervisor {
            socket,
            path,
            folder,
        }
    }

    /// Starts the program as a service; with a watchdog of this time in microseconds.
    fn start(&self, arguments: &[&str], watchdog: Option<u32>) -> Running {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealwire"));
        command.args(arguments).env("NOTIFY_SOCKET", &self.path);
        if let Some(time) = watchdog {
            command.env("WATCHDOG_USEC", time.to_string());
        }
        start_command(&mut command)
    }

    /// The next message, a variable a line.
    fn hear(&self) -> String {
        let mut buffer = [0; 4_096];
        let size = self.socket.recv(&mut buffer).expect("a message in time");
        String::from_utf8(buffer[..size].to_vec()).expect("text")
    }

    /// The next message with this line; those before it.
    fn hear_until(&self, line: &str) -> Vec<String> {
        let deadline = Instant::now() + TIMEOUT;
        let mut heard = Vec::new();
        while Instant::now() < deadline {
            let message = self.hear();
            if message.lines().any(|other| other == line) {
                heard.push(message);
                return heard;
            }
            heard.push(message);
        }
        panic!("no {line} in {heard:?}");
    }
}

#[test]
fn each_command_is_ready_once_it_listens_and_stops_when_told() {
    let supervisor = Supervisor::new();
    let stem = supervisor.folder.path().join("key").display().to_string();
    run(&["newplex", "keygen", "--out", &stem]).expect_code(0);
    let (secret, public) = (format!("{stem}.key"), format!("{stem}.pub"));
    let proxy = ["proxy", "--frontend-type", "xsub", "--frontend-bind", ANY];
    let proxy = [
        &proxy[..],
        &["--backend-type", "xpub", "--backend-bind", ANY],
    ]
    .concat();
    let tunnel = [
        "tunnel",
        "listen",
        "--bind",
        ANY,
        "--to",
        "tcp://127.0.0.1:9",
    ];
    let keys = ["--secret-key-file", &secret, "--allow", &public];
    let tunnel = [&tunnel[..], &keys].concat();
    let commands: [&[&str]; 5] = [
        &["pull", "-b", ANY],
        &["rpc", "serve", "-b", ANY, "--exec", "cat"],
        &["work", "serve", "-b", ANY],
        &proxy,
        &tunnel,
    ];
    for command in commands {
        let mut running = supervisor.start(command, None);
        let endpoint = running.endpoint();
        let ready = supervisor.hear();
        assert!(ready.lines().any(|line| line == "READY=1"), "{ready}");
        let status = ready.lines().find(|line| line.starts_with("STATUS="));
        assert!(status.expect("a status").contains(&endpoint), "{ready}");
        running.terminate();
        let stopping = supervisor.hear();
        assert!(
            stopping.lines().any(|line| line == "STOPPING=1"),
            "{stopping}"
        );
        running.finish().expect_code(0);
    }
}

#[test]
fn reading_again_is_told_to_the_supervisor() {
    let supervisor = Supervisor::new();
    let mut pull = supervisor.start(&["pull", "-b", ANY], None);
    supervisor.hear_until("READY=1");
    pull.signal("-HUP");
    let reloading = supervisor.hear_until("RELOADING=1");
    let time = reloading.last().and_then(|message| {
        let line = message
            .lines()
            .find(|line| line.starts_with("MONOTONIC_USEC="))?;
        line.split('=').nth(1)?.parse::<u64>().ok()
    });
    assert!(time.is_some_and(|time| time > 0), "{reloading:?}");
    supervisor.hear_until("READY=1");
    pull.await_line("were read again");
    pull.terminate();
    pull.finish().expect_code(0);
}

#[test]
fn a_client_is_ready_once_a_peer_is_there() {
    let supervisor = Supervisor::new();
    let endpoint = format!("ipc://{}", supervisor.folder.path().join("later").display());
    let pairs: [[&[&str]; 2]; 2] = [
        [&["pull"], &["push"]],
        [&["work", "take", "--exec", "cat"], &["work", "serve"]],
    ];
    for [client, server] in pairs {
        let client = supervisor.start(&[client, &["-c", &endpoint]].concat(), None);
        let waiting = supervisor.hear();
        assert!(waiting.contains("STATUS=connecting"), "{waiting}");
        assert!(!waiting.contains("READY"), "{waiting}");
        let server = start_interactive(&[server, &["-b", &endpoint]].concat());
        let ready = supervisor.hear();
        assert!(ready.lines().any(|line| line == "READY=1"), "{ready}");
        client.terminated().expect_code(0);
        let stopping = supervisor.hear();
        assert!(stopping.contains("STOPPING=1"), "{stopping}");
        drop(server);
        // One that was killed leaves it.
        std::fs::remove_file(endpoint.trim_start_matches("ipc://")).expect("a socket file");
    }
}

#[test]
fn a_watchdog_hears_of_threads_that_answer_and_of_none_that_do_not() {
    let supervisor = Supervisor::new();
    let stem = supervisor.folder.path().join("key").display().to_string();
    run(&["newplex", "keygen", "--out", &stem]).expect_code(0);
    let (secret, public) = (format!("{stem}.key"), format!("{stem}.pub"));
    let tunnel = [
        "tunnel",
        "listen",
        "--bind",
        ANY,
        "--to",
        "tcp://127.0.0.1:9",
    ];
    let tunnel = [
        &tunnel[..],
        &["--secret-key-file", &secret, "--allow", &public],
    ]
    .concat();
    for command in [&["rep", "-b", ANY, "--echo"][..], &tunnel] {
        let mut running = supervisor.start(command, Some(20_000));
        running.endpoint();
        supervisor.hear_until("READY=1");
        for _ in 0..5 {
            supervisor.hear_until("WATCHDOG=1");
        }
        running.terminate();
        running.finish().expect_code(0);
        // Nothing comes of one that has ended; what it had said is read.
        supervisor.socket.set_nonblocking(true).expect("a socket");
        while supervisor.socket.recv(&mut [0; 4_096]).is_ok() {}
        supervisor.socket.set_nonblocking(false).expect("a socket");
    }
    // Without the variable there is no watchdog.
    let mut running = supervisor.start(&["rep", "-b", ANY, "--echo"], None);
    running.endpoint();
    let heard = {
        running.terminate();
        supervisor.hear_until("STOPPING=1")
    };
    assert!(
        !heard.iter().any(|message| message.contains("WATCHDOG")),
        "{heard:?}"
    );
    running.finish().expect_code(0);
}

#[test]
fn programs_that_answer_calls_are_not_told_of_the_supervisor() {
    let supervisor = Supervisor::new();
    let script = "echo \"${NOTIFY_SOCKET-none} ${WATCHDOG_USEC-none}\"";
    let serve = [
        "rpc", "serve", "-b", ANY, "--exec", "sh", "--", "-c", script,
    ];
    let mut server = supervisor.start(&serve, Some(60_000_000));
    let call = run(&[
        "rpc",
        "call",
        "-c",
        &server.endpoint(),
        "-d",
        "",
        "-t",
        "60s",
    ]);
    assert_eq!(call.expect_code(0).text(), "none none\n");
}

#[test]
fn a_second_signal_ends_it_at_once() {
    for (second, code) in [("-TERM", 143), ("-INT", 130)] {
        let supervisor = Supervisor::new();
        // It greets nobody, so that a message waits.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let endpoint = format!("tcp://{}", silent.local_addr().expect("a port"));
        let push = [
            "push",
            "-c",
            &endpoint,
            "--wait-peers",
            "0",
            "--grace",
            "1h",
        ];
        let mut push = supervisor.start(&push, None);
        push.write("message\n");
        eventually("the input is read", || unread_input(&push) == 0);
        push.terminate();
        supervisor.hear_until("STOPPING=1");
        push.signal(second);
        push.finish().expect_code(code);
    }
}
