//! The peer at the other end of a connection.

mod ends;

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use sealwire_zmtp::connection::PeerInfo;
use sealwire_zmtp::mechanism::plain::PlainCredentials;
use sealwire_zmtp::wire::metadata::Metadata;
use sealwire_zmtp::{Mechanism, PublicKey, SocketType};

pub(crate) use self::ends::Ends;
use crate::account::{Account, Source};
use crate::endpoint::Endpoint;
use crate::measures::{LiveRoundTrip, PeerNumbers};
use crate::routing_ids::RoutingId;
use crate::text::printable;

/// Where a peer is, as far as the transport tells.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PeerAddress {
    /// IP address and port of the other end.
    Tcp(SocketAddr),
    /// IP address and port of the sender of datagrams, as they claim it, or of their destination.
    Udp(SocketAddr),
    /// Behind a SOCKS5 proxy: the host and port of the endpoint, which the proxy resolves.
    Proxied {
        /// IP address without brackets, or a name.
        host: String,
        /// Port.
        port: u16,
    },
    /// The path or abstract name (with `@`) of the Unix socket; connecting ends have no name.
    Ipc(PathBuf),
    /// The name of the endpoint within this process.
    Inproc(String),
    /// Not known: the name did not resolve, or nothing answered.
    Unknown,
}

impl fmt::Display for PeerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PeerAddress::Tcp(address) => write!(f, "tcp://{address}"),
            PeerAddress::Udp(address) => write!(f, "udp://{address}"),
            PeerAddress::Proxied { host, port } if host.contains(':') => {
                write!(f, "tcp://[{host}]:{port} behind the proxy")
            }
            PeerAddress::Proxied { host, port } => {
                write!(f, "tcp://{host}:{port} behind the proxy")
            }
            PeerAddress::Ipc(path) => write!(f, "ipc://{}", path.display()),
            PeerAddress::Inproc(name) => write!(f, "inproc://{name}"),
            PeerAddress::Unknown => f.write_str("an unknown address"),
        }
    }
}

impl PeerAddress {
    /// As it goes to a ZAP handler: an IP address or name without port, or the text form.
    pub(crate) fn for_zap(&self) -> String {
        match self {
            PeerAddress::Tcp(address) => address.ip().to_string(),
            PeerAddress::Proxied { host, .. } => host.clone(),
            other => other.to_string(),
        }
    }

    /// As libzmq has it: an IP address without port, or the user, group and process at the other end of a Unix socket.
    pub(crate) fn as_libzmq(&self, process: Option<ProcessCredentials>) -> Option<String> {
        match (self, process) {
            (PeerAddress::Tcp(address), _) => Some(address.ip().to_string()),
            (_, Some(at)) => Some(format!("localhost:{}:{}:{}", at.user, at.group, at.process)),
            _ => None,
        }
    }
}

/// Whom the process at the other end of a Unix socket belonged to when it connected or began to
/// listen, in numbers of this system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessCredentials {
    /// The process. Numbers of processes are used again.
    pub process: i32,
    /// The user.
    pub user: u32,
    /// The user's main group.
    pub group: u32,
}

impl From<Option<ProcessCredentials>> for Source {
    fn from(process: Option<ProcessCredentials>) -> Self {
        process.map_or(Source::Local, |process| Source::User(process.user))
    }
}

/// The answers about a peer as it was let in.
#[derive(Debug, Default)]
pub(crate) struct Approval {
    pub(crate) user_id: Option<String>,
    pub(crate) metadata: Option<Metadata>,
    /// What it showed, where that may be decided about again.
    pub(crate) credentials: Option<PlainCredentials>,
}

/// A connected peer. Fixed for the life of the connection and shared by its messages.
#[derive(Debug)]
pub struct Peer {
    connection: u64,
    ends: Arc<Ends>,
    connection_routing_id: RoutingId,
    identity: Identity,
    approval: Approval,
    process: Option<ProcessCredentials>,
    account: Account,
    round_trip: LiveRoundTrip,
    numbers: Mutex<PeerNumbers>,
}

#[derive(Debug)]
enum Identity {
    Wire(Arc<PeerInfo>),
    Inproc {
        socket_type: SocketType,
        routing_id: Vec<u8>,
    },
    /// Whatever is at the other end of a STREAM connection.
    Raw,
    /// The other end of datagrams: a RADIO, a DISH, or whatever a DGRAM talks with.
    Datagram(SocketType),
}

impl Peer {
    pub(crate) fn wire(
        connection: u64,
        ends: Arc<Ends>,
        connection_routing_id: RoutingId,
        info: Arc<PeerInfo>,
        approval: Option<Approval>,
        process: Option<ProcessCredentials>,
    ) -> Self {
        Peer {
            process,
            approval: approval.unwrap_or_default(),
            connection,
            ends,
            connection_routing_id,
            account: Account::default(),
            round_trip: LiveRoundTrip::default(),
            numbers: Mutex::default(),
            identity: Identity::Wire(info),
        }
    }

