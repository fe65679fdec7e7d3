//! Peers that follow the protocol and lie: keys that are not theirs, keys that are none, metadata.

use super::{client_side, error, server_side};
use crate::support::forger::{self, LyingClient, lying_welcome};
use crate::support::{CLIENT_SEED, Cookies, SERVER_SEED, Side, keys, provider, providers};
use sealwire_zmtp::error::{Error, HandshakeError, WireError};

/// Runs a client that lies against an honest server and gives the server.
fn lie(prepare: impl FnOnce(&mut LyingClient)) -> Side {
    let cookies = Cookies::new(1);
    let mut server = server_side(provider(), &cookies, 2);
    let secret = *keys(CLIENT_SEED).secret().as_bytes();
    let mut client = LyingClient::new(secret, *keys(SERVER_SEED).public().as_bytes(), "DEALER");
    prepare(&mut client);
    let greeting = server.output();
    server.feed(&LyingClient::greeting());
    server.feed(&client.hello(&greeting));
    let welcome = server.output();
    server.feed(&client.initiate(&welcome));
    server
}

#[test]
fn an_honest_forger_gets_in() {
    let server = lie(|_| {});
    assert_eq!(server.error, None);
    assert!(server.connection.is_ready());
    assert_eq!(
        server.connection.peer().unwrap().public_key,
        Some(keys(CLIENT_SEED).public())
    );
}

#[test]
fn nobody_gets_in_with_a_key_that_is_not_theirs() {
    // The victim's public key over the liar's own secret.
    let server = lie(|client| client.claimed = *keys(50).public().as_bytes());
    assert_eq!(server.error, error(HandshakeError::VouchInvalid));
    assert_eq!(server.events, []);
    // A vouch for another connection's key, and one for another server.
    for place in [0, 32] {
        let server = lie(|client| {
            let mut vouched = [forger::public(&client.ephemeral), client.server].concat();
            vouched[place] ^= 1;
            client.vouched = Some(vouched.try_into().unwrap());
        });
        assert_eq!(server.error, error(HandshakeError::VouchInvalid));
    }
}

#[test]
fn a_key_has_one_name_only() {
    // Both spellings give the same shared secret, so the vouch opens; only the bytes differ.
    let mut top_bit = *keys(CLIENT_SEED).public().as_bytes();
    top_bit[31] |= 0x80;
    let server = lie(|client| client.claimed = top_bit);
    assert_eq!(server.error, error(HandshakeError::KeyNotCanonical));
    assert_eq!(server.events, []);
}

/// Points of low order (RFC 7748, section 7, and its errata), in canonical form.
fn low_order() -> [[u8; 32]; 4] {
    let hex = |text: &str| {
        let digits = text.as_bytes().chunks_exact(2);
        let bytes: Vec<u8> = digits
            .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
            .collect();
        bytes.try_into().unwrap()
    };
    let mut one = [0; 32];
    one[0] = 1;
    [
        [0; 32],
        one,
        hex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
        hex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
    ]
}

#[test]
fn keys_of_low_order_are_refused_wherever_they_come() {
    for provider in providers() {
        for point in low_order() {
            // C' in HELLO: everyone knows the key, so the box itself is right.
            let cookies = Cookies::new(1);
            let mut server = server_side(provider.clone(), &cookies, 2);
            let hello_box = forger::seal("HELLO", &[0; 32], &point, &[0; 64]);
            let hello = forger::command("HELLO", &[&[1, 0], &point, &[0; 96], &hello_box]);
            server.feed(&[LyingClient::greeting(), hello].concat());
            assert_eq!(server.error, error(HandshakeError::WeakKey));

            // S' in WELCOME, from a server that has its key.
            let mut client = client_side(provider.clone());
            let client_greeting = client.output();
            let server_greeting = server_side(provider.clone(), &cookies, 2).output();
            client.feed(&server_greeting);
            let hello = client.output();
            let secret = keys(SERVER_SEED);
            let welcome = lying_welcome(
                secret.secret().as_bytes(),
                &client_greeting,
                &server_greeting,
                &hello,
                &point,
            );
            client.feed(&welcome);
            assert_eq!(client.error, error(HandshakeError::WeakKey));
            assert!(client.output().is_empty(), "INITIATE is not sent");
        }
    }
    // C in INITIATE, with a vouch that everyone can make.
    for point in low_order() {
        let server = lie(|client| {
            client.claimed = point;
            client.secret = [0; 32];
        });
        assert_eq!(server.error, error(HandshakeError::WeakKey));
        assert_eq!(server.events, []);
    }
}

#[test]
fn a_server_key_with_another_spelling_is_refused() {
    let cookies = Cookies::new(1);
    let mut client = client_side(provider());
    let client_greeting = client.output();
    let server_greeting = server_side(provider(), &cookies, 2).output();
    client.feed(&server_greeting);
    let mut point = *keys(33).public().as_bytes();
    point[31] |= 0x80;
    let welcome = lying_welcome(
        keys(SERVER_SEED).secret().as_bytes(),
        &client_greeting,
        &server_greeting,
        &client.output(),
        &point,
    );
    client.feed(&welcome);
    assert_eq!(client.error, error(HandshakeError::KeyNotCanonical));
}

#[test]
fn metadata_of_a_proven_client_is_checked_all_the_same() {
    let property = |name: &str, value: &[u8]| {
        let len = (value.len() as u32).to_be_bytes();
        [&[name.len() as u8], name.as_bytes(), &len, value].concat()
    };
    let kind = property("Socket-Type", b"DEALER");
    for (metadata, expected) in [
        (
            [kind.clone(), kind.clone()].concat(),
            WireError::DuplicateProperty,
        ),
        (
            kind[..kind.len() - 1].to_vec(),
            WireError::TruncatedMetadata,
        ),
        (Vec::new(), WireError::NoSocketType),
        (
            [kind.clone(), property("Identity", &[1; 256])].concat(),
            WireError::RoutingIdTooLong { size: 256 },
        ),
    ] {
        let server = lie(|client| client.metadata = metadata);
        assert_eq!(server.error, Some(Error::Wire(expected)));
        assert_eq!(server.events, []);
    }
    let server = lie(|client| client.metadata = property("X", &[0; 4000]));
    assert!(matches!(
        server.error,
        Some(Error::Wire(WireError::FrameTooLarge { .. }))
    ));
}
