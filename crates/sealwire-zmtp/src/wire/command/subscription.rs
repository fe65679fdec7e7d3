//! SUBSCRIBE and CANCEL, the messages that stood for them in ZMTP 3.0, and JOIN and LEAVE, their
//! counterparts for the groups of RADIO and DISH (RFC 48).
//!
//! Source: ZMTP 3.1 (RFC 37), "subscribe" and "cancel"; ZMTP 3.0 (RFC 23) sends a message of one
//! frame instead, whose first byte is 1 or 0. Peers of either version may send either form.

use crate::error::WireError;
use crate::limits::MAX_GROUP;

/// The name of SUBSCRIBE.
pub const SUBSCRIBE: &[u8] = b"SUBSCRIBE";
/// The name of CANCEL.
pub const CANCEL: &[u8] = b"CANCEL";
/// The name of JOIN.
pub const JOIN: &[u8] = b"JOIN";
/// The name of LEAVE.
pub const LEAVE: &[u8] = b"LEAVE";

/// Checks the data of JOIN or LEAVE (`command`): the name of a group has 1 to 255 bytes. Only a
/// RADIO has to look; to others the commands mean nothing.
///
/// # Errors
///
/// [`WireError::MalformedCommand`] for any other size.
pub fn group<'a>(name: &'a [u8], command: &'static str) -> Result<&'a [u8], WireError> {
    if name.is_empty() || name.len() > MAX_GROUP {
        return Err(WireError::MalformedCommand { command });
    }
    Ok(name)
}

/// First byte of a message that subscribes.
pub const MESSAGE_SUBSCRIBE: u8 = 1;
/// First byte of a message that cancels.
pub const MESSAGE_CANCEL: u8 = 0;

/// Whether a subscription begins or ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It begins.
    Subscribe,
    /// It ends.
    Cancel,
}

impl Change {
    /// The name of the command (ZMTP 3.1).
    pub const fn command(self) -> &'static [u8] {
        match self {
            Self::Subscribe => SUBSCRIBE,
            Self::Cancel => CANCEL,
        }
    }

    /// The name of the command for groups (RFC 48).
    pub const fn group_command(self) -> &'static [u8] {
        match self {
            Self::Subscribe => JOIN,
            Self::Cancel => LEAVE,
        }
    }

    /// The first byte of the message (ZMTP 3.0).
    pub const fn message_byte(self) -> u8 {
        match self {
            Self::Subscribe => MESSAGE_SUBSCRIBE,
            Self::Cancel => MESSAGE_CANCEL,
        }
    }

    /// Reads the message form: the change, and that its topic is what follows the first byte.
    pub fn from_message(payload: &[u8]) -> Option<Self> {
        match *payload.first()? {
            MESSAGE_SUBSCRIBE => Some(Self::Subscribe),
            MESSAGE_CANCEL => Some(Self::Cancel),
            _ => None,
        }
    }
}
