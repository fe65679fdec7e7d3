//! The events that a connection reports to its owner.

use alloc::string::String;
use alloc::sync::Arc;

use bytes::Bytes;

use crate::keys::PublicKey;
use crate::mechanism::Claim;
use crate::mechanism_type::Mechanism;
use crate::message::Frames;
use crate::socket_type::SocketType;
use crate::wire::metadata::Metadata;

/// What [`Connection::poll_event`](super::Connection::poll_event) gives, in the order it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The peer asks to be let in. Answer with
    /// [`Connection::authorize`](super::Connection::authorize); nothing goes out until then.
    Authorize(Claim),
    /// The handshake is done: messages may be sent.
    Ready(Arc<PeerInfo>),
    /// The peer subscribed to a prefix (local socket PUB or XPUB) or joined a group (RADIO).
    Subscribe(Bytes),
    /// The peer gave a subscription up (local socket PUB or XPUB) or left a group (RADIO).
    Cancel(Bytes),
    /// The peer has dropped this many messages for this side since it last said so. Only where
    /// [`Config::asks_for_missed`](super::Config::asks_for_missed) asks for it. The peer says what it likes.
    Missed(u64),
    /// A whole message, verified where the mechanism can.
    Message(Frames),
    /// Something the user should know and the connection survives.
    Warning(Warning),
}

/// The peer at the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerInfo {
    /// The peer's socket type; it fits the local one.
    pub socket_type: SocketType,
    /// The routing id that the peer claims; empty for none. It proves nothing.
    pub routing_id: Bytes,
    /// Everything the peer says about itself.
    pub metadata: Metadata,
    /// The key that the peer proved to own; `None` with NULL and PLAIN. A client sees the server's.
    pub public_key: Option<PublicKey>,
    /// The key of this side that the handshake was done with: of a server that has several, the one that the
    /// client knows. `None` with NULL and PLAIN.
    pub local_key: Option<PublicKey>,
    /// Whether the peer asks to be told how many messages are dropped for it.
    pub asks_for_missed: bool,
    /// The name that the authenticator gave to the peer.
    pub user_id: Option<String>,
    /// The mechanism of the handshake.
    pub mechanism: Mechanism,
    /// The 0 or 1 of ZMTP 3.0 and 3.1; later versions count as 1.
    pub zmtp_minor: u8,
}

/// Something the user should know.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The data phase does not authenticate the order of frames: someone on the path can drop,
    /// repeat or reorder them unnoticed.
    UnauthenticatedOrder,
    /// The numbers of CURVE's frames may have gaps: someone on the path can drop frames unnoticed,
    /// also parts of a message.
    GapsAccepted,
    /// PLAIN is used over a network: anyone on the path reads the password and all messages. Given by the
    /// code that knows the addresses, not by a [`Connection`](super::Connection).
    PasswordExposed,
    /// Datagrams go over a network: anyone on the path reads and changes them, and anyone can send
    /// in the name of another. Given by the code that sends or receives them.
    DatagramsExposed,
}

impl core::fmt::Display for Warning {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::UnauthenticatedOrder => f.write_str(
                "the continuous keystream is in use: someone on the path can drop, repeat or \
                 reorder frames unnoticed",
            ),
            Self::GapsAccepted => f.write_str(
                "gaps between the numbers of CURVE's frames are accepted: someone on the path can \
                 drop frames unnoticed",
            ),
            Self::PasswordExposed => f.write_str(
                "PLAIN is in use over a network: anyone on the path reads the password and every \
                 message",
            ),
            Self::DatagramsExposed => f.write_str(
                "datagrams go over a network: anyone on the path reads and changes them, and \
                 anyone can send in the name of another",
            ),
        }
    }
}
