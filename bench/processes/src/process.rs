//! A process that was started, and what it prints: lines of JSON.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::{env, fs};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;

/// Returns the path of this program. On Linux it also works when the file was replaced since the
/// start.
///
/// # Errors
///
/// The system does not tell.
pub fn this_program() -> io::Result<PathBuf> {
    match fs::metadata("/proc/self/exe") {
        Ok(_) => Ok("/proc/self/exe".into()),
        Err(_) => env::current_exe(),
    }
}

pub(crate) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Process {
    pub(crate) fn start(command: io::Result<Command>) -> Result<Self, Error> {
        let failed = |error| Error::Failed(format!("cannot start a process: {error}"));
        let mut child = command
            .map_err(failed)?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let stdout = stdout.ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?;
        Ok(Process {
            child,
            stdin,
            stdout: BufReader::new(stdout),
        })
    }

    /// Reads one line.
    pub(crate) fn read<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        let mut line = String::new();
        let read = self
            .stdout
            .read_line(&mut line)
            .map_err(|error| error.to_string());
        read.and_then(|_| serde_json::from_str(&line).map_err(|error| error.to_string()))
            .map_err(|error| Error::Failed(format!("one of the two processes failed: {error}")))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Its sign to end.
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}

/// Prints one line.
pub(crate) fn print(line: &impl Serialize) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, line)
        .map_err(io::Error::from)
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush())
        .map_err(Error::Output)
}
