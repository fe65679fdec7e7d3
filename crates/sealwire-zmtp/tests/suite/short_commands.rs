//! Commands of CURVE and BLAKE3ZMQ that end before their fields do, and pairs of keys from halves.

use sealwire_zmtp::error::{Error, HandshakeError};
use sealwire_zmtp::mechanism::{CurveClient, DataPhase, FrameOrder};
use sealwire_zmtp::{Config, KeyPair, MechanismConfig, SocketType};

use crate::support::{
    CLIENT_SEED, Cookies, Leg, SERVER_SEED, Side, client, curve_client, curve_server, forger,
    handshake, keys, provider, server,
};

/// Runs a handshake in which `leg` is a command of this name with so much data, and gives both sides.
fn with_data([client, server]: &[Config; 2], leg: Leg, name: &str, size: usize) -> [Side; 2] {
    let mut client = Side::new(client.clone(), provider(), 1);
    let mut server = Side::new(server.clone(), provider(), 2);
    handshake(&mut client, &mut server, |at, bytes| {
        if at == leg {
            *bytes = forger::command(name, &[&vec![0xa5; size]]);
        }
    });
    [client, server]
}

/// Client and server of a mechanism, with the data of its shortest INITIATE and READY in bytes.
fn mechanisms() -> [([Config; 2], usize, usize); 2] {
    let curve = [
        curve_client(SocketType::Dealer),
        curve_server(SocketType::Router, Cookies::new(1)),
    ];
    let blake3 = [
        client(SocketType::Dealer, DataPhase::default()),
        server(SocketType::Router, DataPhase::default(), Cookies::new(1)),
    ];
    [(curve, 257 - 9, 30 - 6), (blake3, 321 - 9, 38 - 6)]
}

#[test]
fn an_initiate_without_room_for_its_fields_is_malformed() {
    for (configs, shortest, _) in mechanisms() {
        for (size, expected) in [
            (0, HandshakeError::InitiateMalformed),
            (shortest - 1, HandshakeError::InitiateMalformed),
            (shortest, HandshakeError::CookieRejected),
        ] {
            let [_, server] = with_data(&configs, Leg::Initiate, "INITIATE", size);
            assert_eq!(server.error, Some(Error::Handshake(expected)), "{size}");
        }
    }
}

#[test]
fn a_ready_without_room_for_its_fields_is_malformed() {
    for (configs, _, shortest) in mechanisms() {
        for (size, expected) in [
            (0, HandshakeError::ReadyMalformed),
            (shortest - 1, HandshakeError::ReadyMalformed),
            (shortest, HandshakeError::ReadyUnreadable),
        ] {
            let [client, _] = with_data(&configs, Leg::Ready, "READY", size);
            assert_eq!(client.error, Some(Error::Handshake(expected)), "{size}");
        }
    }
}

/// What a server says about a client with this pair of keys.
fn fault_of_client(pair: KeyPair) -> Option<Error> {
    let mut config = curve_client(SocketType::Dealer);
    config.mechanism = MechanismConfig::from(CurveClient {
        server_key: keys(SERVER_SEED).public(),
        keys: Some(pair),
        frame_order: FrameOrder::default(),
    });
    let mut client = Side::new(config, provider(), 1);
    let server = curve_server(SocketType::Router, Cookies::new(1));
    let mut server = Side::new(server, provider(), 2);
    handshake(&mut client, &mut server, |_, _| {});
    server.error
}

#[test]
fn halves_of_two_pairs_let_nobody_in() {
    let (ours, others) = (keys(CLIENT_SEED), keys(77));
    let halves = |public: &KeyPair, secret: &KeyPair| {
        KeyPair::from_halves(public.public(), secret.secret().clone())
    };
    assert_eq!(fault_of_client(halves(&ours, &ours)), None);
    let invalid = Some(Error::Handshake(HandshakeError::VouchInvalid));
    assert_eq!(fault_of_client(halves(&others, &ours)), invalid);
    assert_eq!(fault_of_client(halves(&ours, &others)), invalid);
}
