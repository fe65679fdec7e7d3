//! A group, and the dealer who makes one.

use super::error::FrostError;
use super::signer::Signer;
use crate::Protocol;
use crate::schemes::group::derive_scalar;
use crate::schemes::keys::{PublicKey, SecretKey};
#[cfg(feature = "std")]
use crate::schemes::randomness::Randomness;
use alloc::vec::Vec;
use curve25519_dalek::Scalar;
use zeroize::Zeroizing;

/// Least size of the seed of a group in bytes.
pub const MIN_SEED_SIZE: usize = 64;

/// The size of a group and of the part of it that can sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Signers that are needed, from 2 to `max_signers`.
    pub threshold: usize,
    /// Signers that there are, up to 65,535.
    pub max_signers: usize,
}

/// What everybody may know of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    key: PublicKey,
    threshold: u16,
    max_signers: u16,
}

impl Group {
    /// A group whose signatures `key` verifies.
    ///
    /// # Errors
    ///
    /// [`FrostError::Parameters`] if there can be no such group.
    pub fn new(key: PublicKey, parameters: Parameters) -> Result<Self, FrostError> {
        let Parameters {
            threshold,
            max_signers,
        } = parameters;
        let refused = FrostError::Parameters {
            threshold,
            max_signers,
        };
        if threshold < 2 || threshold > max_signers {
            return Err(refused);
        }
        Ok(Self {
            key,
            threshold: threshold.try_into().map_err(|_| refused)?,
            max_signers: max_signers.try_into().map_err(|_| refused)?,
        })
    }

    /// The key that verifies the group's signatures.
    #[must_use]
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// Signers that are needed.
    #[must_use]
    pub fn threshold(&self) -> u16 {
        self.threshold
    }

    /// Signers that there are; their identifiers go from 1 to this.
    #[must_use]
    pub fn max_signers(&self) -> u16 {
        self.max_signers
    }

    /// Fails unless there is a signer of this identifier.
    pub(super) fn check(&self, identifier: u16) -> Result<(), FrostError> {
        if (1..=self.max_signers).contains(&identifier) {
            Ok(())
        } else {
            Err(FrostError::Identifier(identifier))
        }
    }
}

/// The branches for making keys and for making nonces.
pub(super) fn processes(domain: &[u8]) -> (Protocol, Protocol) {
    Protocol::new(domain).fork("process", b"keygen", b"commitment")
}

/// Makes a group and all its signers, as a dealer whom they trust; `domain` is also that of their
/// nonces. Each signer belongs to one participant, and to nobody else.
///
/// # Errors
///
/// [`FrostError::Parameters`] if there can be no such group; [`FrostError::Randomness`] when the
/// operating system has no randomness.
#[cfg(feature = "std")]
pub fn generate(
    domain: impl AsRef<[u8]>,
    parameters: Parameters,
) -> Result<(Group, Vec<Signer>), FrostError> {
    generate_with(domain, parameters, Randomness::from_os()?.as_bytes())
}

/// [`generate`] from a secret `seed` of at least 64 random bytes, which determines all keys.
///
/// # Errors
///
/// [`FrostError::Parameters`] if there can be no such group; [`FrostError::Seed`] if the seed is too
/// short.
pub fn generate_with(
    domain: impl AsRef<[u8]>,
    parameters: Parameters,
    seed: &[u8],
) -> Result<(Group, Vec<Signer>), FrostError> {
    let (mut keygen, commitment) = processes(domain.as_ref());
    keygen.mix("seed", seed);
    let secret = derive_scalar(&mut keygen, "coefficient");
    if *secret == Scalar::ZERO {
        return Err(FrostError::Degenerate);
    }
    // The polynomial's constant term is the group's secret key.
    let group = Group::new(*SecretKey::new(*secret).public_key(), parameters)?;
    if seed.len() < MIN_SEED_SIZE {
        return Err(FrostError::Seed(seed.len()));
    }
    let rest = (1..group.threshold).map(|_| derive_scalar(&mut keygen, "coefficient"));
    let rest: Vec<_> = rest.collect();
    let signers = (1..=group.max_signers).map(|identifier| {
        let x = Scalar::from(identifier);
        let mut share = Zeroizing::new(Scalar::ZERO);
        for coefficient in rest.iter().rev().chain([&secret]) {
            *share = *share * x + **coefficient;
        }
        if *share == Scalar::ZERO {
            return Err(FrostError::Degenerate);
        }
        let share = SecretKey::new(*share);
        Ok(Signer::new(commitment.clone(), identifier, share, group))
    });
    let signers = signers.collect::<Result<_, _>>()?;
    Ok((group, signers))
}
