//! Asks a command for its snapshots.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sealwire::blocking::Socket;
use sealwire::{Context, Error, Frame};

use crate::exit::{Code, Failure};
use crate::service::inspection;
use crate::snapshot::{REQUEST, Snapshot, VERSION};

/// Bytes that an answer may have: a snapshot has a thousand peers, and these have 1 KiB or two.
const MAX_ANSWER: usize = 16 << 20;

/// A connection to a command, which comes back by itself.
pub(super) struct Reader {
    socket: Socket,
    path: PathBuf,
}

/// Why there is no snapshot.
#[derive(Debug)]
pub(super) enum Problem {
    /// It may pass, or it may not: the command is gone, or does not answer.
    Silent(String),
    /// The command answers, and not what is understood.
    Other(String),
}

impl Problem {
    pub(super) fn message(&self) -> &str {
        match self {
            Problem::Silent(message) | Problem::Other(message) => message,
        }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Silent(message) => Failure::new(Code::Unreachable, message),
            Problem::Other(message) => Failure::new(Code::Failed, message),
        }
    }
}

/// An answer, as it came and as it was understood.
pub(super) struct Answer {
    pub(super) text: serde_json::Value,
    pub(super) snapshot: Snapshot,
}

impl Reader {
    /// Begins to connect. An answer may take up to `limit`.
    pub(super) fn connect(path: &Path, limit: Duration) -> Result<Self, Failure> {
        let socket = inspection::reader(&Context::new()?)
            .max_message_size(MAX_ANSWER)
            // One that did not answer is asked again.
            .req_relaxed(true)
            .req_correlate(true)
            .send_timeout(limit)
            .receive_timeout(limit)
            .build_blocking()?;
        socket.connect(inspection::endpoint(path)?)?;
        Ok(Reader {
            socket,
            path: path.to_owned(),
        })
    }

    /// Asks once.
    pub(super) fn ask(&self) -> Result<Answer, Problem> {
        let silent = |error: Error| {
            Problem::Silent(format!(
                "{} does not answer: {error}; is a command running with --inspect there?",
                self.path.display()
            ))
        };
        (self.socket.send(REQUEST)).map_err(|error| silent(error.into()))?;
        let answer = self.socket.recv().map_err(silent)?;
        let [only] = answer.frames() else {
            return Err(self.not_understood("an answer has one frame"));
        };
        self.read(only)
    }

    fn read(&self, answer: &Frame) -> Result<Answer, Problem> {
        let text: serde_json::Value =
            serde_json::from_slice(answer).map_err(|error| self.not_understood(error))?;
        let snapshot: Snapshot =
            serde_json::from_value(text.clone()).map_err(|error| self.not_understood(error))?;
        match snapshot.version {
            VERSION if snapshot.error.is_empty() => Ok(Answer { text, snapshot }),
            VERSION => Err(Problem::Other(format!(
                "{} says: {}",
                self.path.display(),
                snapshot.error
            ))),
            other => Err(Problem::Other(format!(
                "{} has snapshots of version {other}, and this program reads version {VERSION}; use the top of the \
                 program that runs there",
                self.path.display()
            ))),
        }
    }

    fn not_understood(&self, why: impl std::fmt::Display) -> Problem {
        Problem::Other(format!(
            "{} answers with something else than a snapshot: {why}",
            self.path.display()
        ))
    }
}
