//! The errors that the caller of a socket gets. Faults of a connection are not here: the socket
//! goes on without that peer, and says so through its [monitor](crate::Monitor).

use std::fmt;
use std::time::Duration;

use sealwire_zmtp::SocketType;

use crate::endpoint::{Endpoint, EndpointError};
use crate::failure::ConnectionFailure;
use crate::message::{AddressError, Message};
use crate::options::OptionsError;
use crate::transport::{ListenerError, MAX_DATAGRAM};

/// A socket operation failed.
///
/// | to blame | variants |
/// |---|---|
/// | nobody: try again, or wait | [`WouldBlock`](Error::WouldBlock), [`TimedOut`](Error::TimedOut), [`Interrupted`](Error::Interrupted) |
/// | nobody: the work is done | [`Drained`](Error::Drained) |
/// | the caller | [`Closed`](Error::Closed), [`Forked`](Error::Forked), [`Unsupported`](Error::Unsupported), [`State`](Error::State), [`Message`](Error::Message), [`RoutingIdInUse`](Error::RoutingIdInUse), [`Limit`](Error::Limit) |
/// | what the caller set up | [`Endpoint`](Error::Endpoint), [`UnusableEndpoint`](Error::UnusableEndpoint), [`UnknownEndpoint`](Error::UnknownEndpoint), [`Listener`](Error::Listener), [`Options`](Error::Options) |
/// | a peer, or the way to it | [`Unroutable`](Error::Unroutable), [`RequestLost`](Error::RequestLost), [`GaveUp`](Error::GaveUp), [`Unsent`](Error::Unsent) |
/// | the system | [`Bind`](Error::Bind), [`Connect`](Error::Connect), [`System`](Error::System) |
/// | this library | [`EngineFailed`](Error::EngineFailed) |
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing could be done at once; `try_` methods only.
    #[error("nothing can be sent or received now: try again later, or use a call that waits")]
    WouldBlock,
    /// The time limit ran out. The last failure of a connection often says why.
    #[error("{} within {limit:?}{}", Awaited(*.operation, *.presence), Because(*.operation, *.presence, .last_failure))]
    TimedOut {
        /// The operation that waited.
        operation: Operation,
        /// How long.
        limit: Duration,
        /// Which peers were there in the end.
        presence: Presence,
        /// The latest failed connection of this socket that has not been made good since.
        last_failure: Option<Box<ConnectionFailure>>,
    },
    /// A signal handler ran, and the socket was made to tell
    /// ([`interruptible`](crate::SocketBuilder::interruptible)). Nothing was sent or received, so the call can
    /// be repeated; `EINTR` of the system's calls.
    #[error("a signal handler ran: nothing was sent or received, and the call can be repeated")]
    Interrupted,
    /// The socket was closed, here or through another handle.
    #[error("the socket is closed")]
    Closed,
    /// The socket was [drained](crate::Socket::drain): everything that came from its peers has been received,
    /// and it takes no new ones.
    #[error("the socket was drained: all that its peers sent has been received{}", CutOff(*.cut_off))]
    Drained {
        /// Connections whose end did not come within the time limit, or came in the middle of a message: what was on
        /// its way over them is lost.
        cut_off: usize,
    },
    /// The socket or context was made before a fork, and this is the child. Make new ones there:
    /// the parent goes on with its own.
    #[error("this was made before the process forked; make new contexts and sockets in the child")]
    Forked,
    /// The thread of the context has ended by a fault: the system refused to poll, or this library
    /// panicked. The log says which. Sockets of other contexts go on, and so do new ones of the
    /// global context, which is made anew.
    #[error(
        "the I/O thread of the context ended by a fault, which the log names: make a new context"
    )]
    EngineFailed,
    /// The socket type has no such operation.
    #[error("{0}")]
    Unsupported(Operation),
    /// The operation is not allowed in this state: REQ and REP alternate.
    #[error(transparent)]
    State(#[from] StateError),
    /// The peer that had the request went away before it answered. It may have acted on it.
    /// The socket is ready for the next request.
    #[error("the peer went away before it answered; the request may have been carried out")]
    RequestLost,
    /// ROUTER with `router_mandatory`, STREAM, SERVER, PEER: no peer has this routing id.
    #[error("no peer has the routing id {}", Hex(.0))]
    Unroutable(Vec<u8>),
    /// [`connect_with_routing_id`](crate::Socket::connect_with_routing_id): another peer of this socket has it.
    #[error("another peer has the routing id {}: choose one that no peer has", Hex(.0))]
    RoutingIdInUse(Vec<u8>),
    /// The message has a shape that the socket type does not send.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The socket, as it is made, cannot use the endpoint.
    #[error("{}", Unfit(.endpoint, *.socket_type, .reason))]
    UnusableEndpoint {
        /// The type of the socket.
        socket_type: SocketType,
        /// Where it was to bind or connect to.
        endpoint: Endpoint,
        /// Why it cannot.
        reason: Unusable,
    },
    /// A bound that protects this process was reached.
    #[error("the limit of {0} is reached: remove some before adding more")]
    Limit(&'static str),
    /// The endpoint could not be understood.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// A listening socket that was opened elsewhere cannot be used.
    #[error(transparent)]
    Listener(#[from] ListenerError),
    /// The options contradict each other or the socket type.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// Binding failed.
    #[error("cannot bind to {endpoint}: {source}")]
    Bind {
        /// The endpoint that was to be bound.
        endpoint: Endpoint,
        /// What the system said.
        source: std::io::Error,
    },
    /// A `udp` endpoint cannot be sent to: its name does not resolve, or its interface is not there.
    #[error("cannot connect to {endpoint}: {source}")]
    Connect {
        /// The endpoint that was to be connected to.
        endpoint: Endpoint,
        /// What the system said.
        source: std::io::Error,
    },
    /// `unbind` or `disconnect` of something this socket is not bound or connected to.
    #[error(
        "the socket is neither bound nor connected to {0}: give the endpoint as bind returned it"
    )]
    UnknownEndpoint(Endpoint),
    /// The endpoint that a connection was awaited to was disconnected, or is not tried any more
    /// because of [`ReconnectStop`](crate::options::ReconnectStop).
    #[error(
        "the socket stopped connecting: the endpoint was disconnected, or reconnect_stop applies"
    )]
    GaveUp,
    /// Closing gave up when the linger time was over.
    #[error(
        "{0} messages were not sent within the linger time: raise linger, or see why no peer takes them"
    )]
    Unsent(usize),
    /// The system refused something that a context needs (threads, polling).
    #[error("the system refused a thread or a file descriptor: {0}")]
    System(#[from] std::io::Error),
}

