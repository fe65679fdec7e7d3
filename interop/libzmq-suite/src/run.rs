//! Runs a test program with a library of one's choice.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::Failure;
use crate::unity::Report;

/// Runs `program` with the `libzmq.so.5` in the folder `library`, in an empty folder of its own. The rest of its
/// process group is killed when it ends, and all of it when `limit` has passed.
pub(crate) fn run(program: &Path, library: &Path, limit: Duration) -> Result<Report, Failure> {
    let folder = tempfile::Builder::new().prefix("zmq").tempdir()?;
    let path = folder.path().join("output");
    // A file and no pipe: a process that the program left behind would hold a pipe open.
    let output = File::create(&path)?;
    let start = Instant::now();
    let mut child = Command::new(program)
        .current_dir(folder.path())
        .env("LD_LIBRARY_PATH", library)
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0)
        .spawn()?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if start.elapsed() > limit {
            break None;
        }
        thread::sleep(Duration::from_millis(5));
    };
    let seconds = start.elapsed().as_secs_f64();
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    match group.map(|group| kill_process_group(group, Signal::KILL)) {
        // Nobody was left.
        None | Some(Ok(()) | Err(rustix::io::Errno::SRCH)) => {}
        Some(Err(error)) => return Err(io::Error::from(error).into()),
    }
    if status.is_none() {
        child.wait()?;
    }
    let output = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
    Ok(Report::new(output, status, seconds))
}
