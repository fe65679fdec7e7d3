//! Go's monte: its own benchmarks, and the program beside this one between two processes.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::shapes::SHAPES;
use crate::{Error, MESSAGE};

/// How monte calls what [`SHAPES`] are.
const BENCHMARKS: [&str; 6] = [
    "Send",
    "SendNoWait",
    "Request",
    "ParallelSend",
    "ParallelSendNoWait",
    "ParallelRequest",
];

/// Nanoseconds a message, as monte's own benchmarks say. Nothing without their binary.
pub(crate) fn in_one_process(
    binary: Option<&str>,
    turn: Duration,
) -> Result<Vec<(&'static str, f64)>, Error> {
    let Some(binary) = binary else {
        return Ok(Vec::new());
    };
    let output = Command::new(binary)
        .args(["-test.run=^$", "-test.bench=."])
        .arg(format!("-test.benchtime={}ms", turn.as_millis()))
        .output()?;
    let output = String::from_utf8(output.stdout)?;
    let names = SHAPES.iter().map(|shape| shape.name);
    let times = names.zip(BENCHMARKS).map(|(name, benchmark)| {
        let line = output.lines().find(|line| {
            let rest = line.strip_prefix("Benchmark");
            let rest = rest.and_then(|rest| rest.strip_prefix(benchmark));
            rest.is_some_and(|rest| rest.starts_with(['-', ' ', '\t']))
        });
        let line = line.ok_or(format!("{binary} did not measure {benchmark}"))?;
        let time = line.split_whitespace().nth(2).ok_or("no time")?;
        Ok((name, time.parse()?))
    });
    times.collect()
}

struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start(program: &str, arguments: &[&str]) -> Result<Self, Error> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().ok_or("no output of a process")?;
        Ok(Process {
            child,
            lines: BufReader::new(output).lines(),
        })
    }

    fn line(&mut self) -> Result<String, Error> {
        Ok(self
            .lines
            .next()
            .ok_or("a process of monte's ended early")??)
    }

    fn go_on(&mut self) -> Result<(), Error> {
        let input = self.child.stdin.as_mut().ok_or("no input of a process")?;
        Ok(writeln!(input)?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Its sign to end.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

pub(crate) struct Server {
    process: Process,
    address: String,
}

impl Server {
    pub(crate) fn start(program: &str) -> Result<Self, Error> {
        let mut process = Process::start(program, &["serve"])?;
        let address = process.line()?;
        Ok(Server { process, address })
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Messages so far, and nanoseconds of that process's clock.
    fn arrived(&mut self) -> Result<(f64, f64), Error> {
        self.process.go_on()?;
        let line = self.process.line()?;
        let (count, time) = line.split_once(' ').ok_or("not a count and a time")?;
        Ok((count.parse()?, time.parse()?))
    }

    /// Messages that arrive in a second.
    pub(crate) fn one_way(&mut self, program: &str, turn: Duration) -> Result<f64, Error> {
        let (turn, size) = (turn.as_millis().to_string(), MESSAGE.to_string());
        let mut sender = Process::start(program, &["send", &self.address, &turn, &size])?;
        sender.line()?;
        let (before, from) = self.arrived()?;
        sender.go_on()?;
        sender.line()?;
        let (after, to) = self.arrived()?;
        sender.go_on()?;
        Ok((after - before) / (to - from) * 1e9)
    }
}

/// Calls a second with `depth` of them in flight.
pub(crate) fn calls(
    program: &str,
    address: &str,
    depth: usize,
    turn: Duration,
) -> Result<f64, Error> {
    let (turn, depth) = (turn.as_millis().to_string(), depth.to_string());
    let mut process = Process::start(program, &["call", address, &turn, &depth])?;
    Ok(process.line()?.parse()?)
}
