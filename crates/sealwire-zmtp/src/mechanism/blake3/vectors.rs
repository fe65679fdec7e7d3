//! Connections of published peers, reproduced byte for byte, in both roles and with both data
//! phases. The files themselves name their source.
//!
//! The server's role is checked here rather than from outside, since only the cookie keeps a server
//! from giving the same bytes: its associated data hold the connection id, which those
//! peers do not have (wire reference, section 8).

use alloc::vec;
use alloc::vec::Vec;
use core::iter;
use std::sync::Arc;

use serde_json::Value;

use super::client::agree;
use super::commands::Initiate;
use super::cookie::{Cookie, KEY_CONTEXT};
use super::sealed_box::SealedBox;
use super::server;
use super::transcript::Transcript;
use crate::connection::Config;
use crate::key_pair::KeyPair;
use crate::keys::{SecretKey, hex};
use crate::mechanism::{
    Blake3Client, Blake3Server, CookieKey, CookieStore, DataPhase, Entropy, Established, Greetings,
    HandshakeFrame, MechanismConfig, MechanismSettings as _, Opener, Progress, Protection,
    SealedFrame, SealedFrames, Sealer, Shape, UnsealedFrame,
};
use crate::provider::{DefaultProvider, Provider};
use crate::wire::frame::Header;

const PER_MESSAGE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../vectors/blake3zmq.json"
));
const CONTINUOUS: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../vectors/blake3zmq-continuous.json"
));

/// A recorded connection.
struct Recording(Value, DataPhase);

fn recordings() -> [Recording; 2] {
    let read = |text| serde_json::from_str(text).unwrap();
    [
        Recording(read(PER_MESSAGE), DataPhase::PerMessageNonces),
        Recording(
            read(CONTINUOUS),
            DataPhase::ContinuousKeystreamUnauthenticatedOrder,
        ),
    ]
}

impl Recording {
    fn bytes(&self, path: &str) -> Vec<u8> {
        unhex(self.0.pointer(path).unwrap_or_else(|| panic!("no {path}")))
    }

    fn array<const N: usize>(&self, path: &str) -> [u8; N] {
        self.bytes(path).try_into().unwrap()
    }

    fn keys(&self, path: &str) -> KeyPair {
        let keys = KeyPair::from_secret(SecretKey::from_bytes(self.array(path)));
        assert_eq!(
            keys.public().as_bytes(),
            &self.array(&path.replace("secret", "public"))
        );
        keys
    }

    fn text(&self, path: &str) -> &str {
        self.0.pointer(path).and_then(Value::as_str).unwrap()
    }

    /// The socket and its application's properties, from the text in the recording.
    fn config(&self, side: &str, mechanism: MechanismConfig) -> Config {
        let kind = self
            .text(&std::format!("/{side}/socket_type_ascii"))
            .parse()
            .unwrap();
        let mut config = Config::new(kind);
        if let Some(identity) = self.0[side].get("identity_ascii") {
            config.routing_id = identity.as_str().unwrap().into();
        }
        config.mechanism = mechanism;
        config.validate().unwrap();
        let mut metadata = Vec::new();
        config
            .local(&DefaultProvider)
            .metadata
            .encode(&mut metadata);
        assert_eq!(metadata, self.bytes(&std::format!("/{side}/metadata")));
        config
    }

    fn client_settings(&self) -> Blake3Client {
        Blake3Client {
            server_key: self.keys("/server/secret_key").public(),
            keys: Some(self.keys("/client/secret_key")),
            data_phase: self.1,
        }
    }

    fn server_settings(&self) -> Blake3Server {
        Blake3Server {
            additional_keys: Vec::new(),
            keys: self.keys("/server/secret_key"),
            cookies: Arc::new(NoCookies),
            data_phase: self.1,
        }
    }

    fn wire(&self, command: &str) -> Vec<u8> {
        self.bytes(&std::format!("/handshake/{command}/wire"))
    }

