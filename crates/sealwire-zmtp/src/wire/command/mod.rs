//! Commands: a name and its data, in the body of a frame with the flag COMMAND.
//!
//! Source: ZMTP 3.1 (RFC 37), "commands". The layout of handshake commands is with their mechanism;
//! here are the commands that every mechanism has.
//!
//! ```text
//! +-------------+------+------+
//! | name length | name | data |
//! | 1           |      |      |
//! +-------------+------+------+
//! ```

pub mod error;
pub mod heartbeat;
pub mod missed;
pub mod subscription;

use alloc::string::String;
use alloc::vec::Vec;

use self::heartbeat::{Ping, Pong};
use super::frame::{COMMAND, Header};
use crate::error::WireError;

/// A command that may come at any time after the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// The peer wants messages that begin with this.
    Subscribe(&'a [u8]),
    /// The peer gives such a subscription up.
    Cancel(&'a [u8]),
    /// The peer joins a group; see [`subscription::group`] for what is a name.
    Join(&'a [u8]),
    /// The peer leaves a group.
    Leave(&'a [u8]),
    /// The peer asks for a sign of life.
    Ping(Ping<'a>),
    /// The answer to PING.
    Pong(Pong<'a>),
    /// The peer has dropped messages for this side; see [`missed`] for the data, which matter where it was asked.
    Missed(&'a [u8]),
    /// The peer says why it ends the connection; escaped.
    Error(String),
    /// Any other command. ZMTP lets peers add their own.
    Unknown,
}

impl<'a> Command<'a> {
    /// Reads the body of a command frame.
    ///
    /// # Errors
    ///
    /// [`WireError::TruncatedCommand`] without a whole name, [`WireError::MalformedCommand`] when
    /// the data are not what the name asks for.
    pub fn parse(body: &'a [u8]) -> Result<Self, WireError> {
        let (name, data) = split(body)?;
        Ok(match name {
            subscription::SUBSCRIBE => Self::Subscribe(data),
            subscription::CANCEL => Self::Cancel(data),
            subscription::JOIN => Self::Join(data),
            subscription::LEAVE => Self::Leave(data),
            heartbeat::PING => Self::Ping(Ping::parse(data)?),
            heartbeat::PONG => Self::Pong(Pong::parse(data)?),
            missed::NAME => Self::Missed(data),
            error::NAME => Self::Error(error::parse(data)?),
            _ => Self::Unknown,
        })
    }
}

/// Splits the body of a command frame into name and data.
///
/// # Errors
///
/// [`WireError::TruncatedCommand`] without a whole name.
pub fn split(body: &[u8]) -> Result<(&[u8], &[u8]), WireError> {
    let (len, rest) = body.split_first().ok_or(WireError::TruncatedCommand)?;
    rest.split_at_checked(usize::from(*len))
        .ok_or(WireError::TruncatedCommand)
}

/// The body of a command frame: the name, then the parts of its data.
pub(crate) fn body(name: &[u8], data: &[&[u8]]) -> Vec<u8> {
    let mut body =
        Vec::with_capacity(1 + name.len() + data.iter().map(|part| part.len()).sum::<usize>());
    body.push(name.len() as u8);
    body.extend_from_slice(name);
    data.iter().for_each(|part| body.extend_from_slice(part));
    body
}

/// A command frame up to its data, with room for these: `size` bytes have to be appended.
pub(crate) fn begin(name: &[u8], size: usize) -> Vec<u8> {
    let header = Header::new(COMMAND, 1 + name.len() + size);
    let mut frame = Vec::with_capacity(header.size() + 1 + name.len() + size);
    frame.extend_from_slice(&header.encode());
    frame.push(name.len() as u8);
    frame.extend_from_slice(name);
    frame
}

/// A whole command frame, flags and length included.
pub(crate) fn frame(name: &[u8], data: &[&[u8]]) -> Vec<u8> {
    let mut frame = begin(name, data.iter().map(|part| part.len()).sum());
    data.iter().for_each(|part| frame.extend_from_slice(part));
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_select_and_unknown_ones_are_let_through() {
        assert_eq!(
            Command::parse(b"\x09SUBSCRIBEab"),
            Ok(Command::Subscribe(b"ab"))
        );
        assert_eq!(Command::parse(b"\x06CANCEL"), Ok(Command::Cancel(b"")));
        assert_eq!(
            Command::parse(b"\x04JOINgroup"),
            Ok(Command::Join(b"group"))
        );
        assert_eq!(Command::parse(b"\x05LEAVEg"), Ok(Command::Leave(b"g")));
        assert_eq!(Command::parse(b"\x06MISSED1"), Ok(Command::Missed(b"1")));
        assert_eq!(Command::parse(b"\x05OTHER"), Ok(Command::Unknown));
        assert_eq!(Command::parse(b"\x00"), Ok(Command::Unknown));
        for cut in [&b""[..], b"\x09SUBSCRIB"] {
            assert_eq!(Command::parse(cut), Err(WireError::TruncatedCommand));
        }
    }

    #[test]
    fn a_frame_is_header_and_body() {
        assert_eq!(frame(b"READY", &[b"a", b"b"]), b"\x04\x08\x05READYab");
    }
}
