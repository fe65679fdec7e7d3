//! Cookies: the state that a server sends to the client instead of keeping it.
//!
//! Source: wire reference, sections 4 and 8. Between WELCOME and INITIATE a server keeps none of a
//! handshake's secrets; the client returns them in a cookie sealed under `K`. The connection id
//! enters the cookie's associated data, so that a cookie opens on one connection only.

use super::commands::COOKIE_SIZE;
use super::sealed_box::SealedBox;
use super::transcript::Transcript;
use crate::keys::{PublicKey, SecretKey};
use crate::mechanism::CookieKey;
use crate::provider::Provider;

pub(super) const KEY_CONTEXT: &str = "BLAKE3ZMQ-1.0 cookie";
const AAD: &[u8] = b"COOKIE";

/// What a cookie carries from HELLO to INITIATE.
///
/// ```text
/// nonce 24 | sealed: C' 32, s' 32, h1 32 | tag 32
/// ```
pub(super) struct Cookie {
    /// `C'`.
    pub(super) client_ephemeral: PublicKey,
    /// `s'`.
    pub(super) server_ephemeral: SecretKey,
    pub(super) h1: Transcript,
}

impl Cookie {
    /// The cookie on the wire, good for the connection `number` only.
    pub(super) fn seal(
        &self,
        provider: &dyn Provider,
        key: &CookieKey,
        number: u64,
        nonce: [u8; 24],
    ) -> [u8; COOKIE_SIZE] {
        let aad = associated_data(number);
        self.seal_with(
            &SealedBox::with_nonce(provider, KEY_CONTEXT, &[key.as_bytes()], nonce, &aad),
            nonce,
        )
    }

    pub(super) fn seal_with(&self, sealing: &SealedBox<'_>, nonce: [u8; 24]) -> [u8; COOKIE_SIZE] {
        let mut cookie = [0; COOKIE_SIZE];
        let (nonce_field, sealed) = cookie.split_at_mut(nonce.len());
        nonce_field.copy_from_slice(&nonce);
        let (text, tag) = sealed.split_at_mut(96);
        let fields = text.chunks_exact_mut(32).zip([
            self.client_ephemeral.as_bytes(),
            self.server_ephemeral.as_bytes(),
            self.h1.as_bytes(),
        ]);
        fields.for_each(|(field, bytes)| field.copy_from_slice(bytes));
        tag.copy_from_slice(&sealing.seal_in_place(text));
        cookie
    }

    /// Opens a cookie; `None` when it was made under another key, for another connection, or by
    /// someone else.
    pub(super) fn open(
        provider: &dyn Provider,
        key: &CookieKey,
        number: u64,
        cookie: &[u8; COOKIE_SIZE],
    ) -> Option<Self> {
        let (nonce, sealed) = cookie.split_first_chunk()?;
        let aad = associated_data(number);
        let opened = SealedBox::with_nonce(provider, KEY_CONTEXT, &[key.as_bytes()], *nonce, &aad)
            .open_array::<96>(sealed)?;
        let (client_ephemeral, rest) = opened.split_first_chunk()?;
        let (server_ephemeral, h1) = rest.split_first_chunk()?;
        Some(Self {
            client_ephemeral: PublicKey::from_bytes(*client_ephemeral).ok()?,
            server_ephemeral: SecretKey::from_bytes(*server_ephemeral),
            h1: Transcript::from_bytes(h1.try_into().ok()?),
        })
    }
}

/// `"COOKIE"` and the connection id.
fn associated_data(number: u64) -> [u8; 14] {
    let mut data = [0; 14];
    let (name, rest) = data.split_at_mut(AAD.len());
    name.copy_from_slice(AAD);
    rest.copy_from_slice(&number.to_le_bytes());
    data
}
