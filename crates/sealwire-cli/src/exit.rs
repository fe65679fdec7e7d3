//! How the program ends: its exit codes, and failures on their way to them.

use std::collections::BTreeMap;
use std::io;
use std::process::ExitCode;

use sealwire::keys::KeyFileError;
use sealwire::{ConnectionFailure, EndpointError, Error, FailureCause};
use serde::Serialize;

use crate::{interrupt, untrusted};

/// The table of exit codes, for `--help`.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    done (also when nobody reads the output any more)
  1    failed: a file, a key, the system, or a claim of the demo that did not hold
  2    wrong usage
  3    timed out: no peer, no message, or no room for one within --timeout
  4    handshake failed: refused, wrong server key, other mechanism, unsuitable socket
  5    unreachable: nothing accepts connections there, or the name does not resolve
  6    messages lost: not sent in time, or the peer left before it answered
  7    told to stop, and something that was accepted was given up: it is counted on standard error
  8    all tasks have an outcome, and some of them were set aside: they failed as often as they may
  10 and above  what doctor found: see its --help
  128 + the number of a signal (130, 143)  ended by it at once: by a second one, or without anything to finish
Told to stop (SIGTERM, SIGINT), a command that runs for long finishes what it has accepted, and ends with 0.
Codes 4 and 5 tell why the wait for --timeout failed.";

/// What a script may rely on. [`EXIT_CODES`] says when which is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Done = 0,
    Failed = 1,
    Usage = 2,
    TimedOut = 3,
    Handshake = 4,
    Unreachable = 5,
    Lost = 6,
    GaveUp = 7,
    SetAside = 8,
    // What `doctor` found, by the step that failed.
    Name = 10,
    Route = 11,
    Refused = 12,
    Silent = 13,
    Tls = 14,
    Greeting = 15,
    Mechanism = 16,
    Key = 17,
    NotLetIn = 18,
    SocketTypes = 19,
    Left = 20,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        ExitCode::from(code as u8)
    }
}

/// Why a command ends early. Without a message it ends in silence.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Code,
    message: Option<String>,
    /// It ends because it was told to stop.
    is_stop: bool,
    /// What it did not finish, by name.
    given_up: BTreeMap<&'static str, u64>,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Failure {
            message: Some(message.into()),
            ..Self::silent(code)
        }
    }

    fn silent(code: Code) -> Self {
        Failure {
            code,
            message: None,
            is_stop: false,
            given_up: BTreeMap::new(),
        }
    }

    /// The command cannot go on, as the program was told to stop.
    pub(crate) fn stopped() -> Self {
        Failure {
            is_stop: true,
            ..Self::silent(Code::Done)
        }
    }

    /// Whether nothing is wrong but that the program was told to stop.
    pub(crate) fn is_stop(&self) -> bool {
        self.is_stop
    }

    /// It was told to stop, and did not finish all of what it had accepted.
    pub(crate) fn gave_up(message: String, given_up: BTreeMap<&'static str, u64>) -> Self {
        Failure {
            given_up,
            ..Self::new(Code::GaveUp, message)
        }
    }

    /// The options do not go together.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Code::Usage, message)
    }

    /// Writing to standard output failed. When its reader has left, there is nothing more to do
    /// and nothing to complain about.
    pub(crate) fn output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::silent(Code::Done);
        }
        Self::new(
            Code::Failed,
            format!("cannot write to standard output: {error}"),
        )
    }

    /// A wait that failed, with what the last failed connection has to say about it.
    pub(crate) fn wait_failed(
        code: Code,
        message: &str,
        reason: Option<&ConnectionFailure>,
    ) -> Self {
        match reason {
            Some(reason) => Self::new(
                code_of(reason).unwrap_or(code),
                format!("{message}; the last connection failed: {reason}"),
            ),
            None => Self::new(code, message),
        }
    }

    /// What went wrong.
    pub(crate) fn message(&self) -> &str {
        self.message.as_deref().unwrap_or_default()
    }

    /// Tells the user and gives the exit code.
    pub(crate) fn report(self, json: bool) -> ExitCode {
        if let Some(message) = &self.message {
            if json {
                let code = self.code as u8;
                let record = ErrorRecord {
                    event: "error",
                    exit_code: code,
                    message,
                    given_up: &self.given_up,
                };
                eprint_json_quietly(&record);
            } else {
                eprintln_quietly(&format!("error: {message}"));
                if self.code == Code::Usage {
                    eprintln_quietly("");
                    eprintln_quietly("For more information, try '--help'.");
                }
            }
        }
        self.code.into()
    }
}

#[derive(Serialize)]
struct ErrorRecord<'a> {
    event: &'static str,
    exit_code: u8,
    message: &'a str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    given_up: &'a BTreeMap<&'static str, u64>,
}

/// A line on standard error, whatever others put into its text; unlike `eprintln!` it does not panic
/// when that is closed.
pub(crate) fn eprintln_quietly(line: &str) {
    write_quietly(&untrusted::printable(line));
}

/// A record as a line of JSON on standard error.
pub(crate) fn eprint_json_quietly(record: &impl Serialize) {
    write_quietly(&untrusted::json_line(record).unwrap_or_default());
}

fn write_quietly(line: &str) {
    let mut stderr = io::stderr().lock();
    let _ = io::Write::write_all(&mut stderr, format!("{line}\n").as_bytes());
}

/// The exit code for a wait that timed out on a failed connection; `None` when the connection had
/// been of use, so that something else is to blame.
pub(crate) fn code_of(failure: &ConnectionFailure) -> Option<Code> {
    match failure.cause() {
        _ if failure.was_ready() => None,
        FailureCause::Resolve(_) | FailureCause::Connect(_) => Some(Code::Unreachable),
        _ => Some(Code::Handshake),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match &error {
            Error::Closed if interrupt::requested() => {
                return Failure::stopped();
            }
            Error::TimedOut { last_failure, .. } => last_failure
                .as_deref()
                .and_then(code_of)
                .unwrap_or(Code::TimedOut),
            Error::RequestLost | Error::Unsent(_) => Code::Lost,
            Error::Endpoint(_) | Error::Options(_) => Code::Usage,
            _ => Code::Failed,
        };
        Self::new(code, error.to_string())
    }
}

impl From<EndpointError> for Failure {
    fn from(error: EndpointError) -> Self {
        Error::from(error).into()
    }
}

impl From<KeyFileError> for Failure {
    fn from(error: KeyFileError) -> Self {
        Self::new(Code::Failed, error.to_string())
    }
}
