//! Messages to send: from the command line, or from standard input.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use sealwire::{Frame, Message};

use super::options::InputOptions;
use crate::exit::{Code, Failure};
use crate::interrupt;
use crate::service::given_up;

/// Gives one message after the other.
pub(crate) struct Input {
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

    /// A message per line of standard input.
    pub(crate) fn lines() -> Self {
        Input {
            source: InputKind::Lines,
            remaining: None,
            interval: None,
            begun: false,
        }
    }

    /// Whether all that is to be sent is known, so that nobody has to be waited for.
    pub(super) fn is_finite(&self) -> bool {
        matches!(self.source, InputKind::Fixed(_)) && self.remaining.is_some()
    }

    /// The next message, after the interval; `None` when there is none, and once the program is to stop.
    pub(crate) fn next(&mut self) -> Result<Option<Message>, Failure> {
        if let (true, Some(interval)) = (self.begun, self.interval) {
            interrupt::sleep(interval);
        }
        if interrupt::requested() && self.accepted_lines() == 0 {
            return Ok(None);
        }
        self.take()
    }

    /// The next answer, also to requests that came before the program was to stop.
    pub(super) fn next_answer(&mut self) -> Result<Option<Message>, Failure> {
        if let (true, Some(interval)) = (self.begun, self.interval) {
            interrupt::sleep(interval);
        }
        self.take()
    }

    /// Lines that were read from standard input and not taken yet.
    fn accepted_lines(&self) -> u64 {
        match self.source {
            InputKind::Lines => {
                let reader = STDIN.lock().unwrap_or_else(PoisonError::into_inner);
                let ends = reader.buffer().iter().filter(|byte| **byte == b'\n');
                self.remaining.unwrap_or(u64::MAX).min(ends.count() as u64)
            }
            _ => 0,
        }
    }

    fn take(&mut self) -> Result<Option<Message>, Failure> {
        if self.remaining == Some(0) {
            return Ok(None);
        }
        self.begun = true;
        let message = match &self.source {
            InputKind::Fixed(message) => Some(message.clone()),
            InputKind::Lines => read_line()?,
            InputKind::Whole => read_everything()?,
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

impl Drop for Input {
    /// Counts the messages of the command line, and the lines that were read, that are left.
    fn drop(&mut self) {
        if interrupt::requested() {
            let left = match self.is_finite() {
                true => self.remaining.unwrap_or(0),
                false => self.accepted_lines(),
            };
            given_up::count(given_up::Kind::Unsent, left);
        }
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

/// A line without its end; `None` behind the last, and where the program is to stop before its end came.
fn read_line() -> Result<Option<Message>, Failure> {
    let mut line = Vec::new();
    let ended = read_on(&mut line, |bytes| {
        bytes
            .iter()
            .position(|byte| *byte == b'\n')
            .map(|end| end + 1)
    })?;
    if !ended || line.is_empty() {
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

/// All there is; `None` where the program is to stop before the end came.
fn read_everything() -> Result<Option<Message>, Failure> {
    let mut bytes = Vec::new();
    let ended = read_on(&mut bytes, |_| None)?;
    Ok(ended.then(|| bytes.into()))
}

/// Reads to the end, or to where `end` finds one. Whether it came there before the program was to stop.
fn read_on(into: &mut Vec<u8>, end: impl Fn(&[u8]) -> Option<usize>) -> Result<bool, Failure> {
    let mut reader = STDIN.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if reader.buffer().is_empty() && !interrupt::input::wait().map_err(|e| unreadable(&e))? {
            return Ok(false);
        }
        let bytes = match reader.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(&error)),
        };
        let found = end(bytes);
        let (is_end, count) = (
            bytes.is_empty() || found.is_some(),
            found.unwrap_or(bytes.len()),
        );
        into.extend_from_slice(&bytes[..count]);
        reader.consume(count);
        if is_end {
            return Ok(true);
        }
    }
}

/// Standard input, with a buffer of which it is known whether something is in it.
static STDIN: LazyLock<Mutex<BufReader<interrupt::input::Unbuffered>>> =
    LazyLock::new(|| Mutex::new(BufReader::new(interrupt::input::unbuffered())));

fn unreadable(error: &io::Error) -> Failure {
    Failure::new(Code::Failed, format!("cannot read standard input: {error}"))
}
