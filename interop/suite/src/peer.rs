//! A published implementation at work, in a process of its own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::Program;
use crate::watch::{TIMEOUT, eventually};

/// Events shown when a test fails.
const SHOWN: usize = 6;

/// Pause between two looks at whether a process has ended.
const POLL: Duration = Duration::from_millis(2);

/// A running peer program. Killed when dropped.
#[derive(Debug)]
pub struct Peer {
    program: Program,
    arguments: Vec<String>,
    process: Child,
    input: Option<ChildStdin>,
    events: Receiver<Value>,
    seen: Vec<Value>,
    /// How many of the message events in `seen` were given out.
    messages_taken: usize,
}

impl Peer {
    /// Starts a program.
    ///
    /// # Panics
    ///
    /// When it does not start.
    pub fn start(program: Program, arguments: Vec<String>) -> Self {
        let mut process = Command::new(program.path())
            .args(["--timeout-s", &TIMEOUT.as_secs().to_string()])
            .args(&arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.name));
        let (sender, events) = channel();
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let event = serde_json::from_str(&line)
                    .unwrap_or_else(|error| panic!("a peer printed {line:?}: {error}"));
                if sender.send(event).is_err() {
                    return;
                }
            }
        });
        Peer {
            program,
            arguments,
            input: process.stdin.take(),
            process,
            events,
            seen: Vec::new(),
            messages_taken: 0,
        }
    }

    /// Whether an event of this name has been or will be printed within `limit`.
    ///
    /// # Panics
    ///
    /// When the program prints an error, or ends.
    pub fn prints(&mut self, name: &str, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while !self.seen.iter().any(|event| event["event"] == name) {
            if !self.read(deadline) {
                return false;
            }
            let last = self.seen.last().expect("one was read");
            let failed = last["event"] == "error" && name != "error";
            assert!(!failed, "{self}");
        }
        true
    }

    /// The first event of this name, waited for.
    ///
    /// # Panics
    ///
    /// When it does not come in time.
    pub fn event(&mut self, name: &str) -> Value {
        assert!(self.prints(name, TIMEOUT), "no {name} in time: {self}");
        let found = self.seen.iter().find(|event| event["event"] == name);
        found.expect("it was printed").clone()
    }

    /// Waits until this many events of this name were printed.
    ///
    /// # Panics
    ///
    /// When they do not come in time, or the program prints an error.
    pub fn events(&mut self, name: &str, count: usize) {
        let deadline = Instant::now() + TIMEOUT;
        let named = |event: &&Value| event["event"] == name;
        while self.seen.iter().filter(named).count() < count {
            assert!(self.read(deadline), "no {count} {name} in time: {self}");
            let last = self.seen.last().expect("one was read");
            assert!(last["event"] != "error", "{self}");
        }
    }

    /// How many events of this name were printed so far.
    pub fn count(&mut self, name: &str) -> usize {
        while self.read(Instant::now()) {}
        let named = |event: &&Value| event["event"] == name;
        self.seen.iter().filter(named).count()
    }

    /// Where the peer is bound or what it connects to.
    pub fn endpoint(&mut self) -> String {
        let ready = self.event("ready");
        ready["endpoint"].as_str().expect("a text").into()
    }

    /// The next message the peer received: its parts, as [`describe`](crate::describe) has them.
    ///
    /// # Panics
    ///
    /// When it does not come in time.
    pub fn message(&mut self) -> Vec<Value> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let is_message = |event: &&Value| event["event"] == "message";
            let mut messages = self.seen.iter().filter(is_message);
            if let Some(message) = messages.nth(self.messages_taken) {
                self.messages_taken += 1;
                return message["parts"].as_array().expect("a list").clone();
            }
            let taken = self.messages_taken;
            assert!(self.read(deadline), "no message {taken} in time: {self}");
        }
    }

    /// Lets a publisher start: writes a line to its input.
    ///
    /// # Panics
    ///
    /// When the program has ended.
    pub fn tell(&mut self) {
        let input = self.input.as_mut().expect("open until the end");
        input.write_all(b"go\n").expect("the program runs");
    }

    /// Waits until the script is done, closes the program's input and waits for its end.
    ///
    /// # Panics
    ///
    /// When it does not end in time, or not well.
    pub fn finish(mut self) {
        self.event("done");
        self.input = None;
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.process.try_wait().expect("it can be waited for") {
                assert!(status.success(), "{status}: {self}");
                return;
            }
            assert!(Instant::now() < deadline, "no end in time: {self}");
            thread::sleep(POLL);
        }
    }

    /// Sends a signal such as `STOP` to the program.
    ///
    /// # Panics
    ///
    /// When that cannot be done.
    pub fn signal(&self, name: &str) {
        signal(&self.process, name);
    }

    /// Ends the program at once, as a crash would, and starts it again. If it was bound to a port
    /// that it chose itself it is now bound to `endpoint`.
    pub(crate) fn restart(&mut self, endpoint: &str) {
        let mut arguments = std::mem::take(&mut self.arguments);
        if let Some(bind) = arguments.iter().position(|word| word == "--bind") {
            arguments[bind + 1] = endpoint.into();
        }
        self.end();
        *self = Peer::start(self.program, arguments);
    }

    fn end(&mut self) {
        // Fails only when it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Takes in one event; `false` when none came by `deadline`.
    fn read(&mut self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.events.recv_timeout(left) {
            Ok(event) => {
                self.seen.push(event);
                true
            }
            Err(RecvTimeoutError::Timeout) => false,
            // It has ended: what it would have printed never comes.
            Err(RecvTimeoutError::Disconnected) => false,
        }
    }
}

/// Sends a signal, by its name without `SIG`; returns from `STOP` when the process has stopped.
pub(crate) fn signal(process: &Child, name: &str) {
    let status = Command::new("kill")
        .args([format!("-{name}"), process.id().to_string()])
        .status()
        .expect("kill can be run");
    assert!(status.success(), "kill -{name}: {status}");
    let state = format!("/proc/{}/stat", process.id());
    eventually("the process has stopped", || {
        let state = std::fs::read_to_string(&state).unwrap_or_default();
        name != "STOP" || state.contains(") T ")
    });
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.end();
    }
}

/// The command and the last events, for a failed test.
impl std::fmt::Display for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} {}", self.program.name, self.arguments.join(" "))?;
        let first = self.seen.len().saturating_sub(SHOWN);
        for event in &self.seen[first..] {
            writeln!(f, "  {event}")?;
        }
        Ok(())
    }
}
