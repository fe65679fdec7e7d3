//! Faults before anything works: each ends the program with a message, and none with a panic.

use std::os::unix::fs::chown;

use super::system::{failing, limited, run, start, user, with_threads};
use crate::support::run as run_program;

const ANY: &str = "tcp://127.0.0.1:0";

const LISTENING: [&[&str]; 4] = [
    &["pull", "-b", ANY, "-t", "1ms"],
    &["pair", "-b", ANY, "-t", "1ms"],
    &["rpc", "serve", "-b", ANY, "--exec", "cat"],
    &[
        "proxy",
        "--frontend-type",
        "pull",
        "--frontend-bind",
        ANY,
        "--backend-type",
        "push",
        "--backend-bind",
        ANY,
    ],
];

#[test]
fn no_descriptors_and_no_address() {
    let emfile = "Too many open files";
    for (rule, words) in [
        ("epoll_create1:error=EMFILE", emfile),
        ("eventfd2:error=ENFILE", "Too many open files in system"),
        ("socket:error=EMFILE", emfile),
        ("bind:error=EADDRINUSE", "Address already in use"),
        ("bind:error=EACCES", "Permission denied"),
        ("listen:error=EMFILE", emfile),
    ] {
        for arguments in LISTENING {
            let Some(mut command) = failing(&[rule], arguments) else {
                return;
            };
            println!("{rule}: {arguments:?}");
            run(&mut command).expect_end(1, words);
        }
    }
}

/// Refuses one thread after the other, until the program needs no more of them.
#[test]
fn no_threads() {
    for arguments in LISTENING {
        for number in 1..=3 {
            let rule = format!("clone3,clone:error=EAGAIN:when={number}");
            let Some(mut command) = failing(&[&rule], arguments) else {
                return;
            };
            println!("{rule}: {arguments:?}");
            run(&mut command).expect_end(1, "");
        }
    }
}

/// So few threads for the user as the system may leave: each command that goes on for long works, or
/// ends with an error.
#[test]
fn few_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let [stem, secret, public] =
        ["pair", "pair.key", "pair.pub"].map(|name| folder.path().join(name).display().to_string());
    run_program(&["newplex", "keygen", "--out", &stem]).expect_code(0);
    let ends = ["--bind", ANY, "--to", "tcp://127.0.0.1:9"];
    let ends = [&ends[..], &["--secret-key-file", &secret]].concat();
    let listen = [&["tunnel", "listen", "--allow", &public][..], &ends].concat();
    let connect = [&["tunnel", "connect", "--server-key", &public][..], &ends].concat();
    let rep = ["rep", "-b", ANY, "--echo"];
    let commands = [&LISTENING[2..], &[&rep[..], &listen, &connect]].concat();
    for arguments in commands {
        for count in 1..=8 {
            let Some(mut command) = with_threads(count, arguments) else {
                return;
            };
            for path in [folder.path(), secret.as_ref(), public.as_ref()] {
                chown(path, Some(user()), Some(user())).expect("the superuser");
            }
            println!("{count} threads: {arguments:?}");
            let mut running = start(&mut command);
            let line = running.line_or_end("listening on ");
            if let (Some(line), "rpc") = (&line, arguments[0]) {
                // Its program takes threads of ours and is a process: the caller is answered either way.
                let endpoint = line.rsplit(' ').next().expect("an endpoint");
                let call = run_program(&["rpc", "call", "-c", endpoint, "-d", "x", "-t", "20s"]);
                assert!(matches!(call.code, Some(0 | 1)), "{call:?}");
            }
            running.interrupt();
            let finished = running.finish();
            assert!(!finished.stderr.contains("panicked"), "{finished:?}");
            if line.is_none() || finished.code != Some(0) {
                finished.expect_end(1, "Resource temporarily unavailable");
            }
        }
    }
}

#[test]
fn a_limit_of_descriptors_that_is_too_low_is_told() {
    for limit in 3..8 {
        let limits = format!("ulimit -n {limit}");
        let finished = run(&mut limited(&limits, LISTENING[0]));
        assert!(!finished.stderr.contains("panicked"), "{finished:?}");
        // With fewest of them the system cannot even load it.
        if !matches!(finished.code, Some(3 | 127)) {
            finished.expect_end(1, "Too many open files");
        }
    }
}

/// Calls that a signal interrupts are made again.
#[test]
fn interrupted_calls() {
    let rules = [
        "getrandom:error=EINTR:when=1",
        "epoll_wait:error=EINTR:when=1+2",
    ];
    for arguments in &LISTENING[..2] {
        let Some(mut command) = failing(&rules, arguments) else {
            return;
        };
        run(&mut command).expect_end(3, "came within 1ms");
    }
}
