//! Provers against verifiers: with the same domain, key and message they agree; when one of these,
//! or one bit of the proof, is another, they do not.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use sealwire_newplex::schemes::frost::{Parameters, Round, generate_with};
use sealwire_newplex::schemes::keys::SecretKey;
use sealwire_newplex::schemes::randomness::Randomness;
use sealwire_newplex::schemes::sig::{Signature, SigningKey, VerifyingKey};
use sealwire_newplex::schemes::{oprf, vrf};
use signature::Verifier as _;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    domain: &'a [u8],
    other_domain: &'a [u8],
    message: &'a [u8],
    other_message: &'a [u8],
    hedge: &'a [u8],
    key: u8,
    random: u8,
    bit: u16,
    first: u8,
    second: u8,
    output: u8,
}

fn random(byte: u8) -> Randomness {
    Randomness::from_bytes(&[byte.max(1); 64]).expect("not zero")
}

fn flipped<const N: usize>(mut bytes: [u8; N], bit: u16) -> [u8; N] {
    let bit = usize::from(bit) % (8 * N);
    bytes[bit / 8] ^= 1 << (bit % 8);
    bytes
}

fuzz_target!(|input: Input| {
    let secret = SecretKey::from_randomness(random(input.key));
    let public = *secret.public_key();
    let same_domain = input.domain == input.other_domain;
    let same = same_domain && input.message == input.other_message;

    let signature =
        SigningKey::new(input.domain, secret.clone()).sign_hedged(input.message, input.hedge);
    let verifying = VerifyingKey::new(input.other_domain, public);
    assert_eq!(
        verifying.verify(input.other_message, &signature).is_ok(),
        same
    );
    let forged = Signature::from_bytes(flipped(signature.to_bytes(), input.bit));
    assert!(verifying.verify(input.message, &forged).is_err());

    let mut output = vec![0; usize::from(input.output)];
    let mut checked = output.clone();
    let proof = vrf::Prover::new(input.domain, secret.clone()).prove_with(
        input.hedge,
        input.message,
        &mut output,
    );
    let verifier = vrf::Verifier::new(input.other_domain, public);
    let verified = verifier.verify(input.other_message, &proof, &mut checked);
    assert_eq!(verified.is_ok(), same);
    assert!(!same || checked == output);
    if let Ok(forged) = vrf::Proof::from_bytes(&flipped(proof.to_bytes(), input.bit)) {
        assert!(
            verifier
                .verify(input.message, &forged, &mut checked)
                .is_err()
        );
    }

    let server = oprf::Server::new(input.domain, secret);
    let blind = || {
        let blinded =
            oprf::Client::blind_with(input.other_domain, input.message, random(input.random));
        blinded.expect("not the identity")
    };
    let (client, blinded) = blind();
    let (evaluated, proof) = server.prove(&blinded, random(input.random));
    let finalized = client.finalize_verified(&public, &evaluated, &proof, &mut output);
    assert_eq!(finalized.is_ok(), same_domain);
    if same_domain {
        server
            .evaluate(input.message, &mut checked)
            .expect("not the identity");
        assert_eq!(output, checked);
    }
    if let Ok(forged) = oprf::Proof::from_bytes(&flipped(proof.to_bytes(), input.bit)) {
        let (client, _) = blind();
        let finalized = client.finalize_verified(&public, &evaluated, &forged, &mut output);
        assert!(finalized.is_err());
    }

    let parameters = Parameters {
        threshold: 2,
        max_signers: 4,
    };
    let (group, signers) =
        generate_with(input.domain, parameters, &[input.key; 64]).expect("good parameters");
    let (first, second) = (
        &signers[usize::from(input.first % 4)],
        &signers[usize::from(input.second % 4)],
    );
    let (one, one_public) = first.commit_with(random(input.random));
    let (two, two_public) = second.commit_with(random(input.random));
    let round = Round::new(
        input.domain,
        &group,
        input.message,
        &[one_public, two_public],
    );
    assert_eq!(round.is_ok(), first.identifier() != second.identifier());
    if let Ok(round) = round {
        let shares = [first.sign(one, &round), second.sign(two, &round)];
        let shares = shares.map(|share| share.expect("a share"));
        let signature = round.aggregate(&shares).expect("good shares");
        let verifying = VerifyingKey::new(input.other_domain, *group.key());
        assert_eq!(
            verifying.verify(input.other_message, &signature).is_ok(),
            same
        );
        assert!(round.aggregate(&[shares[0], shares[0]]).is_err());
    }
});
