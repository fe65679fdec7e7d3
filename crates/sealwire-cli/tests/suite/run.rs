//! `sealwire run`: what it checks before a program begins, and what the program is given. The library is a stand-in;
//! `sealwire-libzmq` has the tests of the real one.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::{Finished, run};

/// By this text it is known.
const LIBRARY: &str = "const char *is_ours(void) { return \"SEALWIRE_CONFIG\"; }";
const RULES: &str = "version = 1\n[[rule]]\nbind = \"tcp://*:5555\"\nmechanism = \"plain-text\"\n";
const EMPTY: &str = "int main(void) { return 0; }";

struct Scene(TempDir);

impl Scene {
    fn new() -> Self {
        let scene = Scene(tempfile::tempdir().unwrap());
        scene.compile("libzmq.so.5", LIBRARY, &["-shared", "-fPIC"]);
        scene.write("rules.conf", RULES, 0o644);
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str, mode: u32) {
        fs::write(self.path(name), text).unwrap();
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn compile(&self, output: &str, source: &str, options: &[&str]) {
        self.write("source.c", source, 0o644);
        let done = Command::new("cc")
            .current_dir(self.0.path())
            .args(["-o", output, "source.c"])
            .args(options)
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    }

    /// Runs a program under the rules.
    fn run(&self, program: &[&str]) -> Finished {
        let (rules, library) = (self.text("rules.conf"), self.text("libzmq.so.5"));
        let options = ["run", "--config", &rules, "--library", &library, "--"];
        run(&[&options[..], program].concat())
    }
}

#[track_caller]
fn expect_failure(finished: Finished, code: i32, says: &str) {
    let finished = finished.expect_code(code);
    assert!(finished.stderr.contains(says), "{}", finished.stderr);
    assert!(finished.stdout.is_empty());
}

#[test]
fn a_program_runs_with_library_and_rules_and_each_rule_is_told() {
    let scene = Scene::new();
    let script =
        "echo \"$LD_PRELOAD|$LD_LIBRARY_PATH|$SEALWIRE_CONFIG|$SEALWIRE_VERIFY|$1\"; exit 7";
    let done = scene
        .run(&["sh", "-c", script, "sh", "--json"])
        .expect_code(7);
    let parts: Vec<&str> = done.text().trim_end().split('|').collect();
    let [preload, folders, config, verify, argument] = parts[..] else {
        panic!("{parts:?}");
    };
    let first = |list: &str| list.split(':').next().unwrap().to_owned();
    assert_eq!(first(preload), scene.text("libzmq.so.5"));
    assert_eq!(Path::new(&first(folders)), scene.0.path());
    assert_eq!(config, scene.text("rules.conf"));
    assert_eq!((verify, argument), ("1", "--json"));
    let told: Vec<&str> = done.stderr.lines().collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].contains("line 2: bind tcp://*:5555: plain text"),
        "{told:?}"
    );
    assert!(
        told[1].contains("other network endpoints: refused"),
        "{told:?}"
    );
}

#[test]
fn a_script_runs_by_the_program_that_it_names() {
    let scene = Scene::new();
    for head in ["#!/bin/sh", "#! /usr/bin/env sh", "#!/usr/bin/env -S sh -e"] {
        scene.write("script", &format!("{head}\necho ran\n"), 0o755);
        assert_eq!(
            scene.run(&[&scene.text("script")]).expect_code(0).text(),
            "ran\n"
        );
    }
    scene.compile("static", EMPTY, &["-static"]);
    let head = format!("#!{}\n", scene.text("static"));
    scene.write("script", &head, 0o755);
    expect_failure(scene.run(&[&scene.text("script")]), 1, "linked statically");
    let own = scene.text("circle");
    scene.write("circle", &format!("#!{own}\n"), 0o755);
    expect_failure(scene.run(&[&own]), 1, "script of a script");
}

