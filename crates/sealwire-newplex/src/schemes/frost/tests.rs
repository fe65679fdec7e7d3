//! The published vectors.

use super::*;
use crate::schemes::keys::{InvalidEncoding, PublicKey, SecretKey};
use crate::schemes::sig::{Signature, VerifyingKey};
use crate::vectors::{VECTORS, bytes, hex, list, number, text};
use curve25519_dalek::Scalar;
use serde_json::Value;
use signature::Verifier as _;
use std::vec::Vec;

fn parameters(case: &Value) -> Parameters {
    Parameters {
        threshold: number(&case["threshold"]),
        max_signers: number(&case["max_signers"]),
    }
}

/// The group of a vector and its signers.
fn dealt(case: &Value) -> (Group, Vec<Signer>) {
    let (domain, seed) = (text(&case["keygen_domain"]), bytes(&case["keygen_seed"]));
    generate_with(domain, parameters(case), &seed).expect("good parameters")
}

fn identifier(value: &Value) -> u16 {
    number(value).try_into().expect("an identifier")
}

fn signer(signers: &[Signer], value: &Value) -> Signer {
    signers[number(value) - 1].clone()
}

/// The nonces and the commitment of a participant of a vector.
fn committed(signers: &[Signer], own: &Value) -> (Nonces, Commitment) {
    signer(signers, &own["identifier"]).commit_from(&bytes(&own["rand"]))
}

fn commitment(value: &Value) -> Result<Commitment, FrostError> {
    let number = identifier(&value["identifier"]).to_be_bytes().to_vec();
    Commitment::from_bytes(&[number, bytes(&value["hiding"]), bytes(&value["binding"])].concat())
}

fn verifies(case: &Value, domain: &str, signature: &[u8]) -> bool {
    let key = PublicKey::from_bytes(&bytes(&case["group_key"])).expect("a key");
    let Ok(signature) = Signature::try_from(signature) else {
        return false;
    };
    let verifying = VerifyingKey::new(text(&case[domain]), key);
    verifying
        .verify(&bytes(&case["message"]), &signature)
        .is_ok()
}

#[test]
fn dealers_and_signers_give_the_published_values() {
    for case in list(&VECTORS["frost"], "vectors") {
        let name = text(&case["name"]);
        let (group, signers) = dealt(case);
        assert_eq!(
            hex(group.key().as_bytes()),
            text(&case["group_key"]),
            "{name}"
        );
        assert_eq!(signers.len(), number(&case["max_signers"]));
        for expected in list(case, "signers") {
            let signer = signer(&signers, &expected["identifier"]);
            assert_eq!(signer.identifier(), identifier(&expected["identifier"]));
            assert_eq!(
                hex(&*signer.share.to_bytes()),
                text(&expected["signing_share"])
            );
            let verifying = signer.verifying_share();
            assert_eq!(
                hex(verifying.as_bytes()),
                text(&expected["verifying_share"])
            );
        }

        let round1 = list(case, "round1");
        let mut nonces = Vec::new();
        let mut commitments = Vec::new();
        for own in round1 {
            let (secret, public) = committed(&signers, own);
            assert_eq!(hex(secret.hiding.as_bytes()), text(&own["hiding_nonce"]));
            assert_eq!(hex(secret.binding.as_bytes()), text(&own["binding_nonce"]));
            assert_eq!(commitment(own), Ok(public));
            assert_eq!(Commitment::from_bytes(&public.to_bytes()), Ok(public));
            nonces.push(secret);
            commitments.push(public);
        }
        let (domain, message) = (text(&case["sign_domain"]), bytes(&case["message"]));
        let round = Round::new(domain, &group, &message, &commitments);
        if case["valid"] == false {
            // The reference goes on and gives a signature that does not verify.
            let (given, threshold) = (commitments.len(), group.threshold());
            let expected = FrostError::TooFewSigners { given, threshold };
            assert_eq!(round.err(), Some(expected), "{name}");
            continue;
        }
        let round = round.expect("a good round");
        let mut shares = Vec::new();
        for ((own, nonces), expected) in round1.iter().zip(nonces).zip(list(case, "shares")) {
            let signer = signer(&signers, &own["identifier"]);
            let share = signer.sign(nonces, &round).expect("a share");
            assert_eq!(hex(&share.to_bytes()), text(&expected["share"]), "{name}");
            let (number, key) = (signer.identifier(), signer.verifying_share());
            assert_eq!(round.verify_share(number, key, &share), Ok(()));
            shares.push(share);
        }
        let signature = round.aggregate(&shares).expect("good shares").to_bytes();
        assert_eq!(hex(&signature), text(&case["signature"]), "{name}");
        assert!(verifies(case, "sign_domain", &signature), "{name}");
        shares.reverse();
        let again = round
            .aggregate(&shares)
            .map(|signature| signature.to_bytes());
        assert_eq!(again, Ok(signature), "{name}");
    }
}

