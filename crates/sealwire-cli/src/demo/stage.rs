//! What the audience sees: headings, facts, hex dumps and checked claims.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use sealwire::{ConnectionFailure, Event, FailureCause, Monitor};

use crate::exit::{Code, Failure};

/// All scenes together take no longer than this, even if everything goes wrong.
const LONGEST: Duration = Duration::from_secs(12);
/// Bytes on a line of a hex dump.
const DUMP_WIDTH: usize = 16;

const HEADING: Style = AnsiColor::Cyan.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const FAINT: Style = Style::new().dimmed();

pub(super) struct Stage {
    out: AutoStream<io::Stdout>,
    begun: Instant,
    scenes: u32,
    broken: Vec<String>,
}

impl Stage {
    pub(super) fn new() -> Self {
        Stage {
            // Without colour when this is not a terminal or NO_COLOR is set.
            out: AutoStream::auto(io::stdout()),
            begun: Instant::now(),
            scenes: 0,
            broken: Vec::new(),
        }
    }

    /// The time that is left for waiting.
    pub(super) fn timeout(&self) -> Duration {
        LONGEST.saturating_sub(self.begun.elapsed())
    }

    /// A new scene begins.
    pub(super) fn scene(&mut self, title: &str) -> Result<(), Failure> {
        self.scenes += 1;
        let number = self.scenes;
        let gap = if number > 1 { "\n" } else { "" };
        self.print(format_args!("{gap}{HEADING}{number}. {title}{HEADING:#}\n"))
    }

    /// A line of explanation.
    pub(super) fn say(&mut self, text: impl Display) -> Result<(), Failure> {
        self.print(format_args!("   {text}\n"))
    }

    /// A name and what belongs to it.
    pub(super) fn fact(&mut self, name: &str, value: impl Display) -> Result<(), Failure> {
        self.print(format_args!("   {FAINT}{name:<18}{FAINT:#} {value}\n"))
    }

    /// Bytes as an eavesdropper sees them, no more than `limit` of them.
    pub(super) fn dump(&mut self, bytes: &[u8], limit: usize) -> Result<(), Failure> {
        let shown = &bytes[..bytes.len().min(limit)];
        for line in shown.chunks(DUMP_WIDTH) {
            let hex: Vec<_> = line.iter().map(|byte| format!("{byte:02x}")).collect();
            let text: String = line.iter().map(|&byte| printable(byte)).collect();
            let width = DUMP_WIDTH * 3 - 1;
            self.print(format_args!(
                "     {:<width$}  {FAINT}{text}{FAINT:#}\n",
                hex.join(" ")
            ))?;
        }
        match bytes.len() - shown.len() {
            0 => Ok(()),
            hidden => self.print(format_args!(
                "     {FAINT}... and {hidden} bytes more{FAINT:#}\n"
            )),
        }
    }

    /// Something that was checked. The show goes on when it does not hold, and fails at its end.
    pub(super) fn claim(&mut self, holds: bool, claim: impl Display) -> Result<(), Failure> {
        if holds {
            return self.print(format_args!("   {GOOD}✓{GOOD:#} {claim}\n"));
        }
        self.broken.push(claim.to_string());
        self.print(format_args!("   {BAD}✗ {claim}{BAD:#}\n"))
    }

    /// The last word.
    pub(super) fn end(mut self) -> Result<(), Failure> {
        let took = self.begun.elapsed();
        if self.broken.is_empty() {
            return self.print(format_args!(
                "\n{GOOD}Everything above was checked as it happened, in {took:.1?}.{GOOD:#}\n\
                 {FAINT}Next: sealwire keygen --help, sealwire rep --help{FAINT:#}\n"
            ));
        }
        let broken = self.broken.join("; ");
        Err(Failure::new(
            Code::Failed,
            format!("these claims did not hold: {broken}"),
        ))
    }

    fn print(&mut self, text: std::fmt::Arguments<'_>) -> Result<(), Failure> {
        self.out
            .write_fmt(text)
            .and_then(|()| self.out.flush())
            .map_err(|error| Failure::output(&error))
    }

    /// Waits until a connection fails for this cause.
    pub(super) fn await_failure(
        &self,
        events: &Monitor,
        what: &str,
        expected: impl Fn(&FailureCause) -> bool,
    ) -> Result<ConnectionFailure, Failure> {
        let deadline = Instant::now() + self.timeout();
        let mut other = None;
        loop {
            match events.wait_next_timeout(deadline.saturating_duration_since(Instant::now())) {
                Some(Event::Failed(failure)) if expected(failure.cause()) => return Ok(failure),
                Some(Event::Failed(failure)) => other = Some(failure),
                Some(_) => {}
                None => {
                    let message = format!("timed out waiting for {what}");
                    return Err(Failure::wait_failed(
                        Code::TimedOut,
                        &message,
                        other.as_ref(),
                    ));
                }
            }
        }
    }
}

fn printable(byte: u8) -> char {
    if byte == b' ' || byte.is_ascii_graphic() {
        char::from(byte)
    } else {
        '.'
    }
}
