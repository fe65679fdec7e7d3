//! The security mechanisms, as greetings name them.
//!
//! Errors, configurations and peers name them; [`mechanism`](crate::mechanism) implements them.

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
            Self::Null => "NULL",
            Self::Plain => "PLAIN",
            Self::Curve => "CURVE",
            Self::Blake3 => "BLAKE3",
        }
    }

    /// Returns whether frames after the handshake are encrypted and authenticated.
    pub const fn encrypts(self) -> bool {
        match self {
            Self::Null | Self::Plain => false,
            Self::Curve | Self::Blake3 => true,
        }
    }

    /// Returns whether a client that is refused is told why in words, and may come again. With the
    /// others ERROR is final: libzmq's clients never come again after it, and take a connection that
    /// is closed for something that passes.
    pub const fn tells_reasons(self) -> bool {
        matches!(self, Self::Blake3)
    }

    /// Returns whether the handshake depends on both greetings, so that these are sent also where the
    /// transport says what they would say.
    pub const fn hashes_greetings(self) -> bool {
        matches!(self, Self::Blake3)
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
