//! The facts about its mechanism that a connection has to know.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::entropy::Entropy;
use super::handshake::{Greetings, Progress};
use super::local::Local;
use crate::error::{ConfigError, Error};
use crate::mechanism_type::Mechanism;

/// What a connection asks of its mechanism's settings.
pub(crate) trait MechanismSettings<P>: fmt::Debug + Send + Sync {
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

    /// Whether random bytes stand in the greeting where others have zeros.
    fn wants_fresh_padding(&self) -> bool {
        false
    }

    /// The weakness of the frames after the handshake.
    fn weakness(&self) -> Option<Weakness> {
        None
    }

    /// Says whether a handshake can be made with this.
    fn validate(&self) -> Result<(), ConfigError> {
        Ok(())
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

    /// Begins a handshake once both greetings are known, with the first command where it is this side's to
    /// send.
    fn start(
        self: Arc<Self>,
        local: &Local<'_>,
        entropy: &Entropy,
        greetings: &Greetings<'_>,
    ) -> Result<Progress<P>, Error>;
}

/// What an attacker on the path can do to frames although they are sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weakness {
    /// Drop, repeat and reorder them.
    UnauthenticatedOrder,
    /// Drop them.
    GapsAccepted,
}
