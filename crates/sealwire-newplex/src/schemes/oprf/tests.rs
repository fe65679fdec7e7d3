//! The published vectors.

use super::*;
use crate::vectors::{VECTORS, bytes, hex, list, number, text};
use serde_json::Value;
use std::vec::Vec;

/// The first 64 bytes of `name` that are random enough.
fn random(case: &Value, name: &str) -> Randomness {
    let bytes = bytes(&case[name]);
    let (tries, []) = bytes.as_chunks() else {
        panic!("not a multiple of 64 bytes")
    };
    let mut tries = tries.iter().map(Randomness::from_bytes);
    tries.find_map(Result::ok).expect("randomness")
}

/// A blind that is given as a scalar.
fn blind(case: &Value) -> Option<Randomness> {
    let mut wide = [0; 64];
    wide[..32].copy_from_slice(&bytes(&case["blind"]));
    Randomness::from_bytes(&wide).ok()
}

fn server(case: &Value) -> Option<Server> {
    let secret = SecretKey::from_bytes(&bytes(&case["server_private"])).ok()?;
    Some(Server::new(
        case["domain"].as_str().unwrap_or_default(),
        secret,
    ))
}

fn client(case: &Value, random: Randomness) -> Client {
    let input = bytes(&case["input"]);
    let blinded = Client::blind_with(text(&case["domain"]), &input, random);
    blinded.expect("not the identity").0
}

fn proof(case: &Value) -> Option<Proof> {
    let bytes = [bytes(&case["proof_c"]), bytes(&case["proof_s"])].concat();
    Proof::from_bytes(&bytes).ok()
}

/// Whether the step that a case is about succeeds; every part of it may refuse.
fn succeeds(case: &Value, verifiable: bool) -> Option<()> {
    let evaluated = || EvaluatedElement::from_bytes(&bytes(&case["evaluated_element"])).ok();
    let blinded = || BlindedElement::from_bytes(&bytes(&case["blinded_element"])).ok();
    let mut output = std::vec![0; case["n"].as_u64().map_or(0, |n| n as usize)];
    match text(&case["step"]) {
        "evaluate_blinded" => {
            let _ = server(case)?.evaluate_blinded(&blinded()?);
        }
        "evaluate" => server(case)?
            .evaluate(&bytes(&case["input"]), &mut output)
            .ok()?,
        "finalize" if verifiable => {
            let client = client(case, blind(case)?);
            let public = PublicKey::from_bytes(&bytes(&case["server_public"])).ok()?;
            let (blinded, evaluated, proof) = (blinded()?, evaluated()?, proof(case)?);
            // A client uses the element that it sent; the check itself takes any.
            if blinded == client.blinded {
                let verified = client.finalize_verified(&public, &evaluated, &proof, &mut output);
                assert!(verified.is_ok() || output.iter().all(|byte| *byte == 0));
                verified.ok()?;
            } else {
                let domain = text(&case["domain"]);
                proof.verify(domain, &public, &blinded, &evaluated).ok()?;
            }
        }
        "finalize" => client(case, blind(case)?).finalize(&evaluated()?, &mut output),
        other => panic!("unknown step {other}"),
    }
    Some(())
}

#[test]
fn both_sides_give_the_published_elements_and_outputs() {
    for case in list(&VECTORS["oprf"], "vectors") {
        let (name, n) = (text(&case["name"]), number(&case["n"]));
        let client = client(case, random(case, "blind_rand"));
        assert_eq!(hex(client.blind.as_bytes()), text(&case["blind"]), "{name}");
        let blinded = client.blinded;
        assert_eq!(hex(blinded.as_bytes()), text(&case["blinded_element"]));
        let server = server(case).expect("a key");
        let evaluated = server.evaluate_blinded(&blinded);
        assert_eq!(hex(evaluated.as_bytes()), text(&case["evaluated_element"]));
        let mut output: Vec<u8> = std::vec![0; n];
        client.finalize(&evaluated, &mut output);
        assert_eq!(hex(&output), text(&case["output"]), "{name}");
        let mut direct = std::vec![0; n];
        let evaluated = server.evaluate(&bytes(&case["input"]), &mut direct);
        assert_eq!((evaluated, direct), (Ok(()), output), "{name}");
    }
}

#[test]
fn servers_give_the_published_proofs_and_clients_take_them() {
    for case in list(&VECTORS["voprf"], "vectors") {
        let client = client(case, random(case, "blind_rand"));
        assert_eq!(
            hex(client.blinded.as_bytes()),
            text(&case["blinded_element"])
        );
        let server = server(case).expect("a key");
        assert_eq!(
            hex(server.public_key().as_bytes()),
            text(&case["server_public"])
        );
        let (evaluated, made) = server.prove(&client.blinded, random(case, "proof_rand"));
        assert_eq!(hex(evaluated.as_bytes()), text(&case["evaluated_element"]));
        assert_eq!(proof(case), Some(made));
        assert_eq!(Proof::from_bytes(&made.to_bytes()), Ok(made));
        let mut output = std::vec![0; number(&case["n"])];
        let verified =
            client.finalize_verified(server.public_key(), &evaluated, &made, &mut output);
        assert_eq!(verified, Ok(()));
        assert_eq!(hex(&output), text(&case["output"]), "{}", case["name"]);
    }
}

#[test]
fn what_was_tampered_with_is_refused() {
    for case in list(&VECTORS["oprf"], "reject") {
        assert_eq!(succeeds(case, false), None, "{}", case["tampered"]);
    }
    for case in list(&VECTORS["voprf"], "reject") {
        assert_eq!(succeeds(case, true), None, "{}", case["tampered"]);
    }
}

#[test]
fn proofs_of_another_length_get_a_typed_error() {
    for length in [0, 63, 65] {
        let error = Proof::from_bytes(&std::vec![0; length]).err();
        assert_eq!(error, Some(ProofError::Length(length)));
    }
}
