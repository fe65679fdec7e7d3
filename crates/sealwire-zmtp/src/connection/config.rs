//! What a connection is told at its start.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::error::ConfigError;
use crate::key_pair::KeyPair;
use crate::keys::PublicKey;
use crate::limits::{
    Limits, MAX_ADDITIONAL_SERVER_KEYS, MAX_METADATA, MAX_PROPERTIES, MAX_ROUTING_ID,
};
use crate::mechanism::blake3::CookieKeeper;
use crate::mechanism::plain::PlainCredentials;
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

/// The security mechanism of the local side.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum MechanismConfig {
    /// No authentication, no encryption.
    #[default]
    Null,
    /// NULL, the side that decides about its peer, by its address, before it says READY. Either
    /// side may, and both.
    NullAuthorized,
    /// BLAKE3ZMQ, the side that knows the other's public key beforehand.
    Blake3Client(Blake3Client),
    /// BLAKE3ZMQ, the side whose public key is known.
    Blake3Server(Blake3Server),
    /// CURVE, the side that knows the other's public key beforehand.
    CurveClient(CurveClient),
    /// CURVE, the side whose public key is known.
    CurveServer(CurveServer),
    /// PLAIN, the side that shows a password. Anyone on the path can read it.
    PlainClient(PlainClient),
    /// PLAIN, the side that is shown passwords.
    PlainServer,
}

/// The client of BLAKE3ZMQ.
#[derive(Clone, Debug)]
pub struct Blake3Client {
    /// The only server that will be talked to.
    pub server_key: PublicKey,
    /// The client's identity; `None` makes one for each connection.
    pub keys: Option<KeyPair>,
    /// How frames are sealed after the handshake; both sides must be set alike.
    pub data_phase: DataPhase,
}

/// The server of BLAKE3ZMQ.
#[derive(Clone, Debug)]
pub struct Blake3Server {
    /// The server's identity.
    pub keys: KeyPair,
    /// Additional identities, while clients change from one to another: at most
    /// [`MAX_ADDITIONAL_SERVER_KEYS`](crate::limits::MAX_ADDITIONAL_SERVER_KEYS), others are not used.
    /// Each costs one X25519 for every HELLO that none before it opened.
    pub additional_keys: Vec<KeyPair>,
    /// Where cookie keys and connection numbers come from; shared by all connections of a server.
    pub cookies: Arc<dyn CookieKeeper>,
    /// How frames are sealed after the handshake; both sides must be set alike.
    pub data_phase: DataPhase,
}

/// The client of CURVE.
#[derive(Clone, Debug)]
pub struct CurveClient {
    /// The only server that will be talked to.
    pub server_key: PublicKey,
    /// The client's identity; `None` makes one for each connection.
    pub keys: Option<KeyPair>,
    /// Which numbers the server's frames may have.
    pub frame_order: FrameOrder,
}

/// The server of CURVE.
#[derive(Clone, Debug)]
pub struct CurveServer {
    /// The server's identity.
    pub keys: KeyPair,
    /// Where cookie keys and connection numbers come from; shared by all connections of a server.
    pub cookies: Arc<dyn CookieKeeper>,
    /// Which numbers the client's frames may have.
    pub frame_order: FrameOrder,
}

/// Which numbers the frames of a CURVE peer may have after the handshake. Never negotiated.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum FrameOrder {
    /// Each number follows the one before: nothing can be dropped, repeated or reordered unnoticed.
    /// libzmq numbers its frames so.
    #[default]
    Consecutive,
    /// **Weak: a dropped frame is not noticed.** Numbers only rise, as CurveZMQ demands: someone on
    /// the path can leave frames out, also parts of a message. Only for peers that skip numbers.
    GapsUnauthenticatedOrder,
}

/// The client of PLAIN.
#[derive(Clone, Debug)]
pub struct PlainClient {
    /// What is shown to the server, whoever that is: PLAIN does not tell.
    pub credentials: PlainCredentials,
}

impl Blake3Server {
    /// The keys in the order they are tried.
    pub(crate) fn all_keys(&self) -> impl Iterator<Item = &KeyPair> {
        let additional = self.additional_keys.iter().take(MAX_ADDITIONAL_SERVER_KEYS);
        core::iter::once(&self.keys).chain(additional)
    }

    /// The key at this place of [`all_keys`](Self::all_keys).
    pub(crate) fn key(&self, index: u8) -> &KeyPair {
        self.all_keys().nth(index.into()).unwrap_or(&self.keys)
    }
}

/// How BLAKE3ZMQ seals frames after the handshake. Never negotiated.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum DataPhase {
    /// A nonce for each frame (section 5): nothing can be dropped, repeated or reordered unnoticed.
    #[default]
    PerMessageNonces,
    /// **Weak: the order of frames is not authenticated.** One keystream that runs on (section 6):
    /// whoever is on the path can drop, repeat or reorder whole frames, and the receiver accepts
    /// them and decrypts noise. Only for peers that speak nothing else.
    ContinuousKeystreamUnauthenticatedOrder,
}