#[test]
fn rules_with_a_fault_end_it_before_the_program_begins() {
    let scene = Scene::new();
    let ran = scene.text("ran");
    let program = ["touch", &ran];
    for (rules, says) in [
        (
            "version = 1\n\n[[rule]]\nmechansim = 1\n",
            "rules.conf, line 4: unknown key",
        ),
        ("version = 2\n", "version 2"),
        (
            "version = 1\n[[rule]]\nbind = \"tcp://*:1\"\nmechanism = \"blake3\"\nallow = \"anyone\"\nsecret_key_file = \"gone\"\n",
            "write the path of a file that is there",
        ),
    ] {
        scene.write("rules.conf", rules, 0o644);
        expect_failure(scene.run(&program), 1, says);
    }
    fs::remove_file(scene.path("rules.conf")).unwrap();
    expect_failure(scene.run(&program), 1, "no such file");
    let library = scene.text("libzmq.so.5");
    let without = [&["run", "--library", &library, "--"], &program[..]].concat();
    expect_failure(run(&without), 2, "nothing says what to encrypt");
    assert!(!scene.path("ran").exists());
    expect_failure(run(&["run"]), 2, "PROGRAM");
}

#[test]
fn a_program_that_the_library_would_not_reach_is_not_run() {
    let scene = Scene::new();
    let text = "Operation cannot be accomplished in current state";
    let inside = format!(
        "void *zmq_ctx_new(void) {{ return \"{text}\"; }}\nint main(void) {{ return !zmq_ctx_new(); }}"
    );
    scene.compile("static", EMPTY, &["-static"]);
    scene.compile("defines", &inside.replace(text, ""), &[]);
    scene.compile("stripped", &inside, &["-s"]);
    // Another part of it calls the one that is loaded.
    let mixed = format!("int zmq_errno(void);\nint part(void) {{ return zmq_errno(); }}\n{inside}");
    let unresolved = "-Wl,--unresolved-symbols=ignore-in-object-files";
    scene.compile("mixed", &mixed, &["-s", unresolved]);
    scene.compile("rights", EMPTY, &[]);
    let mode = fs::Permissions::from_mode(0o4755);
    fs::set_permissions(scene.path("rights"), mode).unwrap();
    scene.write("text", "not a program", 0o755);
    scene.compile("good", EMPTY, &[]);
    let good = fs::read(scene.path("good")).unwrap();
    let changed = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        fs::write(scene.path(name), bytes).unwrap();
        fs::set_permissions(scene.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    // The machine in its header: SPARC, for which there is no library.
    changed("foreign", &|bytes| bytes[18..20].copy_from_slice(&[43, 0]));
    let loader = good.windows(8).position(|part| part == b"ld-linux");
    let loader = loader.expect("glibc's loader");
    changed("musl", &|bytes| {
        bytes[loader..loader + 8].copy_from_slice(b"ld-musl-")
    });
    for (program, says) in [
        ("static", "linked statically"),
        ("foreign", "for another processor"),
        ("musl", "another C library than glibc"),
        ("defines", "has a libzmq in itself"),
        ("stripped", "has a libzmq in itself"),
        ("mixed", "has a libzmq in itself"),
        ("rights", "rights of others"),
        ("text", "not a program of 64 bits"),
        ("absent", "cannot read"),
    ] {
        expect_failure(scene.run(&[&scene.text(program)]), 1, says);
    }
    expect_failure(scene.run(&["sealwire-absent"]), 1, "is not in PATH");
    // What it has of a libzmq it is given.
    scene.run(&[&scene.text("good")]).expect_code(0);
}

/// The program would refuse every endpoint.
#[test]
fn variables_beside_the_file_are_refused_before_the_program_begins() {
    let scene = Scene::new();
    let (rules, library) = (scene.text("rules.conf"), scene.text("libzmq.so.5"));
    for variable in ["SEALWIRE_ALLOW", "SEALWIRE_SECRET_KEY"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealwire"));
        command.args(["run", "--config", &rules, "--library", &library, "--"]);
        let done = command.args(["echo", "begun"]).env(variable, "anyone");
        let done = done.output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(said.contains(variable), "{said}");
        assert_eq!((done.status.code(), done.stdout.len()), (Some(1), 0));
    }
}

#[test]
fn a_library_that_is_another_or_that_the_loader_does_not_take_is_told() {
    let scene = Scene::new();
    let rules = scene.text("rules.conf");
    let with = |library: &str| {
        run(&[
            "run",
            "--config",
            &rules,
            "--library",
            library,
            "--",
            "true",
        ])
    };
    scene.compile(
        "other.so",
        "int zmq_has(void) { return 0; }",
        &["-shared", "-fPIC"],
    );
    scene.compile(
        "gone.so",
        "int gone(void) { return 0; }",
        &["-shared", "-fPIC"],
    );
    scene.compile(
        "needs.so",
        LIBRARY,
        &[
            "-shared",
            "-fPIC",
            "-Wl,--no-as-needed",
            "-L.",
            "-l:gone.so",
        ],
    );
    fs::remove_file(scene.path("gone.so")).unwrap();
    fs::copy(scene.path("libzmq.so.5"), scene.path("with space.so")).unwrap();
    let bytes = fs::read(scene.path("libzmq.so.5")).unwrap();
    fs::write(
        scene.path("cut.so"),
        [&bytes[..64], b"SEALWIRE_CONFIG"].concat(),
    )
    .unwrap();
    for (library, says) in [
        ("other.so", "is not Sealwire's libzmq.so.5"),
        ("absent.so", "cannot read"),
        ("with space.so", "has a space"),
        ("needs.so", "the loader does not take"),
        ("cut.so", "the loader does not take"),
    ] {
        expect_failure(with(&scene.text(library)), 1, says);
    }
    // Where an installation would have it, it is not.
    expect_failure(
        run(&["run", "--config", &rules, "--", "true"]),
        1,
        "give --library",
    );
}

/// Where one server is all there is.
#[test]
fn variables_alone_give_a_program_its_rules() {
    let scene = Scene::new();
    for name in ["server", "alice"] {
        run(&["keygen", "--out", &scene.text(name)]).expect_code(0);
    }
    let public = fs::read_to_string(scene.path("server.pub")).unwrap();
    let key = public.split('"').nth(1).unwrap();
    let library = scene.text("libzmq.so.5");
    let names = [
        "SEALWIRE_SERVER_KEY",
        "SEALWIRE_SECRET_KEY_FILE",
        "SEALWIRE_ALLOW",
    ];
    let run_with = |variables: &[(&str, &str)]| {
        let script = "printf '%s\\n' \"$SEALWIRE_SERVER_KEY\" \"$SEALWIRE_SECRET_KEY_FILE\" \
                      \"$SEALWIRE_ALLOW\" \"${SEALWIRE_CONFIG-unset}\" \"$SEALWIRE_VERIFY\" \
                      \"${LD_PRELOAD%%:*}\"; exit 7";
        let mut command = Command::new(env!("CARGO_BIN_EXE_sealwire"));
        command.args(["run", "--library", &library, "--", "sh", "-c", script]);
        for name in names.iter().chain(&["SEALWIRE_CONFIG"]) {
            command.env_remove(name);
        }
        command.current_dir(scene.0.path());
        let done = command.envs(variables.iter().copied()).output().unwrap();
        let [stdout, stderr] =
            [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (done.status.code(), stdout, stderr)
    };
    let client = format!("BLAKE3 client of the server {key}, ");
    // As the program sees the folder where it is.
    let folder = scene.0.path().canonicalize().unwrap();
    let list = folder.join("alice.pub");
    let list = format!("lets in the keys in {}", list.display());
    for (variables, says) in [
        (
            &[("SEALWIRE_SERVER_KEY", key)][..],
            [
                "SEALWIRE_SERVER_KEY: connect any network endpoint: ",
                &client,
                "anonymously",
            ],
        ),
        (
            &[
                ("SEALWIRE_SECRET_KEY_FILE", "server.key"),
                ("SEALWIRE_ALLOW", "alice.pub"),
            ],
            [
                "SEALWIRE_ALLOW: bind any network endpoint: ",
                "BLAKE3 server with the public key ",
                &list,
            ],
        ),
    ] {
        let (code, stdout, stderr) = run_with(variables);
        assert_eq!(code, Some(7), "{stderr}");
        // The program has the variables as they were, and no file takes their place.
        let given = |name| variables.iter().find(|(of, _)| *of == name);
        let mut expected: Vec<&str> = Vec::new();
        for name in names {
            expected.push(given(name).map_or("", |(_, value)| value));
        }
        expected.extend(["unset", "1", &library]);
        assert_eq!(stdout.lines().collect::<Vec<_>>(), expected);
        let told: Vec<&str> = stderr.lines().collect();
        assert_eq!(told.len(), 2, "{told:?}");
        for part in says {
            assert!(told[0].contains(part), "{told:?}");
        }
        assert!(
            told[1].contains("other network endpoints: refused"),
            "{told:?}"
        );
    }
    // What the program would refuse ends it before that.
    let (code, stdout, stderr) = run_with(&[("SEALWIRE_ALLOW", "alice.pub")]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(
        stderr.contains("SEALWIRE_ALLOW: a server has no key"),
        "{stderr}"
    );
}