/// An [`Endpoint`] given as such needs no parsing.
impl From<std::convert::Infallible> for Error {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

/// What the caller wanted to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Operation {
    /// Send a message.
    Send,
    /// Receive a message.
    Receive,
    /// Subscribe or unsubscribe.
    Subscribe,
    /// Join or leave a group.
    Join,
    /// Address a connection by its routing id.
    RoutingId,
    /// Wait for a connection to be ready.
    Connect,
    /// Choose the routing id of a peer.
    ChooseRoutingId,
    /// Wait for peers that ask for a topic or group.
    AwaitSubscribers,
    /// Take what peers have sent before the socket leaves.
    Drain,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::Send => "this socket type cannot send",
            Operation::Receive => "this socket type cannot receive",
            Operation::Subscribe => {
                "only SUB and XSUB sockets, and XPUB with manual subscriptions, can subscribe"
            }
            Operation::RoutingId => "only SERVER and PEER sockets send by routing id",
            Operation::Connect => "this socket type cannot connect",
            Operation::ChooseRoutingId => {
                "only ROUTER and STREAM sockets know their peers by routing ids that can be chosen"
            }
            Operation::Join => "only DISH sockets join and leave groups",
            Operation::AwaitSubscribers => "only PUB, XPUB and RADIO sockets have subscribers",
            Operation::Drain => "only PULL, GATHER, SUB and DISH sockets can be drained",
        })
    }
}

/// Which peers a socket has, or had when a time limit ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Presence {
    /// No connection stood.
    Nobody,
    /// Connections stood, but no handshake was finished.
    Handshaking {
        /// How many.
        connections: usize,
    },
    /// Peers were connected, their handshakes done.
    Connected {
        /// How many.
        peers: usize,
    },
}

