//! Keys that are not what they should be: of low order, in a second encoding, or somebody else's.

use std::net::TcpListener;

use sealwire::{Generate as _, KeyPair, ProtocolError, PublicKey, SecretKey, Security, SocketType};
use sealwire_zmtp::error::HandshakeError;

use crate::forger::{self, Forger};
use crate::memory;
use crate::scene::{Scene, address_of, fault};
use crate::support::{await_event, options};

/// The u-coordinates of low order (RFC 7748, section 6.1; the list is D. J. Bernstein's, in
/// "Curve25519", "How do I validate public keys?"), in the form that counts as canonical.
const LOW_ORDER: [&str; 5] = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
];

/// Second encodings: p and p + 1 for 0 and 1, and the top bit.
const NOT_CANONICAL: [&str; 4] = [
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0900000000000000000000000000000000000000000000000000000000000080",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
];

/// 32 bytes that may be no key; read the way secret keys are, which may be anything.
fn bytes(hex: &str) -> [u8; 32] {
    *hex.parse::<SecretKey>().unwrap().as_bytes()
}

fn bad_keys() -> impl Iterator<Item = ([u8; 32], ProtocolError)> {
    let low_order = LOW_ORDER.map(|hex| (bytes(hex), HandshakeError::WeakKey.into()));
    let second = NOT_CANONICAL.map(|hex| (bytes(hex), HandshakeError::KeyNotCanonical.into()));
    low_order.into_iter().chain(second)
}

#[test]
fn as_the_ephemeral_key_of_a_client() {
    let _shared = memory::shared();
    let scene = Scene::new();
    for (key, expected) in bad_keys() {
        let mut forger = Forger::connect(scene.address);
        forger.write(&forger::hello_frame(&key, &[0; 96], &[0; 96]));
        assert_eq!(scene.fault_of(forger.address()), expected, "{key:02x?}");
    }
}

#[test]
fn as_the_long_term_key_of_a_client() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let server = scene.server_keys.public();
    for (key, expected) in bad_keys() {
        let mut forger = Forger::connect(scene.address);
        let welcome = forger.welcome(&server);
        let metadata = forger::metadata("DEALER");
        let mut initiate = forger.initiate(&scene.victim_keys, &welcome, &server, &metadata);
        initiate.client = key;
        let frame = forger.initiate_frame(&initiate);
        forger.write(&frame);
        assert_eq!(scene.fault_of(forger.address()), expected, "{key:02x?}");
    }
}

#[test]
fn as_the_ephemeral_key_of_a_server() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    for (key, expected) in bad_keys() {
        let (_client, monitor) = scene.victim_of(&listener);
        let mut forger = Forger::accept(&listener);
        forger.welcome_with(&scene.server_keys, &key);
        let failure = await_event(&monitor, "a failed handshake", failed);
        assert_eq!(fault(&failure), expected, "{key:02x?}");
    }
}

#[test]
fn as_the_server_key_that_a_client_is_given() {
    let _shared = memory::shared();
    let scene = Scene::new();
    for hex in LOW_ORDER {
        let key: PublicKey = hex.parse().unwrap();
        let client = options(SocketType::Dealer).security(Security::blake3_client(key));
        let client = client.build_blocking().unwrap();
        let monitor = client.monitor();
        client.connect(format!("tcp://{}", scene.address)).unwrap();
        let failure = await_event(&monitor, "a failed handshake", failed);
        assert_eq!(fault(&failure), HandshakeError::WeakKey.into());
    }
    for hex in NOT_CANONICAL {
        assert!(hex.parse::<PublicKey>().is_err(), "{hex}");
    }
}

/// Knowing the public key of an allowed client does not make anyone that client.
#[test]
fn the_key_of_somebody_else() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let (server, mallory) = (scene.server_keys.public(), KeyPair::generate());
    let metadata = forger::metadata("DEALER");

    // Mallory vouches and names the victim.
    let mut forger = Forger::connect(scene.address);
    let welcome = forger.welcome(&server);
    let mut initiate = forger.initiate(&mallory, &welcome, &server, &metadata);
    initiate.client = *scene.victim_keys.public().as_bytes();
    let frame = forger.initiate_frame(&initiate);
    forger.write(&frame);
    assert_eq!(
        scene.fault_of(forger.address()),
        HandshakeError::VouchInvalid.into()
    );

    // The victim vouched, but for another connection.
    let mut earlier = Forger::connect(scene.address);
    let earlier_welcome = earlier.welcome(&server);
    let stolen = earlier.vouch(&scene.victim_keys, &earlier_welcome, &server);
    let mut forger = Forger::connect(scene.address);
    let welcome = forger.welcome(&server);
    let mut initiate = forger.initiate(&scene.victim_keys, &welcome, &server, &metadata);
    initiate.vouch = stolen;
    let frame = forger.initiate_frame(&initiate);
    forger.write(&frame);
    assert_eq!(
        scene.fault_of(forger.address()),
        HandshakeError::VouchInvalid.into()
    );

    // The victim vouched on this connection, for another server: what a server that turned bad
    // could make of a client that came to it.
    let mut forger = Forger::connect(scene.address);
    let welcome = forger.welcome(&server);
    let mut initiate = forger.initiate(&scene.victim_keys, &welcome, &server, &metadata);
    initiate.vouch = forger.vouch(&scene.victim_keys, &welcome, &mallory.public());
    let frame = forger.initiate_frame(&initiate);
    forger.write(&frame);
    assert_eq!(
        scene.fault_of(forger.address()),
        HandshakeError::VouchInvalid.into()
    );
    assert!(scene.received().is_empty());
}

/// A server that does not hold the key gets no further than HELLO.
#[test]
fn a_server_without_the_secret_key() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let impostor = options(SocketType::Router)
        .security(Security::blake3_server(
            KeyPair::generate(),
            sealwire::auth::AllowAnyone,
        ))
        .build_blocking()
        .unwrap();
    let monitor = impostor.monitor();
    let endpoint = impostor.bind("tcp://127.0.0.1:0").unwrap();
    assert_ne!(address_of(&endpoint), scene.address);
    let client = scene.victim().build_blocking().unwrap();
    client.connect(endpoint).unwrap();
    client.send("for the right server only").unwrap();
    let failure = await_event(&monitor, "a failed handshake", failed);
    assert_eq!(fault(&failure), HandshakeError::HelloUnreadable.into());
    assert!(impostor.try_recv().is_err());
}

fn failed(event: &sealwire::Event) -> Option<sealwire::ConnectionFailure> {
    match event {
        sealwire::Event::Failed(failure) => Some(failure.clone()),
        _ => None,
    }
}
