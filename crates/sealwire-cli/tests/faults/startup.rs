//! Faults before anything works: each ends the program with a message, and none with a panic.

use crate::system::{failing, limited, run};

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
