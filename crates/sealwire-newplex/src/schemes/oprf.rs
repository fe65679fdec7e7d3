//! An oblivious pseudorandom function: a server evaluates its key on an input that it does not see.
//!
//! After RFC 9497, in Newplex:
//!
//! ```text
//! init(domain)  mix("input")  fork("output", "element", "prf")
//! element: derive("element", 64) -> H
//! client ── [blind]H ──▶ server ── [key][blind]H ──▶ client
//! prf: mix("unblinded-element", [key]H)  derive("prf", n)
//! ```
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use sealwire_newplex::schemes::keys::SecretKey;
//! use sealwire_newplex::schemes::oprf::{Client, Server};
//!
//! let server = Server::new("com.example.lookup", SecretKey::generate()?);
//! let (client, blinded) = Client::blind("com.example.lookup", b"a private input")?;
//! let (evaluated, proof) = server.evaluate_with_proof(&blinded)?; // sees nothing of the input
//! let mut output = [0; 32];
//! client.finalize_verified(server.public_key(), &evaluated, &proof, &mut output)?;
//!
//! let mut expected = [0; 32];
//! server.evaluate(b"a private input", &mut expected)?;
//! assert_eq!(output, expected);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! With [`Client::finalize`] (OPRF) a server can use any key it likes, even one for each client; with
//! [`Client::finalize_verified`] (VOPRF) only the one whose public key the client knows. The output
//! is the same. A server can be asked as often as it answers: limit that where inputs can be guessed.

mod proof;

use super::group::{Element, derive_point, element_type, encode};
use super::keys::{PublicKey, SecretKey};
use super::randomness::{Randomness, RandomnessError};
use crate::Protocol;
use core::fmt;
use curve25519_dalek::traits::IsIdentity as _;
use curve25519_dalek::{RistrettoPoint, Scalar};
pub use proof::{InvalidProof, PROOF_SIZE, Proof, ProofError};
use thiserror::Error;
use zeroize::Zeroizing;

element_type! {
    /// What a client asks a server to evaluate: its input under a blind, 32 bytes.
    BlindedElement
}

element_type! {
    /// What a server answers with, 32 bytes.
    EvaluatedElement
}

/// Why an input could not be blinded or evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum InputError {
    /// The input stands for the identity element, which happens with a probability of 2^-252.
    #[error("the input cannot be used: it maps to the identity element")]
    Identity,
    /// There was no randomness for the blind.
    #[error(transparent)]
    Randomness(#[from] RandomnessError),
}

/// The branches for an input: the one that gives its element and the one that gives the output.
fn begin(domain: &Protocol, input: &[u8]) -> (Protocol, Protocol) {
    let mut protocol = domain.clone();
    protocol.mix("input", input);
    protocol.fork("output", b"element", b"prf")
}

/// The element of an input.
fn element(mut branch: Protocol) -> Result<Zeroizing<RistrettoPoint>, InputError> {
    let point = derive_point(&mut branch, "element");
    if point.is_identity() {
        return Err(InputError::Identity);
    }
    Ok(point)
}

/// The output for an element that is no longer blinded.
fn output(mut branch: Protocol, unblinded: &[u8; 32], output: &mut [u8]) {
    branch.mix("unblinded-element", unblinded);
    branch.derive("prf", output);
}

/// A client that waits for the answer to one input.
pub struct Client {
    /// The domain, for proofs.
    domain: Protocol,
    /// Gives the output.
    prf: Protocol,
    blind: Zeroizing<Scalar>,
    blinded: BlindedElement,
}

impl Client {
    /// Blinds `input`; the element goes to the server.
    ///
    /// # Errors
    ///
    /// [`InputError`] when the operating system has no randomness.
    #[cfg(feature = "std")]
    pub fn blind(
        domain: impl AsRef<[u8]>,
        input: &[u8],
    ) -> Result<(Self, BlindedElement), InputError> {
        Self::blind_with(domain, input, Randomness::from_os()?)
    }

