//! One program: what it reads, what it writes, and how it ends.

use std::io::{self, Read as _, Write as _};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use super::{Open, Programs, Wanted};
use crate::service::notify;
use crate::threads;

/// Most of what a program says on standard error that is kept, in bytes.
const MAX_COMPLAINT: u64 = 4_096;

/// Room for what a program writes, in bytes, before it has written.
const ROOM: usize = 4_096;

/// What a program left that has ended.
pub(crate) struct Answer {
    pub(crate) status: ExitStatus,
    /// Its standard output, up to a byte more than was asked for.
    pub(crate) output: io::Result<Vec<u8>>,
    /// The beginning of its standard error.
    pub(crate) complaint: String,
    /// It was to write more, which nobody reads and which may have ended it.
    cut_off: bool,
}

impl Answer {
    /// How it failed, in words; `None` if it did not. One that wrote too much has not failed by what that ended it with:
    /// its output says it.
    pub(crate) fn failure(&self, program: &str) -> Option<String> {
        (!self.status.success() && !self.cut_off).then(|| {
            let message = format!("{program}: {}: {}", self.status, self.complaint);
            message.trim_end_matches(": ").to_owned()
        })
    }
}

/// Why a program could not be run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("cannot start the program: {0}")]
    Start(io::Error),
    #[error("the system refused a thread: {0}")]
    Thread(io::Error),
    #[error("cannot wait: {0}")]
    Wait(io::Error),
}

/// Runs a program with this input. `None` where it was ended as nobody wanted it any more.
pub(crate) fn exchange(
    programs: &Programs,
    command: &mut Command,
    input: &[u8],
    max_output: u64,
    wanted: &impl Wanted,
) -> Result<Option<Answer>, Trouble> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for variable in notify::VARIABLES {
        command.env_remove(variable);
    }
    let mut started = programs.start(command).map_err(Trouble::Start)?;
    let (stdin, stdout, stderr) = started.pipes();
    // The program and its pipes.
    let open = Open::new(4);
    thread::scope(|scope| {
        // A program may read nothing of it.
        let writing = threads::spawn_within(scope, || {
            let written = stdin.map(|mut stdin| stdin.write_all(input));
            open.close();
            written
        });
        let output = threads::spawn_within(scope, || {
            // A secret that fits is not moved, and leaves no copy.
            let mut output = Vec::with_capacity(ROOM);
            let read = stdout.map(|stdout| stdout.take(max_output + 1).read_to_end(&mut output));
            open.close();
            read.unwrap_or(Ok(0)).map(|_| output)
        });
        let complaint = threads::spawn_within(scope, || {
            let mut complaint = Vec::new();
            if let Some(mut stderr) = stderr {
                let _ = (&mut stderr)
                    .take(MAX_COMPLAINT)
                    .read_to_end(&mut complaint);
                let _ = io::copy(&mut stderr, &mut io::sink());
            }
            open.close();
            String::from_utf8_lossy(&complaint).trim_end().to_owned()
        });
        let (output, complaint) = match (writing, output, complaint) {
            (Ok(_), Ok(output), Ok(complaint)) => (output, complaint),
            (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => {
                started.end();
                return Err(Trouble::Thread(error));
            }
        };
        let status = started.wait(wanted, &open).map_err(|error| {
            started.end();
            Trouble::Wait(error)
        })?;
        let complaint = complaint.join().unwrap_or_default();
        let output = output.join().unwrap_or_else(|_| Ok(Vec::new()));
        let cut_off = output.as_ref().is_ok_and(|it| it.len() as u64 > max_output);
        Ok(status.map(|status| Answer {
            status,
            output,
            complaint,
            cut_off,
        }))
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::programs::TimeLimit;

    fn answer_of(script: &str) -> Answer {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let time = TimeLimit::within(None);
        let answer = exchange(&Programs::new(), &mut command, &[], 10, &time);
        answer.unwrap().unwrap()
    }

    #[test]
    fn a_program_that_is_ended_by_output_that_nobody_reads_has_written_too_much() {
        // More than a pipe holds.
        let answer = answer_of("exec head -c 10000000 /dev/zero");
        assert!(!answer.status.success(), "{:?}", answer.status);
        assert_eq!(answer.failure("head"), None);
        assert_eq!(answer.output.unwrap().len(), 11);
        let answer = answer_of("printf 0123456789; exit 3");
        assert_eq!(answer.failure("sh").unwrap(), "sh: exit status: 3");
        assert_eq!(answer.output.unwrap(), b"0123456789");
    }
}
