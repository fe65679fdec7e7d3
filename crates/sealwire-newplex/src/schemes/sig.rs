//! Signatures: Schnorr's scheme over ristretto255, with nonces derived as in EdDSA.
//!
//! ```text
//! init(domain)  mix("signer", public key)  mix("message")  fork("role", "prover", "verifier")
//! prover:   mix("signer-private")  mix("hedged-rand")  derive("commitment", 64) -> k,  R = [k]G
//! verifier: mix("commitment", R)   derive("challenge", 64) -> c
//! signature: R, s = k + c * secret key
//! ```
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use sealwire_newplex::schemes::keys::SecretKey;
//! use sealwire_newplex::schemes::sig::SigningKey;
//! use signature::{Signer as _, Verifier as _};
//!
//! let signing = SigningKey::new("com.example.releases", SecretKey::generate()?);
//! let signature = signing.sign(b"version 4");
//! assert!(signing.verifying_key().verify(b"version 4", &signature).is_ok());
//! assert!(signing.verifying_key().verify(b"version 5", &signature).is_err());
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nonces depend on the key and on the message and cannot repeat for different messages, whatever
//! the randomness is. [`Signer`] gives the same signature for the same message;
//! [`RandomizedSigner`] and [`Signing::finish`] add randomness, which protects the key of a device
//! that can be made to miscalculate.
//!
//! Strongly unforgeable. A signature belongs to one key, domain and message.

use super::group::{ENCODED_SIZE, decode_scalar, derive_scalar, encode};
use super::keys::{PublicKey, SecretKey};
use crate::Protocol;
use core::fmt;
use curve25519_dalek::{RistrettoPoint, Scalar};
use signature::rand_core::TryCryptoRng;
use signature::{
    Error, MultipartSigner, MultipartVerifier, RandomizedSigner, SignatureEncoding, Signer,
    Verifier,
};
use zeroize::Zeroizing;

/// Size of a signature in bytes.
pub const SIGNATURE_SIZE: usize = 64;

/// A signature: the encoded commitment and the proof scalar, 32 bytes each.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature([u8; SIGNATURE_SIZE]);

impl Signature {
    /// From 64 bytes. Whether they are a signature is found when it is verified.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; SIGNATURE_SIZE]) -> Self {
        Self(bytes)
    }

    /// The 64 bytes.
    #[must_use]
    pub const fn to_bytes(&self) -> [u8; SIGNATURE_SIZE] {
        self.0
    }

    pub(crate) fn new(commitment: &[u8; ENCODED_SIZE], proof: &Scalar) -> Self {
        let mut bytes = [0; SIGNATURE_SIZE];
        bytes[..ENCODED_SIZE].copy_from_slice(commitment);
        bytes[ENCODED_SIZE..].copy_from_slice(proof.as_bytes());
        Self(bytes)
    }

    fn parts(&self) -> (&[u8], &[u8]) {
        self.0.split_at(ENCODED_SIZE)
    }
}

/// Fails unless there are 64 bytes.
impl TryFrom<&[u8]> for Signature {
    type Error = Error;

    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        bytes.try_into().map(Self).map_err(|_| Error::new())
    }
}

impl From<Signature> for [u8; SIGNATURE_SIZE] {
    fn from(signature: Signature) -> Self {
        signature.0
    }
}

impl SignatureEncoding for Signature {
    type Repr = [u8; SIGNATURE_SIZE];
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signature(")?;
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}

/// The transcript up to the first byte of the message.
fn begin(domain: &[u8], signer: &PublicKey) -> Protocol {
    let mut protocol = Protocol::new(domain);
    protocol.mix("signer", signer.as_bytes());
    protocol.begin_mix(b"message");
    protocol
}

/// The branches that the transcript splits into after the message: prover and verifier.
fn roles(mut message: Protocol) -> (Protocol, Protocol) {
    message.fork("role", b"prover", b"verifier")
}

/// The challenge that the verifier's branch gives for an encoded commitment.
fn challenge(verifier: &mut Protocol, commitment: &[u8]) -> Scalar {
    verifier.mix("commitment", commitment);
    *derive_scalar(verifier, "challenge")
}

/// The challenge for a message and an encoded commitment, as others compute it who sign together.
#[cfg(feature = "alloc")]
pub(crate) fn challenge_of(
    domain: &[u8],
    signer: &PublicKey,
    message: &[u8],
    commitment: &[u8; ENCODED_SIZE],
) -> Scalar {
    let mut protocol = begin(domain, signer);
    protocol.continue_mix(message);
    challenge(&mut roles(protocol).1, commitment)
}

/// A secret key that signs for one domain.
#[derive(Clone, Debug)]
pub struct SigningKey {
    secret: SecretKey,
    verifying: VerifyingKey,
}

impl SigningKey {
    /// For messages of the purpose `domain`.
    #[must_use]
    pub fn new(domain: impl AsRef<[u8]>, secret: SecretKey) -> Self {
        let verifying = VerifyingKey::new(domain, *secret.public_key());
        Self { secret, verifying }
    }

    /// The key that verifies what this one signs.
    #[must_use]
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying
    }