    /// [`blind`](Self::blind) with the blind that `randomness` stands for.
    ///
    /// # Errors
    ///
    /// [`InputError::Identity`], which nobody will live to see.
    pub fn blind_with(
        domain: impl AsRef<[u8]>,
        input: &[u8],
        randomness: Randomness,
    ) -> Result<(Self, BlindedElement), InputError> {
        let domain = Protocol::new(domain);
        let (branch, prf) = begin(&domain, input);
        let element = element(branch)?;
        let blind = randomness.into_scalar();
        let blinded = BlindedElement(Element::new(*blind * *element));
        let client = Self {
            domain,
            prf,
            blind,
            blinded,
        };
        Ok((client, blinded))
    }

    /// Fills `output` with the value for the input, whatever key the server used. Outputs of
    /// different lengths are unrelated.
    pub fn finalize(self, evaluated: &EvaluatedElement, output: &mut [u8]) {
        let inverse = Zeroizing::new(self.blind.invert());
        let unblinded = Zeroizing::new(*inverse * evaluated.0.point());
        let unblinded = Zeroizing::new(encode(&unblinded));
        self::output(self.prf, &unblinded, output);
    }

    /// Fills `output` with the value for the input, if `proof` shows that the server used the secret
    /// key of `server`.
    ///
    /// # Errors
    ///
    /// [`InvalidProof`] if it does not; `output` is then untouched.
    pub fn finalize_verified(
        self,
        server: &PublicKey,
        evaluated: &EvaluatedElement,
        proof: &Proof,
        output: &mut [u8],
    ) -> Result<(), InvalidProof> {
        proof.check(&self.domain, server, &self.blinded, evaluated)?;
        self.finalize(evaluated, output);
        Ok(())
    }
}

/// Shows the blinded element.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("blinded", &self.blinded)
            .finish_non_exhaustive()
    }
}

/// Evaluates blinded elements.
#[derive(Clone, Debug)]
pub struct Server {
    domain: Protocol,
    secret: SecretKey,
}

impl Server {
    /// For inputs of the purpose `domain`.
    #[must_use]
    pub fn new(domain: impl AsRef<[u8]>, secret: SecretKey) -> Self {
        let domain = Protocol::new(domain);
        Self { domain, secret }
    }

    /// The key that proofs are verified with.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        self.secret.public_key()
    }

    /// Evaluates the key on an input that is not seen.
    #[must_use]
    pub fn evaluate_blinded(&self, blinded: &BlindedElement) -> EvaluatedElement {
        EvaluatedElement(Element::new(self.secret.scalar() * blinded.0.point()))
    }

    /// [`evaluate_blinded`](Self::evaluate_blinded) with a proof of which key was used.
    ///
    /// # Errors
    ///
    /// [`RandomnessError`] when the operating system has no randomness.
    #[cfg(feature = "std")]
    pub fn evaluate_with_proof(
        &self,
        blinded: &BlindedElement,
    ) -> Result<(EvaluatedElement, Proof), RandomnessError> {
        Ok(self.prove(blinded, Randomness::from_os()?))
    }

    /// [`evaluate_with_proof`](Self::evaluate_with_proof) with the nonce that `randomness` stands for.
    ///
    /// **A nonce that is used for two proofs gives the secret key away.**
    #[must_use]
    pub fn prove(
        &self,
        blinded: &BlindedElement,
        randomness: Randomness,
    ) -> (EvaluatedElement, Proof) {
        let evaluated = self.evaluate_blinded(blinded);
        let proof = Proof::make(&self.domain, &self.secret, blinded, &evaluated, randomness);
        (evaluated, proof)
    }

    /// Fills `output` with the value for an `input` that is known.
    ///
    /// # Errors
    ///
    /// [`InputError::Identity`], which nobody will live to see.
    pub fn evaluate(&self, input: &[u8], output: &mut [u8]) -> Result<(), InputError> {
        let (branch, prf) = begin(&self.domain, input);
        let element = element(branch)?;
        let evaluated = Zeroizing::new(self.secret.scalar() * *element);
        let evaluated = Zeroizing::new(encode(&evaluated));
        self::output(prf, &evaluated, output);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
