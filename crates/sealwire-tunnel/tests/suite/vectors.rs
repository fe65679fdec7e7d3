//! The connections of `vectors/newplex-tunnel.json`, recorded between two programs before this crate was cut out
//! of them: the same bytes come out of the same keys, randomness and texts, and go in on the other side.

use std::fs;
use std::sync::Arc;

use sealwire_tunnel::{
    Handshake, Identity, Incoming, Opened, Outgoing, PublicKey, Randomness, Reason, SecretKey,
};
use serde_json::Value;

fn connections() -> Vec<Value> {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../vectors/newplex-tunnel.json"
    );
    let text = fs::read_to_string(file).expect("the vectors are part of the repository");
    let vectors: Value = serde_json::from_str(&text).expect("valid JSON");
    let connections = vectors["connections"].as_array().expect("an array");
    assert!(!connections.is_empty());
    connections.clone()
}

fn bytes(text: &Value) -> Vec<u8> {
    let text = text.as_str().expect("a hex string");
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("a hex string");
    (0..text.len()).step_by(2).map(byte).collect()
}

fn public(key: &Value) -> PublicKey {
    PublicKey::from_bytes(&bytes(key)).expect("a key")
}

fn identity(connection: &Value, secret: &str) -> Arc<Identity> {
    let secret = SecretKey::from_bytes(&bytes(&connection[secret])).expect("a key");
    let domain = connection["domain"].as_str().expect("text");
    Arc::new(Identity::new(domain, secret))
}

fn randomness(bytes_of: &Value) -> Randomness {
    let bytes: [u8; 64] = bytes(bytes_of).try_into().expect("64 bytes");
    Randomness::from_bytes(&bytes).expect("not zero")
}

fn reason(label: &str) -> Reason {
    let mut all = Reason::ALL.into_iter();
    all.find(|reason| reason.label() == label)
        .expect("a reason")
}

/// All that a direction sends.
fn sends(outgoing: &mut Outgoing, direction: &Value) -> Vec<u8> {
    let mut sent = Vec::new();
    let mut send = |outgoing: &mut Outgoing| {
        sent.extend_from_slice(outgoing.unsent());
        let count = outgoing.unsent().len();
        outgoing.sent(count);
    };
    send(outgoing);
    for text in direction["texts"].as_array().expect("an array") {
        let text = bytes(text);
        outgoing.room()[..text.len()].copy_from_slice(&text);
        outgoing.seal(text.len());
        send(outgoing);
    }
    match direction["end"].as_str() {
        None => {}
        Some("end") => outgoing.end(),
        Some(label) => outgoing.break_off(reason(label)),
    }
    send(outgoing);
    sent
}

/// The bytes of a direction give the payloads that were sent.
fn receives(incoming: &mut Incoming, bytes_in: &[u8], direction: &Value) {
    incoming.room()[..bytes_in.len()].copy_from_slice(bytes_in);
    incoming.received(bytes_in.len());
    for text in direction["texts"].as_array().expect("an array") {
        assert_eq!(incoming.open(), Ok(Opened::Text));
        assert_eq!(incoming.text(), bytes(text));
        let count = incoming.text().len();
        incoming.take(count);
    }
    let expected = match direction["end"].as_str() {
        None => Opened::NeedsMore,
        Some("end") => Opened::End,
        Some(label) => Opened::BrokenOff(reason(label)),
    };
    assert_eq!(incoming.open(), Ok(expected));
}

/// Gives a whole message to a handshake.
fn give(handshake: &mut Handshake, message: &[u8]) -> Option<sealwire_tunnel::Channel> {
    handshake.room().copy_from_slice(message);
    handshake.received(message.len()).expect("authentic")
}

#[test]
fn a_connector_sends_and_receives_what_was_recorded() {
    for connection in connections() {
        let name = &connection["name"];
        let ours = identity(&connection, "connector_secret");
        assert_eq!(*ours.public_key(), public(&connection["connector_public"]));
        let (to_listener, to_connector) = (
            bytes(&connection["to_listener"]),
            bytes(&connection["to_connector"]),
        );
        let mut handshake = Handshake::connect_with_randomness(
            &ours,
            public(&connection["listener_public"]),
            randomness(&connection["connector_randomness"]),
        );
        assert_eq!(handshake.unsent(), &to_listener[..32], "{name}");
        handshake.sent(32);
        let (response, blocks) = to_connector.split_at(80);
        let mut channel = give(&mut handshake, response).expect("the whole response");
        let sent = sends(&mut channel.outgoing, &connection["from_connector"]);
        assert_eq!(sent, to_listener[32..], "{name}");
        receives(&mut channel.incoming, blocks, &connection["from_listener"]);
    }
}

#[test]
fn a_listener_sends_and_receives_what_was_recorded() {
    for connection in connections() {
        let name = &connection["name"];
        let ours = identity(&connection, "listener_secret");
        assert_eq!(*ours.public_key(), public(&connection["listener_public"]));
        let (to_listener, to_connector) = (
            bytes(&connection["to_listener"]),
            bytes(&connection["to_connector"]),
        );
        let randomness = randomness(&connection["listener_randomness"]);
        let mut handshake = Handshake::listen_with_randomness(&ours, randomness);
        let (request, rest) = to_listener.split_at(32);
        let (confirmation, blocks) = rest.split_at(48);
        assert!(give(&mut handshake, request).is_none());
        assert_eq!(handshake.unsent(), &to_connector[..80], "{name}");
        handshake.sent(80);
        let mut channel = give(&mut handshake, confirmation).expect("the whole confirmation");
        assert_eq!(channel.peer, public(&connection["connector_public"]));
        let sent = sends(&mut channel.outgoing, &connection["from_listener"]);
        assert_eq!(sent, to_connector[80..], "{name}");
        receives(&mut channel.incoming, blocks, &connection["from_connector"]);
    }
}
