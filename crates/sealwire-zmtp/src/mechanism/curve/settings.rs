//! The settings of CURVE.

use alloc::sync::Arc;

use crate::key_pair::KeyPair;
use crate::keys::PublicKey;
use crate::mechanism::{CookieStore, Weakness};

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
    /// An additional identity, while clients change from one to the other. It costs one X25519 for every HELLO
    /// that the first did not open. There is one at most, as every stranger's HELLO costs as much as there are
    /// keys.
    pub additional_key: Option<KeyPair>,
    /// Where cookie keys and connection ids come from; shared by all connections of a server.
    pub cookies: Arc<dyn CookieStore>,
    /// Which numbers the client's frames may have.
    pub frame_order: FrameOrder,
}

impl CurveServer {
    /// The keys in the order they are tried.
    pub(crate) fn all_keys(&self) -> impl Iterator<Item = &KeyPair> {
        core::iter::once(&self.keys).chain(&self.additional_key)
    }

    /// The key at this place of [`all_keys`](Self::all_keys).
    pub(crate) fn key(&self, index: u8) -> &KeyPair {
        self.all_keys().nth(index.into()).unwrap_or(&self.keys)
    }
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

impl FrameOrder {
    pub(super) fn weakness(self) -> Option<Weakness> {
        match self {
            Self::Consecutive => None,
            Self::GapsUnauthenticatedOrder => Some(Weakness::GapsAccepted),
        }
    }
}
