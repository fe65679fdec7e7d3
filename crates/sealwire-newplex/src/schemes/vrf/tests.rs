//! The published vectors.

use super::*;
use crate::vectors::{VECTORS, bytes, hex, list, number, text};
use serde_json::Value;
use std::vec::Vec;

/// What a verifier makes of a case; every step may refuse it.
fn verified(case: &Value) -> Option<Vec<u8>> {
    let public = PublicKey::from_bytes(&bytes(&case["public_key"])).ok()?;
    let proof = Proof::from_bytes(&bytes(&case["proof"])).ok()?;
    let mut output = std::vec![1; number(&case["n"])];
    let verifier = Verifier::new(text(&case["domain"]), public);
    let verified = verifier.verify(&bytes(&case["message"]), &proof, &mut output);
    assert!(verified.is_ok() || output.iter().all(|byte| *byte == 0));
    verified.ok().map(|()| output)
}

#[test]
fn proving_gives_the_published_outputs_and_proofs_and_verifying_takes_them() {
    for case in list(&VECTORS["vrf"], "vectors") {
        let secret = SecretKey::from_bytes(&bytes(&case["private_key"])).expect("a key");
        let prover = Prover::new(text(&case["domain"]), secret);
        let mut output = std::vec![0; number(&case["n"])];
        let (random, input) = (bytes(&case["rand"]), bytes(&case["message"]));
        let proof = prover.prove_with(&random, &input, &mut output);
        assert_eq!(hex(&output), text(&case["prf"]), "{}", case["name"]);
        assert_eq!(hex(&proof.to_bytes()), text(&case["proof"]));
        assert_eq!(verified(case), Some(output), "{}", case["name"]);
    }
}

#[test]
fn what_was_tampered_with_is_refused() {
    for case in list(&VECTORS["vrf"], "reject") {
        assert_eq!(verified(case), None, "{}", case["tampered"]);
    }
}

#[test]
fn proofs_of_another_length_get_a_typed_error() {
    for length in [0, 95, 97] {
        let error = Proof::from_bytes(&std::vec![0; length]).err();
        assert_eq!(error, Some(InvalidProofEncoding::Length(length)));
    }
    let neutral = InvalidProofEncoding::Part(InvalidEncoding::Neutral);
    assert_eq!(Proof::from_bytes(&[0; 96]).err(), Some(neutral));
}
