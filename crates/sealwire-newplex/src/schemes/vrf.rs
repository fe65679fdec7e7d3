//! A verifiable random function: outputs that only the owner of a key can compute, and anybody check.
//!
//! ```text
//! init(domain)  mix("generator")  mix("prover")  mix("input")  derive("point", 64) -> H
//! mix("gamma", [secret key]H)  derive("prf", n)  fork("role", "prover", "verifier")
//! prover:   mix("prover-private")  mix("rand")  derive("commitment", 64) -> k
//! verifier: mix("commitment-u", [k]G)  mix("commitment-v", [k]H)  derive("challenge", 64) -> c
//! proof: gamma, c, k + c * secret key
//! ```
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use sealwire_newplex::schemes::keys::SecretKey;
//! use sealwire_newplex::schemes::vrf::{Prover, Verifier};
//!
//! let prover = Prover::new("com.example.lottery", SecretKey::generate()?);
//! let verifier = Verifier::new("com.example.lottery", *prover.public_key());
//! let (mut drawn, mut checked) = ([0; 32], [0; 32]);
//! let proof = prover.prove(b"round 7", &mut drawn)?;
//! verifier.verify(b"round 7", &proof, &mut checked)?;
//! assert_eq!(drawn, checked);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Input, key, domain and the length of the output determine it. Outputs of different lengths are
//! unrelated, and the proof of one does not verify for another.

use super::group::{
    ENCODED_SIZE, Element, decode_scalar, derive_point, derive_scalar, double_mul_vartime, encode,
};
use super::keys::{InvalidEncoding, PublicKey, SecretKey};
#[cfg(feature = "std")]
use super::randomness::{Randomness, RandomnessError};
use crate::Protocol;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_COMPRESSED;
use curve25519_dalek::{RistrettoPoint, Scalar};
use thiserror::Error;
use zeroize::{Zeroize as _, Zeroizing};

/// Size of a proof in bytes.
pub const PROOF_SIZE: usize = 96;

/// The proof is not one for this input, key, domain and length of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("invalid proof: not for this input, key, domain and length of output")]
pub struct InvalidProof;

/// The reason why bytes are not a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InvalidProofEncoding {
    /// The length is wrong.
    #[error("a proof has {PROOF_SIZE} bytes, not {0}")]
    Length(usize),
    /// One of its three parts is not an element or not a scalar.
    #[error("part of the proof is invalid: {0}")]
    Part(#[from] InvalidEncoding),
}

/// A proof that an output is right.
#[derive(Clone, Copy)]
pub struct Proof {
    gamma: Element,
    challenge: Scalar,
    response: Scalar,
}

impl Proof {
    /// Decodes 96 bytes: an element and two scalars.
    ///
    /// # Errors
    ///
    /// [`InvalidProofEncoding`] if there are more or fewer, or one part is not canonical.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidProofEncoding> {
        let bytes: &[u8; PROOF_SIZE] = bytes
            .try_into()
            .map_err(|_| InvalidProofEncoding::Length(bytes.len()))?;
        Ok(Self {
            gamma: Element::decode(&bytes[..ENCODED_SIZE])?,
            challenge: decode_scalar(&bytes[ENCODED_SIZE..2 * ENCODED_SIZE])?,
            response: decode_scalar(&bytes[2 * ENCODED_SIZE..])?,
        })
    }

    /// The 96 bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; PROOF_SIZE] {
        let mut bytes = [0; PROOF_SIZE];
        bytes[..ENCODED_SIZE].copy_from_slice(self.gamma.encoding());
        bytes[ENCODED_SIZE..2 * ENCODED_SIZE].copy_from_slice(self.challenge.as_bytes());
        bytes[2 * ENCODED_SIZE..].copy_from_slice(self.response.as_bytes());
        bytes
    }
}

