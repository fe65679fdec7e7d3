//! The events that a monitor reports.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sealwire_zmtp::Mechanism;
use sealwire_zmtp::connection::Warning;

use crate::endpoint::Endpoint;
use crate::failure::{ConnectionFailure, DatagramDrop};
use crate::peer::{Peer, PeerAddress};

/// Something happened to an endpoint or a connection of a socket. Connections have numbers, the
/// same in all their events and in [`Peer::connection`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// The socket is bound; the endpoint has the port that was chosen.
    Listening {
        /// Where.
        endpoint: Endpoint,
        /// The endpoint as it was given: with port 0, a name or a star, for example.
        given: Endpoint,
        /// The address that is listened at; `None` over `udp` and within the process.
        local_address: Option<PeerAddress>,
        /// The number of the listener's descriptor, as [`Peer::descriptor`]; `None` for `udp` too.
        descriptor: Option<i32>,
    },
    /// A peer connected to us; the handshake begins.
    Accepted {
        /// The connection id.
        connection: u64,
        /// The endpoint that is bound.
        endpoint: Endpoint,
        /// The address that connected.
        address: PeerAddress,
        /// The address that it connected to, as [`Peer::local_address`].
        local_address: Option<PeerAddress>,
        /// The number of the descriptor, as [`Peer::descriptor`].
        descriptor: Option<i32>,
    },
    /// Accepting failed, for example for want of file descriptors. It is tried again. There is one
    /// such event a second at most.
    AcceptFailed {
        /// Where.
        endpoint: Endpoint,
        /// What the system said.
        reason: String,
        /// The system's number of that error (`errno`), where it has one.
        os_error: Option<i32>,
        /// How often since the last such event.
        count: u64,
    },
    /// An attempt to connect begins; [`Connected`](Event::Connected) or [`Failed`](Event::Failed) says how it ended.
    /// Where a name has several addresses, there is one such event for each that is tried.
    Connecting {
        /// Where.
        endpoint: Endpoint,
        /// The address behind the endpoint.
        address: PeerAddress,
        /// The number of the descriptor, as [`Peer::descriptor`].
        descriptor: Option<i32>,
    },
    /// We connected to a peer; the handshake begins.
    Connected {
        /// The connection id.
        connection: u64,
        /// Where.
        endpoint: Endpoint,
        /// The address behind the endpoint.
        address: PeerAddress,
        /// The address that the connection comes from, as [`Peer::local_address`].
        local_address: Option<PeerAddress>,
        /// The number of the descriptor, as [`Peer::descriptor`].
        descriptor: Option<i32>,
    },
    /// The handshake is done: messages flow.
    Ready {
        /// The peer that is connected.
        peer: Arc<Peer>,
    },
    /// PUB, XPUB, RADIO: the first topic or group that the peer asks for. Once for a connection.
    Subscribed {
        /// The peer that is connected.
        peer: Arc<Peer>,
    },
    /// The queue for a peer is full, and messages for it are dropped (PUB, XPUB, RADIO, ROUTER, REP, XSUB). Once a second for a
    /// peer at most.
    DropsBegan {
        /// The peer that takes too little.
        peer: Arc<Peer>,
    },
    /// Half of the queue for the peer is free, or the peer is gone: no more are dropped. Follows each
    /// [`DropsBegan`](Event::DropsBegan).
    DropsEnded {
        /// The peer.
        peer: Arc<Peer>,
        /// Messages for it that were dropped since the last such event.
        count: u64,
    },
    /// SUB, XSUB, DISH: a publisher of Sealwire says that it has dropped messages for this socket, as they were not taken in time. Once a
    /// second for a peer at most.
    MessagesMissed {
        /// The publisher, or what stands for it.
        peer: Arc<Peer>,
        /// Messages that it has dropped since the last such event.
        count: u64,
    },
    /// A connection failed: it could not be made, its handshake failed, or it broke later.
    Failed(ConnectionFailure),
    /// A connection ended as it should: the peer closed it between two messages, or we did.
    Disconnected {
        /// The peer that was connected.
        peer: Arc<Peer>,
        /// Whether the peer closed it; `false` where this socket had begun to, by closing or disconnecting.
        by_peer: bool,
    },
    /// Another attempt to connect follows.
    Retrying {
        /// Where.
        endpoint: Endpoint,
        /// Number of the attempt that follows: 1 after a connection that had been of use, one more for each
        /// attempt in a row that failed.
        attempt: u32,
        /// Wait until the next.
        delay: Duration,
    },
    /// The endpoint is not connected to any more, as
    /// [`ReconnectStop`](crate::options::ReconnectStop) asks for.
    GaveUp {
        /// Where.
        endpoint: Endpoint,
    },
    /// A weakness of a connection that goes on.
    Warning {
        /// The connection id.
        connection: u64,
        /// Where the peer is.
        address: PeerAddress,
        /// What it is.
        warning: Warning,
    },
    /// Datagrams of a `udp` endpoint were dropped: the latest of them, and how many since the last
    /// such event. There is one a second at most, as anyone can send what is none.
    DatagramsDropped {
        /// The endpoint.
        endpoint: Endpoint,
        /// Where the latest came from, or was to go to.
        address: PeerAddress,
        /// How many.
        count: u64,
        /// Why the latest was dropped.
        reason: DatagramDrop,
    },
    /// A server lets everybody in, since it leaves the decision to a ZAP handler
    /// ([`AllowAnyone`](crate::auth::AllowAnyone)), has no
    /// [`zap_domain`](crate::SocketBuilder::zap_domain), and no handler was bound yet. Once for a
    /// socket.
    AnyoneAllowed {
        /// The first endpoint that was bound or connected to like this.
        endpoint: Endpoint,
    },
    /// No client that comes with this mechanism is let in: the list of those that may is empty
    /// ([`Authenticator::allows_nobody`](crate::auth::Authenticator::allows_nobody)). Told as the socket is bound
    /// or connected.
    NobodyAllowed {
        /// The endpoint that was bound or connected to.
        endpoint: Endpoint,
        /// The mechanism of these clients.
        mechanism: Mechanism,
    },
    /// The endpoint is no longer bound: it was unbound, or its socket is closing or being drained.
    Unbound {
        /// Which.
        endpoint: Endpoint,
        /// The address that was listened at; `None` over `udp` and within the process.
        local_address: Option<PeerAddress>,
        /// The number that the listener's descriptor had, as [`Peer::descriptor`].
        descriptor: Option<i32>,
    },
}

