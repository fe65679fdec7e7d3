//! Key pairs over ristretto255 (RFC 9496), for all schemes with public keys.
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use sealwire_newplex::schemes::keys::{PublicKey, SecretKey};
//!
//! let alice = SecretKey::generate()?;
//! let told_to_others = alice.public_key().to_bytes();
//! assert_eq!(PublicKey::from_bytes(&told_to_others)?, *alice.public_key());
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The domain of a scheme keeps its transcripts apart from those of others, so that one key pair can
//! serve several schemes; a key pair for each purpose is still the better habit.

use super::group::{Element, decode_scalar, element_type, shared_secret};
use super::randomness::Randomness;
#[cfg(feature = "std")]
use super::randomness::RandomnessError;
use core::fmt;
use curve25519_dalek::{RistrettoPoint, Scalar};
use subtle::{Choice, ConstantTimeEq};
use thiserror::Error;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Size of a secret key in bytes.
pub const SECRET_KEY_SIZE: usize = 32;

/// Size of a public key in bytes.
pub const PUBLIC_KEY_SIZE: usize = 32;

/// The reason why bytes are not an element or not a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidEncoding {
    /// The length is wrong.
    #[error("32 bytes are needed, not {0}")]
    Length(usize),
    /// No value has this encoding.
    #[error("not the canonical encoding of anything: the bytes were damaged or are something else")]
    NotCanonical,
    /// The identity element or the scalar zero: whatever was done with it would be no secret.
    #[error("the identity element and the scalar zero protect nothing and are refused")]
    Neutral,
}

element_type! {
    /// A public key: an element of ristretto255 that is not the identity.
    PublicKey
}

/// A secret key: a scalar that is not zero, with the public key that belongs to it.
///
/// Overwritten with zeros when dropped; compared in constant time; not shown by `Debug`.
#[derive(Clone)]
pub struct SecretKey {
    scalar: Scalar,
    public: PublicKey,
}

impl SecretKey {
    /// A new key, from the operating system's generator.
    ///
    /// # Errors
    ///
    /// [`RandomnessError`] when that fails.
    #[cfg(feature = "std")]
    pub fn generate() -> Result<Self, RandomnessError> {
        Randomness::from_os().map(Self::from_randomness)
    }

    /// The key that `randomness` stands for.
    #[must_use]
    pub fn from_randomness(randomness: Randomness) -> Self {
        Self::new(*randomness.into_scalar())
    }

    /// Decodes a scalar of 32 bytes, little-endian, which is used as it is.
    ///
    /// # Errors
    ///
    /// [`InvalidEncoding`] if it is zero, or not below the order of the group.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidEncoding> {
        let scalar = Zeroizing::new(decode_scalar(bytes)?);
        if *scalar == Scalar::ZERO {
            return Err(InvalidEncoding::Neutral);
        }
        Ok(Self::new(*scalar))
    }

    /// The scalar, 32 bytes, little-endian.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<[u8; SECRET_KEY_SIZE]> {
        Zeroizing::new(self.scalar.to_bytes())
    }

    /// The key to give to others.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// `scalar` is not zero.
    pub(crate) fn new(scalar: Scalar) -> Self {
        let public = PublicKey(Element::new(RistrettoPoint::mul_base(&scalar)));
        Self { scalar, public }
    }

    /// The scalar.
    pub(crate) fn scalar(&self) -> &Scalar {
        &self.scalar
    }

    /// What the owners of both keys can compute, and nobody else. Never the identity, as the order
    /// of the group is prime.
    pub(crate) fn agree(&self, peer: &PublicKey) -> Zeroizing<[u8; 32]> {
        shared_secret(&self.scalar, &peer.0)
    }
}

impl Drop for SecretKey {
    fn drop(&mut self) {
        self.scalar.zeroize();
    }
}

impl ZeroizeOnDrop for SecretKey {}

impl ConstantTimeEq for SecretKey {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.scalar.ct_eq(&other.scalar)
    }
}

/// In constant time.
impl PartialEq for SecretKey {
    fn eq(&self, other: &Self) -> bool {
        self.ct_eq(other).into()
    }
}

impl Eq for SecretKey {}

/// Shows the public key.
impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretKey")
            .field("public", &self.public)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
