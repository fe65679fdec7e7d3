//! Messages to send: from the command line, or from standard input.

use std::fs;
use std::io::{self, BufRead as _, Read as _, StdinLock};
use std::path::Path;
use std::thread;
use std::time::Duration;

use sealwire::{Frame, Message};

use super::options::InputOptions;
use crate::exit::{Code, Failure};

/// Gives one message after the other.
pub(super) struct Input {
    source: InputKind,
    /// How many more there may be; `None` for no limit.
    remaining: Option<u64>,
    interval: Option<Duration>,
    begun: bool,
}

enum InputKind {
    /// The same message each time.
    Fixed(Message),
    /// A message per line.
    Lines,
    /// One message, all there is.
    Whole,
    Exhausted,
}

impl Input {
    /// `count` limits how many messages come; a message of the command line comes once without
    /// it, and for ever with a count of 0.
    pub(super) fn new(options: &InputOptions, count: Option<u64>) -> Result<Self, Failure> {
        let (source, remaining) = if options.is_given() {
            (InputKind::Fixed(fixed_message(options)?), count.or(Some(1)))
        } else if options.raw {
            (InputKind::Whole, Some(1))
        } else {
            (InputKind::Lines, count)
        };
        let remaining = remaining.filter(|&count| count > 0);
        Ok(Input {
            source,
            remaining,
            interval: options.interval,
            begun: false,
        })
    }

    /// Whether all that is to be sent is known, so that nobody has to be waited for.
    pub(super) fn is_finite(&self) -> bool {
        matches!(self.source, InputKind::Fixed(_)) && self.remaining.is_some()
    }

    /// The next message, after the interval; `None` when there is none.
    pub(super) fn next(&mut self) -> Result<Option<Message>, Failure> {
        if self.remaining == Some(0) {
            return Ok(None);
        }
        if let (true, Some(interval)) = (self.begun, self.interval) {
            thread::sleep(interval);
        }
        self.begun = true;
        let message = match &self.source {
            InputKind::Fixed(message) => Some(message.clone()),
            InputKind::Lines => read_line(&mut io::stdin().lock())?,
            InputKind::Whole => Some(read_everything()?),
            InputKind::Exhausted => None,
        };
        if message.is_none() {
            self.source = InputKind::Exhausted;
        }
        if let Some(remaining) = &mut self.remaining {
            *remaining -= 1;
        }
        Ok(message)
    }
}

/// The frames of --data, then those of --file.
pub(super) fn fixed_message(options: &InputOptions) -> Result<Message, Failure> {
    let mut message: Message = options
        .data
        .iter()
        .map(|text| Frame::from(&**text))
        .collect();
    for path in &options.file {
        message.push_back(read_file(path)?);
    }
    Ok(message)
}

fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| {
        Failure::new(
            Code::Failed,
            format!("cannot read {}: {error}", path.display()),
        )
    })
}

/// A line without its end.
fn read_line(stdin: &mut StdinLock<'_>) -> Result<Option<Message>, Failure> {
    let mut line = Vec::new();
    if stdin
        .read_until(b'\n', &mut line)
        .map_err(|error| unreadable(&error))?
        == 0
    {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
    }
    Ok(Some(line.into()))
}

fn read_everything() -> Result<Message, Failure> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(&error))?;
    Ok(bytes.into())
}

fn unreadable(error: &io::Error) -> Failure {
    Failure::new(Code::Failed, format!("cannot read standard input: {error}"))
}