/// The shape of a message, which its sender can mend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// A message must have at least one frame.
    #[error("a message has at least one frame")]
    Empty,
    /// CLIENT, SCATTER, CHANNEL: a message has exactly one frame.
    #[error("this socket type sends messages of exactly one frame")]
    SinglePart,
    /// ROUTER, SERVER, PEER: a message has the routing id of the peer that it goes to as its first
    /// frame; for SERVER and PEER that is 4 bytes, and one frame follows: [`Message::with_routing_id`].
    #[error(
        "the first frame is the routing id of the peer (SERVER, PEER: 4 bytes, then one frame)"
    )]
    NoRoutingId,
    /// STREAM: a message is the routing id of the connection that it goes to and one frame.
    #[error("a STREAM socket sends the routing id of a connection and one frame")]
    NoConnection,
    /// RADIO, DISH: a group has 1 to 255 bytes, and a message is its group and one frame; see
    /// [`Message::to_group`].
    #[error("a message to a group is the name of the group (1 to 255 bytes) and one frame")]
    NoGroup,
    /// RADIO over `udp`: a message goes into one datagram of up to
    /// [`MAX_DATAGRAM`](crate::MAX_DATAGRAM) bytes, with one more byte than group and body have. DGRAM: a body has up to
    /// as many.
    #[error("the message needs a datagram of {size} bytes, and the largest has {MAX_DATAGRAM}")]
    DatagramTooLarge {
        /// Bytes that it needs.
        size: usize,
    },
    /// DGRAM: a message is the address that it goes to and one frame; see [`Message::to_address`].
    #[error(
        "a DGRAM socket sends the address that a datagram goes to, as 192.0.2.1:5555, and one frame"
    )]
    NoAddress,
    /// DGRAM: the message cannot go to its address.
    #[error("cannot send to this address: {0}")]
    Address(AddressError),
}

/// Why a socket cannot use an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unusable {
    /// The socket type cannot use this transport: STREAM needs bytes, `inproc` and `ws` carry
    /// messages, `udp` is for RADIO, DISH and DGRAM, and DGRAM is for `udp`.
    Transport,
    /// Over `udp` a RADIO connects, and DISH and DGRAM bind, and not the other way round.
    Direction,
    /// DGRAM: the socket is bound already, and what it sends leaves through one endpoint.
    SecondEndpoint,
    /// The endpoint leads off this machine and nothing was said about security: without
    /// [`Security::plain_text`](crate::Security::plain_text), plain text stays on the machine.
    NoSecurity,
    /// Datagrams are sent and forgotten: there is no handshake in which peers could be asked
    /// anything, and nothing is encrypted.
    NoHandshake {
        /// What needs one: a mechanism, an admission, or a ZAP handler.
        wanted: &'static str,
    },
    /// A server with [two mechanisms](crate::Blake3Server::or_curve_server) is bound over `tcp` or `ipc`,
    /// where it hears its client's before it says its own. A socket that connects has one, and so has
    /// one that is bound over `ws` or `wss`.
    SeveralMechanisms,
    /// Endpoints of `inproc` and `udp` keep the options that they were bound or connected with: nobody shakes
    /// hands there, so they have no keys that could be replaced.
    FixedOptions,
    /// A `wss` endpoint cannot be bound without a certificate.
    NoTlsIdentity,
    /// A `wss` endpoint cannot be connected to without authorities to believe.
    NoTlsTrust,
    /// No certificate can be for the host of this `wss` endpoint.
    TlsHostName,
}

/// A socket is not in the state that the operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// REQ: receive the answer before sending the next request.
    #[error(
        "a REQ socket receives its answer before it sends again, unless it is made with req_relaxed"
    )]
    AnswerPending,
    /// REQ: send a request before receiving.
    #[error("a REQ socket sends a request before it receives")]
    NothingAsked,
    /// REP: answer before receiving the next request.
    #[error("a REP socket answers before it receives again")]
    AnswerOwed,
    /// REP: receive a request before sending.
    #[error("a REP socket receives a request before it sends")]
    NothingToAnswer,
    /// DISH: a group is joined once.
    #[error("the DISH socket has joined this group already")]
    JoinedAlready,
    /// SUB and XSUB: there is no such subscription to remove.
    #[error("there is no such subscription to remove")]
    NotSubscribed,
    /// DISH: a group is left once.
    #[error("the DISH socket has not joined this group")]
    NotJoined,
    /// DGRAM: the socket is bound before it sends.
    #[error("a DGRAM socket binds to a udp endpoint before it sends")]
    NotBound,
    /// XPUB with manual subscriptions: the peer of the last subscription read is gone, or none
    /// was read yet.
    #[error(
        "an XPUB socket grants a subscription to the peer whose own it read last, and there is none"
    )]
    NoSubscriber,
}

/// A message that was not sent, with the reason. It can be taken back and sent again.
pub struct SendError(Box<(Error, Message)>);

impl SendError {
    pub(crate) fn new(error: Error, message: Message) -> Self {
        SendError(Box::new((error, message)))
    }

    /// Returns the reason why it was not sent.
    pub fn error(&self) -> &Error {
        &self.0.0
    }