#[test]
fn parameters_that_make_no_group_are_refused() {
    for case in list(&VECTORS["frost"], "keygen_reject") {
        let seed = bytes(&case["keygen_seed"]);
        let refused = generate_with("domain", parameters(case), &seed).err();
        let expected = match seed.len() {
            short @ 0..MIN_SEED_SIZE => FrostError::Seed(short),
            _ => FrostError::Parameters {
                threshold: number(&case["threshold"]),
                max_signers: number(&case["max_signers"]),
            },
        };
        assert_eq!(refused, Some(expected), "{}", case["tampered"]);
    }
}

#[test]
fn identifiers_do_not_wrap_to_the_one_whose_share_is_the_secret_key() {
    for max_signers in [65_536, 65_537, 131_072, usize::MAX] {
        let parameters = Parameters {
            threshold: 2,
            max_signers,
        };
        let refused = generate_with("domain", parameters, &[7; 64]).err();
        let expected = FrostError::Parameters {
            threshold: 2,
            max_signers,
        };
        assert_eq!(refused, Some(expected));
    }
    let mut commitment = [0; COMMITMENT_SIZE];
    commitment[2..34].copy_from_slice(SecretKey::new(Scalar::ONE).public_key().as_bytes());
    commitment.copy_within(2..34, 34);
    let decoded = Commitment::from_bytes(&commitment);
    assert_eq!(decoded, Err(FrostError::Identifier(0)));
    commitment[1] = 1;
    assert!(Commitment::from_bytes(&commitment).is_ok());
    for half in [2..34, 34..66] {
        let mut identity = commitment;
        identity[half].fill(0);
        let neutral = FrostError::Encoding(InvalidEncoding::Neutral);
        assert_eq!(Commitment::from_bytes(&identity), Err(neutral));
    }
}

/// The outcome of the step that a case is about.
fn outcome(case: &Value, base: &Value) -> Result<(), FrostError> {
    if text(&case["step"]) == "verify" {
        let verified = verifies(case, "domain", &bytes(&case["signature"]));
        return verified.then_some(()).ok_or(FrostError::InvalidSignature);
    }
    let (group, signers) = dealt(base);
    let commitments = list_or_empty(case, "commitments").iter().map(commitment);
    let commitments = commitments.collect::<Result<Vec<_>, _>>()?;
    let key = match case["group_key"].is_string() {
        true => PublicKey::from_bytes(&bytes(&case["group_key"]))?,
        false => *group.key(),
    };
    let group = Group::new(key, parameters(base))?;
    let message = bytes(&case["message"]);
    let round = Round::new(text(&case["domain"]), &group, &message, &commitments)?;
    let shares = list_or_empty(case, "shares").iter();
    let shares = shares.map(|share| SignatureShare::from_bytes(&bytes(share)));
    let shares = shares.collect::<Result<Vec<_>, _>>()?;
    match text(&case["step"]) {
        "sign" => {
            let own = list(base, "round1").iter();
            let mut own = own.filter(|own| own["identifier"] == case["signer_identifier"]);
            let own = own.next().expect("a participant");
            let signer = signer(&signers, &own["identifier"]);
            signer.sign(committed(&signers, own).0, &round).map(|_| ())
        }
        "aggregate" => round.aggregate(&shares).map(|_| ()),
        "verify_share" => {
            let verifying = PublicKey::from_bytes(&bytes(&case["verifying_share"]))?;
            let number = identifier(&case["signer_identifier"]);
            round.verify_share(number, &verifying, &shares[0])
        }
        other => panic!("unknown step {other}"),
    }
}

