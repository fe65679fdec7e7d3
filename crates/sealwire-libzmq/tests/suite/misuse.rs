//! What ends, hangs or silences a process with libzmq does not here: programs in C that do such things.
//!
//! Each is one of `misuse/`. It ends itself where it hangs, and says where it found a fault.

use crate::support::Folder;

const CHECK: &str = include_str!("misuse/check.h");

/// Compiles a program and runs it to its end.
fn run(source: &str, libraries: &[&str]) {
    let folder = Folder::new();
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
    let done = folder.command("program").output().unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{}: {errors}", done.status);
}

#[test]
fn a_process_without_descriptors_is_told_so_and_goes_on_when_there_are_some() {
    run(include_str!("misuse/descriptors.c"), &["-lzmq"]);
}

#[test]
fn a_child_of_a_fork_leaves_its_parents_sockets_alone_and_begins_anew() {
    run(include_str!("misuse/fork.c"), &["-lzmq"]);
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
