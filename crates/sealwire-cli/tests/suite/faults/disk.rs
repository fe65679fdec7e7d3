//! A disk that is full or broken: no half-written file stays, and the message says why.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::system::{PROGRAM, failing, in_namespaces, limited, run, start};
use crate::support::{run as run_program, start_with_input};

/// A folder with a key, something to seal, and a sealed file.
fn folder() -> (TempDir, impl Fn(&str) -> String) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().to_owned();
    let path = move |name: &str| root.join(name).to_str().expect("text").to_owned();
    run_program(&["keygen", "--symmetric", &path("key")]).expect_code(0);
    fs::write(path("text"), vec![7; 200_000]).expect("a file");
    let sealed = [
        "seal",
        "--key-file",
        &path("key"),
        &path("text"),
        "-o",
        &path("sealed"),
    ];
    run_program(&sealed).expect_code(0);
    fs::create_dir(path("out")).expect("a folder");
    (folder, path)
}

fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("text");
    entries
        .map(|entry| name(entry.expect("an entry")))
        .collect()
}

/// The commands that write files, into this folder.
fn writers(path: &impl Fn(&str) -> String, out: &str) -> Vec<Vec<String>> {
    let out = |name: &str| format!("{out}/{name}");
    [
        vec![
            "seal".to_owned(),
            "--key-file".into(),
            path("key"),
            path("text"),
            "-o".into(),
            out("sealed"),
        ],
        vec![
            "open".into(),
            "--key-file".into(),
            path("key"),
            path("sealed"),
            "-o".into(),
            out("text"),
        ],
        vec!["keygen".into(), "--out".into(), out("pair")],
        vec![
            "keygen".into(),
            "--czmq".into(),
            "--out".into(),
            out("pair"),
        ],
        vec!["keygen".into(), "--symmetric".into(), out("key")],
        vec![
            "newplex".into(),
            "keygen".into(),
            "--out".into(),
            out("pair"),
        ],
        vec![
            "newplex".into(),
            "keygen".into(),
            "--symmetric".into(),
            out("key"),
        ],
    ]
    .into()
}

#[test]
fn nothing_stays_where_writing_fails() {
    let (_folder, path) = folder();
    for (rule, words) in [
        ("fsync:error=EIO", "Input/output error"),
        ("fsync:error=ENOSPC", "No space left on device"),
        // The second file of a pair.
        ("fsync:error=ENOSPC:when=2", "No space left on device"),
        (
            "renameat2,rename,link,linkat:error=ENOSPC",
            "No space left on device",
        ),
    ] {
        for arguments in writers(&path, &path("out")) {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let Some(mut command) = failing(&[rule], &arguments) else {
                return;
            };
            println!("{rule}: {arguments:?}");
            let finished = run(&mut command);
            assert!(!finished.stderr.contains("panicked"), "{finished:?}");
            if finished.code != Some(0) {
                finished.expect_end(1, words);
                assert_eq!(names(&path("out")), [""; 0]);
            }
            for name in names(&path("out")) {
                fs::remove_file(format!("{}/{name}", path("out"))).expect("a file");
            }
        }
    }
}

/// A file system of 64 KiB that is nearly full, which nothing fits on.
#[test]
fn nothing_stays_on_a_disk_that_is_full() {
    const SCRIPT: &str = "disk=$1; shift
        mount -t tmpfs -o size=64k none \"$disk\" || exit 99
        head -c 61440 /dev/zero > \"$disk/filler\"; dd if=/dev/zero of=\"$disk/more\" bs=4096 2>/dev/null
        \"$0\" \"$@\"; code=$?
        rm \"$disk/filler\" \"$disk/more\"; ls -A \"$disk\"; exit $code";
    let (_folder, path) = folder();
    for arguments in writers(&path, &path("out")) {
        let mut all = vec![path("out")];
        all.extend(arguments);
        let Some(mut command) = in_namespaces(&["--mount"], SCRIPT, &all) else {
            return;
        };
        let finished = run(&mut command).expect_end(1, "No space left on device");
        assert_eq!(finished.text(), "", "{all:?}: nothing is left");
    }
}

/// Larger than a file may be: told instead of ended by the signal that comes with it.
#[test]
fn nothing_stays_of_files_that_may_not_be_so_large() {
    let (_folder, path) = folder();
    for arguments in writers(&path, &path("out")) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        // Nothing fits, or of what is sealed and opened a part.
        for blocks in [0, 100] {
            let finished = run(&mut limited(&format!("ulimit -f {blocks}"), &arguments));
            if blocks == 0 || ["seal", "open"].contains(&arguments[0]) {
                finished.expect_end(1, "File too large");
            } else {
                finished.expect_end(0, "");
            }
            let left: Vec<_> = names(&path("out"));
            for name in &left {
                fs::remove_file(format!("{}/{name}", path("out"))).expect("a file");
            }
            let is_whole = blocks > 0 && !["seal", "open"].contains(&arguments[0]);
            assert_eq!(left.is_empty(), !is_whole, "{arguments:?}: {left:?}");
        }
    }
    // A file that the shell opened is the shell's, and the error is told as well.
    let script = "ulimit -f 1 && exec \"$0\" seal --key-file \"$1\" < \"$2\" > \"$3\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, PROGRAM]);
    command.args([path("key"), path("text"), path("out/sealed")]);
    run(&mut command).expect_end(1, "File too large");
}

/// A program that answers calls is ended by the signal, as it is anywhere else.
#[test]
fn programs_that_answer_calls_have_the_signal() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    let script = format!(
        "exec dd if=/dev/zero of={} bs=1024 count=64",
        file.display()
    );
    let serve = [
        "rpc",
        "serve",
        "-b",
        "tcp://127.0.0.1:0",
        "--exec",
        "sh",
        "--",
        "-c",
        &script,
    ];
    let mut server = start(&mut limited("ulimit -f 1", &serve));
    let call = run_program(&["rpc", "call", "-c", &server.endpoint(), "-d", ""]);
    call.expect_end(1, "SIGXFSZ");
}

#[test]
fn standard_output_that_is_full_is_told() {
    let (_folder, path) = folder();
    let key = path("key");
    for arguments in [
        &["seal", "--key-file", &key][..],
        &["keygen"],
        &["newplex", "digest"],
        &["--help"],
        &["rpc", "serve", "--help"],
        &["--version"],
    ] {
        let full = fs::File::options()
            .write(true)
            .open("/dev/full")
            .expect("a device");
        let output = Command::new(PROGRAM)
            .args(arguments)
            .stdin(fs::File::open(path("text")).expect("a file"))
            .stdout(full)
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains("No space left on device"), "{said}");
    }
    let nobody = start_with_input(&["open", "--key-file", &key], b"").finish();
    assert!(Path::new(&key).exists() && nobody.code == Some(1));
}