fn list_or_empty<'a>(case: &'a Value, name: &str) -> &'a [Value] {
    case[name].as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn what_was_tampered_with_is_refused_for_the_right_reason() {
    let vectors = list(&VECTORS["frost"], "vectors");
    for case in list(&VECTORS["frost"], "reject") {
        let base = vectors.iter().find(|base| base["name"] == case["base"]);
        let refused = outcome(case, base.expect("a base")).expect_err(text(&case["tampered"]));
        let expected = match text(&case["error"]) {
            // Too few is said before missing.
            "missing_signer" => matches!(
                refused,
                FrostError::MissingSigner(_) | FrostError::TooFewSigners { .. }
            ),
            "duplicate_identifier" => matches!(refused, FrostError::DuplicateIdentifier(_)),
            "invalid_commitment" => {
                matches!(refused, FrostError::Encoding(_) | FrostError::Length { .. })
            }
            "invalid_share" => matches!(refused, FrostError::Encoding(_)),
            "invalid_parameters" => matches!(refused, FrostError::ShareCount { .. }),
            "bad_signature" => refused == FrostError::InvalidSignature,
            "false" => true,
            other => panic!("unknown error {other}"),
        };
        assert!(expected, "{}: {refused:?}", case["tampered"]);
    }
}

fn group_of_three(seed: u8) -> (Group, Vec<Signer>) {
    let parameters = Parameters {
        threshold: 2,
        max_signers: 3,
    };
    generate_with("domain", parameters, &[seed; 64]).expect("good parameters")
}

#[test]
fn a_signer_signs_only_for_its_group_and_with_nonces_of_the_round() {
    let (group, signers) = group_of_three(7);
    let (another, _) = group_of_three(8);
    let commit = |index: usize, random: u8| signers[index].commit_from(&[random; 64]);
    let commitments = [commit(0, 1).1, commit(1, 1).1];
    let round = Round::new("domain", &group, b"message", &commitments).expect("good");
    let foreign = Round::new("domain", &another, b"message", &commitments).expect("good");

    let signed = signers[0].sign(commit(0, 1).0, &foreign);
    assert_eq!(signed, Err(FrostError::AnotherGroup));
    let signed = signers[0].sign(commit(0, 2).0, &round);
    assert_eq!(signed, Err(FrostError::ForeignCommitment(1)));
    let signed = signers[2].sign(commit(2, 1).0, &round);
    assert_eq!(signed, Err(FrostError::MissingSigner(3)));
    assert!(signers[0].sign(commit(0, 1).0, &round).is_ok());
}

#[test]
fn signers_that_the_group_does_not_have_are_refused() {
    let (group, signers) = group_of_three(7);
    let mut stranger = signers[0].commit_from(&[1; 64]).1;
    stranger.identifier = 4;
    let commitments = [signers[1].commit_from(&[1; 64]).1, stranger];
    let round = Round::new("domain", &group, b"message", &commitments);
    assert_eq!(round.err(), Some(FrostError::Identifier(4)));
}

#[test]
fn signers_and_groups_survive_their_encoding() {
    let (group, signers) = group_of_three(7);
    assert_eq!(Group::from_bytes(&group.to_bytes()), Ok(group));
    let encoded = signers[1].to_bytes();
    let decoded = Signer::from_bytes("domain", &*encoded).expect("a signer");
    assert_eq!(decoded.to_bytes(), encoded);
    let (one, other) = (decoded.commit_from(&[1]), signers[1].commit_from(&[1]));
    assert_eq!(one.1, other.1);

    for (at, with) in [(1, 0), (1, 4), (35, 1), (35, 4)] {
        let mut changed = encoded.clone();
        changed[at] = with;
        assert!(
            Signer::from_bytes("domain", &*changed).is_err(),
            "{at}: {with}"
        );
    }
    let mut changed = encoded.clone();
    changed[38..].fill(0);
    let neutral = FrostError::Encoding(InvalidEncoding::Neutral);
    assert_eq!(Signer::from_bytes("domain", &*changed).err(), Some(neutral));
    let short = Signer::from_bytes("domain", &encoded[1..]).err();
    let (expected, actual) = (SIGNER_SIZE, SIGNER_SIZE - 1);
    assert_eq!(short, Some(FrostError::Length { expected, actual }));
    let shown = std::format!("{:?}", signers[1]);
    assert!(!shown.contains(&hex(&encoded[38..])), "{shown}");
}
