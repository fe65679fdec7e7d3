//! Cookies: the state that a server sends to the client instead of keeping it.
//!
//! Source: CurveZMQ (RFC 26), which leaves the cookie to the server and fixes its size. The keys are
//! those of [`CookieKeys`](crate::mechanism::CookieKeys), replaced by the clock. A box of NaCl has
//! no associated data, so the connection id goes into the key: a cookie opens on one connection
//! only.
//!
//! ```text
//! nonce 16 | tag 16 | sealed: C' 32, s' 32
//! ```

use sealwire_nacl::{SecretBox, TAG_SIZE};
use zeroize::Zeroizing;

use super::commands::{COOKIE_NONCE, COOKIE_SIZE};
use super::{nonce, open_array};
use crate::keys::{PublicKey, SecretKey};
use crate::mechanism::CookieKey;
use crate::provider::Provider;

const KEY_CONTEXT: &str = "Sealwire 2026 CURVE cookie";

/// What a cookie carries from HELLO to INITIATE.
pub(super) struct Cookie {
    /// `C'`.
    pub(super) client_ephemeral: PublicKey,
    /// `s'`.
    pub(super) server_ephemeral: SecretKey,
}

impl Cookie {
    /// The cookie on the wire, good for the connection `number` only.
    pub(super) fn seal(
        &self,
        provider: &dyn Provider,
        key: &CookieKey,
        number: u64,
        random: &[u8; 16],
    ) -> [u8; COOKIE_SIZE] {
        let mut cookie = [0; COOKIE_SIZE];
        let (nonce_field, sealed) = cookie.split_at_mut(random.len());
        nonce_field.copy_from_slice(random);
        let (tag, text) = sealed.split_at_mut(TAG_SIZE);
        let (client, server) = text.split_at_mut(32);
        client.copy_from_slice(self.client_ephemeral.as_bytes());
        server.copy_from_slice(self.server_ephemeral.as_bytes());
        let sealing = secret_box(provider, key, number);
        tag.copy_from_slice(&sealing.seal_in_place_detached(&nonce(COOKIE_NONCE, random), text));
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
        let (random, sealed) = cookie.split_first_chunk::<16>()?;
        let opening = secret_box(provider, key, number);
        let opened = open_array::<64>(&opening, &nonce(COOKIE_NONCE, random), sealed)?;
        let (client_ephemeral, server_ephemeral) = opened.split_first_chunk()?;
        Some(Self {
            client_ephemeral: PublicKey::from_bytes(*client_ephemeral).ok()?,
            server_ephemeral: SecretKey::from_bytes(*server_ephemeral.first_chunk()?),
        })
    }
}

fn secret_box(provider: &dyn Provider, key: &CookieKey, number: u64) -> SecretBox {
    let mut derived = Zeroizing::new([0; 32]);
    let material = [&key.as_bytes()[..], &number.to_le_bytes()];
    provider.derive_key(KEY_CONTEXT, &material, &mut *derived);
    SecretBox::new(&derived)
}
