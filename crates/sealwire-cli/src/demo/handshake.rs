//! The handshake, read from the recorded bytes.

use std::ops::Range;

use super::mechanism::DemoMechanism;
use super::relay::Recording;
use super::stage::Stage;
use crate::exit::{Code, Failure};

/// Size of the greeting, in bytes.
const GREETING: usize = 64;
/// Where the greeting names the mechanism, filled up with zeros.
const MECHANISM: Range<usize> = 12..32;
const LONG: u8 = 0x02;

/// A frame as it stands in a recording.
pub(super) struct WireFrame<'a> {
    /// Flags, length and body.
    pub(super) whole: &'a [u8],
    pub(super) body: &'a [u8],
}

impl WireFrame<'_> {
    /// The name that a handshake command starts with.
    fn command(&self) -> Option<&str> {
        let (&length, rest) = self.body.split_first()?;
        std::str::from_utf8(rest.get(..usize::from(length))?).ok()
    }
}

/// What one side sent: its greeting, then frames.
pub(super) struct Sent<'a> {
    greeting: &'a [u8],
    pub(super) frames: Vec<WireFrame<'a>>,
}

impl<'a> Sent<'a> {
    /// `None` when this is not ZMTP, or ends within a frame.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (greeting, mut rest) = bytes.split_at_checked(GREETING)?;
        let mut frames = Vec::new();
        while !rest.is_empty() {
            let header = if rest[0] & LONG == 0 { 2 } else { 9 };
            let length = rest
                .get(1..header)?
                .iter()
                .fold(0, |sum, &byte| sum << 8 | u64::from(byte));
            let end = header.checked_add(usize::try_from(length).ok()?)?;
            let (whole, behind) = rest.split_at_checked(end)?;
            frames.push(WireFrame {
                whole,
                body: &whole[header..],
            });
            rest = behind;
        }
        Some(Sent { greeting, frames })
    }

    /// Whether the greeting is one, and names this mechanism.
    fn announces(&self, mechanism: &str) -> bool {
        let named = self.greeting[MECHANISM].strip_prefix(mechanism.as_bytes());
        self.greeting[0] == 0xff && named.is_some_and(|rest| rest.iter().all(|&byte| byte == 0))
    }
}

/// Lists greetings and commands with their sizes.
pub(super) fn show(
    stage: &mut Stage,
    recording: &Recording,
    mechanism: DemoMechanism,
) -> Result<(), Failure> {
    stage.scene("The handshake, as it passed through the relay")?;
    let unreadable = || Failure::new(Code::Failed, "the recorded bytes are not ZMTP");
    let client = Sent::parse(&recording.to_server).ok_or_else(unreadable)?;
    let server = Sent::parse(&recording.to_client).ok_or_else(unreadable)?;
    stage.say(format_args!(
        "{:<18} {:<10}{:>6}",
        "direction", "message", "bytes"
    ))?;
    let mut greetings = true;
    for (arrow, sent) in [("alice -> server", &client), ("server -> alice", &server)] {
        greetings &= sent.announces(mechanism.name());
        stage.fact(
            arrow,
            format_args!(
                "{:<10}{GREETING:>6}  ZMTP 3.1, {}",
                "greeting",
                mechanism.name()
            ),
        )?;
    }
    let mut as_specified = true;
    for (index, step) in mechanism.steps().iter().enumerate() {
        let (arrow, sent) = match step.from_client {
            true => ("alice -> server", &client),
            false => ("server -> alice", &server),
        };
        let frame = sent.frames.get(index / 2).ok_or_else(unreadable)?;
        let metadata = frame.body.len().checked_sub(step.size);
        as_specified &= frame.command() == Some(step.name)
            && metadata.is_some_and(|metadata| step.metadata == (metadata > 0));
        let size = match metadata {
            Some(metadata) if step.metadata => {
                format!(" ({metadata} of them metadata)")
            }
            _ => String::new(),
        };
        let (name, length) = (step.name, frame.body.len());
        stage.fact(
            arrow,
            format_args!("{name:<10}{length:>6}  {}{size}", step.carries),
        )?;
    }
    stage.claim(
        greetings,
        format_args!("both greetings announce the mechanism {}", mechanism.name()),
    )?;
    stage.claim(
        as_specified,
        "the commands have the sizes of the specification",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_split() {
        let mut bytes = vec![0; GREETING];
        bytes.extend_from_slice(b"\x04\x06\x05READY");
        bytes.extend_from_slice(b"\x02\0\0\0\0\0\0\0\x03abc");
        let sent = Sent::parse(&bytes).unwrap();
        assert_eq!(sent.frames[0].command(), Some("READY"));
        assert_eq!(sent.frames[1].body, b"abc");
        assert!(Sent::parse(&bytes[..bytes.len() - 1]).is_none());
        assert!(Sent::parse(&bytes[..10]).is_none());
        assert!(!sent.announces("NULL"));
        bytes[0] = 0xff;
        bytes[12..16].copy_from_slice(b"NULL");
        let sent = Sent::parse(&bytes).unwrap();
        assert!(sent.announces("NULL") && !sent.announces("NUL"));
    }
}
