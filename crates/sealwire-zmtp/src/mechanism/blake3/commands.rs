//! The layout of the four handshake commands.
//!
//! Source: wire reference, section 4. Sizes in bytes, name and its length included:
//!
//! ```text
//! HELLO     name 6 | version 2 | C' 32 | zeros 96 | hello_box 96           232
//! WELCOME   name 8 | welcome_box 32 + 152 + 32                             224
//! INITIATE  name 9 | cookie 152 | initiate_box 32 + 96 + metadata + 32     321 + metadata
//! READY     name 6 | ready_box metadata + 32                               38 + metadata
//! ```

use sealwire_aead::TAG_SIZE;

use crate::error::HandshakeError;

pub(super) const HELLO: &str = "HELLO";
pub(super) const WELCOME: &str = "WELCOME";
pub(super) const INITIATE: &str = "INITIATE";
pub(super) const READY: &str = "READY";

/// Size of a cookie: nonce, `C'`, `s'`, `h1` and tag.
pub(super) const COOKIE_SIZE: usize = 24 + 96 + TAG_SIZE;
/// Size of a vouch: `C'`, `S` and tag.
pub(super) const VOUCH_SIZE: usize = 64 + TAG_SIZE;

/// Major and minor version of the mechanism, as sent in HELLO.
pub(super) const VERSION: [u8; 2] = [1, 0];
/// Zeros that make HELLO larger than WELCOME, so that a server never amplifies.
pub(super) const HELLO_PADDING: [u8; 96] = [0; 96];
/// What hello_box seals.
pub(super) const HELLO_PLAINTEXT: [u8; 64] = [0; 64];

/// Size of the data of HELLO.
pub(super) const HELLO_SIZE: usize =
    VERSION.len() + 32 + HELLO_PADDING.len() + HELLO_PLAINTEXT.len() + TAG_SIZE;

/// The data of HELLO.
pub(super) struct Hello<'a> {
    pub(super) ephemeral: &'a [u8; 32],
    pub(super) hello_box: &'a [u8; 96],
}

impl<'a> Hello<'a> {
    /// Checks size, version and padding.
    pub(super) fn parse(data: &'a [u8]) -> Result<Self, HandshakeError> {
        let fields = || {
            let (version, rest) = data.split_first_chunk()?;
            let (ephemeral, rest) = rest.split_first_chunk()?;
            let (padding, rest) = rest.split_first_chunk()?;
            let hello_box = rest.try_into().ok()?;
            (*version == VERSION && *padding == HELLO_PADDING).then_some(Self {
                ephemeral,
                hello_box,
            })
        };
        fields().ok_or(HandshakeError::HelloMalformed)
    }
}

/// The data of INITIATE.
pub(super) struct Initiate<'a> {
    pub(super) cookie: &'a [u8; COOKIE_SIZE],
    pub(super) initiate_box: &'a [u8],
}

impl<'a> Initiate<'a> {
    pub(super) fn parse(data: &'a [u8]) -> Result<Self, HandshakeError> {
        match data.split_first_chunk() {
            Some((cookie, initiate_box)) if initiate_box.len() >= 32 + VOUCH_SIZE + TAG_SIZE => {
                Ok(Self {
                    cookie,
                    initiate_box,
                })
            }
            _ => Err(HandshakeError::InitiateMalformed),
        }
    }
}

/// What INITIATE's box holds.
pub(super) struct Introduction<'a> {
    /// `C`.
    pub(super) client: &'a [u8; 32],
    pub(super) vouch: &'a [u8; VOUCH_SIZE],
    pub(super) metadata: &'a [u8],
}

impl<'a> Introduction<'a> {
    pub(super) fn parse(opened: &'a [u8]) -> Result<Self, HandshakeError> {
        let fields = || {
            let (client, rest) = opened.split_first_chunk()?;
            let (vouch, metadata) = rest.split_first_chunk()?;
            Some(Self {
                client,
                vouch,
                metadata,
            })
        };
        fields().ok_or(HandshakeError::InitiateMalformed)
    }
}
