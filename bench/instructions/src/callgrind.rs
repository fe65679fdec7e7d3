//! One count: both processes, one of them under callgrind.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{self, Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::Outcome;
use crate::cells::{Cell, Side};

/// Between two questions to the processes whether they have ended.
const POLL: Duration = Duration::from_millis(5);

/// What valgrind calls itself.
pub(crate) fn version() -> Outcome<String> {
    let output = Command::new("valgrind").arg("--version").output();
    let output =
        output.map_err(|error| format!("valgrind is needed, and does not run: {error}"))?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Instructions of the cell's side while `messages` pass, from the start of its process to the end.
/// The profile stays in a file.
pub(crate) fn count(program: &Path, cell: Cell, messages: u64, profile: &Path) -> Outcome<u64> {
    let endpoint = format!("ipc://@sealwire-bench-instructions-{}", process::id());
    let command = |side: Side, name: &str| {
        let mut command = if side == cell.side {
            let mut valgrind = Command::new("valgrind");
            // Fair: else it is chance which thread goes on, and a sender's counts differ by 3 per cent.
            valgrind.args(["--quiet", "--tool=callgrind", "--fair-sched=yes"]);
            let mut out_file = OsString::from("--callgrind-out-file=");
            out_file.push(profile);
            valgrind.arg(out_file).arg(program);
            valgrind
        } else {
            Command::new(program)
        };
        command
            .arg(name)
            .args(["--mechanism", cell.mechanism.argument()])
            .args(["--size", &cell.size.to_string()])
            .args(["--count", &messages.to_string()])
            .args(["--endpoint", &endpoint])
            .stdin(Stdio::null());
        command
    };
    let mut receiver = command(Side::Receiver, "receive");
    let mut receiver = Process::start(receiver.stdout(Stdio::piped()), Side::Receiver)?;
    let key = receiver.first_line()?;
    let mut sender = command(Side::Sender, "send");
    let sender = Process::start(sender.arg(format!("--key={}", key.trim())), Side::Sender)?;
    wait([receiver, sender])?;
    total(profile)
}

/// Waits until both have ended. Where one fails, the other one is ended.
fn wait(processes: [Process; 2]) -> Outcome<()> {
    let mut running = Vec::from(processes);
    while !running.is_empty() {
        let mut still_running = Vec::new();
        for mut process in running {
            match process.child.try_wait()? {
                None => still_running.push(process),
                Some(status) if status.success() => {}
                Some(status) => return Err(format!("the {} failed: {status}", process.side).into()),
            }
        }
        running = still_running;
        thread::sleep(POLL);
    }
    Ok(())
}

/// All instructions of a profile.
fn total(profile: &Path) -> Outcome<u64> {
    let text = fs::read_to_string(profile)?;
    let totals = text.lines().find_map(|line| line.strip_prefix("totals: "));
    let totals = totals.ok_or_else(|| format!("{}: no totals", profile.display()))?;
    Ok(totals.trim().parse()?)
}

/// A process that ends with its owner.
struct Process {
    side: Side,
    child: Child,
    output: Option<BufReader<ChildStdout>>,
}

impl Process {
    fn start(command: &mut Command, side: Side) -> Outcome<Self> {
        let mut child = command
            .spawn()
            .map_err(|error| format!("cannot start the {side}: {error}"))?;
        let output = child.stdout.take().map(BufReader::new);
        Ok(Process {
            side,
            child,
            output,
        })
    }

    fn first_line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        if let Some(output) = &mut self.output {
            output.read_line(&mut line)?;
        }
        match line.is_empty() {
            false => Ok(line),
            true => Err(format!("the {} ended before it was bound", self.side).into()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
