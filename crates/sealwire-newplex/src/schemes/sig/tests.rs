//! The published vectors, and the traits.

use super::*;
use crate::schemes::keys::InvalidEncoding;
use crate::vectors::{VECTORS, bytes, hex, list, text};
use serde_json::Value;

fn signing_key(case: &Value) -> SigningKey {
    let secret = SecretKey::from_bytes(&bytes(&case["private_key"])).expect("a key");
    assert_eq!(
        hex(secret.public_key().as_bytes()),
        text(&case["public_key"])
    );
    SigningKey::new(text(&case["domain"]), secret)
}

/// Whether a case of a verifier passes; every step may refuse it.
fn verifies(case: &Value) -> bool {
    let Ok(public) = PublicKey::from_bytes(&bytes(&case["public_key"])) else {
        return false;
    };
    let Ok(signature) = Signature::try_from(bytes(&case["signature"]).as_slice()) else {
        return false;
    };
    VerifyingKey::new(text(&case["domain"]), public)
        .verify(&bytes(&case["message"]), &signature)
        .is_ok()
}

#[test]
fn signing_gives_the_published_signatures_and_verifying_takes_them() {
    for case in list(&VECTORS["sig"], "vectors") {
        let key = signing_key(case);
        let (message, random) = (bytes(&case["message"]), bytes(&case["rand"]));
        let signature = key.sign_hedged(&message, &random);
        assert_eq!(hex(&signature.to_bytes()), text(&case["signature"]));
        assert!(verifies(case), "{}", case["name"]);

        let mut pieces = key.begin();
        message.chunks(7).for_each(|piece| pieces.update(piece));
        assert_eq!(pieces.finish(&random), signature, "{}", case["name"]);
        if random.is_empty() {
            assert_eq!(key.sign(&message), signature);
            let (left, right) = message.split_at(message.len() / 2);
            assert_eq!(key.multipart_sign(&[left, right]), signature);
            let verifying = key.verifying_key();
            assert!(
                verifying
                    .multipart_verify(&[left, right], &signature)
                    .is_ok()
            );
        }
    }
}

#[test]
fn what_was_tampered_with_is_refused() {
    for case in list(&VECTORS["sig"], "reject") {
        assert!(!verifies(case), "{}", case["tampered"]);
    }
}

#[test]
fn the_identity_as_public_key_is_refused_where_the_reference_accepts_it() {
    for case in list(&VECTORS["sig"], "edge") {
        let public = PublicKey::from_bytes(&bytes(&case["public_key"]));
        assert_eq!(
            public,
            Err(InvalidEncoding::Neutral),
            "{}",
            case["tampered"]
        );
    }
}

/// Counts, and fails when it has no more.
struct Counter(u8);

impl rand_core::TryRng for Counter {
    type Error = std::fmt::Error;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Err(std::fmt::Error)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Err(std::fmt::Error)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        self.0 = self.0.checked_add(1).ok_or(std::fmt::Error)?;
        bytes.fill(self.0);
        Ok(())
    }
}

impl TryCryptoRng for Counter {}

#[test]
fn the_generator_hedges_and_its_failure_is_told() {
    let key = SigningKey::new("domain", SecretKey::new(Scalar::from(3_u8)));
    let signature = key
        .try_sign_with_rng(&mut Counter(6), b"message")
        .expect("randomness");
    assert_eq!(signature, key.sign_hedged(b"message", &[7; 64]));
    assert_ne!(signature, key.sign(b"message"));
    assert!(key.verifying_key().verify(b"message", &signature).is_ok());
    assert!(
        key.try_sign_with_rng(&mut Counter(255), b"message")
            .is_err()
    );
}

#[test]
fn nothing_secret_is_shown() {
    let key = SigningKey::new("domain", SecretKey::new(Scalar::from(0x1234_5678_u32)));
    let shown = std::format!("{key:?}");
    assert!(!shown.contains("78563412"), "{shown}");
}
