//! From the end of the handshake to the keys of both directions.
//!
//! Source: wire reference, sections 5 and 6. Everything is derived from `h4 || dh2`.

use zeroize::Zeroizing;

use super::transcript::Transcript;
use super::{continuous, traffic};
use crate::mechanism::{DataPhase, Opener, Sealer};
use crate::provider::{Provider, SharedSecret};

/// Which side of the handshake this one was.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

/// The protection of both directions: what this side sends, what it receives.
pub(super) fn derive(
    provider: &dyn Provider,
    phase: DataPhase,
    side: Side,
    h4: &Transcript,
    dh2: &SharedSecret,
) -> (Sealer, Opener) {
    let material = [&h4.as_bytes()[..], dh2.as_bytes()];
    let (out, back) = match side {
        Side::Client => (&CLIENT_TO_SERVER, &SERVER_TO_CLIENT),
        Side::Server => (&SERVER_TO_CLIENT, &CLIENT_TO_SERVER),
    };
    match phase {
        DataPhase::PerMessageNonces => {
            let cipher = |direction: &Direction| {
                let key = expand::<32>(provider, direction.key, &material);
                let nonce = expand::<24>(provider, direction.nonce, &material);
                (provider.cipher(&key), *nonce)
            };
            let (sealer, sealer_nonce) = cipher(out);
            let (opener, opener_nonce) = cipher(back);
            (
                Sealer::PerMessage(traffic::Sealer::new(sealer, sealer_nonce)),
                Opener::PerMessage(traffic::Opener::new(opener, opener_nonce)),
            )
        }
        DataPhase::ContinuousKeystreamUnauthenticatedOrder => {
            let cipher = |direction: &Direction| {
                let encryption = expand::<32>(provider, direction.encryption_key, &material);
                let authentication =
                    expand::<32>(provider, direction.authentication_key, &material);
                let nonce = expand::<8>(provider, direction.nonce, &material);
                provider.continuous_cipher(&encryption, &authentication, &nonce)
            };
            (
                Sealer::Continuous(continuous::Sealer::new(cipher(out))),
                Opener::Continuous(continuous::Opener::new(cipher(back))),
            )
        }
    }
}

/// The context strings of one direction.
struct Direction {
    key: &'static str,
    encryption_key: &'static str,
    authentication_key: &'static str,
    nonce: &'static str,
}

macro_rules! direction {
    ($name:literal) => {
        Direction {
            key: concat!("BLAKE3ZMQ-1.0 ", $name, " key"),
            encryption_key: concat!("BLAKE3ZMQ-1.0 ", $name, " enc key"),
            authentication_key: concat!("BLAKE3ZMQ-1.0 ", $name, " auth key"),
            nonce: concat!("BLAKE3ZMQ-1.0 ", $name, " nonce"),
        }
    };
}

const CLIENT_TO_SERVER: Direction = direction!("client->server");
const SERVER_TO_CLIENT: Direction = direction!("server->client");

fn expand<const N: usize>(
    provider: &dyn Provider,
    context: &str,
    material: &[&[u8]],
) -> Zeroizing<[u8; N]> {
    let mut output = Zeroizing::new([0; N]);
    provider.derive_key(context, material, &mut *output);
    output
}
