//! What a mechanism is told at its start.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::blake3::CookieStore;
use super::plain::PlainCredentials;
use crate::key_pair::KeyPair;
use crate::keys::PublicKey;
use crate::limits::MAX_ADDITIONAL_SERVER_KEYS;
use crate::mechanism_type::Mechanism;

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

impl MechanismConfig {
    /// Returns which mechanism is configured.
    pub const fn kind(&self) -> Mechanism {
        match self {
            Self::Null | Self::NullAuthorized => Mechanism::Null,
            Self::Blake3Client(_) | Self::Blake3Server(_) => Mechanism::Blake3,
            Self::CurveClient(_) | Self::CurveServer(_) => Mechanism::Curve,
            Self::PlainClient(_) | Self::PlainServer => Mechanism::Plain,
        }
    }

    /// Whether the local side is the server of the mechanism.
    pub const fn as_server(&self) -> bool {
        matches!(
            self,
            Self::Blake3Server(_) | Self::CurveServer(_) | Self::PlainServer
        )
    }
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
    pub cookies: Arc<dyn CookieStore>,
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
    pub cookies: Arc<dyn CookieStore>,
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
    /// What the client shows to any server: PLAIN does not prove which one it is.
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
    /// anyone on the path can drop, repeat or reorder whole frames, and the receiver accepts
    /// them and decrypts noise. Only for peers that speak nothing else.
    ContinuousKeystreamUnauthenticatedOrder,
}
