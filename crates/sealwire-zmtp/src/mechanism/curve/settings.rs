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
    /// Where cookie keys and connection ids come from; shared by all connections of a server.
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

impl FrameOrder {
    pub(super) fn weakness(self) -> Option<Weakness> {
        match self {
            Self::Consecutive => None,
            Self::GapsUnauthenticatedOrder => Some(Weakness::GapsAccepted),
        }
    }
}