impl Event {
    /// Returns the connection id, the same in all events of a connection; `None` for events of endpoints, and
    /// for failures before a connection was made.
    pub fn connection(&self) -> Option<u64> {
        match self {
            Event::Accepted { connection, .. }
            | Event::Connected { connection, .. }
            | Event::Warning { connection, .. } => Some(*connection),
            Event::Failed(failure) => failure.connection(),
            _ => self.peer().map(|peer| peer.connection()),
        }
    }

    /// Returns the endpoint that is bound or connected to; `None` for warnings.
    pub fn endpoint(&self) -> Option<&Endpoint> {
        match self {
            Event::Listening { endpoint, .. }
            | Event::Accepted { endpoint, .. }
            | Event::AcceptFailed { endpoint, .. }
            | Event::Connecting { endpoint, .. }
            | Event::Connected { endpoint, .. }
            | Event::Retrying { endpoint, .. }
            | Event::GaveUp { endpoint }
            | Event::DatagramsDropped { endpoint, .. }
            | Event::AnyoneAllowed { endpoint }
            | Event::NobodyAllowed { endpoint, .. }
            | Event::Unbound { endpoint, .. } => Some(endpoint),
            Event::Failed(failure) => Some(failure.endpoint()),
            _ => self.peer().map(|peer| peer.endpoint()),
        }
    }

    /// Returns the address of this end of the connection, or the one that is listened at; `None` before there is a
    /// connection, and as [`Peer::local_address`] says.
    pub fn local_address(&self) -> Option<&PeerAddress> {
        match self {
            Event::Listening { local_address, .. }
            | Event::Accepted { local_address, .. }
            | Event::Connected { local_address, .. }
            | Event::Unbound { local_address, .. } => local_address.as_ref(),
            Event::Failed(failure) => failure.local_address(),
            _ => self.peer()?.local_address(),
        }
    }

    /// Returns the number of the descriptor of the connection or of what listens, as [`Peer::descriptor`]. It is
    /// closed where the event tells of an end.
    pub fn descriptor(&self) -> Option<i32> {
        match self {
            Event::Listening { descriptor, .. }
            | Event::Accepted { descriptor, .. }
            | Event::Connecting { descriptor, .. }
            | Event::Connected { descriptor, .. }
            | Event::Unbound { descriptor, .. } => *descriptor,
            Event::Failed(failure) => failure.descriptor(),
            _ => self.peer()?.descriptor(),
        }
    }

