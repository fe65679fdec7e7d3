//! The published vectors.

use super::*;
use crate::vectors::{VECTORS, bytes, hex, list, text};
use serde_json::Value;

fn secret(case: &Value, name: &str) -> SecretKey {
    SecretKey::from_bytes(&bytes(&case[name])).expect("a key")
}

fn random(case: &Value, name: &str) -> Randomness {
    let bytes = bytes(&case[name]).try_into().expect("64 bytes");
    Randomness::from_bytes(&bytes).expect("not zero")
}

fn initiate(case: &Value) -> (Initiator, [u8; REQUEST_SIZE]) {
    let (key, random) = (
        secret(case, "initiator_private"),
        random(case, "initiator_rand"),
    );
    Initiator::with_randomness(text(&case["domain"]), key, random)
}

fn respond(case: &Value) -> Result<(Responder, [u8; RESPONSE_SIZE]), HandshakeError> {
    let (key, random) = (
        secret(case, "responder_private"),
        random(case, "responder_rand"),
    );
    let request = bytes(&case["request"]);
    Responder::with_randomness(text(&case["domain"]), key, random, &request)
}

/// The error at the step that a case is about.
fn failure(case: &Value) -> Option<HandshakeError> {
    match text(&case["step"]) {
        "respond" => respond(case).err(),
        "initiator_finish" => initiate(case).0.finish(&bytes(&case["response"])).err(),
        "responder_finish" => {
            let (responder, _) = respond(case).expect("a good request");
            responder.finish(&bytes(&case["confirmation"])).err()
        }
        other => panic!("unknown step {other}"),
    }
}

#[test]
fn both_sides_send_the_published_messages_and_end_in_the_published_states() {
    for case in list(&VECTORS["handshake"], "vectors") {
        let (initiator, request) = initiate(case);
        assert_eq!(hex(&request), text(&case["request"]));
        let (responder, response) = respond(case).expect("a good request");
        assert_eq!(hex(&response), text(&case["response"]));
        let (mut initiator, confirmation) = initiator.finish(&response).expect("a good response");
        assert_eq!(hex(&confirmation), text(&case["confirmation"]));
        let mut responder = responder.finish(&confirmation).expect("confirmed");

        assert_eq!(
            hex(initiator.peer.as_bytes()),
            text(&case["responder_public"])
        );
        assert_eq!(
            hex(responder.peer.as_bytes()),
            text(&case["initiator_public"])
        );
        for (name, sender, receiver) in [
            (
                "initiator_to_responder",
                &initiator.sender,
                &responder.receiver,
            ),
            (
                "responder_to_initiator",
                &responder.sender,
                &initiator.receiver,
            ),
        ] {
            assert_eq!(
                hex(&*sender.to_bytes()),
                text(&case[std::format!("{name}_state")])
            );
            assert_eq!(sender.to_bytes(), receiver.to_bytes());
            let derived: [u8; 32] = sender.clone().derive_array("session");
            assert_eq!(hex(&derived), text(&case[std::format!("{name}_derive")]));
        }
        for message in list(case, "messages") {
            let (from, to) = match text(&message["from"]) {
                "initiator" => (&mut initiator.sender, &mut responder.receiver),
                _ => (&mut responder.sender, &mut initiator.receiver),
            };
            let (label, plaintext) = (text(&message["label"]), bytes(&message["plaintext"]));
            let mut sealed = plaintext.clone();
            let tag = from.seal_detached(label, &mut sealed);
            sealed.extend(tag);
            assert_eq!(hex(&sealed), text(&message["ciphertext"]));
            let opened = to.open_in_slice(label, &mut sealed);
            assert_eq!(opened.as_deref(), Ok(plaintext.as_slice()));
        }
    }
}

#[test]
fn what_was_tampered_with_is_refused() {
    for case in list(&VECTORS["handshake"], "reject") {
        assert!(failure(case).is_some(), "{}", case["tampered"]);
    }
}

#[test]
fn the_identity_is_refused_where_the_reference_accepts_it() {
    let edge = list(&VECTORS["handshake"], "edge");
    let errors: std::vec::Vec<_> = edge.iter().map(failure).collect();
    let neutral = InvalidEncoding::Neutral;
    assert_eq!(
        errors,
        [
            Some(HandshakeError::EphemeralKey(neutral)),
            Some(HandshakeError::EphemeralKey(neutral)),
            Some(HandshakeError::StaticKey(neutral)),
        ]
    );
}

#[test]
fn responses_of_every_other_length_get_a_typed_error() {
    let case = &list(&VECTORS["handshake"], "vectors")[0];
    for actual in (0..RESPONSE_SIZE).chain([RESPONSE_SIZE + 1]) {
        let error = initiate(case).0.finish(&std::vec![1; actual]).err();
        let expected = RESPONSE_SIZE;
        assert_eq!(error, Some(HandshakeError::Length { expected, actual }));
    }
}
