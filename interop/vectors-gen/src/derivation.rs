//! Computes a connection from its secrets alone and holds it against what was recorded.

use crate::primitives::{TAG_LEN, blocks, derive, hash, public_key, seal, seal_parts, x25519};
use crate::recording::{CLIENT_IDENTITY, Direction, LongTermKeys, Recording};

/// Which of the two published data phases the peer speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataPhase {
    /// A nonce for every frame.
    PerMessageNonces,
    /// One keystream that runs on from frame to frame.
    ContinuousKeystream,
}

/// The values that no peer draws at random or is given.
pub(crate) struct Derived {
    pub(crate) dh1: [u8; 32],
    pub(crate) dh2: [u8; 32],
    pub(crate) dh3: [u8; 32],
    pub(crate) h: [[u8; 32]; 5],
    pub(crate) client_metadata: Vec<u8>,
    pub(crate) server_metadata: Vec<u8>,
    pub(crate) cookie_nonce: [u8; 24],
    pub(crate) cookie: Vec<u8>,
    pub(crate) vouch: Vec<u8>,
    /// Key and nonce of each box, by the name of its command.
    pub(crate) boxes: Vec<(&'static str, [u8; 32], [u8; 24])>,
    pub(crate) client_to_server: DataKeys,
    pub(crate) server_to_client: DataKeys,
}

/// Keys of one direction of the data phase.
pub(crate) enum DataKeys {
    PerMessage {
        key: [u8; 32],
        nonce: [u8; 24],
    },
    Continuous {
        enc_key: [u8; 32],
        auth_key: [u8; 32],
        nonce: [u8; 8],
    },
}

/// Where in the key stream one frame was sealed.
pub(crate) enum Position {
    Nonce([u8; 24]),
    Block(u64),
}

/// Computes everything from the long-term keys, the ephemeral keys and the cookie's nonce, and
/// compares with each recorded byte.
///
/// # Panics
///
/// A recorded byte differs.
pub(crate) fn derive_and_check(
    recording: &Recording,
    keys: LongTermKeys,
    client_ephemeral: [u8; 32],
    server_ephemeral: [u8; 32],
    data_phase: DataPhase,
) -> Derived {
    let client_public = public_key(&keys.client);
    let server_public = public_key(&keys.server);
    let client_ephemeral_public = public_key(&client_ephemeral);
    let server_ephemeral_public = public_key(&server_ephemeral);
    let dh1 = x25519(&client_ephemeral, &server_public);
    let dh2 = x25519(&client_ephemeral, &server_ephemeral_public);
    let dh3 = x25519(&keys.client, &server_ephemeral_public);
    assert_eq!(dh1, x25519(&keys.server, &client_ephemeral_public));
    assert_eq!(dh2, x25519(&server_ephemeral, &client_ephemeral_public));
    assert_eq!(dh3, x25519(&server_ephemeral, &client_public));

    let h0 = hash(&[
        b"BLAKE3ZMQ-1.0",
        &recording.client_greeting,
        &recording.server_greeting,
    ]);

    let hello_key = derive("HELLO key", &[&dh1]);
    let hello_nonce = derive("HELLO nonce", &[&client_ephemeral_public]);
    let hello = command_frame(
        "HELLO",
        &[
            &[1, 0],
            &client_ephemeral_public,
            &[0; 96],
            &seal(&hello_key, &hello_nonce, &[0; 64], b"HELLO"),
        ],
    );
    assert_eq!(hello, recording.hello, "HELLO");
    let h1 = hash(&[&h0, &hello]);

    let welcome_key = derive("WELCOME key", &[&dh1]);
    let welcome_nonce = derive("WELCOME nonce", &[&h1]);
    // The cookie's nonce is the first part of INITIATE, in the clear.
    let cookie_nonce: [u8; 24] = recording.initiate[18..42].try_into().unwrap();
    let cookie_key = derive("cookie", &[&recording.cookie_secret]);
    let cookie_plaintext = [client_ephemeral_public, server_ephemeral, h1].concat();
    let mut cookie = cookie_nonce.to_vec();
    cookie.extend(seal(
        &cookie_key,
        &cookie_nonce,
        &cookie_plaintext,
        b"COOKIE",
    ));
    let welcome_plaintext = [&server_ephemeral_public[..], &cookie].concat();
    let welcome = command_frame(
        "WELCOME",
        &[&seal(
            &welcome_key,
            &welcome_nonce,
            &welcome_plaintext,
            b"WELCOME",
        )],
    );
    assert_eq!(welcome, recording.welcome, "WELCOME");
    let h2 = hash(&[&h1, &welcome]);

    let vouch_key = derive("VOUCH key", &[&dh3]);
    let vouch_nonce = derive("VOUCH nonce", &[&dh3]);
    let vouch = seal(
        &vouch_key,
        &vouch_nonce,
        &[client_ephemeral_public, server_public].concat(),
        b"VOUCH",
    );
    let client_metadata = metadata(&[("Socket-Type", b"XSUB"), ("Identity", CLIENT_IDENTITY)]);
    let initiate_key = derive("INITIATE key", &[&dh2, &h2]);
    let initiate_nonce = derive("INITIATE nonce", &[&dh2, &h2]);
    let initiate_plaintext = [&client_public[..], &vouch, &client_metadata].concat();
    let initiate = command_frame(
        "INITIATE",
        &[
            &cookie,
            &seal(
                &initiate_key,
                &initiate_nonce,
                &initiate_plaintext,
                b"INITIATE",
            ),
        ],
    );
    assert_eq!(initiate, recording.initiate, "INITIATE");
    let h3 = hash(&[&h2, &initiate]);

    let server_metadata = metadata(&[("Socket-Type", b"XPUB")]);
    let ready_key = derive("READY key", &[&dh2, &h3]);
    let ready_nonce = derive("READY nonce", &[&dh2, &h3]);
    let ready = command_frame(
        "READY",
        &[&seal(&ready_key, &ready_nonce, &server_metadata, b"READY")],
    );
    assert_eq!(ready, recording.ready, "READY");
    let h4 = hash(&[&h3, &ready]);

    let client_to_server = DataKeys::derive(data_phase, "client->server", &h4, &dh2);
    let server_to_client = DataKeys::derive(data_phase, "server->client", &h4, &dh2);
    check_frames(&client_to_server, &recording.client_to_server);
    check_frames(&server_to_client, &recording.server_to_client);

    Derived {
        dh1,
        dh2,
        dh3,
        h: [h0, h1, h2, h3, h4],
        client_metadata,
        server_metadata,
        cookie_nonce,
        cookie,
        vouch,
        boxes: vec![
            ("hello", hello_key, hello_nonce),
            ("cookie", cookie_key, cookie_nonce),
            ("welcome", welcome_key, welcome_nonce),
            ("vouch", vouch_key, vouch_nonce),
            ("initiate", initiate_key, initiate_nonce),
            ("ready", ready_key, ready_nonce),
        ],
        client_to_server,
        server_to_client,
    }
}

impl DataKeys {
    fn derive(data_phase: DataPhase, direction: &str, h4: &[u8; 32], dh2: &[u8; 32]) -> Self {
        let ikm: [&[u8]; 2] = [h4, dh2];
        match data_phase {
            DataPhase::PerMessageNonces => Self::PerMessage {
                key: derive(&format!("{direction} key"), &ikm),
                nonce: derive(&format!("{direction} nonce"), &ikm),
            },
            DataPhase::ContinuousKeystream => Self::Continuous {
                enc_key: derive(&format!("{direction} enc key"), &ikm),
                auth_key: derive(&format!("{direction} auth key"), &ikm),
                nonce: derive(&format!("{direction} nonce"), &ikm),
            },
        }
    }

