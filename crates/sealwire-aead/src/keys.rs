//! Keys: the one a user holds, and the three that each message derives from it.

use crate::{KEY_SIZE, NONCE_SIZE};
use core::fmt;
use core::ops::Deref;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A secret key of 32 bytes, wiped when dropped, with no content in its `Debug`.
///
/// Dereferences to the array, so that `&key` is accepted wherever `&[u8; 32]` is.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Key([u8; KEY_SIZE]);

impl Key {
    /// A key from its bytes, which should come from a generator or a key derivation function,
    /// never from a password.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; KEY_SIZE]) -> Self {
        Self(bytes)
    }

    /// The secret bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; KEY_SIZE] {
        &self.0
    }
}

impl From<[u8; KEY_SIZE]> for Key {
    fn from(bytes: [u8; KEY_SIZE]) -> Self {
        Self(bytes)
    }
}

impl Deref for Key {
    type Target = [u8; KEY_SIZE];

    fn deref(&self) -> &[u8; KEY_SIZE] {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// The keys of one message, derived from the user's key and the message's nonce, in words as the
/// primitives take them.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct MessageKeys {
    /// ChaCha20 key.
    pub(crate) encryption: [u32; 8],
    /// BLAKE3 key of the tag.
    pub(crate) authentication: [u32; 8],
    /// ChaCha20 nonce.
    pub(crate) nonce: [u32; 2],
}

impl MessageKeys {
    pub(crate) const fn zeroed() -> Self {
        Self {
            encryption: [0; 8],
            authentication: [0; 8],
            nonce: [0; 2],
        }
    }
}

/// Where the keys of a message come from.
#[derive(Clone, Copy)]
pub(crate) enum Keying<'a> {
    /// They are derived for this message alone.
    Nonce {
        key: &'a [u8; KEY_SIZE],
        nonce: &'a [u8; NONCE_SIZE],
    },
    /// They are here; the message's keystream begins with block `counter`.
    Derived { keys: &'a MessageKeys, counter: u64 },
}