impl core::fmt::Debug for Proof {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Proof(")?;
        for byte in self.to_bytes() {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}

/// The transcript up to the input.
fn begin(domain: &[u8], prover: &PublicKey) -> Protocol {
    let mut protocol = Protocol::new(domain);
    protocol.mix("generator", RISTRETTO_BASEPOINT_COMPRESSED.as_bytes());
    protocol.mix("prover", prover.as_bytes());
    protocol
}

/// The challenge for both commitments.
fn challenge(verifier: &mut Protocol, u: &RistrettoPoint, v: &RistrettoPoint) -> Scalar {
    verifier.mix("commitment-u", &encode(u));
    verifier.mix("commitment-v", &encode(v));
    *derive_scalar(verifier, "challenge")
}

/// Computes outputs and proves them, for one domain.
#[derive(Clone, Debug)]
pub struct Prover {
    secret: SecretKey,
    begun: Protocol,
}

impl Prover {
    /// For inputs of the purpose `domain`.
    #[must_use]
    pub fn new(domain: impl AsRef<[u8]>, secret: SecretKey) -> Self {
        let begun = begin(domain.as_ref(), secret.public_key());
        Self { secret, begun }
    }

    /// The key that verifies the proofs.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        self.secret.public_key()
    }

    /// Fills `output` with the value for `input`, and proves it.
    ///
    /// # Errors
    ///
    /// [`RandomnessError`] when the operating system has no randomness; `output` is then untouched.
    #[cfg(feature = "std")]
    pub fn prove(&self, input: &[u8], output: &mut [u8]) -> Result<Proof, RandomnessError> {
        Ok(self.prove_with(Randomness::from_os()?.as_bytes(), input, output))
    }

    /// [`prove`](Self::prove) with `random` as a hedge: any number of bytes, best 64 random ones. The
    /// output does not depend on it, and bytes that were used before do no harm.
    #[must_use]
    pub fn prove_with(&self, random: &[u8], input: &[u8], output: &mut [u8]) -> Proof {
        let mut protocol = self.begun.clone();
        protocol.mix("input", input);
        let point = derive_point(&mut protocol, "point");
        let gamma = Element::new(self.secret.scalar() * *point);
        protocol.mix("gamma", gamma.encoding());
        protocol.derive("prf", output);
        let (mut prover, mut verifier) = protocol.fork("role", b"prover", b"verifier");
        prover.mix("prover-private", &*self.secret.to_bytes());
        prover.mix("rand", random);
        let nonce = derive_scalar(&mut prover, "commitment");
        let u = RistrettoPoint::mul_base(&nonce);
        let v = *nonce * *point;
        let challenge = challenge(&mut verifier, &u, &v);
        let product = Zeroizing::new(challenge * self.secret.scalar());
        Proof {
            gamma,
            challenge,
            response: *product + *nonce,
        }
    }
}

/// Checks the outputs of one prover, for one domain.
#[derive(Clone, Debug)]
pub struct Verifier {
    public: PublicKey,
    begun: Protocol,
}

impl Verifier {
    /// For inputs of the purpose `domain` and outputs of the owner of `public`.
    #[must_use]
    pub fn new(domain: impl AsRef<[u8]>, public: PublicKey) -> Self {
        let begun = begin(domain.as_ref(), &public);
        Self { public, begun }
    }

    /// Fills `output` with the value for `input`, if `proof` proves it. Takes a time that depends on
    /// input and proof.
    ///
    /// # Errors
    ///
    /// [`InvalidProof`] if it does not; `output` is then all zeros.
    pub fn verify(
        &self,
        input: &[u8],
        proof: &Proof,
        output: &mut [u8],
    ) -> Result<(), InvalidProof> {
        let mut protocol = self.begun.clone();
        protocol.mix("input", input);
        let point = derive_point(&mut protocol, "point");
        protocol.mix("gamma", proof.gamma.encoding());
        protocol.derive("prf", output);
        let (_, mut verifier) = protocol.fork("role", b"prover", b"verifier");
        let negated = -proof.challenge;
        let u = RistrettoPoint::vartime_double_scalar_mul_basepoint(
            &negated,
            self.public.0.point(),
            &proof.response,
        );
        let v = double_mul_vartime((&proof.response, &point), (&negated, proof.gamma.point()));
        if challenge(&mut verifier, &u, &v) == proof.challenge {
            Ok(())
        } else {
            output.zeroize();
            Err(InvalidProof)
        }
    }
}

#[cfg(test)]
mod tests;
