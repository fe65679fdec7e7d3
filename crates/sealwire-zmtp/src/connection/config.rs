//! The configuration of a connection.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::error::ConfigError;
use crate::limits::{Limits, MAX_METADATA, MAX_PROPERTIES, MAX_ROUTING_ID};
use crate::mechanism::{Local, MechanismConfig};
use crate::provider::Provider;
use crate::socket_type::SocketType;
use crate::wire::command::missed;
use crate::wire::metadata::{self, LocalMetadata};

/// Everything that is the same for all connections of one endpoint.
#[derive(Clone, Debug)]
pub struct Config {
    /// The type of the local socket.
    pub socket_type: SocketType,
    /// The routing id to announce; at most 255 bytes, empty for none. ZeroMQ gives a meaning to
    /// those of REQ, DEALER and ROUTER.
    pub routing_id: Vec<u8>,
    /// Whether REQ, DEALER and ROUTER announce an empty routing id too, as libzmq's do. It means the same as none.
    /// Default `false`.
    pub announces_empty_routing_id: bool,
    /// Whether peers that say ZMTP 3.0 get heartbeats too, as from libzmq. The protocol has them from 3.1 on.
    /// Default `false`.
    pub heartbeats_to_zmtp_3_0: bool,
    /// Whether contexts of PING and PONG that are longer than the protocol allows are cut off, as libzmq does with those
    /// of PING; else they are errors. Default `false`.
    pub cuts_heartbeat_contexts: bool,
    /// Whether the peer is asked to say how many messages it drops for this side ([`Event::Missed`](super::Event::Missed)):
    /// of use to SUB, XSUB and DISH. Default `false`.
    pub asks_for_missed: bool,
    /// How the peers prove themselves and protect what they say.
    pub mechanism: MechanismConfig,
    /// Properties of the application, sent in the handshake beside `Socket-Type` and `Identity`.
    pub metadata: Vec<(String, Vec<u8>)>,
    /// The limits on what the peer sends.
    pub limits: Limits,
    /// Time from the start of the connection to its end of handshake. Default 15 s.
    pub handshake_timeout: Duration,
    /// Heartbeats; `None` sends none and still answers the peer's. Default `None`.
    pub heartbeat: Option<Heartbeat>,
}

impl Config {
    /// Defaults: no routing id, mechanism NULL, 15 s for the handshake, no heartbeat.
    pub fn new(socket_type: SocketType) -> Self {
        Self {
            socket_type,
            routing_id: Vec::new(),
            announces_empty_routing_id: false,
            heartbeats_to_zmtp_3_0: false,
            cuts_heartbeat_contexts: false,
            asks_for_missed: false,
            mechanism: MechanismConfig::null(),
            metadata: Vec::new(),
            limits: Limits::default(),
            handshake_timeout: Duration::from_secs(15),
            heartbeat: None,
        }
    }

    /// Says whether a connection can be made with this.
    ///
    /// A [`Connection`](super::Connection) made with an invalid one fails with the same error
    /// before it sends or accepts a byte.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] if the heartbeat interval is zero, the routing id or a PLAIN login is too long, or the
    /// metadata cannot be sent: a name that is invalid or occurs twice, or more than fits into the handshake.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.heartbeat.is_some_and(|beat| beat.interval.is_zero()) {
            return Err(ConfigError::HeartbeatInterval);
        }
        self.mechanism.validate()?;
        self.validate_metadata()
    }

    fn validate_metadata(&self) -> Result<(), ConfigError> {
        if self.routing_id.len() > MAX_ROUTING_ID {
            return Err(ConfigError::RoutingIdTooLong {
                size: self.routing_id.len(),
            });
        }
        for (index, (name, _)) in self.metadata.iter().enumerate() {
            metadata::checked_name(name.as_bytes()).ok_or(ConfigError::PropertyName)?;
            let earlier = self.metadata[..index].iter().map(|(name, _)| &**name);
            if [metadata::SOCKET_TYPE, metadata::IDENTITY, missed::PROPERTY]
                .into_iter()
                .chain(earlier)
                .any(|taken| taken.eq_ignore_ascii_case(name))
            {
                return Err(ConfigError::DuplicateProperty);
            }
        }
        let local = self.local_metadata();
        let size = local.size();
        if local.properties().count() > MAX_PROPERTIES || size > MAX_METADATA {
            return Err(ConfigError::MetadataTooLarge { size });
        }
        Ok(())
    }

    /// What the peer is told about the local side.
    fn local_metadata(&self) -> LocalMetadata<'_> {
        LocalMetadata {
            socket_type: self.socket_type,
            routing_id: &self.routing_id,
            announces_empty: self.announces_empty_routing_id,
            asks_for_missed: self.asks_for_missed,
            additional: &self.metadata,
        }
    }

    /// What a mechanism is told of this at every step.
    pub(crate) fn local<'a>(&'a self, provider: &'a dyn Provider) -> Local<'a> {
        Local {
            metadata: self.local_metadata(),
            provider,
        }
    }
}

/// Heartbeats of one connection (ZMTP 3.1, PING and PONG).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Heartbeat {
    /// Time between two PINGs.
    pub interval: Duration,
    /// Time after a PING in which something must arrive.
    pub timeout: Duration,
    /// How long the peer may wait for traffic from here before it gives up; carried in PING, in
    /// tenths of a second, at most 6,553.5 s. Zero leaves that to the peer.
    pub ttl: Duration,
}
