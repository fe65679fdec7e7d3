//! Typed reasons why a connection failed.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::account::{AddressLimit, Exceeded};
use crate::auth::zap;
use crate::endpoint::Endpoint;
use crate::peer::{Ends, Peer, PeerAddress};
use crate::transport::{DatagramError, SocksError};

/// A connection that failed, with where it led and why.
#[derive(Debug, Clone)]
pub struct ConnectionFailure {
    pub(crate) connection: Option<u64>,
    pub(crate) ends: Arc<Ends>,
    pub(crate) peer: Option<Arc<Peer>>,
    pub(crate) cause: FailureCause,
}

impl ConnectionFailure {
    /// Returns the connection id; `None` if no connection was made.
    pub fn connection(&self) -> Option<u64> {
        self.connection
    }

    /// Returns the endpoint that was bound or connected to.
    pub fn endpoint(&self) -> &Endpoint {
        &self.ends.endpoint
    }

    /// Returns the address of the peer.
    pub fn address(&self) -> &PeerAddress {
        &self.ends.remote
    }

    /// Returns whether the peer connected to this socket; `false` where this socket connected, or tried to.
    pub fn is_accepted(&self) -> bool {
        self.ends.accepted
    }

    /// Returns the address of this end of the connection; `None` where there was no connection yet, and as
    /// [`Peer::local_address`] says.
    pub fn local_address(&self) -> Option<&PeerAddress> {
        self.ends.local.as_ref()
    }

    /// Returns the number that the descriptor of the connection had, or of the latest attempt to connect; `None`
    /// where the system gave none, and as [`Peer::descriptor`] says. It is closed.
    pub fn descriptor(&self) -> Option<i32> {
        self.ends.descriptor
    }

    /// Returns the peer that was connected; `None` if the handshake had not been completed.
    pub fn peer(&self) -> Option<&Arc<Peer>> {
        self.peer.as_ref()
    }

    /// Returns whether the handshake had been completed.
    pub fn was_ready(&self) -> bool {
        self.peer.is_some()
    }

    /// Returns whether the peers met and did not agree: a wrong key, a client that is not let in, another
    /// mechanism, a certificate that is not trusted, or a limit that kept the peer out. Trying again helps only
    /// where one side changes something. `false` where nothing answered, where the transport broke, and after
    /// the handshake.
    pub fn is_handshake_failure(&self) -> bool {
        let did_not_agree = matches!(
            self.cause,
            FailureCause::Protocol(_)
                | FailureCause::Rejected(_)
                | FailureCause::RefusedByZap { .. }
                | FailureCause::HandshakeEvicted
                | FailureCause::TooManyConnections
                | FailureCause::KeyLimit { .. }
                | FailureCause::OutOfDescriptors
                | FailureCause::AddressLimit(_)
        );
        !self.was_ready() && (did_not_agree || self.cause.is_of_tls())
    }

    /// Returns the cause of the failure.
    pub fn cause(&self) -> &FailureCause {
        &self.cause
    }
}

impl fmt::Display for ConnectionFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.cause, &self.peer) {
            (FailureCause::Resolve(_) | FailureCause::Connect(_) | FailureCause::Proxy(_), _) => {
                write!(f, "{}: {}", self.endpoint(), self.cause)
            }
            (_, Some(peer)) => write!(f, "{peer}: {}", self.cause),
            (_, None) => write!(f, "{}: handshake: {}", self.address(), self.cause),
        }
    }
}

