//! Proofs that a server used the key it is known by.
//!
//! ```text
//! init(domain)  mix("b", key)  mix("c", blinded)  mix("d", evaluated)  derive("scalar", 64) -> w
//! M = [w]blinded, Z = [w]evaluated
//! init(domain)  mix("b", key)  mix("m", M)  mix("z", Z)  mix("t2", [r]G)  mix("t3", [r]M)
//! derive("challenge", 64) -> c
//! proof: c, r - c * secret key
//! ```

use super::{BlindedElement, EvaluatedElement};
use crate::Protocol;
use crate::schemes::group::{
    ENCODED_SIZE, decode_scalar, derive_scalar, double_mul_vartime, encode,
};
use crate::schemes::keys::{InvalidEncoding, PublicKey, SecretKey};
use crate::schemes::randomness::Randomness;
use core::fmt;
use curve25519_dalek::{RistrettoPoint, Scalar};
use thiserror::Error;
use zeroize::Zeroizing;

/// Size of a proof in bytes.
pub const PROOF_SIZE: usize = 64;

/// The proof is not one for this server, domain and these elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("invalid proof: the server used another key, or the proof is for something else")]
pub struct InvalidProof;

/// The reason why bytes are not a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The length is wrong.
    #[error("a proof has {PROOF_SIZE} bytes, not {0}")]
    Length(usize),
    /// One of its two scalars is none.
    #[error("part of the proof is invalid: {0}")]
    Part(#[from] InvalidEncoding),
}

/// A proof that an element was evaluated with a certain key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Proof {
    challenge: Scalar,
    response: Scalar,
}

impl Proof {
    /// Decodes 64 bytes: two scalars, the challenge and the response.
    ///
    /// # Errors
    ///
    /// [`ProofError`] if there are more or fewer, or one scalar is not canonical.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ProofError> {
        if bytes.len() != PROOF_SIZE {
            return Err(ProofError::Length(bytes.len()));
        }
        let (challenge, response) = bytes.split_at(ENCODED_SIZE);
        Ok(Self {
            challenge: decode_scalar(challenge)?,
            response: decode_scalar(response)?,
        })
    }

    /// The 64 bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; PROOF_SIZE] {
        let mut bytes = [0; PROOF_SIZE];
        bytes[..ENCODED_SIZE].copy_from_slice(self.challenge.as_bytes());
        bytes[ENCODED_SIZE..].copy_from_slice(self.response.as_bytes());
        bytes
    }

    /// Verifies that `evaluated` is `blinded` times the secret key of `server`, in a time that
    /// depends on them. [`Client::finalize_verified`](super::Client::finalize_verified) does it.
    ///
    /// # Errors
    ///
    /// [`InvalidProof`] if that is not proved.
    pub fn verify(
        &self,
        domain: impl AsRef<[u8]>,
        server: &PublicKey,
        blinded: &BlindedElement,
        evaluated: &EvaluatedElement,
    ) -> Result<(), InvalidProof> {
        self.check(&Protocol::new(domain), server, blinded, evaluated)
    }

    pub(super) fn make(
        domain: &Protocol,
        secret: &SecretKey,
        blinded: &BlindedElement,
        evaluated: &EvaluatedElement,
        randomness: Randomness,
    ) -> Self {
        let server = secret.public_key();
        let weight = weight(domain, server, blinded, evaluated);
        let m = weight * blinded.0.point();
        let z = secret.scalar() * m;
        let nonce = randomness.into_scalar();
        let t2 = RistrettoPoint::mul_base(&nonce);
        let t3 = *nonce * m;
        let challenge = challenge(domain, server, [&m, &z, &t2, &t3]);
        let product = Zeroizing::new(challenge * secret.scalar());
        Self {
            challenge,
            response: *nonce - *product,
        }
    }

    pub(super) fn check(
        &self,
        domain: &Protocol,
        server: &PublicKey,
        blinded: &BlindedElement,
        evaluated: &EvaluatedElement,
    ) -> Result<(), InvalidProof> {
        let weight = weight(domain, server, blinded, evaluated);
        let m = weight * blinded.0.point();
        let z = weight * evaluated.0.point();
        let t2 = RistrettoPoint::vartime_double_scalar_mul_basepoint(
            &self.challenge,
            server.0.point(),
            &self.response,
        );
        let t3 = double_mul_vartime((&self.response, &m), (&self.challenge, &z));
        if challenge(domain, server, [&m, &z, &t2, &t3]) == self.challenge {
            Ok(())
        } else {
            Err(InvalidProof)
        }
    }
}

impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Proof(")?;
        for byte in self.to_bytes() {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}

/// The weight of a pair of elements.
fn weight(
    domain: &Protocol,
    server: &PublicKey,
    blinded: &BlindedElement,
    evaluated: &EvaluatedElement,
) -> Scalar {
    let mut protocol = domain.clone();
    protocol.mix("b", server.as_bytes());
    protocol.mix("c", blinded.as_bytes());
    protocol.mix("d", evaluated.as_bytes());
    *derive_scalar(&mut protocol, "scalar")
}

/// The challenge for M, Z and the two commitments.
fn challenge(domain: &Protocol, server: &PublicKey, points: [&RistrettoPoint; 4]) -> Scalar {
    let mut protocol = domain.clone();
    protocol.mix("b", server.as_bytes());
    for (label, point) in ["m", "z", "t2", "t3"].into_iter().zip(points) {
        protocol.mix(label, &encode(point));
    }
    *derive_scalar(&mut protocol, "challenge")
}
