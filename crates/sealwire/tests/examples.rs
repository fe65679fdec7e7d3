//! Every program of `examples/` runs to its end and prints what it should.
//!
//! A binary of its own: `cargo test` builds the examples first, `cargo test --test NAME` does not.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Programs, with the lines that they print, in any order.
const EXAMPLES: &[(&str, &[&str])] = &[
    ("async_tasks", &["the answer: 5 bytes"]),
    (
        "channel",
        &["left has to the left", "right has to the right"],
    ),
    (
        "client_server",
        &[
            "the server has: count to three",
            "the client has: one",
            "the client has: two",
            "the client has: three",
        ],
    ),
    ("forwarder", &["news: it rains"]),
    (
        "pair",
        &[
            "left has one",
            "left has two",
            "right has 2 frames, 22 bytes",
        ],
    ),
    ("peer", &["ping", "pong"]),
    ("pub_sub", &["indoors: 21.5"; 3]),
    (
        "push_pull",
        &["the sum of the squares from 1 to 100 is 338350"],
    ),
    ("dgram", &["5 bytes came", "hello, program"]),
    ("radio_dish", &["weather: it rains"]),
    ("radio_dish_udp", &["weather: it rains"]),
    (
        "req_rep",
        &[
            "alice says hello",
            "the answer: 5 bytes",
            "alice says good night",
            "the answer: 10 bytes",
        ],
    ),
    (
        "router_dealer",
        &[
            "who: WHO, alice",
            "where: WHERE, alice",
            "when: WHEN, alice",
            "who: WHO, bob",
            "where: WHERE, bob",
            "when: WHEN, bob",
        ],
    ),
    ("scatter_gather", &["from the first", "from the second"]),
    ("stream", &["hello, browser"]),
    ("xpub", &["indoors: 21.5", "outdoors: -3"]),
];

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

#[test]
fn every_example_is_run() {
    let there: BTreeSet<_> = fs::read_dir(sources())
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_owned())
        .collect();
    let run = EXAMPLES.iter().map(|(name, _)| (*name).into()).collect();
    assert_eq!(there, run);
}

#[test]
fn the_examples_print_what_they_should() {
    for (name, lines) in EXAMPLES {
        let printed = output(name);
        let mut printed: Vec<_> = printed.lines().collect();
        let mut expected = lines.to_vec();
        printed.sort_unstable();
        expected.sort_unstable();
        assert_eq!(printed, expected, "{name}");
    }
}

/// What cargo made of an example, beside this test's own program.
fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap().with_file_name("examples");
    let program = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let changed = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
    let source = sources().join(format!("{name}.rs"));
    assert!(
        changed(&program) >= changed(&source),
        "{name} is older than its source: run `cargo build -p sealwire --examples` first"
    );
    program
}

/// All that an example prints.
fn output(name: &str) -> String {
    let mut child = Command::new(program(name))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Only an example that hangs takes that long.
    let deadline = Instant::now() + Duration::from_secs(120);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("{name} does not end");
        }
        thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{name}: {}", output.status);
    String::from_utf8(output.stdout).unwrap()
}
