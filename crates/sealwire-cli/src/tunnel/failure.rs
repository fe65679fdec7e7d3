//! Why a connection through the tunnel ended before its time.

use std::io;
use std::time::Duration;

use sealwire_tunnel::{HandshakeError, InvalidMessage, PublicKey, Reason};

use crate::output;

/// What went wrong with one connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    #[error("cannot connect to {to}: {error}")]
    Connect { to: String, error: io::Error },
    #[error("{0}")]
    Handshake(InvalidMessage),
    #[error(
        "the server's key is {}, not that of --server-key: another server, or somebody in between",
        hex(.0)
    )]
    WrongServer(Box<PublicKey>),
    #[error("the key {} is not allowed (--allow)", hex(.0))]
    NotAllowed(Box<PublicKey>),
    #[error("cannot tell whether its key is allowed, as some of --allow cannot be read")]
    AllowList,
    #[error("the key {} is not allowed any more (--allow)", hex(.0))]
    Revoked(Box<PublicKey>),
    #[error("refused: {max} connections are under way (--max-connections)")]
    Busy { max: usize },
    #[error("made room for newer ones: {max} handshakes were under way (--max-handshakes)")]
    Displaced { max: usize },
    #[error(
        "made room for newer ones: its address had {max} handshakes under way, a quarter of all"
    )]
    DisplacedByItsOwn { max: usize },
    #[error("made room for newer ones: no file descriptors are left")]
    NoDescriptors,
    #[error("it left during the handshake; perhaps it expected another key than ours, {ours}")]
    LeftHandshake { ours: String },
    #[error("the handshake took longer than {0:?}")]
    HandshakeTimeout(Duration),
    #[error("cut off: the connection ended, and the stream in it did not")]
    CutOff,
    #[error("not authentic: something in between changed, repeated or left out bytes")]
    Forged,
    #[error("one way was closed, and nothing came the other way for {0:?} (--half-closed-timeout)")]
    Idle(Duration),
    #[error("{0}")]
    Told(Reason),
    #[error("the sealed connection broke: {0}")]
    Sealed(io::Error),
    #[error("the plain connection broke: {0}")]
    Plain(io::Error),
    #[error("still under way when the time to finish was over (--grace)")]
    Stopped,
    #[error("a defect of this program ended it; please report it")]
    Defect,
    #[error("{0}")]
    System(String),
}

impl Failed {
    /// For scripts.
    pub(super) const fn cause(&self) -> &'static str {
        match self {
            Failed::Connect { .. } => "connect",
            Failed::Handshake(_) | Failed::LeftHandshake { .. } => "handshake",
            Failed::WrongServer(_) => "wrong_server",
            Failed::NotAllowed(_) | Failed::AllowList => "not_allowed",
            Failed::Revoked(_) => "revoked",
            Failed::Busy { .. }
            | Failed::Displaced { .. }
            | Failed::DisplacedByItsOwn { .. }
            | Failed::NoDescriptors => "limit",
            Failed::HandshakeTimeout(_) | Failed::Idle(_) => "timeout",
            Failed::CutOff => "cut_off",
            Failed::Forged => "forged",
            Failed::Told(reason) => reason.label(),
            Failed::Sealed(_) => "sealed",
            Failed::Plain(_) => "plain",
            Failed::Stopped => "stopped",
            Failed::System(_) | Failed::Defect => "system",
        }
    }

    /// What the peer is told, if there is a channel to tell it through.
    pub(super) const fn reason(&self) -> Option<Reason> {
        match self {
            Failed::NotAllowed(_) | Failed::AllowList | Failed::Revoked(_) => Some(Reason::Refused),
            Failed::Busy { .. } => Some(Reason::Busy),
            Failed::Connect { .. } => Some(Reason::Unreachable),
            Failed::Plain(_) | Failed::Idle(_) | Failed::System(_) => Some(Reason::Broken),
            Failed::Stopped => Some(Reason::Stopped),
            _ => None,
        }
    }

    /// Whether it is what programs do to each other all the time, and is told with `-v` only.
    pub(super) const fn is_ordinary(&self) -> bool {
        matches!(self, Failed::Plain(_) | Failed::Told(Reason::Broken))
    }
}

impl From<HandshakeError> for Failed {
    fn from(error: HandshakeError) -> Self {
        match error {
            HandshakeError::Invalid(error) => Failed::Handshake(error),
            HandshakeError::OtherListener(key) => Failed::WrongServer(key),
            // Of a later version of the protocol.
            error => Failed::System(error.to_string()),
        }
    }
}

pub(super) fn hex(key: &PublicKey) -> String {
    output::hex(&key.to_bytes())
}
