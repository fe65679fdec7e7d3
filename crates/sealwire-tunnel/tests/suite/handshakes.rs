//! Handshakes that give a channel, and handshakes with invalid messages, which do not.

use std::sync::Arc;

use sealwire_tunnel::{Channel, Handshake, HandshakeError, Identity, InvalidMessage, SecretKey};

fn identity(domain: &str) -> Arc<Identity> {
    let secret = SecretKey::generate().expect("randomness");
    Arc::new(Identity::new(domain, secret))
}

/// Gives `bytes` to a handshake one by one.
fn give(handshake: &mut Handshake, bytes: &[u8]) -> Result<Option<Channel>, HandshakeError> {
    let mut outcome = None;
    for byte in bytes {
        assert!(outcome.is_none(), "done before all was given");
        handshake.room()[0] = *byte;
        outcome = handshake.received(1)?;
    }
    Ok(outcome)
}

/// What a side has to send, as sent.
fn taken(handshake: &mut Handshake) -> Vec<u8> {
    let bytes = handshake.unsent().to_vec();
    handshake.sent(bytes.len());
    bytes
}

/// A connector that expects `expected`, and the message that its handshake with `listener` comes to.
fn connected(
    connector: &Identity,
    listener: &Arc<Identity>,
    expected: &Identity,
) -> (Handshake, Result<Option<Channel>, HandshakeError>) {
    let mut connecting = Handshake::connect(connector, *expected.public_key()).expect("randomness");
    let mut listening = Handshake::listen(listener).expect("randomness");
    assert_eq!(listening.room().len(), 32);
    let request = taken(&mut connecting);
    assert!(give(&mut listening, &request).expect("a request").is_none());
    let response = taken(&mut listening);
    assert_eq!(connecting.room().len(), response.len());
    let outcome = give(&mut connecting, &response);
    (listening, outcome)
}

#[test]
fn messages_may_come_byte_by_byte() {
    let (alice, server) = (identity("d"), identity("d"));
    let (mut listening, outcome) = connected(&alice, &server, &server);
    let ours = outcome.expect("authentic").expect("all of it");
    let confirmation = ours.outgoing.unsent();
    assert_eq!(confirmation.len(), 48);
    let theirs = give(&mut listening, confirmation).expect("authentic");
    let theirs = theirs.expect("all of it");
    assert_eq!(ours.peer, *server.public_key());
    assert_eq!(theirs.peer, *alice.public_key());
    assert!(theirs.outgoing.unsent().is_empty());
    assert!(listening.room().is_empty(), "what follows is the channel's");
    assert!(listening.received(0).expect("nothing").is_none());
}

#[test]
fn another_listener_is_not_told_who_connects() {
    let (alice, server, other) = (identity("d"), identity("d"), identity("d"));
    let (_, outcome) = connected(&alice, &other, &server);
    let found = Box::new(*other.public_key());
    assert_eq!(outcome.err(), Some(HandshakeError::OtherListener(found)));
}

#[test]
fn another_domain_is_not_authentic() {
    let (alice, server) = (identity("one"), identity("other"));
    let (_, outcome) = connected(&alice, &server, &server);
    let expected = HandshakeError::Invalid(InvalidMessage::NotAuthentic);
    assert_eq!(outcome.err(), Some(expected));
}

#[test]
fn no_bit_of_a_confirmation_can_be_changed_and_nothing_follows_an_error() {
    for bit in 0..48 * 8 {
        let (alice, server) = (identity("d"), identity("d"));
        let (mut listening, outcome) = connected(&alice, &server, &server);
        let ours = outcome.expect("authentic").expect("all of it");
        let mut confirmation = ours.outgoing.unsent().to_vec();
        confirmation[bit / 8] ^= 1 << (bit % 8);
        let refused = give(&mut listening, &confirmation).err();
        let expected = HandshakeError::Invalid(InvalidMessage::NotAuthentic);
        assert_eq!(refused, Some(expected), "{bit}");
        assert!(listening.room().is_empty() && listening.unsent().is_empty());
        assert!(listening.received(0).expect("nothing").is_none());
    }
}

#[test]
fn a_request_that_is_not_a_key_is_refused() {
    for request in [[0; 32], [0xff; 32]] {
        let mut listening = Handshake::listen(&identity("d")).expect("randomness");
        let refused = give(&mut listening, &request).err();
        assert!(
            matches!(
                refused,
                Some(HandshakeError::Invalid(InvalidMessage::EphemeralKey(_)))
            ),
            "{refused:?}"
        );
        assert!(listening.unsent().is_empty(), "the peer is told nothing");
    }
}
