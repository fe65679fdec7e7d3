//! The JSON form of a checked recording.

use serde_json::{Map, Value, json};

use crate::derivation::{DataKeys, DataPhase, Derived, Position};
use crate::entropy;
use crate::primitives::public_key;
use crate::recording::{CLIENT_IDENTITY, Direction, LongTermKeys, Recording};

/// What a vector file says about where it comes from.
pub(crate) struct Origin {
    pub(crate) version: &'static str,
    pub(crate) data_phase: DataPhase,
}

/// Random bytes the peers asked for, with what became of them.
pub(crate) struct Drawn {
    pub(crate) answered: Vec<Vec<u8>>,
    pub(crate) client_ephemeral: [u8; 32],
    pub(crate) server_ephemeral: [u8; 32],
}

/// Day of the recording.
const RECORDED: &str = "2026-11-20";

/// Writes out one connection.
pub(crate) fn document(
    origin: &Origin,
    keys: LongTermKeys,
    drawn: &Drawn,
    recording: &Recording,
    derived: &Derived,
) -> Value {
    let data_phase = match origin.data_phase {
        DataPhase::PerMessageNonces => "per-message nonces",
        DataPhase::ContinuousKeystream => "continuous keystream",
    };
    let [h0, h1, h2, h3, h4] = derived.h.map(hex::encode);
    let mut boxes = Map::new();
    for (name, key, nonce) in &derived.boxes {
        boxes.insert(
            (*name).to_owned(),
            json!({ "key": hex::encode(key), "nonce": hex::encode(nonce) }),
        );
    }
    json!({
        "description": "A complete BLAKE3ZMQ connection with fixed keys and randomness: greetings, \
            the four handshake frames, ten data frames in each direction. All values are \
            hexadecimal unless said otherwise; a \"wire\" value is a whole frame, flags and length \
            included. Secret keys are as drawn, before X25519 clamps them.",
        "origin": {
            "crate": "omq-proto",
            "version": origin.version,
            "feature": "blake3zmq",
            "registry": "crates.io",
            "recorded": RECORDED,
            "method": "Both sides are the crate's own codec, driven in memory with scripted \
                entropy; every \"wire\" value was sent by it. All other values were computed from \
                the secrets with the crates x25519-dalek, blake3 and chacha20, and give the same \
                bytes on the wire.",
        },
        "mechanism": "BLAKE3",
        "protocol": "BLAKE3ZMQ-1.0",
        "data_phase": data_phase,
        "entropy": {
            "rule": entropy::RULE,
            "requests": [
                {
                    "bytes": hex::encode(&drawn.answered[0]),
                    "use": "seed of the server's generator, which gives cookie_secret and cookie_nonce",
                },
                { "bytes": hex::encode(&drawn.answered[1]), "use": "client.ephemeral_secret_key" },
                { "bytes": hex::encode(&drawn.answered[2]), "use": "server.ephemeral_secret_key" },
            ],
        },
        "client": {
            "greeting": hex::encode(&recording.client_greeting),
            "secret_key": hex::encode(keys.client),
            "public_key": hex::encode(public_key(&keys.client)),
            "ephemeral_secret_key": hex::encode(drawn.client_ephemeral),
            "ephemeral_public_key": hex::encode(public_key(&drawn.client_ephemeral)),
            "socket_type_ascii": "XSUB",
            "identity_ascii": str::from_utf8(CLIENT_IDENTITY).unwrap(),
            "metadata": hex::encode(&derived.client_metadata),
        },
        "server": {
            "greeting": hex::encode(&recording.server_greeting),
            "secret_key": hex::encode(keys.server),
            "public_key": hex::encode(public_key(&keys.server)),
            "ephemeral_secret_key": hex::encode(drawn.server_ephemeral),
            "ephemeral_public_key": hex::encode(public_key(&drawn.server_ephemeral)),
            "cookie_secret": hex::encode(recording.cookie_secret),
            "cookie_nonce": hex::encode(derived.cookie_nonce),
            "cookie_aad_ascii": "COOKIE",
            "socket_type_ascii": "XPUB",
            "metadata": hex::encode(&derived.server_metadata),
        },
        "shared_secrets": {
            "dh1": hex::encode(derived.dh1),
            "dh2": hex::encode(derived.dh2),
            "dh3": hex::encode(derived.dh3),
        },
        "transcript": { "h0": h0, "h1": h1, "h2": h2, "h3": h3, "h4": h4 },
        "boxes": boxes,
        "cookie": hex::encode(&derived.cookie),
        "vouch": hex::encode(&derived.vouch),
        "handshake": {
            "hello": { "wire": hex::encode(&recording.hello) },
            "welcome": { "wire": hex::encode(&recording.welcome) },
            "initiate": { "wire": hex::encode(&recording.initiate) },
            "ready": { "wire": hex::encode(&recording.ready) },
        },
        "client_to_server": direction(&derived.client_to_server, &recording.client_to_server),
        "server_to_client": direction(&derived.server_to_client, &recording.server_to_client),
    })
}

fn direction(keys: &DataKeys, direction: &Direction) -> Value {
    let mut out = Map::new();
    match keys {
        DataKeys::PerMessage { key, nonce } => {
            out.insert("key".to_owned(), hex::encode(key).into());
            out.insert("nonce".to_owned(), hex::encode(nonce).into());
        }
        DataKeys::Continuous {
            enc_key,
            auth_key,
            nonce,
        } => {
            out.insert("enc_key".to_owned(), hex::encode(enc_key).into());
            out.insert("auth_key".to_owned(), hex::encode(auth_key).into());
            out.insert("nonce".to_owned(), hex::encode(nonce).into());
        }
    }
    let mut frames = Vec::new();
    for (index, position) in keys.positions(direction).iter().enumerate() {
        let (sent, wire) = (&direction.sent[index], &direction.wire[index]);
        let mut frame = Map::new();
        frame.insert("flags".to_owned(), hex::encode(&wire[..1]).into());
        frame.insert("more".to_owned(), sent.more.into());
        frame.insert("command".to_owned(), sent.command.into());
        match position {
            Position::Nonce(nonce) => {
                frame.insert("frame_nonce".to_owned(), hex::encode(nonce).into());
            }
            Position::Block(block) => {
                frame.insert("first_block_decimal".to_owned(), (*block).into());
            }
        }
        frame.insert(
            "plaintext_length_decimal".to_owned(),
            sent.body.len().into(),
        );
        frame.insert("plaintext".to_owned(), hex::encode(&sent.body).into());
        frame.insert("wire".to_owned(), hex::encode(wire).into());
        frames.push(Value::Object(frame));
    }
    out.insert("frames".to_owned(), frames.into());
    Value::Object(out)
}
