//! Randomness that is used once.

use core::fmt;
use curve25519_dalek::Scalar;
use rand_core::CryptoRng;
use thiserror::Error;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Size of [`Randomness`] in bytes.
pub const RANDOMNESS_SIZE: usize = 64;

/// 64 uniformly random bytes, which make one ephemeral key, blind or nonce.
///
/// Cannot be copied: what takes it consumes it, so that no two operations share it by accident.
/// Overwritten with zeros when dropped.
///
/// ```compile_fail,E0382
/// # use sealwire_newplex::schemes::{keys::SecretKey, randomness::Randomness};
/// let randomness = Randomness::from_bytes(&[7; 64]).unwrap();
/// let key = SecretKey::from_randomness(randomness);
/// let same_again = SecretKey::from_randomness(randomness);
/// ```
///
/// ```compile_fail,E0308
/// # use sealwire_newplex::schemes::randomness::Randomness;
/// let too_short = Randomness::from_bytes(&[7; 63]);
/// ```
#[derive(ZeroizeOnDrop)]
pub struct Randomness([u8; RANDOMNESS_SIZE]);

/// Why there is no [`Randomness`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RandomnessError {
    /// The operating system's generator failed, as it does in sandboxes that forbid the system call.
    #[cfg(feature = "std")]
    #[error("the operating system's random generator failed: {0}")]
    OperatingSystem(getrandom::Error),
    /// The bytes, as a number, are a multiple of the order of the group, as all zeros are.
    #[error(
        "not random: the bytes stand for the scalar zero; the generator they come from is broken"
    )]
    Zero,
}

impl Randomness {
    /// From the operating system's generator.
    ///
    /// # Errors
    ///
    /// [`RandomnessError`] when it fails.
    #[cfg(feature = "std")]
    pub fn from_os() -> Result<Self, RandomnessError> {
        let mut bytes = Zeroizing::new([0; RANDOMNESS_SIZE]);
        getrandom::fill(&mut *bytes).map_err(RandomnessError::OperatingSystem)?;
        Self::from_bytes(&bytes)
    }

    /// From a generator fit for cryptography.
    ///
    /// # Errors
    ///
    /// [`RandomnessError::Zero`] if it gave zeros.
    pub fn from_rng<R: CryptoRng + ?Sized>(rng: &mut R) -> Result<Self, RandomnessError> {
        let mut bytes = Zeroizing::new([0; RANDOMNESS_SIZE]);
        rng.fill_bytes(&mut *bytes);
        Self::from_bytes(&bytes)
    }

    /// From bytes that are random and used for nothing else. With bytes that were used before, most
    /// schemes give away what they protect.
    ///
    /// # Errors
    ///
    /// [`RandomnessError::Zero`] if they stand for the scalar zero.
    pub fn from_bytes(bytes: &[u8; RANDOMNESS_SIZE]) -> Result<Self, RandomnessError> {
        let mut scalar = Scalar::from_bytes_mod_order_wide(bytes);
        let zero = scalar == Scalar::ZERO;
        scalar.zeroize();
        if zero {
            return Err(RandomnessError::Zero);
        }
        Ok(Self(*bytes))
    }

    /// The bytes.
    pub(crate) fn as_bytes(&self) -> &[u8; RANDOMNESS_SIZE] {
        &self.0
    }

    /// The bytes as a number modulo the order of the group, which is not zero.
    pub(crate) fn into_scalar(self) -> Zeroizing<Scalar> {
        Zeroizing::new(Scalar::from_bytes_mod_order_wide(self.as_bytes()))
    }
}

/// Shows nothing of the bytes.
impl fmt::Debug for Randomness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Randomness(..)")
    }
}

#[cfg(test)]
mod tests;
