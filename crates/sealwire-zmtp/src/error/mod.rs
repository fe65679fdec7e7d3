//! Why a connection ended, who is to blame, and what to do about it.

mod close;
mod config;
mod handshake;
mod refusal;
mod wire;

use alloc::string::String;

use thiserror::Error as ThisError;

pub use self::close::{CloseKind, Step};
pub use self::config::ConfigError;
pub use self::handshake::{HandshakeError, Incompatible};
pub use self::refusal::Refusal;
pub use self::wire::WireError;

/// Why a connection is over.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are not ZMTP, or not as this crate's limits allow.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// Both sides speak ZMTP and still cannot be connected.
    #[error(transparent)]
    Incompatible(#[from] Incompatible),
    /// A handshake command is not what it should be.
    #[error("handshake failed: {0}")]
    Handshake(#[from] HandshakeError),
    /// The local authenticator refused the peer.
    #[error("the peer was refused: {0}")]
    Refused(Refusal),
    /// The peer sent ERROR.
    #[error(
        "the peer refused the connection{}: {reason}{}",
        if *verified { "" } else { " (unverified: anyone on the path can say so)" },
        status_meaning(reason)
    )]
    PeerRefused {
        /// The peer's words, at most 255 bytes before unprintable ones were escaped.
        reason: String,
        /// Whether the words were sealed by the peer. During the handshake they never are.
        verified: bool,
    },
    /// A sealed frame is not what the peer sent.
    #[error(
        "frame {index} did not verify: it was changed, dropped, repeated or reordered on the way{}",
        if *first {
            "; as it is the first one, the peer may also be set to another data phase: check that \
             both sides use the same"
        } else {
            ""
        }
    )]
    FrameNotVerified {
        /// Number of the frame in its direction, counted from 0.
        index: u64,
        /// Whether no frame before it verified, which is how a data phase mismatch shows.
        first: bool,
    },
    /// The frames of one message hold more than the limit.
    #[error("a message would be larger than the limit of {limit} bytes; raise it to accept such")]
    MessageTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// One message has more frames than the limit.
    #[error("a message would have more than the limit of {limit} frames; raise it to accept such")]
    TooManyFrames {
        /// The limit in frames.
        limit: usize,
    },
    /// A direction has used all its nonces.
    #[error("2^64 - 1 frames were sealed under one key; open a new connection")]
    CounterExhausted,
    /// A message that was staged could not be sealed, so neither it nor what was staged after it was sent.
    #[error(
        "a staged message could not be sealed and was not sent: this is a defect of Sealwire, please report it"
    )]
    NotSealed,
    /// The handshake took longer than
    /// [`Config::handshake_timeout`](crate::connection::Config::handshake_timeout).
    #[error("the handshake did not end in time, waiting for {step}")]
    HandshakeTimeout {
        /// The step that was waited for.
        step: Step,
    },
    /// Nothing arrived for as long as the heartbeat settings allow.
    #[error("the peer fell silent: nothing arrived within the heartbeat timeout")]
    HeartbeatTimeout,
    /// The transport ended.
    #[error("{0}")]
    Closed(CloseKind),
    /// The local configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl Error {
    /// Returns who has to change something for the next attempt to succeed.
    pub const fn blame(&self) -> Blame {
        match self {
            Self::Wire(_)
            | Self::Handshake(_)
            | Self::PeerRefused { .. }
            | Self::Refused(_)
            | Self::Incompatible(_)
            | Self::MessageTooLarge { .. }
            | Self::TooManyFrames { .. } => Blame::Peer,
            Self::CounterExhausted | Self::NotSealed | Self::Config(_) => Blame::Local,
            Self::FrameNotVerified { .. }
            | Self::HandshakeTimeout { .. }
            | Self::HeartbeatTimeout
            | Self::Closed(_) => Blame::Network,
        }
    }

    /// The reason that goes to the peer in ERROR, where one is sent.
    pub fn to_peer(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => Some(refusal.reason()),
            Self::Incompatible(Incompatible::SocketTypes { .. }) => {
                Some("the socket types cannot be connected")
            }
            Self::MessageTooLarge { .. } => Some(TOO_LARGE),
            Self::TooManyFrames { .. } => Some(TOO_MANY_FRAMES),
            _ => None,
        }
    }

    /// Returns whether the peer ended the connection for a reason that passes: it is closing, or one message was too much for it.
    /// libzmq's peers say nothing then.
    pub fn is_refusal_that_passes(&self) -> bool {
        let Self::PeerRefused { reason, .. } = self else {
            return false;
        };
        [TOO_LARGE, TOO_MANY_FRAMES, CLOSING].contains(&reason.as_str())
    }
}

/// What a peer is told that comes while the socket is closing.
pub const CLOSING: &str = "the socket is closing";
/// What a peer is told whose message is larger than the limit.
const TOO_LARGE: &str = "message larger than the receiver's limit";
/// What a peer is told whose message has more frames than the limit.
const TOO_MANY_FRAMES: &str = "message has more frames than the receiver's limit";

/// What a status of ZAP (RFC 27) means, where a peer gives that as its reason, as libzmq does.
fn status_meaning(reason: &str) -> &'static str {
    match reason {
        "300" => " (its authenticator has a temporary problem: try again later)",
        "400" => " (its authenticator refuses this key or password)",
        "500" => " (its authenticator failed)",
        _ => "",
    }
}

/// The party that has to change something for the next attempt to succeed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The program or the settings at the other end, or what they say about ours.
    Peer,
    /// The program or the settings at this end.
    Local,
    /// What lies between, or someone who sits there.
    Network,
}