    /// Begins a message that comes in pieces.
    #[must_use]
    pub fn begin(&self) -> Signing<'_> {
        Signing {
            secret: &self.secret,
            message: self.verifying.begun.clone(),
        }
    }

    /// Signs `message` with the hedge `random`, as [`Signing::finish`] does.
    #[must_use]
    pub fn sign_hedged(&self, message: &[u8], random: &[u8]) -> Signature {
        let mut signing = self.begin();
        signing.update(message);
        signing.finish(random)
    }
}

/// A message that is being signed.
#[derive(Debug)]
pub struct Signing<'a> {
    secret: &'a SecretKey,
    message: Protocol,
}

impl Signing<'_> {
    /// The next piece of the message.
    #[inline]
    pub fn update(&mut self, piece: &[u8]) {
        self.message.continue_mix(piece);
    }

    /// Ends the message and signs it.
    ///
    /// `random` hedges the nonce: any number of bytes, best 64 random ones; none makes the signature
    /// deterministic, and bytes that were used before do no harm.
    #[must_use]
    pub fn finish(self, random: &[u8]) -> Signature {
        let (mut prover, mut verifier) = roles(self.message);
        prover.mix("signer-private", &*self.secret.to_bytes());
        prover.mix("hedged-rand", random);
        let nonce = derive_scalar(&mut prover, "commitment");
        let commitment = encode(&RistrettoPoint::mul_base(&nonce));
        let challenge = challenge(&mut verifier, &commitment);
        let proof = Zeroizing::new(self.secret.scalar() * challenge);
        Signature::new(&commitment, &(*proof + *nonce))
    }
}

/// Deterministic.
impl Signer<Signature> for SigningKey {
    fn try_sign(&self, message: &[u8]) -> Result<Signature, Error> {
        Ok(self.sign_hedged(message, &[]))
    }
}

/// Deterministic; the pieces are signed as one message.
impl MultipartSigner<Signature> for SigningKey {
    fn try_multipart_sign(&self, pieces: &[&[u8]]) -> Result<Signature, Error> {
        let mut signing = self.begin();
        pieces.iter().for_each(|piece| signing.update(piece));
        Ok(signing.finish(&[]))
    }
}

/// Hedged with 64 bytes.
impl RandomizedSigner<Signature> for SigningKey {
    fn try_sign_with_rng<R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
        message: &[u8],
    ) -> Result<Signature, Error> {
        let mut random = Zeroizing::new([0; 64]);
        rng.try_fill_bytes(&mut *random).map_err(|_| Error::new())?;
        Ok(self.sign_hedged(message, &*random))
    }
}

impl signature::Keypair for SigningKey {
    type VerifyingKey = VerifyingKey;

    fn verifying_key(&self) -> VerifyingKey {
        self.verifying.clone()
    }
}

/// A public key that verifies signatures for one domain.
#[derive(Clone, Debug)]
pub struct VerifyingKey {
    public: PublicKey,
    begun: Protocol,
}

impl VerifyingKey {
    /// For messages of the purpose `domain`.
    #[must_use]
    pub fn new(domain: impl AsRef<[u8]>, public: PublicKey) -> Self {
        let begun = begin(domain.as_ref(), &public);
        Self { public, begun }
    }

    /// The public key.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Begins a message that comes in pieces.
    #[must_use]
    pub fn begin(&self) -> Verification<'_> {
        Verification {
            public: &self.public,
            message: self.begun.clone(),
        }
    }
}

/// A message whose signature is being verified.
#[derive(Debug)]
pub struct Verification<'a> {
    public: &'a PublicKey,
    message: Protocol,
}

impl Verification<'_> {
    /// The next piece of the message.
    #[inline]
    pub fn update(&mut self, piece: &[u8]) {
        self.message.continue_mix(piece);
    }

    /// Ends the message and verifies its signature, in a time that depends on both.
    ///
    /// # Errors
    ///
    /// [`Error`] unless the owner of the key signed this message for this domain.
    pub fn finish(self, signature: &Signature) -> Result<(), Error> {
        let (commitment, proof) = signature.parts();
        let (_, mut verifier) = roles(self.message);
        let challenge = challenge(&mut verifier, commitment);
        let proof = decode_scalar(proof).map_err(|_| Error::new())?;
        let expected = RistrettoPoint::vartime_double_scalar_mul_basepoint(
            &-challenge,
            self.public.0.point(),
            &proof,
        );
        // Compared as bytes: no other encoding of the commitment can pass.
        if encode(&expected) == commitment {
            Ok(())
        } else {
            Err(Error::new())
        }
    }
}

impl Verifier<Signature> for VerifyingKey {
    fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), Error> {
        self.multipart_verify(&[message], signature)
    }
}

/// The pieces are verified as one message.
impl MultipartVerifier<Signature> for VerifyingKey {
    fn multipart_verify(&self, pieces: &[&[u8]], signature: &Signature) -> Result<(), Error> {
        let mut verification = self.begin();
        pieces.iter().for_each(|piece| verification.update(piece));
        verification.finish(signature)
    }
}

#[cfg(test)]
mod tests;