    /// Returns the message, to be sent again or elsewhere.
    pub fn into_message(self) -> Message {
        self.0.1
    }
}

impl fmt::Debug for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SendError").field(self.error()).finish()
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error().fmt(f)
    }
}

impl std::error::Error for SendError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.error())
    }
}

impl From<SendError> for Error {
    fn from(error: SendError) -> Self {
        error.0.0
    }
}

struct CutOff(usize);

impl fmt::Display for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            1 => f.write_str(", but for what was on its way over a connection that was cut off"),
            connections => write!(
                f,
                ", but for what was on its way over {connections} connections that were cut off"
            ),
        }
    }
}

struct Unfit<'a>(&'a Endpoint, SocketType, &'a Unusable);

impl fmt::Display for Unfit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unfit(endpoint, socket_type, reason) = self;
        match reason {
            Unusable::Transport => write!(f, "a {socket_type} socket cannot use {endpoint}"),
            Unusable::Direction => {
                write!(
                    f,
                    "over udp a RADIO connects, and DISH and DGRAM bind: not so at {endpoint}"
                )
            }
            Unusable::SecondEndpoint => write!(
                f,
                "a DGRAM socket has one endpoint, so it cannot bind to {endpoint} too: unbind it first, or bind \
                 another socket"
            ),
            Unusable::NoSecurity => write!(
                f,
                "{endpoint} leaves this machine, and the socket has no security: {}",
                WaysOut(endpoint, *socket_type)
            ),
            Unusable::NoHandshake { wanted } => write!(
                f,
                "datagrams are neither encrypted nor authenticated, so {endpoint} cannot have {wanted}: use \
                 tcp, or Security::plain_text() and no ZAP domain"
            ),
            Unusable::SeveralMechanisms => write!(
                f,
                "this socket serves several mechanisms, which it can only where it is bound over tcp or ipc: give \
                 the socket of {endpoint} one of them"
            ),
            Unusable::FixedOptions => write!(
                f,
                "{endpoint} has no handshake and keeps its options: bind or connect another one with others"
            ),
            Unusable::NoTlsIdentity => write!(
                f,
                "{endpoint} needs a certificate and its key to be bound: set tls_identity"
            ),
            Unusable::NoTlsTrust => write!(
                f,
                "{endpoint} needs authorities that are trusted to be connected to: set tls_trust"
            ),
            Unusable::TlsHostName => write!(
                f,
                "no certificate can be for the host of {endpoint}: give a name to TlsTrust::with_host_name"
            ),
        }
    }
}

struct Awaited(Operation, Presence);

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.0, self.1) {
            (Operation::Send, Presence::Connected { .. }) => "no peer had room for the message",
            (Operation::Send, Presence::Nobody) => {
                "no peer was connected that could take the message"
            }
            (Operation::Send, _) => "no peer was ready for the message",
            (Operation::Connect, _) => "the peers that were waited for were not all connected",
            (Operation::AwaitSubscribers, _) => {
                "the subscribers that were waited for did not all come"
            }
            _ => "no message came",
        })
    }
}

struct Because<'a>(Operation, Presence, &'a Option<Box<ConnectionFailure>>);

impl fmt::Display for Because<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.1, self.2) {
            (Presence::Nobody, None) if self.0 == Operation::Send => Ok(()),
            (Presence::Handshaking { connections }, None) => write!(
                f,
                "; connections whose handshake was not finished: {connections}. The other end may not speak ZMTP"
            ),
            (Presence::Nobody, None) => f.write_str("; no peer was connected"),
            (Presence::Connected { .. }, None) => Ok(()),
            (_, Some(failure)) => write!(f, "; the last connection failed: {failure}"),
        }
    }
}

/// What to do about an endpoint that would have been used in plain text. In words of every language
/// that this library has.
struct WaysOut<'a>(&'a Endpoint, SocketType);

impl fmt::Display for WaysOut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unprotected = match self {
            WaysOut(Endpoint::Udp { .. }, _) => Some("udp encrypts nothing"),
            WaysOut(_, SocketType::Stream) => Some("a STREAM socket encrypts nothing"),
            _ => None,
        };
        match unprotected {
            None => f.write_str(
                "give it one that encrypts (Security's blake3_server, blake3_client, \
                 curve_server or curve_client)",
            )?,
            Some(reason) => write!(
                f,
                "{reason}, so take another type of socket over tcp with a security that encrypts \
                 (Security's blake3_server or blake3_client)"
            )?,
        }
        f.write_str(
            ", or Security's plain_text if anyone on the way may read and change everything",
        )
    }
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
