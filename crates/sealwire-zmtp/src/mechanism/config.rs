//! Which mechanism the local side has, and what a connection has to know of it.

use alloc::vec::Vec;

use super::blake3::{Blake3Client, Blake3Server};
use super::curve::{CurveClient, CurveServer};
use super::plain::{PlainClient, PlainServer};
use super::{Entropy, null};
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
    pub fn kind(&self) -> Mechanism {
        self.settings().mechanism()
    }

    /// Whether the local side is the server of the mechanism.
    pub fn as_server(&self) -> bool {
        self.settings().as_server()
    }

    pub(crate) fn settings(&self) -> &dyn Settings {
        match self {
            Self::Null | Self::NullAuthorized => &null::Null,
            Self::Blake3Client(client) => client,
            Self::Blake3Server(server) => server,
            Self::CurveClient(client) => client,
            Self::CurveServer(server) => server,
            Self::PlainClient(client) => client,
            Self::PlainServer => &PlainServer,
        }
    }
}

/// What a connection asks of its mechanism's settings, none of it secret.
pub(crate) trait Settings {
    fn mechanism(&self) -> Mechanism;

    /// Whether this is the server of the mechanism.
    fn as_server(&self) -> bool {
        false
    }

    /// Whether the peer may be what its greeting says, the server of the mechanism or not. libzmq leaves
    /// the bit at 0, so that clients of its mechanisms learn nothing from it.
    fn accepts_side(&self, as_server: bool) -> bool {
        !(self.as_server() && as_server)
    }

    /// What stands in the greeting where others have zeros.
    fn greeting_padding(&self, _entropy: &Entropy) -> [u8; 8] {
        [0; 8]
    }

    /// What is weak about the frames after the handshake.
    fn weakness(&self) -> Option<Weakness> {
        None
    }

    /// The data of an ERROR that is spelt in another way.
    fn other_error<'a>(&self, _body: &'a [u8]) -> Option<&'a [u8]> {
        None
    }

    /// The frame of an ERROR in another spelling, for a peer with this padding in its greeting that knows
    /// only that.
    fn other_error_frame(&self, _padding: [u8; 8], _reason: &str) -> Option<Vec<u8>> {
        None
    }
}

/// What an attacker on the path can do to frames although they are sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weakness {
    /// Drop, repeat and reorder them.
    UnauthenticatedOrder,
    /// Drop them.
    GapsAccepted,
}
