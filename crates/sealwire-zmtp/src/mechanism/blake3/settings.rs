//! The settings of BLAKE3ZMQ.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::key_pair::KeyPair;
use crate::keys::PublicKey;
use crate::limits::MAX_ADDITIONAL_SERVER_KEYS;
use crate::mechanism::{CookieStore, Weakness};

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
    /// Where cookie keys and connection ids come from; shared by all connections of a server.
    pub cookies: Arc<dyn CookieStore>,
    /// How frames are sealed after the handshake; both sides must be set alike.
    pub data_phase: DataPhase,
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

impl DataPhase {
    pub(super) fn weakness(self) -> Option<Weakness> {
        match self {
            Self::PerMessageNonces => None,
            Self::ContinuousKeystreamUnauthenticatedOrder => Some(Weakness::UnauthenticatedOrder),
        }
    }
}
