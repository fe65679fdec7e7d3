//! Servers with additional keys: each client is served under the key that it knows, and the connection says which.

use sealwire_zmtp::error::{Error, HandshakeError};
use sealwire_zmtp::mechanism::{
    Blake3Client, Blake3Server, CurveClient, CurveServer, DataPhase, FrameOrder,
};
use sealwire_zmtp::{Config, MechanismConfig, PublicKey, SocketType};

use crate::support::{Cookies, Pair, keys, provider, server};

/// The server's keys; no server has `STRANGE`.
const FIRST: u8 = 2;
const SECOND: u8 = 3;
const STRANGE: u8 = 4;
const CLIENT: u8 = 1;

fn with(socket_type: SocketType, mechanism: impl Into<MechanismConfig>) -> Config {
    let mut config = Config::new(socket_type);
    config.mechanism = mechanism.into();
    config
}

/// A client that knows this key and a server that has both, of each mechanism.
fn pairs(known: u8) -> [Pair; 2] {
    let server_key = keys(known).public();
    let blake3 = (
        MechanismConfig::from(Blake3Client {
            server_key,
            keys: Some(keys(CLIENT)),
            data_phase: DataPhase::default(),
        }),
        MechanismConfig::from(Blake3Server {
            keys: keys(FIRST),
            additional_keys: vec![keys(SECOND)],
            cookies: Cookies::new(1),
            data_phase: DataPhase::default(),
        }),
    );
    let curve = (
        MechanismConfig::from(CurveClient {
            server_key,
            keys: Some(keys(CLIENT)),
            frame_order: FrameOrder::default(),
        }),
        MechanismConfig::from(CurveServer {
            keys: keys(FIRST),
            additional_key: Some(keys(SECOND)),
            cookies: Cookies::new(1),
            frame_order: FrameOrder::default(),
        }),
    );
    [blake3, curve].map(|(client, server)| {
        let client = with(SocketType::Dealer, client);
        Pair::new(client, with(SocketType::Router, server), &provider())
    })
}

#[test]
fn each_connection_says_under_which_of_the_servers_keys_it_stands() {
    for known in [FIRST, SECOND] {
        for mut pair in pairs(known) {
            pair.settle();
            let local_key = |side: &crate::support::Side| -> Option<PublicKey> {
                side.connection.peer().expect("it is ready").local_key
            };
            assert_eq!(local_key(&pair.b), Some(keys(known).public()));
            assert_eq!(local_key(&pair.a), Some(keys(CLIENT).public()));
            pair.a.send("after the handshake");
            pair.settle();
            assert_eq!(pair.b.messages().len(), 1);
        }
    }
}

#[test]
fn a_client_that_knows_none_of_the_keys_is_a_stranger() {
    for mut pair in pairs(STRANGE) {
        pair.settle();
        let unreadable = Some(Error::Handshake(HandshakeError::HelloUnreadable));
        assert_eq!(pair.b.error, unreadable);
    }
}

/// One made for a single connection is said too.
#[test]
fn a_client_without_keys_knows_the_key_that_it_showed() {
    let client = with(
        SocketType::Dealer,
        Blake3Client {
            server_key: keys(FIRST).public(),
            keys: None,
            data_phase: DataPhase::default(),
        },
    );
    let server = server(SocketType::Router, DataPhase::default(), Cookies::new(1));
    let mut pair = Pair::new(client, server, &provider());
    pair.settle();
    let [ours, theirs] = [&pair.a, &pair.b].map(|side| side.connection.peer().unwrap());
    assert_eq!(ours.local_key, theirs.public_key);
    assert!(ours.local_key.is_some());
}
