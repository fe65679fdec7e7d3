//! The published vectors.

use super::*;
use crate::vectors::{VECTORS, bytes, hex, list, text};
use serde_json::Value;
use std::string::String;

fn random(case: &Value, name: &str) -> Randomness {
    let bytes = bytes(&case[name]).try_into().expect("64 bytes");
    Randomness::from_bytes(&bytes).expect("not zero")
}

/// Calls `with` with the exchange of a case.
fn exchange<T>(case: &Value, password: &str, with: impl FnOnce(Exchange<'_>) -> T) -> T {
    with(Exchange {
        initiator: &bytes(&case["initiator_id"]),
        responder: &bytes(&case["responder_id"]),
        session: &bytes(&case["session_id"]),
        password: &bytes(&case[password]),
    })
}

fn session(protocol: &Protocol) -> String {
    hex(&protocol.clone().derive_array::<32>("session"))
}

#[test]
fn both_parties_send_the_published_messages_and_end_in_the_published_states() {
    for case in list(&VECTORS["pake"], "vectors") {
        let domain = text(&case["domain"]);
        let (initiator, message) = exchange(case, "initiator_password", |exchange| {
            exchange.initiate_with(domain, random(case, "initiator_rand"))
        });
        assert_eq!(hex(&message), text(&case["initiator_message"]));
        let answered = exchange(case, "responder_password", |exchange| {
            exchange.respond_with(domain, random(case, "responder_rand"), &message)
        });
        let (responder, answer) = answered.expect("a good message");
        assert_eq!(hex(&answer), text(&case["responder_message"]));
        let initiator = initiator.finish(&answer).expect("a good answer");
        assert_eq!(hex(&*initiator.to_bytes()), text(&case["initiator_state"]));
        assert_eq!(hex(&*responder.to_bytes()), text(&case["responder_state"]));
        assert_eq!(session(&initiator), text(&case["initiator_derive"]));
        assert_eq!(session(&responder), text(&case["responder_derive"]));
        let same = session(&initiator) == session(&responder);
        assert_eq!(Some(same), case["match"].as_bool(), "{}", case["name"]);
    }
}

#[test]
fn what_is_no_element_is_refused_and_so_is_the_identity() {
    for case in list(&VECTORS["pake"], "reject") {
        let (domain, message) = (text(&case["domain"]), bytes(&case["message"]));
        let error = exchange(case, "password", |exchange| {
            let random = random(case, "rand");
            match text(&case["role"]) {
                "initiator" => exchange
                    .initiate_with(domain, random)
                    .0
                    .finish(&message)
                    .err(),
                _ => exchange.respond_with(domain, random, &message).err(),
            }
        });
        let expected = match message.len() {
            32 if message == [0; 32] => InvalidEncoding::Neutral,
            32 => InvalidEncoding::NotCanonical,
            length => InvalidEncoding::Length(length),
        };
        assert_eq!(
            error,
            Some(ExchangeError::Message(expected)),
            "{}",
            case["tampered"]
        );
    }
}

#[test]
fn the_password_is_not_shown() {
    let exchange = Exchange {
        initiator: b"",
        responder: b"",
        session: b"",
        password: &[77, 78, 79],
    };
    assert!(!std::format!("{exchange:?}").contains("77"));
}
