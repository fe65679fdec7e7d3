//! What differs between the mechanisms that can be shown.

use clap::ValueEnum;
use sealwire::auth::Authenticator;
use sealwire::{KeyPair, PublicKey, Security};

/// A mechanism with keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DemoMechanism {
    /// BLAKE3ZMQ, Sealwire's own choice.
    Blake3,
    /// CURVE, which libzmq speaks.
    Curve,
}

/// A command on the wire: its body has this size, plus metadata where there are any.
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) from_client: bool,
    pub(super) size: usize,
    pub(super) metadata: bool,
    pub(super) carries: &'static str,
}

#[rustfmt::skip]
const BLAKE3: [Step; 4] = [
    Step { name: "HELLO", from_client: true, size: 232, metadata: false,
           carries: "a key of alice's for this connection alone" },
    Step { name: "WELCOME", from_client: false, size: 224, metadata: false,
           carries: "one of the server's, and a cookie, sealed" },
    Step { name: "INITIATE", from_client: true, size: 321, metadata: true,
           carries: "the cookie, alice's key and her proof, sealed" },
    Step { name: "READY", from_client: false, size: 38, metadata: true,
           carries: "the server's answer, sealed" },
];

#[rustfmt::skip]
const CURVE: [Step; 5] = [
    Step { name: "HELLO", from_client: true, size: 200, metadata: false,
           carries: "a key of alice's for this connection alone, and padding" },
    Step { name: "WELCOME", from_client: false, size: 168, metadata: false,
           carries: "one of the server's, and a cookie, sealed" },
    Step { name: "INITIATE", from_client: true, size: 257, metadata: true,
           carries: "the cookie, alice's key and her vouch, sealed" },
    Step { name: "READY", from_client: false, size: 30, metadata: true,
           carries: "the server's answer, sealed" },
    Step { name: "MESSAGE", from_client: true, size: 33, metadata: false,
           carries: "a number, a tag and the first frame, sealed; it is empty" },
];

impl DemoMechanism {
    /// As it stands in greetings.
    pub(super) fn name(self) -> &'static str {
        match self {
            DemoMechanism::Blake3 => "BLAKE3",
            DemoMechanism::Curve => "CURVE",
        }
    }

    /// What somebody hears who is not allowed: CURVE's clients get libzmq's digits, not words.
    pub(super) fn tells_a_stranger(self) -> &'static str {
        match self {
            DemoMechanism::Blake3 => "this key is not allowed here",
            DemoMechanism::Curve => "400",
        }
    }

    pub(super) fn server(self, keys: KeyPair, allowed: impl Authenticator) -> Security {
        match self {
            DemoMechanism::Blake3 => Security::blake3_server(keys, allowed).into(),
            DemoMechanism::Curve => Security::curve_server(keys, allowed),
        }
    }

    pub(super) fn client(self, server: PublicKey, keys: KeyPair) -> Security {
        match self {
            DemoMechanism::Blake3 => Security::blake3_client_with_keys(server, keys).into(),
            DemoMechanism::Curve => Security::curve_client(server, keys),
        }
    }

    /// What passes until the first message is there, in order; each side in turn.
    pub(super) fn steps(self) -> &'static [Step] {
        match self {
            DemoMechanism::Blake3 => &BLAKE3,
            DemoMechanism::Curve => &CURVE,
        }
    }

    /// Bytes by which a frame grows.
    pub(super) fn overhead(self) -> usize {
        match self {
            DemoMechanism::Blake3 => 32,
            DemoMechanism::Curve => 33,
        }
    }

    /// What these bytes are.
    pub(super) fn explains_overhead(self) -> &'static str {
        match self {
            DemoMechanism::Blake3 => "32 prove that nothing was changed",
            DemoMechanism::Curve => "a name of 8, a number of 8, 1 of flags, 16 that prove it all",
        }
    }
}
