//! `sealwire work`: a distributor and workers as processes, and what becomes of tasks when one of them ends.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::stopping::unread_input;
use crate::support::{
    Finished, Keys, Running, eventually, start, start_command, start_interactive, start_with_input,
};

const ANY: &str = "tcp://127.0.0.1:0";

/// A distributor with these lines as tasks.
fn serve(options: &[&str], tasks: &str) -> (Running, String) {
    let command = [&["work", "serve", "-b", ANY], options].concat();
    let mut serving = start_with_input(&command, tasks.as_bytes());
    let endpoint = serving.endpoint();
    (serving, endpoint)
}

fn take(endpoint: &str, options: &[&str], script: &str) -> Running {
    let take = ["work", "take", "-c", endpoint];
    start(&[&take, options, &["--exec", "sh", "--", "-c", script]].concat())
}

fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}

/// The numbers at the end of a distributor with --json.
fn numbers(finished: &Finished) -> Value {
    let last = finished
        .stderr
        .lines()
        .find(|line| line.contains("\"finished\""));
    serde_json::from_str(last.expect("the numbers")).expect("JSON")
}

fn sum_of_numbered_tasks(count: u32) -> String {
    (1..=count)
        .map(|number| format!("task {number}\n"))
        .collect()
}

/// Files by which a test and the programs of a worker tell each other how far they are.
struct Signs(TempDir);

