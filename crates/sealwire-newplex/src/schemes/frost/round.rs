//! One signature in the making: what all signers compute alike from the public values.

use super::commitment::Commitment;
use super::error::FrostError;
use super::group::Group;
use crate::Protocol;
use crate::schemes::group::{derive_scalar, double_mul_vartime, encode};
use crate::schemes::keys::PublicKey;
use crate::schemes::sig::{Signature, challenge_of};
use alloc::vec::Vec;
use curve25519_dalek::traits::Identity as _;
use curve25519_dalek::{RistrettoPoint, Scalar};

/// One signer's share of a signature. Public: it tells nothing about the signer's secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignatureShare(pub(super) Scalar);

/// A message and the signers who sign it, in the order of their identifiers. Everything in it is
/// public.
#[derive(Clone, Debug)]
pub struct Round {
    group: Group,
    /// Each with its binding factor.
    participants: Vec<(Commitment, Scalar)>,
    commitment: RistrettoPoint,
    encoded_commitment: [u8; 32],
    challenge: Scalar,
}

impl Round {
    /// For `message` of the purpose `domain`, which need not be that of the keys, signed by those
    /// who made `commitments`, in any order.
    ///
    /// # Errors
    ///
    /// [`FrostError`] if the signers are too few, not of the group, or not different.
    pub fn new(
        domain: impl AsRef<[u8]>,
        group: &Group,
        message: &[u8],
        commitments: &[Commitment],
    ) -> Result<Self, FrostError> {
        let domain = domain.as_ref();
        let mut sorted = commitments.to_vec();
        sorted.sort_unstable_by_key(Commitment::identifier);
        for pair in sorted.windows(2) {
            if pair[0].identifier == pair[1].identifier {
                return Err(FrostError::DuplicateIdentifier(pair[0].identifier));
            }
        }
        for commitment in &sorted {
            group.check(commitment.identifier)?;
        }
        if sorted.len() < usize::from(group.threshold()) {
            return Err(FrostError::TooFewSigners {
                given: sorted.len(),
                threshold: group.threshold(),
            });
        }

        let mut binding = Protocol::new(domain);
        binding.mix("frost-binding", group.key().as_bytes());
        binding.mix("message", message);
        for commitment in &sorted {
            binding.mix("identifier", &commitment.identifier.to_be_bytes());
            binding.mix("hiding", commitment.hiding.as_bytes());
            binding.mix("binding", commitment.binding.as_bytes());
        }
        let participants = sorted.into_iter().map(|commitment| {
            let mut own = binding.clone();
            let identifier = commitment.identifier.to_be_bytes();
            own.mix("binding-participant", &identifier);
            (commitment, *derive_scalar(&mut own, "binding-factor"))
        });
        let participants: Vec<_> = participants.collect();
        let mut commitment = RistrettoPoint::identity();
        for (own, factor) in &participants {
            commitment += own.hiding.0.point() + factor * own.binding.0.point();
        }
        let encoded_commitment = encode(&commitment);
        let challenge = challenge_of(domain, group.key(), message, &encoded_commitment);
        Ok(Self {
            group: *group,
            participants,
            commitment,
            encoded_commitment,
            challenge,
        })
    }

    /// The group that signs.
    #[must_use]
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// The commitment of a signer and its binding factor.
    pub(super) fn participant(&self, identifier: u16) -> Result<&(Commitment, Scalar), FrostError> {
        let find = |(commitment, _): &(Commitment, Scalar)| commitment.identifier;
        match self.participants.binary_search_by_key(&identifier, find) {
            Ok(at) => Ok(&self.participants[at]),
            Err(_) => Err(FrostError::MissingSigner(identifier)),
        }
    }

    /// What a signer's share of the key is multiplied by: the challenge, times the Lagrange
    /// coefficient of one of the participants.
    pub(super) fn weight(&self, identifier: u16) -> Scalar {
        let own = Scalar::from(identifier);
        let (mut numerator, mut denominator) = (self.challenge, Scalar::ONE);
        for (commitment, _) in &self.participants {
            if commitment.identifier != identifier {
                let other = Scalar::from(commitment.identifier);
                numerator *= other;
                denominator *= other - own;
            }
        }
        numerator * denominator.invert()
    }

    /// Verifies the share of one signer, whose `verifying_share` is known from
    /// [`Signer::verifying_share`](super::Signer::verifying_share), in a time that depends on it.
    ///
    /// # Errors
    ///
    /// [`FrostError::InvalidShare`] if it is wrong, [`FrostError::MissingSigner`] if the signer does
    /// not take part.
    pub fn verify_share(
        &self,
        identifier: u16,
        verifying_share: &PublicKey,
        share: &SignatureShare,
    ) -> Result<(), FrostError> {
        let (commitment, factor) = self.participant(identifier)?;
        let expected = commitment.hiding.0.point()
            + double_mul_vartime(
                (factor, commitment.binding.0.point()),
                (&self.weight(identifier), verifying_share.0.point()),
            );
        if RistrettoPoint::mul_base(&share.0) == expected {
            Ok(())
        } else {
            Err(FrostError::InvalidShare(identifier))
        }
    }

    /// The group's signature, from one share of each signer, in any order. It is verified.
    ///
    /// # Errors
    ///
    /// [`FrostError::ShareCount`] if shares are missing, [`FrostError::InvalidSignature`] if one of
    /// them is wrong.
    pub fn aggregate(&self, shares: &[SignatureShare]) -> Result<Signature, FrostError> {
        if shares.len() != self.participants.len() {
            return Err(FrostError::ShareCount {
                expected: self.participants.len(),
                given: shares.len(),
            });
        }
        let proof: Scalar = shares.iter().map(|share| share.0).sum();
        let expected = self.commitment + self.challenge * self.group.key().0.point();
        if RistrettoPoint::mul_base(&proof) != expected {
            return Err(FrostError::InvalidSignature);
        }
        Ok(Signature::new(&self.encoded_commitment, &proof))
    }
}