/// Why a connection failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum FailureCause {
    /// The name could not be resolved.
    #[error("the host name does not resolve: {0}")]
    Resolve(Arc<io::Error>),
    /// Nothing accepted the connection.
    #[error("cannot connect: {0}")]
    Connect(Arc<io::Error>),
    /// The SOCKS5 proxy did not make the connection.
    #[error("cannot connect through the SOCKS5 proxy: {0}")]
    Proxy(#[from] SocksError),
    /// The transport broke.
    #[error("the connection broke: {0}")]
    Transport(Arc<io::Error>),
    /// The WebSocket under a `ws` endpoint could not be made, or was misused.
    #[cfg(feature = "ws")]
    #[error("WebSocket: {0}")]
    WebSocket(#[from] crate::transport::WebSocketError),
    /// TLS under a `wss` endpoint could not be agreed upon, or was misused.
    #[cfg(feature = "wss")]
    #[error("TLS: {0}")]
    Tls(#[from] crate::transport::TlsError),
    /// The protocol was violated, the peers do not fit, a key was refused, a time limit ran out,
    /// or the peer left in the middle of something.
    #[error(transparent)]
    Protocol(#[from] sealwire_zmtp::Error),
    /// This socket turned the peer away.
    #[error("the socket turned the peer away: {0}")]
    Rejected(&'static str),
    /// The peer made this process hold too much.
    #[error("the peer reached a limit and was turned away: {0}")]
    LimitExceeded(#[from] Exceeded),
    /// The ZAP handler refused the peer, gave no answer (status 300), or one that is none (500).
    #[error("refused by ZAP: {status} {text}")]
    #[non_exhaustive]
    RefusedByZap {
        /// 300, 400 or 500 (RFC 27). The peer is told this number, except for 300 with another
        /// mechanism than BLAKE3: see [`Status`](crate::auth::Status).
        status: u16,
        /// Why.
        text: String,
        /// Where the handler did not decide: the reason.
        fault: Option<zap::Fault>,
    },
    /// A panic: in this library, or in what it was given to call, such as a
    /// [`Provider`](crate::Provider) of primitives. The log says which.
    #[error("a panic ended the connection; the log names its place")]
    Internal,
    /// Too many handshakes at the same time: the oldest of them gave way.
    #[error("its handshake was the oldest when the listener reached its limit (max_handshakes)")]
    HandshakeEvicted,
    /// The limit of connections is reached.
    #[error("the listener has as many connections as it may have (max_connections)")]
    TooManyConnections,
    /// The peer's key, or with PLAIN its user id, has as many connections as it may have.
    #[error("its key has {limit} connections, the most one may have (max_connections_per_key)")]
    KeyLimit {
        /// The limit.
        limit: usize,
    },
    /// The endpoint has other keys by now, or no longer the mechanism: the connection was ended for that
    /// ([`Withdrawn::End`](crate::options::Withdrawn::End)).
    #[error(
        "the key that it was made with was withdrawn: the peer comes in again with the present one"
    )]
    KeyWithdrawn,
    /// No file descriptors were left: the connection was closed as it was accepted.
    #[error("the process has no file descriptors left (see `ulimit -n`)")]
    OutOfDescriptors,
    /// The peer's address has used up what it may have.
    #[error("its address has reached its limit: {0}")]
    AddressLimit(AddressLimit),
}

impl FailureCause {
    /// The names that [`name`](Self::name) gives.
    pub const NAMES: [&'static str; 28] = [
        "resolve",
        "connect",
        "proxy",
        "transport",
        "websocket",
        "tls",
        "protocol",
        "incompatible",
        "handshake",
        "handshake_timeout",
        "refused",
        "refused_by_peer",
        "refused_by_zap",
        "closed",
        "closed_in_handshake",
        "frame_not_verified",
        "too_large",
        "counter_exhausted",
        "heartbeat_timeout",
        "rejected",
        "limit_exceeded",
        "handshake_evicted",
        "too_many_connections",
        "key_limit",
        "key_withdrawn",
        "address_limit",
        "out_of_descriptors",
        "internal",
    ];

    /// Returns a name for programs, one of [`NAMES`](Self::NAMES). It stays, while texts may change. C, Python,
    /// Ruby and the program's `--json` have the same names. `docs/failures.md` says what each means.
    pub fn name(&self) -> &'static str {
        use sealwire_zmtp::Error as Protocol;
        use sealwire_zmtp::error::CloseKind;
        match self {
            FailureCause::Resolve(_) => "resolve",
            FailureCause::Connect(_) => "connect",
            FailureCause::Proxy(_) => "proxy",
            FailureCause::Transport(_) => "transport",
            #[cfg(feature = "ws")]
            FailureCause::WebSocket(_) => "websocket",
            #[cfg(feature = "wss")]
            FailureCause::Tls(_) => "tls",
            FailureCause::Protocol(error) => match error {
                Protocol::Incompatible(_) => "incompatible",
                Protocol::Handshake(_) => "handshake",
                Protocol::HandshakeTimeout { .. } => "handshake_timeout",
                Protocol::Refused(_) => "refused",
                Protocol::PeerRefused { .. } => "refused_by_peer",
                Protocol::Closed(CloseKind::DuringHandshake(_)) => "closed_in_handshake",
                Protocol::Closed(_) => "closed",
                Protocol::FrameNotVerified { .. } => "frame_not_verified",
                Protocol::MessageTooLarge { .. } | Protocol::TooManyFrames { .. } => "too_large",
                Protocol::CounterExhausted => "counter_exhausted",
                Protocol::HeartbeatTimeout => "heartbeat_timeout",
                Protocol::NotSealed | Protocol::Config(_) => "internal",
                _ => "protocol",
            },
            FailureCause::Rejected(_) => "rejected",
            FailureCause::LimitExceeded(_) => "limit_exceeded",
            FailureCause::RefusedByZap { .. } => "refused_by_zap",
            FailureCause::Internal => "internal",
            FailureCause::HandshakeEvicted => "handshake_evicted",
            FailureCause::TooManyConnections => "too_many_connections",
            FailureCause::KeyLimit { .. } => "key_limit",
            FailureCause::KeyWithdrawn => "key_withdrawn",
            FailureCause::OutOfDescriptors => "out_of_descriptors",
            FailureCause::AddressLimit(_) => "address_limit",
        }
    }

    #[cfg(feature = "wss")]
    fn is_of_tls(&self) -> bool {
        matches!(self, FailureCause::Tls(_))
    }

    #[cfg(not(feature = "wss"))]
    fn is_of_tls(&self) -> bool {
        false
    }

    /// Why reading or writing failed.
    pub(crate) fn of_transport(error: io::Error) -> Self {
        #[cfg(feature = "ws")]
        if let Some(&error) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
            return FailureCause::WebSocket(error);
        }
        #[cfg(feature = "wss")]
        if let Some(error) = error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<crate::transport::TlsError>())
        {
            return FailureCause::Tls(error.clone());
        }
        FailureCause::Transport(Arc::new(error))
    }
}