impl Signs {
    fn new() -> Self {
        Signs(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// A script that says that it has begun, with its number, and goes on once it is told.
    fn waiting(&self) -> String {
        let made = Command::new("mkfifo").arg(self.path("go on")).status();
        assert!(made.expect("mkfifo").success());
        let (began, go_on) = (self.text("began"), self.text("go on"));
        format!(
            "echo $$ > '{began}.new'; mv '{began}.new' '{began}'; read -r word < '{go_on}'; cat"
        )
    }

    fn await_beginning(&self) {
        eventually("the program begins", || self.path("began").exists());
    }

    /// Lets one program go on that waits, or is about to.
    fn go_on(&self) {
        assert!(
            fs::metadata(self.path("go on"))
                .expect("it")
                .file_type()
                .is_fifo()
        );
        fs::write(self.path("go on"), "now\n").expect("a reader");
    }

    /// Ends the program that has begun, which nobody else does once its worker was killed.
    fn end_program(&self) {
        let id = fs::read_to_string(self.path("began")).expect("its number");
        let group = format!("-{}", id.trim());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

#[test]
fn each_line_is_a_task_and_what_the_programs_say_is_printed() {
    let (serving, endpoint) = serve(&[], &sum_of_numbered_tasks(20));
    let worker = take(&endpoint, &["--concurrency", "2"], "tr a-z A-Z");
    let served = serving.finish().expect_code(0);
    let expected = sum_of_numbered_tasks(20).to_uppercase();
    assert_eq!(lines(served.text()), lines(&expected));
    assert!(
        served.stderr.contains("20 done, 0 set aside, 0 left"),
        "{served:?}"
    );
    worker.terminated().expect_code(0);
}

#[test]
fn a_worker_that_is_killed_loses_nothing_and_the_repetition_is_counted() {
    let signs = Signs::new();
    let (serving, endpoint) = serve(&["--json"], &sum_of_numbered_tasks(50));
    let doomed = take(&endpoint, &["--credit", "8"], &signs.waiting());
    signs.await_beginning();
    doomed.signal("-KILL");
    assert_eq!(doomed.finish().code, None);
    let workers = [(); 2].map(|()| take(&endpoint, &[], "cat"));
    let served = serving.finish().expect_code(0);
    signs.end_program();
    let results: Vec<Value> = (served.text().lines())
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let texts: String = (results.iter())
        .map(|record| format!("{}\n", record["result"]["text"].as_str().expect("a text")))
        .collect();
    assert_eq!(lines(&texts), lines(&sum_of_numbered_tasks(50)));
    let numbers = numbers(&served);
    assert_eq!(numbers["done"], 50, "{numbers}");
    assert_eq!(numbers["set_aside"], 0, "{numbers}");
    // With the one that it had begun, those that waited for it.
    let lost = numbers["lost"].as_u64().expect("a number");
    assert!((1..=8).contains(&lost), "{numbers}");
    assert_eq!(numbers["handed_out_again"], lost, "{numbers}");
    assert_eq!(numbers["handed_out"], 50 + lost, "{numbers}");
    for worker in workers {
        worker.terminated().expect_code(0);
    }
}

#[test]
fn what_fails_as_often_as_it_may_is_set_aside_with_its_reason() {
    let folder = Signs::new();
    let left = folder.text("left");
    let options = ["--attempts", "2", "--retry-delay", "0s", "--left", &left];
    let (serving, endpoint) = serve(&options, "good\nbad\nbetter\n");
    let script = "read -r task; [ $task = bad ] && { echo oh no >&2; exit 3; }; echo $task";
    let mut worker = take(&endpoint, &[], script);
    let line = worker.await_line("attempt 1 of task");
    assert!(line.contains("oh no"), "{line}");
    let served = serving.finish().expect_code(8);
    assert_eq!(lines(served.text()), ["better", "good"]);
    let told = "set aside after 2 attempts: bad: sh: exit status: 3: oh no";
    assert!(served.stderr.contains(told), "{served:?}");
    assert!(
        served.stderr.contains("2 done, 1 set aside, 0 left"),
        "{served:?}"
    );
    assert_eq!(read(&folder.path("left")), "bad\n");
    worker.terminated().expect_code(0);
}

#[test]
fn a_script_reads_each_outcome_as_json() {
    let (serving, endpoint) = serve(&["--attempts", "1", "--json"], "one\ntwo\n");
    let script = "read -r task; echo \"of $task\"; [ $task = one ]";
    let worker = take(&endpoint, &["--json"], script);
    let served = serving.finish().expect_code(8);
    let mut records: Vec<Value> = (served.text().lines())
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    records.sort_by_key(|record| record["outcome"].to_string());
    assert_eq!(records[0]["outcome"], "done");
    assert_eq!(records[0]["result"]["text"], "of one\n");
    assert_eq!(records[1]["outcome"], "set_aside");
    assert_eq!(records[1]["task"]["text"], "two");
    assert_eq!(records[1]["attempts"], 1);
    assert_eq!(records[1]["reason"], "sh: exit status: 1");
    assert_ne!(records[0]["number"], records[1]["number"]);
    let stopped = worker.terminated().expect_code(0);
    let failed = stopped
        .stderr
        .lines()
        .find(|line| line.contains("task_failed"));
    let failed: Value = serde_json::from_str(failed.expect("a line")).expect("JSON");
    assert_eq!(failed["number"], records[1]["number"]);
}

#[test]
fn a_worker_without_the_program_fails_and_spends_no_attempt() {
    let (serving, endpoint) = serve(&["--attempts", "1"], "one\n");
    let take_without = [
        "work",
        "take",
        "-c",
        &endpoint,
        "--exec",
        "/no/such/program",
    ];
    let failed = start(&take_without).finish().expect_code(1);
    assert!(
        failed.stderr.contains("/no/such/program: cannot start"),
        "{failed:?}"
    );
    let worker = take(&endpoint, &[], "cat");
    let served = serving.finish().expect_code(0);
    assert_eq!(served.text(), "one\n");
    worker.terminated().expect_code(0);
}

#[test]
fn a_program_that_takes_too_long_and_a_result_that_is_too_large_are_failures() {
    let (serving, endpoint) = serve(
        &["--attempts", "1", "--max-result", "40"],
        "slow\nlarge\nfits\n",
    );
    let script = "read -r task; case $task in slow) exec sleep 1000;; large) printf %041d 0;; *) echo 123;; esac";
    let worker = take(
        &endpoint,
        &["--time-limit", "5s", "--concurrency", "3"],
        script,
    );
    let served = serving.finish().expect_code(8);
    assert_eq!(served.text(), "123\n");
    assert!(
        served.stderr.contains("slow: sh: ended after --time-limit"),
        "{served:?}"
    );
    let too_large = "a result of 41 bytes exceeds the distributor's max_result (40 bytes)";
    // The reason has as many bytes as a result may have.
    assert!(
        served
            .stderr
            .contains("set aside after 1 attempt: large: a result of 41 bytes exceeds the distrib"),
        "{served:?}"
    );
    let stopped = worker.terminated().expect_code(0);
    assert!(stopped.stderr.contains(too_large), "{stopped:?}");
}

#[test]
fn tasks_that_nobody_takes_are_counted_and_written_when_it_is_told_to_stop() {
    let folder = Signs::new();
    let left = folder.text("left");
    fs::write(folder.path("left"), "before\n").expect("a file");
    let bounded = ["--max-tasks", "1"];
    for options in [&[][..], &bounded] {
        let serve_with = ["work", "serve", "-b", ANY, "--grace", "0s", "--left", &left];
        let mut serving = start_interactive(&[&serve_with, options].concat());
        serving.endpoint();
        serving.write("one\ntwo\nthree\nnot a whole li");
        // It has no other way to say that it has read them.
        eventually("it has read the tasks", || unread_input(&serving) == 0);
        let stopped = serving.terminated().expect_code(7);
        assert!(stopped.stderr.contains("3 tasks not done"), "{stopped:?}");
        assert_eq!(read(&folder.path("left")), "before\none\ntwo\nthree\n");
        fs::write(folder.path("left"), "before\n").expect("a file");
    }
}

#[test]
fn a_stopped_distributor_waits_for_what_it_has_read() {
    let (serving, endpoint) = serve(&["--grace", "1h"], "one\ntwo\n");
    serving.terminate();
    let worker = take(&endpoint, &[], "cat");
    assert_eq!(
        lines(serving.finish().expect_code(0).text()),
        ["one", "two"]
    );
    worker.terminated().expect_code(0);
}

#[test]
fn a_stopped_worker_finishes_what_it_has_begun_and_gives_the_rest_back() {
    let signs = Signs::new();
    let (serving, endpoint) = serve(&["--json"], &sum_of_numbered_tasks(6));
    let stopping = take(
        &endpoint,
        &["--credit", "6", "--grace", "1h"],
        &signs.waiting(),
    );
    signs.await_beginning();
    stopping.terminate();
    let other = take(&endpoint, &[], "cat");
    signs.go_on();
    stopping.finish().expect_code(0);
    let served = serving.finish().expect_code(0);
    let numbers = numbers(&served);
    assert_eq!(numbers["done"], 6, "{numbers}");
    assert_eq!(
        (&numbers["lost"], &numbers["failed"]),
        (&0.into(), &0.into()),
        "{numbers}"
    );
    assert_eq!(
        numbers["handed_out_again"], 0,
        "those that were given back had not begun: {numbers}"
    );
    other.terminated().expect_code(0);
}

#[test]
fn a_worker_whose_time_is_over_says_so_and_another_has_its_task() {
    let signs = Signs::new();
    let (serving, endpoint) = serve(&[], "one\n");
    let stopping = take(&endpoint, &["--grace", "0s"], &signs.waiting());
    signs.await_beginning();
    let stopped = stopping.terminated().expect_code(7);
    assert!(stopped.stderr.contains("1 task not done"), "{stopped:?}");
    let other = take(&endpoint, &[], "cat");
    assert_eq!(serving.finish().expect_code(0).text(), "one\n");
    other.terminated().expect_code(0);
}

#[test]
fn without_a_program_tasks_are_printed_and_done_once_they_are() {
    let (serving, endpoint) = serve(&[], "one\ntwo\nthree\n");
    let printed = start(&["work", "take", "-c", &endpoint, "-n", "2"]).finish();
    assert_eq!(printed.expect_code(0).text(), "one\ntwo\n");
    let printed = start(&["work", "take", "-c", &endpoint, "-n", "1", "--json"]).finish();
    let record: Value = serde_json::from_str(printed.expect_code(0).text()).expect("JSON");
    assert_eq!(record["task"]["text"], "three");
    assert_eq!(record["attempt"], 1);
    let served = serving.finish().expect_code(0);
    assert_eq!(served.text(), "", "tasks without a result");
    assert!(served.stderr.contains("3 done"), "{served:?}");
}

#[test]
fn a_wait_for_a_task_ends_with_its_reason() {
    let keys = Keys::new();
    let (key, allowed) = (keys.path("server.key"), keys.path("allowed"));
    let options = ["--server", "--secret-key-file", &key, "--allow", &allowed];
    let mut serving = start_interactive(&[&["work", "serve", "-b", ANY][..], &options].concat());
    let endpoint = serving.endpoint();
    // Where the machine stalls, the time may be over before it is refused.
    let is_refused = ["2s", "10s", "60s"].into_iter().any(|limit| {
        let take = ["work", "take", "-c", &endpoint, "-t", limit];
        let ended = keys.client("mallory", &take).finish();
        let told = ended.stderr.contains("no task came within --timeout");
        assert!(told, "{ended:?}");
        ended.code == Some(4)
    });
    assert!(is_refused, "it has never come so far");
    serving.await_line("refused");
    let idle = ["work", "take", "-c", &endpoint, "-t", "1s", "--exec", "cat"];
    let waited = keys.client("alice", &idle).finish().expect_code(3);
    assert!(
        waited.stderr.contains("no task came within --timeout"),
        "{waited:?}"
    );
}

#[test]
fn keys_say_who_may_take_tasks() {
    let keys = Keys::new();
    let (key, allowed) = (keys.path("server.key"), keys.path("allowed"));
    let options = ["--server", "--secret-key-file", &key, "--allow", &allowed];
    let (serving, endpoint) = serve(&options, "for alice\n");
    let take = ["work", "take", "-c", &endpoint, "-n", "1"];
    let taken = keys.client("alice", &take).finish().expect_code(0);
    assert_eq!(taken.text(), "for alice\n");
    serving.finish().expect_code(0);
}

#[test]
fn a_task_that_is_too_large_is_named_by_its_line_and_those_before_it_are_done() {
    let (serving, endpoint) = serve(&["--max-size", "4"], "fits\ntoo large\n");
    let worker = take(&endpoint, &[], "cat");
    let served = serving.finish().expect_code(1);
    assert_eq!(served.text(), "fits\n");
    let told = "line 2 of standard input, and no more is read: a task of 9 bytes exceeds max_task (4 bytes)";
    assert!(served.stderr.contains(told), "{served:?}");
    worker.terminated().expect_code(0);
}

/// Results that nobody reads do not keep tasks from being done.
#[test]
fn a_distributor_whose_reader_has_left_hands_out_all_the_same() {
    let signs = Signs::new();
    let script = format!("\"$@\" | {{ exec <&-; : > '{}'; }}", signs.text("left"));
    let program = env!("CARGO_BIN_EXE_sealwire");
    let arguments = ["-c", &script, "sh", program, "work", "serve", "-b", ANY];
    let mut serving = start_command(Command::new("sh").args(arguments));
    let endpoint = serving.endpoint();
    eventually("nobody reads", || signs.path("left").exists());
    serving.write("one\ntwo\n");
    let worker = take(&endpoint, &[], "cat");
    let served = serving.finish().expect_code(0);
    assert!(served.stderr.contains("2 done"), "{served:?}");
    worker.terminated().expect_code(0);
}
