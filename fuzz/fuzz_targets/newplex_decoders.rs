//! Any bytes as what the schemes with public keys decode: nothing panics, and what is accepted has
//! no other encoding.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwire_newplex::schemes::frost::{Commitment, Group, SignatureShare, Signer};
use sealwire_newplex::schemes::keys::{PublicKey, SecretKey};
use sealwire_newplex::schemes::oprf::{self, BlindedElement, EvaluatedElement};
use sealwire_newplex::schemes::sig::{Signature, VerifyingKey};
use sealwire_newplex::schemes::vrf;
use signature::Verifier as _;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(key) = PublicKey::from_bytes(bytes) {
        assert_eq!(key.as_bytes(), bytes);
    }
    if let Ok(key) = SecretKey::from_bytes(bytes) {
        assert_eq!(key.to_bytes().as_slice(), bytes);
    }
    if let Ok(element) = BlindedElement::from_bytes(bytes) {
        assert_eq!(element.as_bytes(), bytes);
    }
    if let Ok(element) = EvaluatedElement::from_bytes(bytes) {
        assert_eq!(element.as_bytes(), bytes);
    }
    if let Ok(proof) = oprf::Proof::from_bytes(bytes) {
        assert_eq!(proof.to_bytes(), bytes);
    }
    if let Ok(share) = SignatureShare::from_bytes(bytes) {
        assert_eq!(share.to_bytes(), bytes);
    }
    if let Ok(commitment) = Commitment::from_bytes(bytes) {
        assert_eq!(commitment.to_bytes(), bytes);
        assert_ne!(commitment.identifier(), 0);
    }
    if let Ok(group) = Group::from_bytes(bytes) {
        assert_eq!(group.to_bytes(), bytes);
        assert!((2..=group.max_signers()).contains(&group.threshold()));
    }
    if let Ok(signer) = Signer::from_bytes("com.example.fuzz", bytes) {
        assert_eq!(signer.to_bytes().as_slice(), bytes);
    }

    let key = SecretKey::from_bytes(&[1; 32]).expect("a key");
    if let Ok(proof) = vrf::Proof::from_bytes(bytes) {
        assert_eq!(proof.to_bytes(), bytes);
        let verifier = vrf::Verifier::new("com.example.fuzz", *key.public_key());
        let mut output = [1; 32];
        assert!(verifier.verify(b"input", &proof, &mut output).is_err());
        assert_eq!(output, [0; 32]);
    }
    if let Ok(signature) = Signature::try_from(bytes) {
        assert_eq!(signature.to_bytes(), bytes);
        let verifying = VerifyingKey::new("com.example.fuzz", *key.public_key());
        assert!(verifying.verify(b"message", &signature).is_err());
    }
});
