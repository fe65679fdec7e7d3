//! Connections of published peers, replayed against a whole client connection.
//!
//! What the mechanism does in each role is checked inside the crate; here it is everything around
//! it: greeting, framing, batches, events.

use sealwire_zmtp::mechanism::{Blake3Client, DataPhase};
use sealwire_zmtp::{
    Config, Connection, Entropy, Event, Frame, Frames, KeyPair, MechanismConfig, SecretKey,
    SocketType,
};
use serde_json::Value;

use crate::support::{START, Side, provider};

const RECORDINGS: [(&str, DataPhase); 2] = [
    (
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../vectors/blake3zmq.json"
        )),
        DataPhase::PerMessageNonces,
    ),
    (
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../vectors/blake3zmq-continuous.json"
        )),
        DataPhase::ContinuousKeystreamUnauthenticatedOrder,
    ),
];

fn unhex(value: &Value) -> Vec<u8> {
    let digits = value.as_str().unwrap().as_bytes().chunks_exact(2);
    digits
        .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
        .collect()
}

fn secret(value: &Value) -> SecretKey {
    SecretKey::from_bytes(unhex(value).try_into().unwrap())
}

/// The recorded client as a connection.
fn client(recording: &Value, data_phase: DataPhase) -> Side {
    let mut config = Config::new(SocketType::XSub);
    config.routing_id = recording["client"]["identity_ascii"]
        .as_str()
        .unwrap()
        .into();
    config.mechanism = MechanismConfig::from(Blake3Client {
        server_key: KeyPair::from_secret(secret(&recording["server"]["secret_key"])).public(),
        keys: Some(KeyPair::from_secret(secret(
            &recording["client"]["secret_key"],
        ))),
        data_phase,
    });
    let mut entropy = [0; Entropy::SIZE];
    entropy[8..40].copy_from_slice(&unhex(&recording["client"]["ephemeral_secret_key"]));
    let mut side = Side::new(config.clone(), provider(), 0);
    side.connection = Connection::new(config.into(), provider(), Entropy::new(entropy), START);
    side
}

fn frames<'a>(recording: &'a Value, direction: &str) -> &'a [Value] {
    recording[direction]["frames"].as_array().unwrap()
}

#[test]
fn a_client_connection_gives_and_takes_the_recorded_bytes() {
    for (text, data_phase) in RECORDINGS {
        let recording: Value = serde_json::from_str(text).unwrap();
        let wire = |command: &str| unhex(&recording["handshake"][command]["wire"]);
        let mut side = client(&recording, data_phase);
        assert_eq!(side.output(), unhex(&recording["client"]["greeting"]));
        side.feed(&unhex(&recording["server"]["greeting"]));
        assert_eq!(side.output(), wire("hello"));
        side.feed(&wire("welcome"));
        assert_eq!(side.output(), wire("initiate"));
        side.feed(&wire("ready"));
        assert_eq!(side.error, None);

        // Everything from SUBSCRIBE to the last message; PING carries a context that is not sent
        // by this crate.
        let sent = &frames(&recording, "client_to_server")[..8];
        let mut message = Frames::new();
        for frame in sent {
            let plaintext = unhex(&frame["plaintext"]);
            if frame["command"].as_bool().unwrap() {
                side.connection
                    .subscribe(&plaintext[b"\x09SUBSCRIBE".len()..]);
                continue;
            }
            message.push_back(Frame::from(plaintext));
            if !frame["more"].as_bool().unwrap() {
                side.send(std::mem::take(&mut message));
            }
        }
        let expected: Vec<u8> = sent
            .iter()
            .flat_map(|frame| unhex(&frame["wire"]))
            .collect();
        assert_eq!(side.output(), expected);

        let received = frames(&recording, "server_to_client");
        let bytes: Vec<u8> = received
            .iter()
            .flat_map(|frame| unhex(&frame["wire"]))
            .collect();
        side.events.clear();
        side.feed(&bytes);
        assert_eq!(side.error, None);
        let mut expected = Vec::new();
        for frame in received
            .iter()
            .filter(|frame| !frame["command"].as_bool().unwrap())
        {
            message.push_back(Frame::from(unhex(&frame["plaintext"])));
            if !frame["more"].as_bool().unwrap() {
                expected.push(Event::Message(std::mem::take(&mut message)));
            }
        }
        assert_eq!(side.events, expected);
        let pending = side.connection.pending_bytes();
        assert_eq!(pending, 2 + b"\x04PONGserver".len() + 32);
        assert_eq!(side.output().len(), pending);
    }
}