    /// Where each frame of `direction` is sealed.
    pub(crate) fn positions(&self, direction: &Direction) -> Vec<Position> {
        let mut next_block = 0;
        let mut position = |index: usize, len: usize| match self {
            Self::PerMessage { nonce, .. } => {
                let (fixed, counter) = nonce.split_at(16);
                let counter = u64::from_le_bytes(counter.try_into().unwrap());
                let counter = counter.wrapping_add(index as u64).to_le_bytes();
                Position::Nonce([fixed, &counter[..]].concat().try_into().unwrap())
            }
            Self::Continuous { .. } => {
                let block = next_block;
                next_block += blocks(len);
                Position::Block(block)
            }
        };
        let sent = direction.sent.iter().enumerate();
        sent.map(|(index, frame)| position(index, frame.body.len()))
            .collect()
    }

    fn seal(&self, position: &Position, plaintext: &[u8], aad: &[u8]) -> Vec<u8> {
        match (self, position) {
            (Self::PerMessage { key, .. }, Position::Nonce(nonce)) => {
                seal(key, nonce, plaintext, aad)
            }
            (
                Self::Continuous {
                    enc_key,
                    auth_key,
                    nonce,
                },
                Position::Block(block),
            ) => seal_parts(enc_key, auth_key, nonce, *block, plaintext, aad),
            _ => unreachable!("positions come from the same keys"),
        }
    }
}

fn check_frames(keys: &DataKeys, direction: &Direction) {
    assert_eq!(direction.sent.len(), direction.wire.len());
    let positions = keys.positions(direction);
    for (index, sent) in direction.sent.iter().enumerate() {
        let flags = u8::from(sent.more) | u8::from(sent.command) << 2;
        let header = frame_header(flags, sent.body.len() + TAG_LEN);
        let sealed = keys.seal(&positions[index], &sent.body, &header);
        assert_eq!(
            [header, sealed].concat(),
            direction.wire[index],
            "data frame {index}"
        );
    }
}

/// Flags and length as they stand on the wire; `flags` without the LONG bit.
fn frame_header(flags: u8, len: usize) -> Vec<u8> {
    match u8::try_from(len) {
        Ok(len) => vec![flags, len],
        Err(_) => [&[flags | 0x02][..], &(len as u64).to_be_bytes()].concat(),
    }
}

fn command_frame(name: &str, body: &[&[u8]]) -> Vec<u8> {
    let mut framed = vec![u8::try_from(name.len()).unwrap()];
    framed.extend_from_slice(name.as_bytes());
    framed.extend(body.concat());
    [frame_header(0x04, framed.len()), framed].concat()
}

fn metadata(properties: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in properties {
        out.push(u8::try_from(name.len()).unwrap());
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&u32::try_from(value.len()).unwrap().to_be_bytes());
        out.extend_from_slice(value);
    }
    out
}
