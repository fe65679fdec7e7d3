//! The transcript: one hash over everything both sides said, down to flags and lengths.
//!
//! Source: wire reference, section 3.
//!
//! ```text
//! h0 = H("BLAKE3ZMQ-1.0" || client greeting || server greeting)
//! h1 = H(h0 || HELLO frame)       h2 = H(h1 || WELCOME frame)
//! h3 = H(h2 || INITIATE frame)    h4 = H(h3 || READY frame)
//! ```

use crate::provider::Provider;

const PROTOCOL: &[u8] = b"BLAKE3ZMQ-1.0";

/// One of `h0` to `h4`.
#[derive(Copy, Clone)]
pub(super) struct Transcript([u8; 32]);

impl Transcript {
    /// `h0`.
    pub(super) fn start(provider: &dyn Provider, client: &[u8; 64], server: &[u8; 64]) -> Self {
        Self(provider.hash(&[PROTOCOL, client, server]))
    }

    /// A hash that was carried in a cookie.
    pub(super) const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The next hash, over this one and every byte of a frame.
    #[must_use]
    pub(super) fn then(self, provider: &dyn Provider, frame: &[u8]) -> Self {
        Self(provider.hash(&[&self.0, frame]))
    }

    pub(super) const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}