    pub(crate) fn datagram(
        endpoint: Endpoint,
        address: PeerAddress,
        connection: u64,
        socket_type: SocketType,
    ) -> Self {
        Peer {
            process: None,
            approval: Approval::default(),
            connection,
            ends: Arc::new(Ends::outward(endpoint, address)),
            connection_routing_id: RoutingId::none(),
            account: Account::default(),
            round_trip: LiveRoundTrip::default(),
            numbers: Mutex::default(),
            identity: Identity::Datagram(socket_type),
        }
    }

    pub(crate) fn raw(
        connection: u64,
        ends: Arc<Ends>,
        connection_routing_id: RoutingId,
        process: Option<ProcessCredentials>,
    ) -> Self {
        Peer {
            process,
            approval: Approval::default(),
            connection,
            ends,
            connection_routing_id,
            account: Account::default(),
            round_trip: LiveRoundTrip::default(),
            numbers: Mutex::default(),
            identity: Identity::Raw,
        }
    }

    /// `accepted` says whether it connected to this end.
    pub(crate) fn inproc(
        name: &str,
        connection: u64,
        accepted: bool,
        connection_routing_id: RoutingId,
        socket_type: SocketType,
        routing_id: Vec<u8>,
    ) -> Self {
        Peer {
            approval: Approval::default(),
            process: None,
            connection,
            ends: Arc::new(Ends::within_the_process(name, accepted)),
            connection_routing_id,
            account: Account::default(),
            round_trip: LiveRoundTrip::default(),
            numbers: Mutex::default(),
            identity: Identity::Inproc {
                socket_type,
                routing_id,
            },
        }
    }

    /// Returns the address of the peer.
    pub fn address(&self) -> &PeerAddress {
        &self.ends.remote
    }

    /// Returns the address of this end of the connection; `None` over `udp`, within the process, and for the end of
    /// an `ipc` connection that connected, which has no name.
    pub fn local_address(&self) -> Option<&PeerAddress> {
        self.ends.local.as_ref()
    }

    /// Returns the endpoint that was bound or connected to for this connection.
    pub fn endpoint(&self) -> &Endpoint {
        &self.ends.endpoint
    }

    /// Returns whether the peer connected to this socket; `false` where this socket connected to the peer, and over
    /// `udp`.
    pub fn is_accepted(&self) -> bool {
        self.ends.accepted
    }

    /// Returns the number of the descriptor on Unix; `None` over `udp` and within the process. It is
    /// good for comparing with what the system tells. Others have the number once the connection has ended, and
    /// the connection fails if somebody else reads, writes or closes it.
    pub fn descriptor(&self) -> Option<i32> {
        self.ends.descriptor
    }

