//! High-water marks, linger, heartbeats and the like: that each does what its help says.

use std::time::Duration;

use sealwire::blocking::Socket;
use sealwire::{Error, SocketType};

use crate::support::{run, start};

const ANY: &str = "tcp://127.0.0.1:0";

/// An endpoint where nobody listens.
fn nowhere() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let endpoint = format!("ipc://{}", folder.path().join("nowhere").display());
    (folder, endpoint)
}

/// Sends `x` a number of times to nobody.
fn push_to_nobody(times: &str, options: &[&str]) -> crate::support::Finished {
    let (_folder, endpoint) = nowhere();
    let push = [
        "push",
        "-c",
        &endpoint,
        "--wait-peers",
        "0",
        "-d",
        "x",
        "-n",
        times,
    ];
    run(&[&push[..], options].concat())
}

#[test]
fn what_is_unsent_is_waited_for_as_long_as_linger_says() {
    // Without it the end would be waited for as long as the machine runs.
    let lost = push_to_nobody("3", &["--linger", "50ms"]);
    assert!(lost.stderr.contains("3 messages"), "{}", lost.stderr);
    assert_ne!(lost.code, Some(0));
}

#[test]
fn the_high_water_mark_for_sending_holds_back_and_conflate_replaces() {
    let full = push_to_nobody("3", &["--send-hwm", "2", "-t", "100ms", "--linger", "0"]);
    assert!(!full.stderr.contains("3 messages"), "{}", full.stderr);
    assert_ne!(full.code, Some(0));
    let latest = push_to_nobody("50", &["--send-hwm", "1", "--conflate", "--linger", "0"]);
    assert!(latest.stderr.contains("1 messages"), "{}", latest.stderr);
}

/// A program that cannot print takes no more than its high-water mark, and what the system holds.
#[cfg(unix)]
#[test]
fn the_high_water_mark_for_receiving_holds_the_sender_back() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    const MESSAGES: usize = 400;
    let mut pull = Command::new(env!("CARGO_BIN_EXE_sealwire"))
        .args(["pull", "-b", ANY, "--recv-hwm", "1"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut line = String::new();
    let said = pull.stderr.take().expect("a pipe");
    BufReader::new(said).read_line(&mut line).expect("a line");
    let endpoint = line.trim_end().rsplit(' ').next().expect("an endpoint");
    let push = Socket::builder(SocketType::Push)
        .send_high_water_mark(1)
        .send_timeout(Duration::from_secs(2))
        .linger(Duration::ZERO)
        .build_blocking()
        .expect("a socket");
    push.connect(endpoint).expect("an endpoint");
    push.wait_connected(1).expect("it listens");
    let message = vec![b'x'; 200_000];
    let sent = (0..MESSAGES).try_for_each(|_| push.send(message.clone()));
    let stopped = sent.map_err(Error::from).expect_err("nobody reads");
    pull.kill().expect("it runs");
    pull.wait().expect("a child");
    assert!(matches!(stopped, Error::TimedOut { .. }), "{stopped}");
}

#[cfg(unix)]
#[test]
fn a_peer_that_is_frozen_is_given_up_after_some_heartbeats() {
    use std::process::Command;

    let mut pull = start(&["pull", "-b", ANY, "--heartbeat", "50ms", "-v"]);
    let push = crate::support::start_interactive(&["push", "-c", &pull.endpoint()]);
    pull.await_line("ready");
    let stop = Command::new("kill")
        .args(["-STOP", &push.id().to_string()])
        .status();
    assert!(stop.expect("kill").success());
    pull.await_line("heartbeat");
    pull.interrupted().expect_code(0);
}

#[test]
fn waits_before_connecting_again_are_as_long_as_they_are_set() {
    let (_folder, endpoint) = nowhere();
    for (options, longest) in [
        (&["--reconnect-interval", "8ms"][..], 8),
        (&["--reconnect-max", "4ms"], 4),
    ] {
        let pull = ["pull", "-c", &endpoint, "--json", "-v"];
        let mut pull = start(&[&pull[..], options].concat());
        let line = pull.await_line("retrying");
        let event: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        // Each wait is shortened by up to a half.
        let delay = event["delay_ms"].as_u64().expect("a number");
        assert!((longest / 2 - 1..=longest).contains(&delay), "{line}");
    }
}
