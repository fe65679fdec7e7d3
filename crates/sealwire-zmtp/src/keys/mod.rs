//! X25519 keys as types, public and secret, with their text forms.
//!
//! Texts are Z85 (40 characters, ZeroMQ's convention) or hexadecimal (64 characters); the length
//! tells them apart. Making keys needs randomness and therefore lives one crate up.

pub mod hex;
pub mod z85;

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use subtle::{Choice, ConstantTimeEq};
use thiserror::Error;
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// Size of a public or secret key, in bytes.
pub const KEY_SIZE: usize = 32;

/// Why a text or a byte string is not a key.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Neither 40 (Z85) nor 64 (hexadecimal) characters.
    #[error("a key has 40 characters in Z85 or 64 in hexadecimal, this text has {characters}")]
    Length {
        /// Characters in the text.
        characters: usize,
    },
    /// A character outside the alphabet, or a group of Z85 digits beyond four bytes.
    #[error("the key text is not valid at character {position}, counted from 0")]
    Character {
        /// Position of the first bad character or group.
        position: usize,
    },
    /// The bytes are one of several encodings of the same point and not the one that is allowed.
    #[error("the public key is not in canonical form; take it from the program that made it")]
    NotCanonical,
}

/// An X25519 public key in canonical form: its number is below 2^255 - 19.
///
/// Only one encoding of each key exists, so equal bytes and equal keys are the same thing, which is
/// what an allow-list needs. `Debug` and `Display` write Z85.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct PublicKey([u8; KEY_SIZE]);

impl PublicKey {
    /// Takes the little-endian u-coordinate (RFC 7748).
    ///
    /// # Errors
    ///
    /// [`KeyError::NotCanonical`] when the top bit is set or the number is 2^255 - 19 or more.
    pub fn from_bytes(bytes: [u8; KEY_SIZE]) -> Result<Self, KeyError> {
        // 2^255 - 19 is ed ff .. ff 7f. A plain comparison will do for a public key.
        let [low, middle @ .., high] = &bytes;
        let beyond = *high > 0x7f
            || (*high == 0x7f && middle.iter().all(|byte| *byte == 0xff) && *low >= 0xed);
        if beyond {
            Err(KeyError::NotCanonical)
        } else {
            Ok(Self(bytes))
        }
    }

    /// The 32 bytes that go on the wire.
    pub const fn as_bytes(&self) -> &[u8; KEY_SIZE] {
        &self.0
    }

    /// The key as 40 characters.
    pub fn to_z85(&self) -> String {
        z85::encode(&self.0)
    }

    /// The key as 64 characters.
    pub fn to_hex(&self) -> String {
        hex::encode(&self.0)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.to_z85())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl FromStr for PublicKey {
    type Err = KeyError;

    /// Reads Z85 or hexadecimal.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        Self::from_bytes(decode(text)?)
    }
}

impl TryFrom<[u8; KEY_SIZE]> for PublicKey {
    type Error = KeyError;

    fn try_from(bytes: [u8; KEY_SIZE]) -> Result<Self, KeyError> {
        Self::from_bytes(bytes)
    }
}

/// An X25519 secret key: any 32 bytes. Wiped on drop, `Debug` shows nothing, equality takes
/// constant time.
#[derive(Clone, ZeroizeOnDrop)]
pub struct SecretKey([u8; KEY_SIZE]);

impl SecretKey {
    /// Takes 32 random bytes; X25519 clamps them itself.
    pub const fn from_bytes(bytes: [u8; KEY_SIZE]) -> Self {
        Self(bytes)
    }

    /// The secret bytes, for a [`Provider`](crate::Provider).
    pub const fn as_bytes(&self) -> &[u8; KEY_SIZE] {
        &self.0
    }

    /// The key as 40 characters, wiped when dropped.
    pub fn to_z85(&self) -> Zeroizing<String> {
        Zeroizing::new(z85::encode(&self.0))
    }

    /// The key as 64 characters, wiped when dropped.
    pub fn to_hex(&self) -> Zeroizing<String> {
        Zeroizing::new(hex::encode(&self.0))
    }
}

impl ConstantTimeEq for SecretKey {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

impl FromStr for SecretKey {
    type Err = KeyError;

    /// Reads Z85 or hexadecimal.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        decode(text).map(Self)
    }
}

fn decode(text: &str) -> Result<[u8; KEY_SIZE], KeyError> {
    if text.len() == hex::TEXT_SIZE {
        hex::decode(text)
    } else {
        z85::decode(text)
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn one_encoding_for_each_public_key() {
        let mut largest = [0xff; 32];
        largest[0] = 0xec;
        largest[31] = 0x7f;
        assert!(PublicKey::from_bytes(largest).is_ok());
        for low in 0xed..=0xff {
            let mut bytes = largest;
            bytes[0] = low;
            assert_eq!(PublicKey::from_bytes(bytes), Err(KeyError::NotCanonical));
        }
        let mut top_bit = [1; 32];
        top_bit[31] = 0x80;
        assert_eq!(PublicKey::from_bytes(top_bit), Err(KeyError::NotCanonical));
        let mut below = [0xff; 32];
        below[31] = 0x7f;
        below[17] = 0xfe;
        assert!(PublicKey::from_bytes(below).is_ok());
    }

    #[test]
    fn both_texts_are_read_back() {
        let public = PublicKey::from_bytes([7; 32]).unwrap();
        assert_eq!(public.to_z85().parse(), Ok(public));
        assert_eq!(public.to_hex().parse(), Ok(public));
        assert_eq!(public.to_string(), public.to_z85());
        let secret = SecretKey::from_bytes([9; 32]);
        let read: SecretKey = secret.to_z85().parse().unwrap();
        assert!(bool::from(read.ct_eq(&secret)));
    }

    #[test]
    fn debug_shows_no_secret() {
        let secret = SecretKey::from_bytes([9; 32]);
        assert_eq!(format!("{secret:?}"), "SecretKey(..)");
    }
}
