//! Any bytes as each message of the handshake and of the password exchange: nothing panics, and
//! nobody is authenticated who does not have a key.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwire_newplex::schemes::handshake::{Initiator, Responder};
use sealwire_newplex::schemes::keys::{PublicKey, SecretKey};
use sealwire_newplex::schemes::pake::Exchange;
use sealwire_newplex::schemes::randomness::Randomness;

const DOMAIN: &str = "com.example.fuzz";

fn random(byte: u8) -> Randomness {
    Randomness::from_bytes(&[byte; 64]).expect("not zero")
}

fuzz_target!(|bytes: &[u8]| {
    let alice = SecretKey::from_randomness(random(1));
    let bea = SecretKey::from_randomness(random(2));
    let (initiator, request) = Initiator::with_randomness(DOMAIN, alice.clone(), random(3));
    let respond =
        |request: &[u8]| Responder::with_randomness(DOMAIN, bea.clone(), random(4), request);
    assert!(
        initiator.finish(bytes).is_err() || respond(&request).is_ok_and(|(_, good)| bytes == good)
    );
    assert_eq!(respond(bytes).is_ok(), PublicKey::from_bytes(bytes).is_ok());
    let (responder, response) = respond(&request).expect("a good request");
    assert!(responder.finish(bytes).is_err());

    // Bytes on top of a good response: only none at all lets it through.
    let mut changed = response;
    changed
        .iter_mut()
        .zip(bytes)
        .for_each(|(byte, by)| *byte ^= by);
    let (initiator, _) = Initiator::with_randomness(DOMAIN, alice, random(3));
    let finished = initiator.finish(&changed);
    assert_eq!(finished.is_ok(), changed == response);
    if let Ok((session, confirmation)) = finished {
        assert_eq!(session.peer, *bea.public_key());
        let (responder, _) = respond(&request).expect("a good request");
        let other = responder.finish(&confirmation).expect("confirmed");
        assert_eq!(other.receiver.to_bytes(), session.sender.to_bytes());
    }

    let exchange = |password| Exchange {
        initiator: b"one",
        responder: b"other",
        session: b"",
        password,
    };
    let (initiator, message) = exchange(bytes).initiate_with(DOMAIN, random(5));
    assert_eq!(
        initiator.finish(bytes).is_ok(),
        PublicKey::from_bytes(bytes).is_ok()
    );
    let (initiator, _) = exchange(bytes).initiate_with(DOMAIN, random(5));
    let answered = exchange(b"password").respond_with(DOMAIN, random(6), &message);
    let (responder, answer) = answered.expect("a good message");
    let initiator = initiator.finish(&answer).expect("a good answer");
    let same = initiator.to_bytes() == responder.to_bytes();
    assert_eq!(same, bytes == b"password");
});
