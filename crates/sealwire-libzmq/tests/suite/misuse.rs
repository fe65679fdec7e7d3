//! What ends, hangs or silences a process with libzmq does not here: programs in C that do such things.
//!
//! Each is one of `misuse/`. It ends itself where it hangs, and says where it found a fault.

use std::fs;
use std::path::PathBuf;

use sealwire::{Generate as _, KeyPair, keys};

use crate::support::Folder;

const CHECK: &str = include_str!("misuse/check.h");

/// Compiles a program and runs it to its end.
fn run(source: &str, libraries: &[&str]) {
    run_in(&Folder::new(), source, libraries, &[]);
}

/// The same in a folder, with these variables.
fn run_in(folder: &Folder, source: &str, libraries: &[&str], variables: &[(&str, PathBuf)]) {
    folder.write("check.h", CHECK);
    folder.write("program.c", source);
    let arguments = [
        "-std=c11",
        "-D_GNU_SOURCE",
        "-pthread",
        "-o",
        "program",
        "program.c",
    ];
    folder.compile(&[&arguments, libraries].concat());
    let mut command = folder.command("program");
    let done = command.envs(variables.iter().cloned()).output().unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{}: {errors}", done.status);
}

#[test]
fn a_process_without_descriptors_is_told_so_and_goes_on_when_there_are_some() {
    run(include_str!("misuse/descriptors.c"), &["-lzmq"]);
}

#[test]
fn rules_that_could_not_be_read_for_want_of_descriptors_are_read_with_the_next_context() {
    let folder = Folder::new();
    fs::create_dir(folder.path("rules.d")).unwrap();
    for name in ["server", "old", "client"] {
        let path = folder.path("rules.d").join(name);
        keys::write_key_pair(path, &KeyPair::generate()).unwrap();
    }
    let rules = folder.write(
        "rules.d/rules.conf",
        "version = 1\n\
         [[rule]]\nbind = \"tcp://127.0.0.1:*\"\nmechanism = \"blake3\"\nallow = \"client.pub\"\n\
         secret_key_file = \"server.key\"\nadditional_secret_key_file = \"old.key\"\n\
         [[rule]]\nconnect = \"tcp://127.0.0.1:*\"\nmechanism = \"blake3\"\n\
         server_key_file = \"server.pub\"\nsecret_key_file = \"client.key\"\n",
    );
    run_in(
        &folder,
        include_str!("misuse/unread.c"),
        &["-lzmq", "-ldl"],
        &[("SEALWIRE_CONFIG", rules)],
    );
}

#[test]
fn a_child_of_a_fork_leaves_its_parents_sockets_alone_and_begins_anew() {
    run(include_str!("misuse/fork.c"), &["-lzmq"]);
}

#[test]
fn a_log_changes_nothing_for_forks_strangers_and_want_of_descriptors() {
    for source in [
        include_str!("misuse/fork.c"),
        include_str!("misuse/strangers.c"),
        include_str!("misuse/descriptors.c"),
    ] {
        let variables = [("SEALWIRE_LOG", "debug".into())];
        run_in(&Folder::new(), source, &["-lzmq"], &variables);
    }
}

#[test]
fn signals_end_each_call_that_waits_and_no_message() {
    run(include_str!("misuse/signals.c"), &["-lzmq"]);
}

#[test]
fn the_end_of_a_context_ends_each_call_and_what_is_closed_is_told() {
    run(include_str!("misuse/ending.c"), &["-lzmq"]);
}

#[test]
fn threads_that_share_a_socket_corrupt_no_message() {
    run(include_str!("misuse/threads.c"), &["-lzmq"]);
}

#[test]
fn a_request_whose_server_goes_waits_and_a_loop_that_polls_has_its_timeout() {
    run(include_str!("misuse/unanswered.c"), &["-lzmq"]);
}

#[test]
fn a_loop_that_forgets_to_drain_its_socket_goes_on() {
    run(include_str!("misuse/undrained.c"), &["-lzmq"]);
}

#[test]
fn the_library_stays_when_it_is_given_up() {
    run(include_str!("misuse/reload.c"), &["-ldl"]);
}

#[test]
fn strangers_end_nothing_but_their_own_connections() {
    run(include_str!("misuse/strangers.c"), &["-lzmq"]);
}

#[test]
fn a_failed_handshake_says_why() {
    run(include_str!("misuse/failure.c"), &["-lzmq"]);
}