    /// Returns what this process holds for the peer. Of the messages in the socket's own queues
    /// ([`Kind::Received`], [`Kind::Queued`]) it tells the state when
    /// [`Socket::accounts`](crate::Socket::accounts) or [`Socket::peers`](crate::Socket::peers) was last
    /// called.
    ///
    /// [`Kind::Received`]: crate::account::Kind::Received
    /// [`Kind::Queued`]: crate::account::Kind::Queued
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Returns its numbers: messages and bytes, what waits, what was dropped, since when it is there. They tell the state
    /// when [`Socket::accounts`](crate::Socket::accounts), [`Socket::peers`](crate::Socket::peers) or
    /// [`Socket::metrics`](crate::Socket::metrics) was last called, and are zero before.
    pub fn numbers(&self) -> PeerNumbers {
        *self.numbers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the connection id, unique within the context; the same in monitor events.
    pub fn connection(&self) -> u64 {
        self.connection
    }

    /// The routing id under which SERVER and PEER sockets know the peer (RFC 41). Assigned when the connection is
    /// ready, and to nobody else in the context for as long as this value exists; 0 for senders of
    /// datagrams.
    pub fn connection_routing_id(&self) -> u32 {
        self.connection_routing_id.number()
    }

    /// The long-term public key that the peer proved to hold. `None` where the mechanism proves
    /// none (NULL, `inproc`). A client without a key of its own shows one made for the
    /// connection, so authorise by known keys, not by the presence of one.
    pub fn public_key(&self) -> Option<PublicKey> {
        match &self.identity {
            Identity::Wire(info) => info.public_key,
            Identity::Inproc { .. } | Identity::Raw | Identity::Datagram(_) => None,
        }
    }

    /// Returns the key of this side that the handshake was done with: of a server that has several, the one that the
    /// client knows, so that one can see who still has to learn the new one. `None` where
    /// [`public_key`](Peer::public_key) is.
    pub fn local_key(&self) -> Option<PublicKey> {
        self.info()?.local_key
    }

    /// The name that the authenticator or ZAP handler gave to this peer.
    pub fn user_id(&self) -> Option<&str> {
        if let Some(user_id) = &self.approval.user_id {
            return Some(user_id);
        }
        match &self.identity {
            Identity::Wire(info) => info.user_id.as_deref(),
            Identity::Inproc { .. } | Identity::Raw | Identity::Datagram(_) => None,
        }
    }

    /// Returns the routing id that the peer claims, up to 255 bytes. Nobody verifies it.
    pub fn routing_id(&self) -> &[u8] {
        match &self.identity {
            Identity::Wire(info) => &info.routing_id,
            Identity::Inproc { routing_id, .. } => routing_id,
            Identity::Raw | Identity::Datagram(_) => &[],
        }
    }

    /// The type of the peer's socket; STREAM for a peer that speaks no ZMTP.
    pub fn socket_type(&self) -> SocketType {
        match &self.identity {
            Identity::Wire(info) => info.socket_type,
            Identity::Inproc { socket_type, .. } => *socket_type,
            Identity::Raw => SocketType::Stream,
            Identity::Datagram(socket_type) => *socket_type,
        }
    }

    /// The mechanism that protects the connection; `None` within the process, over
    /// `udp` and for STREAM.
    pub fn mechanism(&self) -> Option<Mechanism> {
        match &self.identity {
            Identity::Wire(info) => Some(info.mechanism),
            Identity::Inproc { .. } | Identity::Raw | Identity::Datagram(_) => None,
        }
    }

    /// Returns the value of a metadata property, by name without case: the one that the ZAP handler gave to
    /// the peer, or else the one that the peer itself sent in its handshake, which proves nothing.
    pub fn metadata(&self, name: &str) -> Option<&[u8]> {
        if let Some(value) = self.vouched_metadata(name) {
            return Some(value);
        }
        match &self.identity {
            Identity::Wire(info) => info.metadata.get(name),
            Identity::Inproc { .. } | Identity::Raw | Identity::Datagram(_) => None,
        }
    }

    /// Whether it wants to know how many messages are dropped for it.
    pub(crate) fn asks_for_missed(&self) -> bool {
        match &self.identity {
            Identity::Wire(info) => info.asks_for_missed,
            Identity::Inproc { socket_type, .. } => may_miss(*socket_type),
            Identity::Raw | Identity::Datagram(_) => false,
        }
    }
}

/// Whether others drop messages for a socket of this type.
pub(crate) fn may_miss(socket_type: SocketType) -> bool {
    use SocketType::{Dish, Sub, XSub};
    matches!(socket_type, Sub | XSub | Dish)
}

impl Peer {
    /// How long it takes to answer heartbeats.
    pub(crate) fn round_trip(&self) -> &LiveRoundTrip {
        &self.round_trip
    }

    /// Keeps its numbers for those who ask it.
    pub(crate) fn note_numbers(&self, numbers: PeerNumbers) {
        *self.numbers.lock().unwrap_or_else(PoisonError::into_inner) = numbers;
    }

    /// What its connections are counted by; `None` for what is not a connection over a transport.
    pub(crate) fn source(&self) -> Option<Source> {
        match self.address() {
            PeerAddress::Tcp(address) => Some((*address).into()),
            PeerAddress::Ipc(_) => Some(self.process.into()),
            _ => None,
        }
    }

    /// Whether frames go to it as they are, the same for all such peers.
    pub(crate) fn gets_frames_unsealed(&self) -> bool {
        self.mechanism()
            .is_some_and(|mechanism| !mechanism.encrypts())
    }

    /// What it said and proved in its handshake; `None` where there is none.
    pub(crate) fn info(&self) -> Option<&PeerInfo> {
        match &self.identity {
            Identity::Wire(info) => Some(info),
            Identity::Inproc { .. } | Identity::Raw | Identity::Datagram(_) => None,
        }
    }

    /// What it showed (PLAIN), where that may be decided about again.
    pub(crate) fn credentials(&self) -> Option<&PlainCredentials> {
        self.approval.credentials.as_ref()
    }

    /// The process at the other end, as the system tells; `ipc` on Linux only (`SO_PEERCRED`).
    pub fn process(&self) -> Option<ProcessCredentials> {
        self.process
    }

    /// Whether a ZAP handler let it in.
    pub(crate) fn is_vouched_for(&self) -> bool {
        self.approval.metadata.is_some()
    }

    /// Returns the value of a metadata property that the ZAP handler gave to the peer, by name without case.
    /// Never one that the peer sent.
    pub fn vouched_metadata(&self, name: &str) -> Option<&[u8]> {
        self.approval.metadata.as_ref()?.get(name)
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.address())?;
        match (self.user_id(), self.public_key()) {
            (Some(user), _) => write!(f, " ({})", printable(user)),
            (None, Some(key)) => write!(f, " ({key})"),
            (None, None) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_id_is_no_command_for_a_terminal() {
        let address = PeerAddress::Inproc("name".into());
        let endpoint = Endpoint::Inproc("name".into());
        let mut peer = Peer::datagram(endpoint, address, 1, SocketType::Dish);
        peer.approval.user_id = Some("eve\u{1b}[2J\n\u{202e}".into());
        assert_eq!(peer.to_string(), r"inproc://name (eve\u{1b}[2J\n\u{202e})");
    }
}
