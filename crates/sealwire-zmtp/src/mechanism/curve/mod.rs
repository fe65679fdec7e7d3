//! CURVE: the mechanism of libzmq, with X25519 and XSalsa20-Poly1305.
//!
//! Source: CurveZMQ (RFC 26), and what libzmq 4.3 sends where the text leaves room. `C`, `c` are the
//! client's long-term keys, `S`, `s` the server's; those of the connection have a prime.
//!
//! ```text
//! client                                          server
//!    |  HELLO     C', Box[zeros](c', S)              |   knows only its own keys
//!    | --------------------------------------------> |
//!    |  WELCOME   Box[S', cookie](s, C')             |   forgets everything but the
//!    | <-------------------------------------------- |   connection id
//!    |  INITIATE  cookie, Box[C, vouch,              |
//!    |            metadata](c', S')                  |   recovers it from the cookie,
//!    | --------------------------------------------> |   verifies, asks the authenticator
//!    |  READY     Box[metadata](s', C')              |
//!    | <-------------------------------------------- |
//!    |  MESSAGE, both ways                           |
//! ```
//!
//! X25519 is the [`Provider`]'s; the boxes are those of `sealwire-nacl`.

mod client;
mod commands;
mod cookie;
mod server;
mod settings;
mod traffic;

pub use self::settings::{CurveClient, CurveServer, FrameOrder};
pub(crate) use self::traffic::{Opener, SHAPE, Sealer};

use alloc::vec::Vec;

use sealwire_nacl::{SecretBox, TAG_SIZE};
use zeroize::Zeroizing;

use crate::error::HandshakeError;
use crate::key_pair::KeyPair;
use crate::keys::PublicKey;
use crate::provider::Provider;

/// Refuses keys that have a canonical twin, and what is not 32 bytes.
fn public_key(bytes: &[u8]) -> Result<PublicKey, HandshakeError> {
    let bytes = bytes.try_into().ok();
    bytes
        .and_then(|bytes| PublicKey::from_bytes(bytes).ok())
        .ok_or(HandshakeError::KeyNotCanonical)
}

/// The box that two key pairs share, with an all-zero X25519 result refused.
fn agree(
    provider: &dyn Provider,
    ours: &KeyPair,
    theirs: &PublicKey,
) -> Result<SecretBox, HandshakeError> {
    provider
        .diffie_hellman(ours.secret(), theirs)
        .ok()
        .and_then(|agreed| SecretBox::from_agreement(agreed.as_bytes()).ok())
        .ok_or(HandshakeError::WeakKey)
}

/// Where a box begins in a frame: with its tag, for which this makes room.
struct BoxStart(usize);

fn begin_box(frame: &mut Vec<u8>) -> BoxStart {
    let start = BoxStart(frame.len());
    frame.extend_from_slice(&[0; TAG_SIZE]);
    start
}

/// Seals what a frame holds behind the start of a box.
fn seal_from(sealing: &SecretBox, nonce: &[u8; 24], start: BoxStart, frame: &mut [u8]) {
    let (tag, text) = frame[start.0..].split_at_mut(TAG_SIZE);
    tag.copy_from_slice(&sealing.seal_in_place_detached(nonce, text));
}

/// The plaintext of `SIZE` bytes behind a tag, wiped on drop; `None` for another size or when it
/// does not verify.
fn open_array<const SIZE: usize>(
    opening: &SecretBox,
    nonce: &[u8; 24],
    sealed: &[u8],
) -> Option<Zeroizing<[u8; SIZE]>> {
    let (tag, ciphertext) = sealed.split_first_chunk()?;
    let mut plaintext = Zeroizing::new(<[u8; SIZE]>::try_from(ciphertext).ok()?);
    opening
        .open_in_place_detached(nonce, &mut *plaintext, tag)
        .ok()?;
    Some(plaintext)
}

/// A nonce of a prefix and a rest.
fn nonce<const PREFIX: usize, const REST: usize>(
    prefix: &[u8; PREFIX],
    rest: &[u8; REST],
) -> [u8; 24] {
    const { assert!(PREFIX + REST == 24) };
    core::array::from_fn(|i| {
        if i < PREFIX {
            prefix[i]
        } else {
            rest[i - PREFIX]
        }
    })
}
