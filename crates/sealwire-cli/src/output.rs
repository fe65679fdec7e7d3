//! Received messages on standard output, in the form that was asked for.

use std::io::{self, BufWriter, IsTerminal as _, StdoutLock, Write};

use clap::ValueEnum;
use sealwire::{Frame, Mechanism, Message, Peer};
use serde::Serialize;

use crate::exit::Failure;
use crate::untrusted;

/// How received messages are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Frames as they are, a tab between them, a line per message; on a terminal with control characters
    /// escaped.
    Text,
    /// Frames as they are, with nothing between or behind: for files.
    Raw,
    /// Frames in hexadecimal, a space between them.
    Hex,
    /// Frames in quotes with unprintable bytes escaped, a space between them.
    Quoted,
    /// A JSON object per message: its frames and who sent it.
    Jsonl,
}

/// Prints messages; buffered until [`flush`](Printer::flush).
pub(crate) struct Printer {
    format: Format,
    /// Frames in front that are not printed.
    hidden: usize,
    to_terminal: bool,
    out: BufWriter<StdoutLock<'static>>,
}

impl Printer {
    pub(crate) fn new(format: Format) -> Self {
        let out = io::stdout().lock();
        Printer {
            format,
            hidden: 0,
            to_terminal: out.is_terminal(),
            out: BufWriter::new(out),
        }
    }

    /// Leaves this number of frames in front of each message out.
    pub(crate) fn hiding(mut self, frames: usize) -> Self {
        self.hidden = frames;
        self
    }

    pub(crate) fn print(&mut self, message: &Message) -> Result<(), Failure> {
        let shown = message.frames().get(self.hidden..).unwrap_or_default();
        let shown = Shown {
            frames: shown,
            peer: message.peer().map(|peer| &**peer),
        };
        write_message(&mut self.out, self.format, &shown, self.to_terminal)
            .map_err(|error| Failure::output(&error))
    }

    /// Whether JSON is wanted.
    pub(crate) fn is_json(&self) -> bool {
        self.format == Format::Jsonl
    }

    /// Prints a record as a line of JSON, in place of a message.
    pub(crate) fn print_record(&mut self, record: &impl Serialize) -> Result<(), Failure> {
        let printed = untrusted::json_line(record)
            .map_err(io::Error::from)
            .and_then(|line| writeln!(self.out, "{line}"));
        printed.map_err(|error| Failure::output(&error))
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.out.flush().map_err(|error| Failure::output(&error))
    }
}

/// The part of a message that is printed.
struct Shown<'a> {
    frames: &'a [Frame],
    peer: Option<&'a Peer>,
}

fn write_message(
    out: &mut impl Write,
    format: Format,
    message: &Shown<'_>,
    to_terminal: bool,
) -> io::Result<()> {
    let separator = match format {
        Format::Jsonl => return write_json(out, message),
        Format::Raw => "",
        Format::Text => "\t",
        Format::Hex | Format::Quoted => " ",
    };
    for (index, frame) in message.frames.iter().enumerate() {
        if index > 0 {
            out.write_all(separator.as_bytes())?;
        }
        match format {
            Format::Hex => out.write_all(hex(frame).as_bytes())?,
            Format::Quoted => write!(out, "\"{}\"", frame.escape_ascii())?,
            Format::Text => untrusted::write_message(out, frame, to_terminal)?,
            _ => out.write_all(frame)?,
        }
    }
    match format {
        Format::Raw => Ok(()),
        _ => out.write_all(b"\n"),
    }
}

/// What `jsonl` prints.
#[derive(Serialize)]
struct MessageRecord<'a> {
    frames: Vec<FrameRecord<'a>>,
    bytes: usize,
    peer: Option<PeerRecord<'a>>,
}

/// `{"text": "..."}` when the frame is UTF-8, else `{"hex": "..."}`.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FrameRecord<'a> {
    Text(&'a str),
    Hex(String),
}

impl<'a> From<&'a [u8]> for FrameRecord<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => FrameRecord::Text(text),
            Err(_) => FrameRecord::Hex(hex(bytes)),
        }
    }
}

#[derive(Serialize)]
struct PeerRecord<'a> {
    address: String,
    public_key: Option<String>,
    user_id: Option<&'a str>,
    mechanism: Option<&'static str>,
    socket_type: &'static str,
    connection: u64,
}

fn write_json(out: &mut impl Write, message: &Shown<'_>) -> io::Result<()> {
    let record = MessageRecord {
        frames: message
            .frames
            .iter()
            .map(|frame| FrameRecord::from(&frame[..]))
            .collect(),
        bytes: message.frames.iter().map(|frame| frame.len()).sum(),
        peer: message.peer.map(|peer| PeerRecord {
            address: peer.address().to_string(),
            public_key: peer.public_key().map(|key| key.to_string()),
            user_id: peer.user_id(),
            mechanism: peer.mechanism().map(Mechanism::name),
            socket_type: peer.socket_type().name(),
            connection: peer.connection(),
        }),
    };
    writeln!(out, "{}", untrusted::json_line(&record)?)
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(format: Format, message: &Message, to_terminal: bool) -> Vec<u8> {
        let mut out = Vec::new();
        let shown = Shown {
            frames: message.frames(),
            peer: None,
        };
        write_message(&mut out, format, &shown, to_terminal).unwrap();
        out
    }

    fn printed(format: Format) -> Vec<u8> {
        let message = Message::multipart([&b"ab"[..], b"", b"\xff\n\""]);
        write(format, &message, false)
    }

    #[test]
    fn a_terminal_gets_no_control_characters_unless_they_are_asked_for() {
        let message = Message::multipart(["\u{1b}[2J", "\u{9b}x"]);
        for format in [Format::Text, Format::Hex, Format::Quoted, Format::Jsonl] {
            let shown = String::from_utf8(write(format, &message, true)).unwrap();
            let harmless = |c: char| !c.is_control() || matches!(c, '\t' | '\n');
            assert!(shown.chars().all(harmless), "{format:?}: {shown:?}");
        }
        let raw = write(Format::Raw, &message, true);
        assert_eq!(raw, "\u{1b}[2J\u{9b}x".as_bytes());
    }

    #[test]
    fn each_format() {
        assert_eq!(printed(Format::Text), b"ab\t\t\xff\n\"\n");
        assert_eq!(printed(Format::Raw), b"ab\xff\n\"");
        assert_eq!(printed(Format::Hex), b"6162  ff0a22\n");
        assert_eq!(printed(Format::Quoted), b"\"ab\" \"\" \"\\xff\\n\\\"\"\n");
        assert_eq!(
            printed(Format::Jsonl),
            b"{\"frames\":[{\"text\":\"ab\"},{\"text\":\"\"},{\"hex\":\"ff0a22\"}],\
              \"bytes\":5,\"peer\":null}\n"
        );
    }
}
