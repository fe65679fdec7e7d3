//! Our own program, in a process that a test can stop as it can a peer's.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;

use serde_json::Value;

use crate::program::SEALWIRE;
use crate::watch::TIMEOUT;

/// The program `sealwire` at work. Killed when dropped.
#[derive(Debug)]
pub struct Own {
    process: Child,
    messages: Receiver<Value>,
    events: Receiver<Value>,
}

impl Own {
    /// Starts it with a socket command, such as `pull`, and its options.
    ///
    /// # Panics
    ///
    /// When it does not start.
    pub fn start(arguments: &[&str]) -> Self {
        let mut process = Command::new(SEALWIRE.path())
            .args(arguments)
            .args(["--json", "--verbose"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", SEALWIRE.name));
        let messages = objects(process.stdout.take().expect("it is piped"));
        let events = objects(process.stderr.take().expect("it is piped"));
        Own {
            process,
            messages,
            events,
        }
    }

    /// The next message it received.
    ///
    /// # Panics
    ///
    /// When there is none in time.
    pub fn message(&self) -> Value {
        let message = self.messages.recv_timeout(TIMEOUT);
        message.expect("a message in time")
    }

    /// The next event of this name; those before it are passed over.
    ///
    /// # Panics
    ///
    /// When there is none in time.
    pub fn event(&self, name: &str) -> Value {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(event) if event["event"] == name => return event,
                Ok(_) => {}
                Err(error) => panic!("no {name}: {error}"),
            }
        }
    }

    /// Sends a signal such as `STOP` to it.
    ///
    /// # Panics
    ///
    /// When that cannot be done.
    pub fn signal(&self, name: &str) {
        crate::peer::signal(&self.process, name);
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // Fails only when it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The JSON objects that come, one a line.
fn objects(output: impl Read + Send + 'static) -> Receiver<Value> {
    let (sender, objects) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let object = serde_json::from_str(&line)
                .unwrap_or_else(|error| panic!("our program printed {line:?}: {error}"));
            if sender.send(object).is_err() {
                return;
            }
        }
    });
    objects
}
