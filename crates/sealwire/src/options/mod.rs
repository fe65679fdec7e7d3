//! Options of a socket and their defaults. Everything that can grow has a finite default.

mod behaviour;
mod endpoint;
mod heartbeat;
mod multicast;
mod reconnect;
mod socks;
mod tcp;
#[cfg(feature = "wss")]
mod tls;
#[cfg(feature = "ws")]
mod web;

use std::sync::Arc;
use std::time::{Duration, Instant};

pub use sealwire_zmtp::error::ConfigError;
use sealwire_zmtp::limits::MAX_ADDITIONAL_SERVER_KEYS;
pub use sealwire_zmtp::limits::MAX_ROUTING_ID;
use sealwire_zmtp::mechanism::PlainClient;
use sealwire_zmtp::{Config, Mechanism, MechanismConfig, Provider, SocketType};

pub(crate) use behaviour::Behaviour;
pub use endpoint::Withdrawn;
pub(crate) use endpoint::{CurrentOptions, EndpointOptions};
pub use heartbeat::HEARTBEAT_TIMEOUT_INTERVALS;
pub(crate) use heartbeat::HeartbeatOptions;
pub(crate) use multicast::MulticastOptions;
pub(crate) use reconnect::ReconnectOptions;
pub use reconnect::ReconnectStop;
pub use socks::SocksProxy;
pub(crate) use tcp::TcpOptions;
pub use tcp::{DEFAULT_BACKLOG, DEFAULT_KEEP_ALIVE, TcpKeepAlive};
#[cfg(feature = "wss")]
pub use tls::{TlsConfigError, TlsIdentity, TlsTrust};
#[cfg(feature = "ws")]
pub(crate) use web::WebAccess;

use crate::account::{AddressLimits, DescriptorLimit};
use crate::auth::Admission;
pub use crate::limits::{
    DEFAULT_BYTE_BUDGET, DEFAULT_HANDSHAKE_TIMEOUT, DEFAULT_HIGH_WATER_MARK,
    DEFAULT_MAX_CONNECTIONS, DEFAULT_MAX_HANDSHAKES, DEFAULT_MAX_MESSAGE_SIZE,
    LEAST_CONNECTIONS_PER_KEY, MAX_IO_THREADS,
};
use crate::security::Security;
use crate::waiting::Interrupt;

/// Longest time that an option or a `_timeout` method takes: a hundred years. Longer ones count as this, so that no
/// sum of times overflows.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Returns `limit`, or [`MAX_TIMEOUT`] if that is shorter.
pub(crate) fn bounded(limit: Duration) -> Duration {
    limit.min(MAX_TIMEOUT)
}

/// When `limit` is over that begins now.
pub(crate) fn from_now(limit: Duration) -> Instant {
    Instant::now() + bounded(limit)
}

/// How long closing may wait for unsent messages.
pub const DEFAULT_LINGER: Duration = Duration::from_secs(5);
/// Wait before the first attempt to connect again; it doubles up to the maximum, and each wait is
/// shortened by a random part of up to a half, so that clients of a restarted server spread out.
pub const DEFAULT_RECONNECT_INTERVAL: Duration = Duration::from_millis(100);
/// Longest wait between attempts to connect.
pub const DEFAULT_RECONNECT_MAXIMUM: Duration = Duration::from_secs(10);

