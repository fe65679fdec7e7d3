//! FROST: signatures that any `threshold` out of a group of signers make together.
//!
//! After RFC 9591 (two rounds, Schnorr), in Newplex. The result is a signature as of
//! [`sig`](super::sig), under the key of the group.
//!
//! ```text
//! keys:    init(domain)  fork("process", "keygen", "commitment"); keygen: mix("seed")
//!          derive("coefficient", 64) for each coefficient of the polynomial
//! nonces:  commitment: mix("signing-share")  mix("rand")  derive("hiding-nonce", 64)
//!          derive("binding-nonce", 64)
//! factors: init(domain)  mix("frost-binding", group key)  mix("message"), for each signer in order
//!          mix("identifier", u16, big-endian)  mix("hiding")  mix("binding"); clone for each:
//!          mix("binding-participant", u16)  derive("binding-factor", 64)
//! ```
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use sealwire_newplex::schemes::frost::{Parameters, Round, generate};
//! use sealwire_newplex::schemes::sig::VerifyingKey;
//! use signature::Verifier as _;
//!
//! let domain = "com.example.treasury";
//! // A dealer, who is trusted and forgets all of it.
//! let (group, signers) = generate(domain, Parameters { threshold: 2, max_signers: 3 })?;
//!
//! // Round one: each signer commits itself, in advance if it likes.
//! let (first, first_commitment) = signers[0].commit()?;
//! let (third, third_commitment) = signers[2].commit()?;
//!
//! // Round two: each signs the message that it has seen and agrees to.
//! let commitments = [first_commitment, third_commitment];
//! let round = Round::new(domain, &group, b"pay 100", &commitments)?;
//! let shares = [signers[0].sign(first, &round)?, signers[2].sign(third, &round)?];
//! let signature = round.aggregate(&shares)?;
//! assert!(VerifyingKey::new(domain, *group.key()).verify(b"pay 100", &signature).is_ok());
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Refused, though the reference does it
//!
//! * More than 65,535 signers: identifiers would wrap to 0, whose share is the group's secret key.
//! * Signing or aggregating with fewer signers than the threshold, which gives no valid signature.
//! * Signing with nonces whose commitment is not in the list, or that had no randomness.
//! * Aggregating what gives no valid signature.
//! * The identity as a commitment, as in RFC 9591.

mod commitment;
mod dealer;
mod encoding;
mod error;
mod group;
mod round;
mod signer;

pub use commitment::Commitment;
#[cfg(feature = "std")]
pub use dealer::generate;
pub use dealer::{MIN_SEED_SIZE, generate_with};
pub use encoding::{COMMITMENT_SIZE, GROUP_SIZE, SHARE_SIZE, SIGNER_SIZE};
pub use error::FrostError;
pub use group::{Group, Parameters};
pub use round::{Round, SignatureShare};
pub use signer::{Nonces, Signer};

#[cfg(test)]
mod tests;