    /// Seals what went one way and opens what went the other.
    fn check_frames(&self, established: Established<Protection>, sent: &str, received: &str) {
        let Established {
            protection:
                Protection {
                    mut sealer,
                    mut opener,
                },
            ..
        } = established;
        for (i, frame) in self.0[sent]["frames"]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
        {
            assert_eq!(
                seal(&mut sealer, frame),
                unhex(&frame["wire"]),
                "{sent} frame {i}"
            );
        }
        for (i, frame) in self.0[received]["frames"]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
        {
            let plaintext = open(&mut opener, &unhex(&frame["wire"]));
            assert_eq!(
                plaintext,
                Some(unhex(&frame["plaintext"])),
                "{received} frame {i}"
            );
        }
    }
}

#[derive(Debug)]
struct NoCookies;

impl CookieStore for NoCookies {
    fn issue(&self) -> (CookieKey, u64) {
        unreachable!("the recording has the cookie")
    }

    fn candidates(&self) -> [Option<CookieKey>; 2] {
        unreachable!("the recording has the cookie")
    }
}

fn unhex(value: &Value) -> Vec<u8> {
    let text = value.as_str().unwrap();
    let digits = text.as_bytes().chunks_exact(2);
    digits
        .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
        .collect()
}

fn handshake_frame(wire: &[u8]) -> HandshakeFrame<'_> {
    let header = Header::parse(wire).unwrap().unwrap();
    HandshakeFrame::new(wire, header.size()).unwrap()
}

fn seal(sealer: &mut Sealer, frame: &Value) -> Vec<u8> {
    let mut body = unhex(&frame["plaintext"]);
    let flags = unhex(&frame["flags"])[0] & !crate::wire::frame::LONG;
    let header = Header::new(flags, body.len() + 32).encode();
    let mut tag = [0; 32];
    let frame = UnsealedFrame {
        header: &header,
        body: &mut body,
        behind: &mut tag,
    };
    sealer.seal(iter::once(Ok(frame))).unwrap();
    [&header[..], &body, &tag].concat()
}

/// One frame.
struct Lone<'a>(SealedFrame<'a>);

impl<'a> SealedFrames<'a> for Lone<'a> {
    fn each(self, _: Shape, mut take: impl FnMut(SealedFrame<'a>)) {
        take(self.0);
    }
}

fn open(opener: &mut Opener, wire: &[u8]) -> Option<Vec<u8>> {
    let (header, body) = wire.split_at(Header::parse(wire).unwrap().unwrap().size());
    let (ciphertext, behind) = body.split_at_checked(body.len().checked_sub(32)?)?;
    let mut buffer = ciphertext.to_vec();
    let verified = opener.open(Lone(SealedFrame {
        header,
        body: &mut buffer,
        behind,
    }));
    (verified == 1).then_some(buffer)
}

fn entropy(ephemeral: [u8; 32], cookie_nonce: [u8; 24]) -> Entropy {
    let mut bytes = [0; Entropy::SIZE];
    bytes[8..40].copy_from_slice(&ephemeral);
    bytes[40..64].copy_from_slice(&cookie_nonce);
    Entropy::new(bytes)
}

#[test]
fn the_client_sends_what_the_peers_client_sent() {
    for recording in recordings() {
        let settings = recording.client_settings();
        let config = recording.config("client", MechanismConfig::from(settings.clone()));
        let local = config.local(&DefaultProvider);
        let entropy = entropy(recording.array("/client/ephemeral_secret_key"), [0; 24]);
        let greetings = Greetings {
            ours: &recording.array("/client/greeting"),
            theirs: &recording.array("/server/greeting"),
        };
        let progress = Arc::new(settings).start(&local, &entropy, &greetings);
        let Ok(Progress::Reply {
            command: "HELLO",
            frame,
            next: client,
        }) = progress
        else {
            panic!("expected HELLO");
        };
        assert_eq!(frame, recording.wire("hello"));

        let welcome = recording.wire("welcome");
        let progress = client.receive(&local, &handshake_frame(&welcome));
        let Ok(Progress::Reply {
            command: "INITIATE",
            frame,
            next: client,
        }) = progress
        else {
            panic!("expected INITIATE");
        };
        assert_eq!(frame, recording.wire("initiate"));

        let ready = recording.wire("ready");
        let progress = client.receive(&local, &handshake_frame(&ready));
        let Ok(Progress::Done {
            reply: None,
            established,
        }) = progress
        else {
            panic!("expected the end of the handshake");
        };
        recording.check_frames(established, "client_to_server", "server_to_client");
    }
}

