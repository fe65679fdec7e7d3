//! When a process reads its rules: programs in C that change the file under way.

use sealwire::{Generate as _, KeyPair, keys};

use crate::support::{Folder, output};

/// Runs one part of `reading.c`, which says where it found a fault.
fn run(part: &str) {
    let folder = Folder::new();
    for name in ["server", "client"] {
        keys::write_key_pair(folder.path(name), &KeyPair::generate()).unwrap();
    }
    let rules = "version = 1\n\
                 [[rule]]\nbind = \"tcp://127.0.0.1:*\"\nmechanism = \"blake3\"\n\
                 secret_key_file = \"server.key\"\nallow = \"client.pub\"\n";
    folder.write("encrypted", rules);
    folder.write("check.h", include_str!("misuse/check.h"));
    folder.write("reading.c", include_str!("reading.c"));
    folder.compile(&[
        "-std=c11",
        "-D_GNU_SOURCE",
        "-pthread",
        "-o",
        "reading",
        "reading.c",
        "-lzmq",
    ]);
    let mut command = folder.command("reading");
    command
        .arg(part)
        .env("SEALWIRE_CONFIG", folder.path("rules.conf"));
    let done = output(&mut command);
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{}: {errors}", done.status);
}

#[test]
fn the_rules_are_read_once_when_a_process_makes_its_first_context() {
    run("once");
}

#[test]
fn a_child_of_a_fork_that_makes_a_context_reads_the_rules_again() {
    run("fork");
}
