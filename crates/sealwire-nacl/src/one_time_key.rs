//! Poly1305 by itself: `crypto_onetimeauth`.

use core::fmt;

use zeroize::Zeroizing;

use crate::error::OpenError;
use crate::poly1305;
use crate::sizes::{KEY_SIZE, TAG_SIZE};

/// A key of Poly1305 (RFC 8439, section 2.5), for the tag of a single message.
///
/// Two tags under one key give the key away, and with it every forgery. So a tag consumes the key here,
/// which cannot be cloned; a fresh one comes from a stream cipher or a key derivation for each message.
/// It is wiped on drop.
///
/// The tag proves nothing to anyone else: those who verify it can make it. It does not commit to the
/// key either.
pub struct OneTimeKey(Zeroizing<[u8; KEY_SIZE]>);

impl OneTimeKey {
    /// Takes 32 secret bytes that are used for no other message.
    #[must_use]
    pub fn new(key: &[u8; KEY_SIZE]) -> Self {
        Self(Zeroizing::new(*key))
    }

    /// Returns the tag of `message`, 16 bytes (`crypto_onetimeauth`).
    #[must_use]
    pub fn tag(self, message: &[u8]) -> [u8; TAG_SIZE] {
        poly1305::tag(&self.0, message)
    }

    /// Checks the tag of `message` in constant time (`crypto_onetimeauth_verify`).
    ///
    /// # Errors
    ///
    /// [`OpenError`] when the tag is another one.
    pub fn verify(self, message: &[u8], tag: &[u8; TAG_SIZE]) -> Result<(), OpenError> {
        if poly1305::tags_equal(&poly1305::tag(&self.0, message), tag) {
            Ok(())
        } else {
            Err(OpenError)
        }
    }
}

impl fmt::Debug for OneTimeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OneTimeKey").finish_non_exhaustive()
    }
}
