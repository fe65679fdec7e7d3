//! The layout of the four handshake commands.
//!
//! Source: CurveZMQ (RFC 26). Sizes in bytes, name and its length included:
//!
//! ```text
//! HELLO     name 6 | version 2 | zeros 72 | C' 32 | nonce 8 | box 16 + 64            200
//! WELCOME   name 8 | nonce 16 | box 16 + 32 + 96                                     168
//! INITIATE  name 9 | cookie 96 | nonce 8 | box 16 + 128 + metadata                   257 + metadata
//! READY     name 6 | nonce 8 | box 16 + metadata                                     30 + metadata
//! ```

use sealwire_nacl::TAG_SIZE;

use crate::error::HandshakeError;

pub(super) const HELLO: &str = "HELLO";
pub(super) const WELCOME: &str = "WELCOME";
pub(super) const INITIATE: &str = "INITIATE";
pub(super) const READY: &str = "READY";

/// Size of a cookie: nonce, tag, `C'` and `s'`.
pub(super) const COOKIE_SIZE: usize = 16 + TAG_SIZE + 64;
/// Size of a vouch: tag, `C'` and `S`.
pub(super) const VOUCH_SIZE: usize = TAG_SIZE + 64;
/// Size of what INITIATE's box holds before the metadata: `C`, the vouch's nonce, the vouch.
const INTRODUCTION_SIZE: usize = 32 + 16 + VOUCH_SIZE;

/// Major and minor version of the mechanism, as sent in HELLO.
pub(super) const VERSION: [u8; 2] = [1, 0];
/// Zeros that make HELLO larger than WELCOME, so that a server never amplifies.
pub(super) const HELLO_PADDING: [u8; 72] = [0; 72];
/// What HELLO's box seals.
pub(super) const HELLO_PLAINTEXT: [u8; 64] = [0; 64];

/// The nonces' first parts. The rest of the long ones is the number of the command in its direction,
/// big-endian, that of the short ones random.
pub(super) const HELLO_NONCE: &[u8; 16] = b"CurveZMQHELLO---";
pub(super) const WELCOME_NONCE: &[u8; 8] = b"WELCOME-";
pub(super) const COOKIE_NONCE: &[u8; 8] = b"COOKIE--";
pub(super) const VOUCH_NONCE: &[u8; 8] = b"VOUCH---";
pub(super) const INITIATE_NONCE: &[u8; 16] = b"CurveZMQINITIATE";
pub(super) const READY_NONCE: &[u8; 16] = b"CurveZMQREADY---";

/// Size of the data of HELLO.
pub(super) const HELLO_SIZE: usize =
    VERSION.len() + HELLO_PADDING.len() + 32 + 8 + TAG_SIZE + HELLO_PLAINTEXT.len();

/// The data of HELLO.
pub(super) struct Hello<'a> {
    pub(super) ephemeral: &'a [u8; 32],
    pub(super) nonce: &'a [u8; 8],
    pub(super) sealed: &'a [u8; TAG_SIZE + 64],
}

impl<'a> Hello<'a> {
    /// Checks size and version. The padding says nothing, so nothing is asked of it.
    pub(super) fn parse(data: &'a [u8]) -> Result<Self, HandshakeError> {
        let fields = || {
            let (version, rest) = data.split_first_chunk()?;
            let (_padding, rest) = rest.split_first_chunk::<{ HELLO_PADDING.len() }>()?;
            let (ephemeral, rest) = rest.split_first_chunk()?;
            let (nonce, rest) = rest.split_first_chunk()?;
            let sealed = rest.try_into().ok()?;
            (*version == VERSION).then_some(Self {
                ephemeral,
                nonce,
                sealed,
            })
        };
        fields().ok_or(HandshakeError::HelloMalformed)
    }
}

/// The data of INITIATE.
pub(super) struct Initiate<'a> {
    pub(super) cookie: &'a [u8; COOKIE_SIZE],
    pub(super) nonce: &'a [u8; 8],
    pub(super) sealed: &'a [u8],
}

impl<'a> Initiate<'a> {
    pub(super) fn parse(data: &'a [u8]) -> Result<Self, HandshakeError> {
        let fields = || {
            let (cookie, rest) = data.split_first_chunk()?;
            let (nonce, sealed) = rest.split_first_chunk()?;
            (sealed.len() >= TAG_SIZE + INTRODUCTION_SIZE).then_some(Self {
                cookie,
                nonce,
                sealed,
            })
        };
        fields().ok_or(HandshakeError::InitiateMalformed)
    }
}

/// What INITIATE's box holds.
pub(super) struct Introduction<'a> {
    /// `C`.
    pub(super) client: &'a [u8; 32],
    pub(super) vouch_nonce: &'a [u8; 16],
    pub(super) vouch: &'a [u8; VOUCH_SIZE],
    pub(super) metadata: &'a [u8],
}

impl<'a> Introduction<'a> {
    pub(super) fn parse(opened: &'a [u8]) -> Result<Self, HandshakeError> {
        let fields = || {
            let (client, rest) = opened.split_first_chunk()?;
            let (vouch_nonce, rest) = rest.split_first_chunk()?;
            let (vouch, metadata) = rest.split_first_chunk()?;
            Some(Self {
                client,
                vouch_nonce,
                vouch,
                metadata,
            })
        };
        fields().ok_or(HandshakeError::InitiateMalformed)
    }
}