#[test]
fn the_server_sends_what_the_peers_server_sent() {
    for recording in recordings() {
        let settings = Arc::new(recording.server_settings());
        let config = recording.config("server", recording.server_settings().into());
        let provider = &DefaultProvider;
        let local = config.local(provider);
        let hello_state = server::AwaitHello::new(
            settings.clone(),
            provider,
            &entropy(
                recording.array("/server/ephemeral_secret_key"),
                recording.array("/server/cookie_nonce"),
            ),
            &Greetings {
                ours: &recording.array("/server/greeting"),
                theirs: &recording.array("/client/greeting"),
            },
        );
        let hello = recording.wire("hello");
        let mut carried = None;
        let seal_cookie = |cookie: &Cookie, nonce| {
            // As the recorded peers make it: without the connection id.
            let key: [u8; 32] = recording.array("/server/cookie_secret");
            let aad = recording.text("/server/cookie_aad_ascii").as_bytes();
            let sealing = SealedBox::with_nonce(provider, KEY_CONTEXT, &[&key], nonce, aad);
            let wire = cookie.seal_with(&sealing, nonce);
            carried = Some(Cookie {
                client_ephemeral: cookie.client_ephemeral,
                server_ephemeral: cookie.server_ephemeral.clone(),
                h1: cookie.h1,
            });
            assert_eq!(wire, recording.array("/cookie"));
            wire
        };
        let (welcome, h2, key) = hello_state
            .answer(provider, &handshake_frame(&hello), seal_cookie)
            .unwrap();
        assert_eq!((welcome, key), (recording.wire("welcome"), 0));

        let wire = recording.wire("initiate");
        let frame = handshake_frame(&wire);
        let initiate = Initiate::parse(frame.data).unwrap();
        let (keys, cookie) = (&settings.keys, carried.unwrap());
        let made_again = server::up_to_welcome(provider, keys, &initiate, &cookie).unwrap();
        assert_eq!(made_again.as_bytes(), h2.as_bytes());
        let pending =
            server::receive_initiate(&local, &settings, keys, &frame, &initiate, &cookie, h2)
                .unwrap();
        let (ready, established) = pending.ready(&local);
        assert_eq!(ready, recording.wire("ready"));
        let client = recording.keys("/client/secret_key").public();
        assert_eq!(established.public_key, Some(client));
        recording.check_frames(established, "server_to_client", "client_to_server");
    }
}

#[test]
fn shared_secrets_and_transcript_agree() {
    for recording in recordings() {
        let provider: &dyn Provider = &DefaultProvider;
        let keys = |path| recording.keys(path);
        let (client, client_ephemeral) = (
            keys("/client/secret_key"),
            keys("/client/ephemeral_secret_key"),
        );
        let (server, server_ephemeral) = (
            keys("/server/secret_key"),
            keys("/server/ephemeral_secret_key"),
        );
        for (name, ours, theirs) in [
            ("dh1", &client_ephemeral, &server),
            ("dh2", &client_ephemeral, &server_ephemeral),
            ("dh3", &client, &server_ephemeral),
        ] {
            let secret = agree(provider, ours.secret(), &theirs.public()).unwrap();
            let expected = recording.bytes(&std::format!("/shared_secrets/{name}"));
            assert_eq!(
                hex::encode(secret.as_bytes()),
                hex::encode(&expected.try_into().unwrap())
            );
        }
        let mut transcript = Transcript::start(
            provider,
            &recording.array("/client/greeting"),
            &recording.array("/server/greeting"),
        );
        let mut hashes = vec![*transcript.as_bytes()];
        for command in ["hello", "welcome", "initiate", "ready"] {
            transcript = transcript.then(provider, &recording.wire(command));
            hashes.push(*transcript.as_bytes());
        }
        for (i, hash) in hashes.iter().enumerate() {
            assert_eq!(hash, &recording.array(&std::format!("/transcript/h{i}")));
        }
    }
}
