//! What a connection is told at its start.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::error::ConfigError;
use crate::limits::{Limits, MAX_METADATA, MAX_PROPERTIES, MAX_ROUTING_ID};
use crate::mechanism::MechanismConfig;
use crate::socket_type::SocketType;
use crate::wire::metadata;

/// Everything that is the same for all connections of one endpoint.
#[derive(Clone, Debug)]
pub struct Config {
    /// The type of the local socket.
    pub socket_type: SocketType,
    /// The routing id to announce; at most 255 bytes, empty for none. ZeroMQ gives a meaning to
    /// those of REQ, DEALER and ROUTER.
    pub routing_id: Vec<u8>,
    /// How the peers prove themselves and protect what they say.
    pub mechanism: MechanismConfig,
    /// Properties of the application, sent in the handshake beside `Socket-Type` and `Identity`.
    pub metadata: Vec<(String, Vec<u8>)>,
    /// What is accepted from the peer.
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
            mechanism: MechanismConfig::Null,
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
    /// [`ConfigError`], by variant.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.heartbeat.is_some_and(|beat| beat.interval.is_zero()) {
            return Err(ConfigError::HeartbeatInterval);
        }
        if let MechanismConfig::PlainClient(client) = &self.mechanism
            && !client.credentials.fits()
        {
            return Err(ConfigError::CredentialTooLong);
        }
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
            if [metadata::SOCKET_TYPE, metadata::IDENTITY]
                .into_iter()
                .chain(earlier)
                .any(|taken| taken.eq_ignore_ascii_case(name))
            {
                return Err(ConfigError::DuplicateProperty);
            }
        }
        let size = self.metadata_size();
        if self.properties().count() > MAX_PROPERTIES || size > MAX_METADATA {
            return Err(ConfigError::MetadataTooLarge { size });
        }
        Ok(())
    }

    /// What the peer is told about the local side, in order.
    fn properties(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let socket_type = (metadata::SOCKET_TYPE, self.socket_type.name().as_bytes());
        let routing_id =
            (!self.routing_id.is_empty()).then_some((metadata::IDENTITY, &self.routing_id[..]));
        let additional = self.metadata.iter();
        core::iter::once(socket_type)
            .chain(routing_id)
            .chain(additional.map(|(name, value)| (&**name, &value[..])))
    }

    /// Bytes that [`encode_metadata`](Self::encode_metadata) appends.
    pub(crate) fn metadata_size(&self) -> usize {
        self.properties()
            .map(|(name, value)| metadata::property_size(name, value))
            .sum()
    }

    /// Appends the metadata as it goes into READY or INITIATE, of a configuration that is valid.
    pub(crate) fn encode_metadata(&self, out: &mut Vec<u8>) {
        for (name, value) in self.properties() {
            metadata::encode_property(name, value, out);
        }
    }
}

/// Heartbeats of one connection (ZMTP 3.1, PING and PONG).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// Time between two PINGs.
    pub interval: Duration,
    /// Time after a PING in which something must arrive.
    pub timeout: Duration,
    /// How long the peer may wait for traffic from here before it gives up; carried in PING, in
    /// tenths of a second, at most 6,553.5 s. Zero leaves that to the peer.
    pub ttl: Duration,
}
