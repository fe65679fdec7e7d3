//! Ways to put a fault between the program and its system.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use crate::support::{Finished, Running, start_command};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_sealwire");

/// Whether a tool can do this here. A tool that cannot is a stated skip; with `CI=true` a failure.
fn works(command: &mut Command) -> bool {
    let tried = command.stdin(Stdio::null()).output();
    let problem = match &tried {
        Ok(output) if output.status.success() => return true,
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    assert!(
        std::env::var("CI").as_deref() != Ok("true"),
        "{command:?} does not work: {problem}"
    );
    println!("skipped: {command:?} does not work here: {problem}");
    false
}

/// The program with system calls that fail, by rules of strace: `accept4:error=EMFILE:when=1..3`.
/// `None` where nothing can be traced.
pub(crate) fn failing(rules: &[&str], arguments: &[&str]) -> Option<Command> {
    // The tracer is the grandchild: what is started and ended here is the program.
    let strace = |rules: &[&str]| {
        let mut command = Command::new("strace");
        command.args(["-D", "-f", "-qq", "-o", "/dev/null", "-e", "signal=none"]);
        for rule in rules {
            command.args(["-e", &format!("inject={rule}")]);
        }
        command
    };
    if !works(strace(&["accept4:error=EMFILE"]).arg("true")) {
        return None;
    }
    let mut command = strace(rules);
    command.arg(PROGRAM).args(arguments);
    Some(command)
}

/// The program below limits of the shell: `ulimit -n 40`.
pub(crate) fn limited(limits: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let script = format!("{limits} && exec \"$0\" \"$@\"");
    command.args(["-c", &script, PROGRAM]).args(arguments);
    command
}

/// A user of these tests alone.
pub(crate) fn user() -> u32 {
    100_000 + std::process::id()
}

/// The program as that user, who may have this many threads. `None` where that takes rights that
/// are not there.
pub(crate) fn with_threads(count: u32, arguments: &[&str]) -> Option<Command> {
    // The limit does not bind the superuser.
    let user = user().to_string();
    let as_user = || {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]);
        command
    };
    if !works(as_user().args([PROGRAM, "--version"])) {
        return None;
    }
    let mut command = as_user();
    let limit = format!("--nproc={count}:{count}");
    command.args(["prlimit", &limit, PROGRAM]).args(arguments);
    Some(command)
}

/// A shell script in namespaces of its own, with the program as `$0`. `None` where there are none.
pub(crate) fn in_namespaces<A: AsRef<OsStr>>(
    options: &[&str],
    script: &str,
    arguments: &[A],
) -> Option<Command> {
    let unshare = || {
        let mut command = Command::new("unshare");
        command.arg("--map-root-user").args(options);
        command
    };
    if !works(unshare().arg("true")) {
        return None;
    }
    let mut command = unshare();
    command.args(["sh", "-c", script, PROGRAM]).args(arguments);
    Some(command)
}

pub(crate) fn run(command: &mut Command) -> Finished {
    start(command).finish()
}

pub(crate) fn start(command: &mut Command) -> Running {
    start_command(command)
}

impl Finished {
    /// It ended by itself, with these words and without a panic.
    #[track_caller]
    pub(crate) fn expect_end(self, code: i32, words: &str) -> Self {
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        let finished = self.expect_code(code);
        assert!(finished.stderr.contains(words), "{finished:?}");
        finished
    }
}