/// Options that cannot work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// A routing id of more than [`MAX_ROUTING_ID`] bytes, or one that starts with a zero octet.
    #[error(
        "the routing id has {size} bytes{}: it may have up to {MAX_ROUTING_ID}, and not a zero octet in front",
        if *.leading_zero { " and starts with a zero octet" } else { "" }
    )]
    RoutingId {
        /// Its size in bytes.
        size: usize,
        /// Whether it starts with a zero octet.
        leading_zero: bool,
    },
    /// An empty routing id was chosen for a peer.
    #[error("a routing id that is chosen for a peer has 1 to {MAX_ROUTING_ID} bytes")]
    EmptyRoutingId,
    /// A context has 1 to [`MAX_IO_THREADS`] I/O threads.
    #[error("a context has 1 to {MAX_IO_THREADS} I/O threads, not {0}")]
    IoThreads(usize),
    /// The bits of `io_affinity` name no I/O thread that the context has.
    #[error(
        "the I/O affinity {0:#b} names no thread of the context: a bit for each, the lowest for the first, or 0 for any"
    )]
    IoAffinity(u64),
    /// No socket can be made of this type.
    #[error("this version has no {0} sockets")]
    SocketType(SocketType),
    /// The option means nothing to this socket type.
    #[error("a {socket_type} socket has no option {option}")]
    NotApplicable {
        /// The builder's method.
        option: &'static str,
        /// The type of the socket.
        socket_type: SocketType,
    },
    /// More server keys than a client's HELLO may be tried with.
    #[error(
        "a server has at most {} keys beside its first",
        sealwire_zmtp::limits::MAX_ADDITIONAL_SERVER_KEYS
    )]
    ServerKeys,
    /// STREAM knows no mechanism.
    #[error(
        "a {0} socket neither encrypts nor authenticates: it takes Security::plain_text() only"
    )]
    Unprotected(SocketType),
    /// A SOCKS5 proxy without a host or port.
    #[error("a SOCKS5 proxy has a host and a port other than 0")]
    SocksAddress,
    /// A username or password that SOCKS5 cannot carry.
    #[error("a SOCKS5 proxy takes a username of 1 to 255 bytes and a password of up to 255")]
    SocksLogin,
    /// An origin that no browser sends for a page, or that every sandboxed page sends.
    #[error(
        "'{}' is not the origin of web pages: write SCHEME://HOST or SCHEME://HOST:PORT, without a path",
        .0.escape_debug()
    )]
    Origin(String),
    /// A name for `Host` with a port, brackets or other characters that names do not have.
    #[error("'{}' is not a host: write a name or address without port and brackets", .0.escape_debug())]
    HostName(String),
    /// An option that cannot change once the socket is made.
    #[error("the option {0} stays as the socket was made: make another socket for another value")]
    Fixed(&'static str),
    /// Zero for an option that takes a size, count or time of at least 1.
    #[error("the option {0} is zero: give it a value above zero, or leave it out for the default")]
    Zero(&'static str),
    /// No connection can begin its handshake with this metadata, login or heartbeat.
    #[error(transparent)]
    Protocol(#[from] ConfigError),
}

/// The limits of single addresses at a listener; `None` for the default.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PerAddress {
    pub(crate) connections: Option<usize>,
    pub(crate) handshakes: Option<usize>,
    /// A number of connections in each period.
    pub(crate) rate: Option<(u32, Duration)>,
}

impl PerAddress {
    /// The limits of a listener for `all` handshakes.
    pub(crate) fn limits(&self, all: usize) -> AddressLimits {
        let share = AddressLimits::for_handshakes(all);
        AddressLimits {
            connections: self.connections,
            handshakes: self.handshakes.unwrap_or(share.handshakes),
            rate: self.rate,
            ..share
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct SocketOptions {
    pub(crate) socket_type: SocketType,
    pub(crate) security: Security,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) routing_id: Vec<u8>,
    pub(crate) metadata: Vec<(String, Vec<u8>)>,
    pub(crate) send_high_water_mark: usize,
    pub(crate) receive_high_water_mark: usize,
    pub(crate) send_byte_budget: usize,
    pub(crate) receive_byte_budget: usize,
    pub(crate) immediate: bool,
    /// Messages wait for the peer of each endpoint in a queue of its own.
    pub(crate) queue_per_endpoint: bool,
    /// A bit for each I/O thread that may serve an endpoint; none for any.
    pub(crate) io_affinity: u64,
    pub(crate) zap_domain: Option<String>,
    pub(crate) admission: Option<Admission>,
    pub(crate) zap_timeout: Duration,
    pub(crate) max_message_size: usize,
    pub(crate) send_timeout: Option<Duration>,
    pub(crate) receive_timeout: Option<Duration>,
    pub(crate) interrupt: Option<Interrupt>,
    pub(crate) spin: Duration,
    pub(crate) linger: Duration,
    pub(crate) handshake_timeout: Duration,
    pub(crate) heartbeat: HeartbeatOptions,
    pub(crate) reconnect: ReconnectOptions,
    pub(crate) tcp: TcpOptions,
    /// Permissions of the files of `ipc` endpoints.
    pub(crate) ipc_mode: u32,
    pub(crate) socks_proxy: Option<SocksProxy>,
    pub(crate) multicast: MulticastOptions,
    #[cfg(feature = "ws")]
    pub(crate) web_access: Arc<WebAccess>,
    #[cfg(feature = "wss")]
    pub(crate) tls_identity: Option<TlsIdentity>,
    #[cfg(feature = "wss")]
    pub(crate) tls_trust: Option<TlsTrust>,
    pub(crate) max_handshakes: usize,
    pub(crate) max_connections: usize,
    pub(crate) max_connections_per_key: Option<usize>,
    pub(crate) per_address: PerAddress,
    pub(crate) behaviour: Behaviour,
    /// Where libzmq does otherwise than the RFCs say, or than is best, do as libzmq.
    pub(crate) as_libzmq: bool,
    /// Without a ZAP handler peers are refused, as_libzmq or not.
    pub(crate) zap_enforced: bool,
}

impl SocketOptions {
    pub(crate) fn new(socket_type: SocketType) -> Self {
        SocketOptions {
            socket_type,
            security: Security::unspecified(),
            provider: crate::primitives::fastest(),
            routing_id: Vec::new(),
            metadata: Vec::new(),
            send_high_water_mark: DEFAULT_HIGH_WATER_MARK,
            receive_high_water_mark: DEFAULT_HIGH_WATER_MARK,
            send_byte_budget: DEFAULT_BYTE_BUDGET,
            receive_byte_budget: DEFAULT_BYTE_BUDGET,
            immediate: false,
            queue_per_endpoint: false,
            io_affinity: 0,
            zap_domain: None,
            admission: None,
            zap_timeout: crate::auth::zap::DEFAULT_TIMEOUT,
            max_message_size: DEFAULT_MAX_MESSAGE_SIZE,
            send_timeout: None,
            receive_timeout: None,
            interrupt: None,
            spin: Duration::ZERO,
            linger: DEFAULT_LINGER,
            handshake_timeout: DEFAULT_HANDSHAKE_TIMEOUT,
            heartbeat: HeartbeatOptions::default(),
            reconnect: ReconnectOptions::default(),
            tcp: TcpOptions::default(),
            ipc_mode: 0o600,
            socks_proxy: None,
            multicast: MulticastOptions::default(),
            #[cfg(feature = "ws")]
            web_access: Arc::default(),
            #[cfg(feature = "wss")]
            tls_identity: None,
            #[cfg(feature = "wss")]
            tls_trust: None,
            max_handshakes: DEFAULT_MAX_HANDSHAKES,
            max_connections: DEFAULT_MAX_CONNECTIONS,
            max_connections_per_key: None,
            per_address: PerAddress::default(),
            behaviour: Behaviour::default(),
            as_libzmq: false,
            zap_enforced: false,
        }
    }

    /// Established connections that one key may have.
    pub(crate) fn connections_of_a_key(&self) -> usize {
        self.max_connections_per_key.unwrap_or_else(|| {
            let all = DescriptorLimit::current().connections();
            (self.max_connections.min(all) / 4).max(LEAST_CONNECTIONS_PER_KEY)
        })
    }

    /// The name of an option that has another value there and cannot change.
    pub(crate) fn fixed_that_differs(&self, other: &Self) -> Option<&'static str> {
        if self.socket_type != other.socket_type {
            return Some("socket_type");
        }
        if self.spin != other.spin {
            return Some("spin");
        }
        let interrupts = [self, other].map(|options| options.interrupt.as_ref());
        match interrupts {
            [None, None] => {}
            [Some(ours), Some(theirs)] if ours.is(theirs) => {}
            _ => return Some("interruptible"),
        }
        None
    }

    /// Refuses what only ZMTP can do.
    fn check_raw(&self) -> Result<(), OptionsError> {
        if self.security.mechanisms().any(|one| one != Mechanism::Null) {
            return Err(OptionsError::Unprotected(self.socket_type));
        }
        let set = [
            ("routing_id", !self.routing_id.is_empty()),
            ("metadata", !self.metadata.is_empty()),
            ("zap_domain", self.zap_domain.is_some()),
            ("admit", self.admission.is_some()),
            ("heartbeat", self.heartbeat.interval.is_some()),
        ];
        match set.iter().find(|(_, set)| *set) {
            Some(&(option, _)) => Err(OptionsError::NotApplicable {
                option,
                socket_type: self.socket_type,
            }),
            None => Ok(()),
        }
    }

    pub(crate) fn validate(&self) -> Result<(), OptionsError> {
        let (size, leading_zero) = (self.routing_id.len(), self.routing_id.first() == Some(&0));
        if size > MAX_ROUTING_ID || (leading_zero && !self.as_libzmq) {
            return Err(OptionsError::RoutingId { size, leading_zero });
        }
        self.behaviour.check(self.socket_type)?;
        if self.socket_type == SocketType::Stream {
            self.check_raw()?;
        }
        self.multicast.check(self.socket_type)?;
        #[cfg(feature = "ws")]
        self.web_access.validate()?;
        if let Some(proxy) = &self.socks_proxy {
            proxy.validate()?;
        }
        if self.security.additional_keys() > MAX_ADDITIONAL_SERVER_KEYS {
            return Err(OptionsError::ServerKeys);
        }
        let limits = &self.per_address;
        let connect_timeout = self.reconnect.connect_timeout;
        let none_in = |(count, period): (u32, Duration)| count == 0 || period.is_zero();
        let positive = [
            ("max_message_size", self.max_message_size == 0),
            ("handshake_timeout", self.handshake_timeout.is_zero()),
            ("reconnect", self.reconnect.interval.is_zero()),
            ("connect_timeout", connect_timeout == Some(Duration::ZERO)),
            ("zap_timeout", self.zap_timeout.is_zero()),
            ("max_connections_per_address", limits.connections == Some(0)),
            ("max_handshakes_per_address", limits.handshakes == Some(0)),
            (
                "connection_rate_per_address",
                limits.rate.is_some_and(none_in),
            ),
            ("backlog", self.tcp.backlog == 0),
            ("max_handshakes", self.max_handshakes == 0),
            ("max_connections", self.max_connections == 0),
            (
                "max_connections_per_key",
                self.max_connections_per_key == Some(0),
            ),
        ];
        match positive.iter().find(|(_, zero)| *zero) {
            Some((name, _)) => Err(OptionsError::Zero(name)),
            None => self.check_protocol(),
        }
    }

    /// Refuses options with which no connection could begin its handshake.
    fn check_protocol(&self) -> Result<(), OptionsError> {
        let mechanism = match self.security.credentials().cloned() {
            Some(credentials) => MechanismConfig::from(PlainClient { credentials }),
            None => MechanismConfig::null(),
        };
        let config = Config {
            routing_id: self.routing_id.clone(),
            mechanism,
            metadata: self.metadata.clone(),
            heartbeat: self.heartbeat.heartbeat(),
            ..Config::new(self.socket_type)
        };
        Ok(config.validate()?)
    }
}
