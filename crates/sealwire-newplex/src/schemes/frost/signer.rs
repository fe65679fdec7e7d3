//! One signer, and its nonces.

use super::commitment::Commitment;
use super::error::FrostError;
use super::group::Group;
use super::round::{Round, SignatureShare};
use crate::Protocol;
use crate::schemes::group::{Element, derive_scalar};
use crate::schemes::keys::{PublicKey, SecretKey};
use crate::schemes::randomness::Randomness;
use core::fmt;
use curve25519_dalek::{RistrettoPoint, Scalar};
use zeroize::Zeroizing;

/// The secret of one participant: its share of the group's key. Overwritten with zeros when dropped.
#[derive(Clone)]
pub struct Signer {
    /// The branch that makes nonces.
    process: Protocol,
    identifier: u16,
    pub(super) share: SecretKey,
    pub(super) group: Group,
}

/// The nonces of one signature, which signing consumes: a second signature with the same nonces would
/// give the signer's share away.
///
/// ```compile_fail,E0382
/// # use sealwire_newplex::schemes::frost::{Nonces, Round, Signer};
/// fn sign_twice(signer: &Signer, nonces: Nonces, one: &Round, other: &Round) {
///     let _ = signer.sign(nonces, one);
///     let _ = signer.sign(nonces, other);
/// }
/// ```
pub struct Nonces {
    pub(super) hiding: Zeroizing<Scalar>,
    pub(super) binding: Zeroizing<Scalar>,
    commitment: Commitment,
}

impl Signer {
    pub(super) fn new(process: Protocol, identifier: u16, share: SecretKey, group: Group) -> Self {
        Self {
            process,
            identifier,
            share,
            group,
        }
    }

    /// The number of this signer, from 1 on.
    #[must_use]
    pub fn identifier(&self) -> u16 {
        self.identifier
    }

    /// The key that this signer's shares are verified with.
    #[must_use]
    pub fn verifying_share(&self) -> &PublicKey {
        self.share.public_key()
    }

    /// The group.
    #[must_use]
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// Round one: nonces to keep, and the commitment to send to all who sign.
    ///
    /// # Errors
    ///
    /// [`FrostError::Randomness`] when the operating system has no randomness.
    #[cfg(feature = "std")]
    pub fn commit(&self) -> Result<(Nonces, Commitment), FrostError> {
        Ok(self.commit_with(Randomness::from_os()?))
    }

    /// [`commit`](Self::commit) with nonces from the share and `randomness`.
    #[must_use]
    pub fn commit_with(&self, randomness: Randomness) -> (Nonces, Commitment) {
        self.commit_from(randomness.as_bytes())
    }

    /// Without randomness, the nonces would be the same for every message: not for the public.
    pub(super) fn commit_from(&self, random: &[u8]) -> (Nonces, Commitment) {
        let mut process = self.process.clone();
        process.mix("signing-share", &*self.share.to_bytes());
        process.mix("rand", random);
        let hiding = derive_scalar(&mut process, "hiding-nonce");
        let binding = derive_scalar(&mut process, "binding-nonce");
        let public = |nonce: &Scalar| PublicKey(Element::new(RistrettoPoint::mul_base(nonce)));
        let commitment = Commitment {
            identifier: self.identifier,
            hiding: public(&hiding),
            binding: public(&binding),
        };
        let nonces = Nonces {
            hiding,
            binding,
            commitment,
        };
        (nonces, commitment)
    }

    /// Round two: this signer's share of the signature.
    ///
    /// The nonces are used up even if this fails, so that nobody can make the signer try them twice.
    ///
    /// # Errors
    ///
    /// [`FrostError::AnotherGroup`], [`FrostError::MissingSigner`] or
    /// [`FrostError::ForeignCommitment`] if the round is not one that this signer and these nonces
    /// take part in.
    pub fn sign(&self, nonces: Nonces, round: &Round) -> Result<SignatureShare, FrostError> {
        if *round.group() != self.group {
            return Err(FrostError::AnotherGroup);
        }
        let (commitment, factor) = round.participant(self.identifier)?;
        if *commitment != nonces.commitment {
            return Err(FrostError::ForeignCommitment(self.identifier));
        }
        let weight = round.weight(self.identifier);
        let bound = Zeroizing::new(*nonces.binding * factor);
        let product = Zeroizing::new(weight * self.share.scalar());
        Ok(SignatureShare(*nonces.hiding + *bound + *product))
    }
}

/// Shows nothing secret.
impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer")
            .field("identifier", &self.identifier)
            .field("group", &self.group)
            .finish_non_exhaustive()
    }
}

/// Shows the commitment.
impl fmt::Debug for Nonces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nonces")
            .field("commitment", &self.commitment)
            .finish_non_exhaustive()
    }
}