    /// Returns the address of the other end; `None` for events of endpoints.
    pub fn address(&self) -> Option<&PeerAddress> {
        match self {
            Event::Accepted { address, .. }
            | Event::Connecting { address, .. }
            | Event::Connected { address, .. }
            | Event::Warning { address, .. }
            | Event::DatagramsDropped { address, .. } => Some(address),
            Event::Failed(failure) => Some(failure.address()),
            _ => self.peer().map(|peer| peer.address()),
        }
    }

    /// Returns the peer that is or was connected; `None` while there is none, so also where a handshake failed.
    pub fn peer(&self) -> Option<&Arc<Peer>> {
        match self {
            Event::Ready { peer }
            | Event::Subscribed { peer }
            | Event::DropsBegan { peer }
            | Event::DropsEnded { peer, .. }
            | Event::MessagesMissed { peer, .. }
            | Event::Disconnected { peer, .. } => Some(peer),
            Event::Failed(failure) => failure.peer(),
            _ => None,
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Listening { endpoint, .. } => write!(f, "listening on {endpoint}"),
            Event::Accepted {
                connection,
                address,
                ..
            } => {
                write!(f, "connection {connection} accepted from {address}")
            }
            Event::AcceptFailed {
                endpoint,
                reason,
                count,
                ..
            } => {
                write!(f, "cannot accept on {endpoint}: {reason}")?;
                match count {
                    0 | 1 => Ok(()),
                    _ => write!(f, " ({count} times)"),
                }
            }
            Event::Connecting {
                endpoint, address, ..
            } => write!(f, "connecting to {endpoint}, at {address}"),
            Event::Connected {
                connection,
                endpoint,
                ..
            } => {
                write!(f, "connection {connection} made to {endpoint}")
            }
            Event::Ready { peer } => write!(
                f,
                "connection {} ready: {} {peer}, mechanism {}",
                peer.connection(),
                peer.socket_type(),
                peer.mechanism().map_or("none", Mechanism::name),
            ),
            Event::Subscribed { peer } => {
                write!(f, "connection {}: {peer} subscribed", peer.connection())
            }
            Event::DropsBegan { peer } => {
                write!(
                    f,
                    "connection {}: messages for {peer} are dropped, its queue is full",
                    peer.connection()
                )
            }
            Event::DropsEnded { peer, count } => {
                write!(
                    f,
                    "connection {}: {count} messages for {peer} were dropped",
                    peer.connection()
                )
            }
            Event::MessagesMissed { peer, count } => {
                write!(
                    f,
                    "connection {}: {peer} has dropped {count} messages for this socket",
                    peer.connection()
                )
            }
            Event::Failed(failure) => write!(f, "connection failed: {failure}"),
            Event::Disconnected { peer, by_peer } => {
                let by_peer = if *by_peer { " by the peer" } else { "" };
                let connection = peer.connection();
                write!(f, "connection {connection} with {peer} ended{by_peer}")
            }
            Event::Retrying {
                endpoint,
                attempt,
                delay,
            } => {
                write!(
                    f,
                    "connecting to {endpoint} again in {delay:.1?} (retry {attempt})"
                )
            }
            Event::GaveUp { endpoint } => write!(f, "not connecting to {endpoint} any more"),
            Event::Warning {
                connection,
                address,
                warning,
            } => {
                write!(
                    f,
                    "warning on connection {connection} with {address}: {warning}"
                )
            }
            Event::DatagramsDropped {
                endpoint,
                address,
                count,
                reason,
            } => {
                write!(
                    f,
                    "datagrams dropped on {endpoint}: {count}, the last with {address}: {reason}"
                )
            }
            Event::AnyoneAllowed { endpoint } => write!(
                f,
                "everybody is let in on {endpoint}: AllowAnyone, and no ZAP handler is bound"
            ),
            Event::NobodyAllowed {
                endpoint,
                mechanism,
            } => write!(
                f,
                "nobody is let in on {endpoint} with {}: the list of those that may is empty",
                mechanism.name()
            ),
            Event::Unbound { endpoint, .. } => write!(f, "no longer listening on {endpoint}"),
        }
    }
}
