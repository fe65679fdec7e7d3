//! What CurveZMQ (RFC 26) asks of both sides, done by libsodium: the boxes and what goes into them,
//! with no state machine that would read commands or greet.
//!
//! All goes through the safe API of `libsodium-rs`, which makes a new buffer, filled with zeros, for
//! each box and for what it opens.

mod handshake;
mod messages;

use libsodium_rs::crypto_box::{Nonce, PrecomputedKey, open_afternm, seal_afternm};

use super::LIBSODIUM;
use super::in_memory::{Channel, InMemory};
use crate::{Error, failed};
use handshake::Parties;

/// libsodium has been started: the record asks for its version first.
pub(super) fn all() -> [Box<dyn InMemory>; 1] {
    [Box::new(Parties::new())]
}

impl InMemory for Parties {
    fn name(&self) -> &'static str {
        LIBSODIUM
    }

    fn connect(&self) -> Result<Box<dyn Channel>, Error> {
        let [client, server] = self.shake_hands()?;
        Ok(Box::new(messages::Direction::new(client, server)))
    }
}

/// A nonce of 24 bytes: what is sealed, and what differs.
fn nonce(prefix: &[u8], rest: &[u8]) -> [u8; 24] {
    let mut nonce = [0; 24];
    let (start, end) = nonce.split_at_mut(prefix.len());
    start.copy_from_slice(prefix);
    end.copy_from_slice(rest);
    nonce
}

/// Says which part of CurveZMQ libsodium refused.
fn refused(part: &str) -> Error {
    failed(format!("libsodium refused {part} of CurveZMQ"))
}

fn seal(part: &str, text: &[u8], nonce: [u8; 24], key: &PrecomputedKey) -> Result<Vec<u8>, Error> {
    seal_afternm(text, &Nonce::from_bytes_exact(nonce), key).map_err(|_| refused(part))
}

fn open(
    part: &str,
    sealed: &[u8],
    nonce: [u8; 24],
    key: &PrecomputedKey,
) -> Result<Vec<u8>, Error> {
    open_afternm(sealed, &Nonce::from_bytes_exact(nonce), key).map_err(|_| refused(part))
}
