//! Security mechanisms: what happens between the greetings and the first message, and how frames
//! are protected from then on.
//!
//! A mechanism is a variant of `Handshake`, which is fed whole command frames and answers with
//! `Progress`, and a variant of `Sealer` and `Opener` for the frames after it. It holds no
//! configuration: that comes with each call, in `Local`.

pub mod blake3;
pub mod curve;
mod handshake;
mod null;
pub mod plain;
mod protection;

pub(crate) use self::handshake::{Established, Handshake, HandshakeFrame, Local, Progress};
pub(crate) use self::protection::{Opener, Sealer};

use core::fmt;

/// Which security mechanism. Its configuration is
/// [`MechanismConfig`](crate::MechanismConfig).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Mechanism {
    /// No authentication, no encryption.
    Null,
    /// A username and a password, which anyone on the path can read.
    Plain,
    /// CURVE, the mechanism of libzmq that encrypts.
    Curve,
    /// BLAKE3ZMQ.
    Blake3,
}

impl Mechanism {
    /// Returns the name as it stands in the greeting, 4 to 6 bytes of ASCII.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Null => null::NAME,
            Self::Plain => plain::NAME,
            Self::Curve => curve::NAME,
            Self::Blake3 => blake3::NAME,
        }
    }

    /// Returns whether frames after the handshake are encrypted and authenticated.
    pub const fn encrypts(self) -> bool {
        match self {
            Self::Null | Self::Plain => false,
            Self::Curve | Self::Blake3 => true,
        }
    }

    /// Returns whether the two sides differ: one is the server of the mechanism.
    pub const fn has_server(self) -> bool {
        !matches!(self, Self::Null)
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
