//! What a peer does that the protocol does not allow.

use sealwire::account::Kind;

/// The peer does not speak the protocol: its connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Violation {
    #[error("a message is shorter than its fixed part")]
    Truncated,
    #[error("unknown kind of message {0}")]
    UnknownKind(u8),
    #[error("a message with the number {0}, which its kind cannot have")]
    Number(u32),
    #[error("the first message is not SETTINGS")]
    NoSettings,
    #[error("SETTINGS a second time")]
    SettingsAgain,
    #[error("version {0} of the protocol, which is not known here")]
    Version(u8),
    #[error("a request with a number of this side, or one in use")]
    NotItsNumber,
    #[error("an answer to a call that is not open")]
    NothingAsked,
    #[error("more messages, or bytes of them, than were asked for")]
    BeyondCredit,
    #[error("more calls at a time, or bytes of them, than are allowed")]
    BeyondCalls,
    #[error("a body where there is none")]
    UnexpectedBody,
    #[error("nothing that was sent is read")]
    NotRead,
    #[error("calls that were given up are not answered")]
    NotAnswered,
    #[error("a body larger than the limit")]
    TooLarge,
    #[error("metadata that is not made as it should be")]
    Metadata,
    #[error("metadata with more entries, or bytes, than the limit")]
    MetadataTooLarge,
}

impl Violation {
    /// What there was too much of.
    pub(crate) fn kind(self) -> Option<Kind> {
        match self {
            Violation::BeyondCredit => Some(Kind::Unhandled),
            Violation::BeyondCalls => Some(Kind::Requests),
            _ => None,
        }
    }

    /// For the monitors of both sides.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Violation::Version(_) => "rpc: no common version of the protocol",
            Violation::TooLarge => "rpc: a body larger than the limit",
            Violation::MetadataTooLarge => "rpc: metadata larger than the limit",
            Violation::BeyondCredit => "rpc: more messages than were asked for",
            Violation::BeyondCalls => "rpc: more calls at a time than are allowed",
            Violation::NotRead => "rpc: answers are not read",
            Violation::NotAnswered => "rpc: calls that were given up are not answered",
            _ => "rpc: protocol violated",
        }
    }
}