/// Why a datagram was dropped.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum DatagramDrop {
    /// The datagram is not one of a RADIO, or too large.
    #[error(transparent)]
    Malformed(#[from] DatagramError),
    /// The system did not send it.
    #[error("not sent: {0}")]
    Unsent(Arc<io::Error>),
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use sealwire_zmtp::error::{CloseKind, HandshakeError, Incompatible, Refusal, Step, WireError};
    use sealwire_zmtp::{Error as Protocol, SocketType};

    use super::*;
    use crate::account::Kind;

    #[test]
    fn each_name_is_that_of_a_cause_and_each_cause_has_one() {
        let broken = || Arc::new(io::Error::other("broken"));
        let (ours, theirs) = (SocketType::Req, SocketType::Pub);
        let protocol = [
            Protocol::Wire(WireError::BadSignature {
                position: 0,
                byte: 0,
            }),
            Protocol::Incompatible(Incompatible::SocketTypes { ours, theirs }),
            Protocol::Handshake(HandshakeError::CookieRejected),
            Protocol::HandshakeTimeout {
                step: Step::Greeting,
            },
            Protocol::Refused(Refusal::new("no")),
            Protocol::PeerRefused {
                reason: "400".into(),
                verified: false,
            },
            Protocol::Closed(CloseKind::Clean),
            Protocol::Closed(CloseKind::DuringHandshake(Step::Greeting)),
            Protocol::FrameNotVerified {
                index: 0,
                first: true,
            },
            Protocol::MessageTooLarge { limit: 1 },
            Protocol::CounterExhausted,
            Protocol::HeartbeatTimeout,
        ];
        let mut causes: Vec<_> = protocol.into_iter().map(FailureCause::from).collect();
        causes.extend([
            FailureCause::Resolve(broken()),
            FailureCause::Connect(broken()),
            FailureCause::Proxy(SocksError::NotSocks5),
            FailureCause::of_transport(io::Error::other("broken")),
            #[cfg(feature = "ws")]
            FailureCause::WebSocket(crate::transport::WebSocketError::NotHttp),
            #[cfg(feature = "wss")]
            FailureCause::Tls(crate::transport::TlsError::NotTls),
            FailureCause::Rejected("no"),
            FailureCause::LimitExceeded(Exceeded {
                kind: Kind::Queued,
                limit: 1,
            }),
            FailureCause::RefusedByZap {
                status: 400,
                text: "no".into(),
                fault: None,
            },
            FailureCause::HandshakeEvicted,
            FailureCause::TooManyConnections,
            FailureCause::KeyLimit { limit: 1 },
            FailureCause::KeyWithdrawn,
            FailureCause::AddressLimit(AddressLimit::Rate),
            FailureCause::OutOfDescriptors,
            FailureCause::Internal,
        ]);
        let found: HashSet<_> = causes.iter().map(FailureCause::name).collect();
        assert_eq!(found.len(), causes.len(), "no two have one name");
        let listed = FailureCause::NAMES.into_iter();
        let listed: HashSet<_> = listed
            .filter(|name| cfg!(feature = "ws") || *name != "websocket")
            .filter(|name| cfg!(feature = "wss") || *name != "tls")
            .collect();
        assert_eq!(found, listed);

        let alike = Protocol::TooManyFrames { limit: 1 };
        assert_eq!(FailureCause::from(alike).name(), "too_large");
        assert_eq!(FailureCause::from(Protocol::NotSealed).name(), "internal");
    }
}
