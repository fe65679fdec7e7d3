//! What a peer does, by socket type.

use std::io::BufRead;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::arguments::{Arguments, Kind};
use crate::payload::{self, Parts};
use crate::report::{report, report_message};

/// Time between two of the messages by which a publisher finds its subscribers.
const SYNC_PERIOD: Duration = Duration::from_millis(10);

/// One socket of a published implementation, seen as blocking.
///
/// Messages have the form an application sees: REQ and REP without the empty delimiter, ROUTER
/// with the routing id in front, XPUB with subscriptions as messages.
pub trait PeerSocket {
    /// Sends one message, waiting until `deadline` at the longest.
    ///
    /// # Errors
    ///
    /// What went wrong, as text.
    fn send(&mut self, message: Parts, deadline: Instant) -> Result<(), String>;

    /// Receives one message, waiting until `deadline` at the longest.
    ///
    /// # Errors
    ///
    /// What went wrong, as text.
    fn recv(&mut self, deadline: Instant) -> Result<Parts, String>;

    /// Gives one subscription up; SUB and XSUB only.
    ///
    /// # Errors
    ///
    /// What went wrong, as text.
    fn unsubscribe(&mut self, topic: &str) -> Result<(), String>;
}

/// Runs the script that `arguments` ask for, then holds the socket open until standard input ends,
/// so that what was sent can be read at leisure.
pub fn run(arguments: &Arguments, socket: &mut impl PeerSocket) -> ExitCode {
    let mut script = Script {
        arguments,
        socket,
        deadline: Instant::now() + arguments.timeout(),
        input: input(),
    };
    match script.run() {
        Ok(()) => {
            while script.input.recv().is_ok() {}
            ExitCode::SUCCESS
        }
        Err(reason) => {
            report(&json!({ "event": "error", "reason": reason }));
            ExitCode::FAILURE
        }
    }
}

struct Script<'a, S> {
    arguments: &'a Arguments,
    socket: &'a mut S,
    deadline: Instant,
    /// A unit for each line of standard input; closed when it ends.
    input: Receiver<()>,
}

impl<S: PeerSocket> Script<'_, S> {
    fn run(&mut self) -> Result<(), String> {
        match self.arguments.kind {
            Kind::Pub => self.sync_until_told()?,
            Kind::Xpub if self.arguments.send > 0 => {
                let subscription = self.socket.recv(self.deadline)?;
                report_message(&subscription);
            }
            _ => {}
        }
        let mut received = 0;
        for index in 0..self.arguments.send {
            let Arguments {
                topic, parts, size, ..
            } = self.arguments;
            let mut message = payload::message(topic, index, *parts, size);
            if self.arguments.delimiter {
                message.insert(0, Vec::new());
            }
            self.socket.send(message, self.deadline)?;
            if self.arguments.lockstep() {
                self.recv_and_report()?;
                received += 1;
            }
        }
        if !self.arguments.lockstep() {
            while received < self.arguments.recv {
                let message = self.recv_and_report()?;
                received += 1;
                if self.arguments.echoes() {
                    self.socket.send(message, self.deadline)?;
                }
            }
        }
        if self.arguments.cancel {
            for topic in self.arguments.subscriptions() {
                self.socket.unsubscribe(topic)?;
            }
        }
        let sent = self.arguments.send + if self.arguments.echoes() { received } else { 0 };
        report(&json!({ "event": "done", "sent": sent, "received": received }));
        Ok(())
    }

    /// Receives one message that counts, and returns it as it came.
    fn recv_and_report(&mut self) -> Result<Parts, String> {
        let mut synced = false;
        loop {
            let message = self.socket.recv(self.deadline)?;
            let subscriber = matches!(self.arguments.kind, Kind::Sub | Kind::Xsub);
            if subscriber && payload::is_sync(&message) {
                if !synced {
                    report(&json!({ "event": "synced" }));
                }
                synced = true;
                continue;
            }
            let shown = match &message[..] {
                [first, rest @ ..] if self.arguments.delimiter && first.is_empty() => rest,
                whole => whole,
            };
            report_message(shown);
            return Ok(message);
        }
    }

    /// A publisher cannot know when a subscription has reached it. It repeats a message of its own
    /// until its driver has seen one arrive and says so by a line on standard input.
    fn sync_until_told(&mut self) -> Result<(), String> {
        loop {
            self.socket
                .send(payload::sync(&self.arguments.topic), self.deadline)?;
            match self.input.recv_timeout(SYNC_PERIOD) {
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) if Instant::now() > self.deadline => {
                    return Err("no line on standard input told this publisher to start".into());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// Follows standard input from a thread, since reading it blocks.
fn input() -> Receiver<()> {
    let (lines, input) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            if line.is_err() || lines.send(()).is_err() {
                return;
            }
        }
    });
    input
}
