//! The dealer who makes a group.

use super::error::FrostError;
use super::group::{Group, Parameters, processes};
use super::signer::Signer;
use crate::schemes::group::derive_scalar;
use crate::schemes::keys::SecretKey;
#[cfg(feature = "std")]
use crate::schemes::randomness::Randomness;
use alloc::vec::Vec;
use curve25519_dalek::Scalar;
use zeroize::Zeroizing;

/// Least size of the seed of a group in bytes.
pub const MIN_SEED_SIZE: usize = 64;

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
    let rest = (1..group.threshold()).map(|_| derive_scalar(&mut keygen, "coefficient"));
    let rest: Vec<_> = rest.collect();
    let signers = (1..=group.max_signers()).map(|identifier| {
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
