//! Bytes that are not what they should be, from anyone (before authentication) and from those who
//! are allowed in (after it). Each ends that connection with an error that says what was wrong.

use std::io::Write as _;
use std::net::TcpListener;

use sealwire::{Generate as _, KeyPair, Mechanism, ProtocolError};
use sealwire_zmtp::error::{HandshakeError, Incompatible, Step, WireError};

use crate::forger::{self, Forger};
use crate::memory::{self, Growth};
use crate::scene::{MAX_MESSAGE_SIZE, Scene, fault};
use crate::support::await_event;
use sealwire_relay::zmtp::{self, COMMAND, LONG, MORE, frame, property};

/// What a connection must not cost, whatever a length says. It is far above the noise of other
/// memory and far below what the lengths here claim.
const MEMORY_BOUND: usize = 32 << 20;

fn bad_signature(position: usize, byte: u8) -> ProtocolError {
    WireError::BadSignature { position, byte }.into()
}

fn unexpected(expected: Step) -> ProtocolError {
    HandshakeError::UnexpectedCommand { expected }.into()
}

fn too_large(claimed: u64, limit: u64) -> ProtocolError {
    WireError::FrameTooLarge { claimed, limit }.into()
}

fn mismatch(theirs: &str) -> ProtocolError {
    Incompatible::MechanismMismatch {
        ours: vec![Mechanism::Blake3],
        theirs: theirs.into(),
    }
    .into()
}

#[test]
fn other_protocols_and_versions() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let with = |position: usize, byte: u8| {
        let mut greeting = zmtp::greeting("BLAKE3", false);
        greeting[position] = byte;
        greeting.to_vec()
    };
    let version = |major| WireError::UnsupportedVersion { major }.into();
    let cases: Vec<(Vec<u8>, ProtocolError)> = vec![
        (
            b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".into(),
            bad_signature(0, b'G'),
        ),
        (
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".into(),
            bad_signature(0, 0x16),
        ),
        (b"SSH-2.0-OpenSSH_9.9\r\n".into(), bad_signature(0, b'S')),
        (vec![0; 1_000_000], bad_signature(0, 0)),
        // ZMTP 1.0 starts with a length, 2.0 with the same signature and another version.
        (b"\x01\x00".into(), bad_signature(0, 1)),
        (b"\xff\0\0\0\0\0\0\0\x01\x7f\x01".into(), version(1)),
        (with(10, 0), version(0)),
        (with(10, 2), version(2)),
        (with(9, 0x7e), bad_signature(9, 0x7e)),
        (zmtp::greeting("NULL", false).into(), mismatch("NULL")),
        (zmtp::greeting("PLAIN", false).into(), mismatch("PLAIN")),
        (zmtp::greeting("CURVE", false).into(), mismatch("CURVE")),
        (zmtp::greeting("blake3", false).into(), mismatch("blake3")),
        (zmtp::greeting("BLAKE3X", false).into(), mismatch("BLAKE3X")),
        (
            zmtp::greeting("\x1b]0;x\x07", false).into(),
            mismatch(r"\x1b]0;x\x07"),
        ),
        (
            zmtp::greeting("BLAKE3", true).into(),
            Incompatible::BothServers.into(),
        ),
    ];
    for (bytes, expected) in cases {
        let mut stream = forger::connect(scene.address);
        // The server may be gone before all of it is written.
        let _ = stream.write_all(&bytes);
        let address = stream.local_addr().unwrap();
        assert_eq!(scene.fault_of(address), expected);
    }
}

/// Pseudo-random bytes, from a fixed seed, alone and behind each honest beginning.
#[test]
fn noise_at_every_step() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let server = scene.server_keys.public();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut noise = || -> Vec<u8> {
        let bytes = (0..200).map(|_| {
            // xorshift64 (Marsaglia, 2003).
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        });
        bytes.collect()
    };
    for round in 0..60 {
        let mut forger = match round % 3 {
            0 => {
                let mut stream = forger::connect(scene.address);
                let _ = stream.write_all(&noise());
                let address = stream.local_addr().unwrap();
                drop(stream);
                scene.end_of(address);
                continue;
            }
            _ => Forger::connect(scene.address),
        };
        if round % 3 == 2 {
            forger.welcome(&server);
        }
        forger.write_ignoring_errors(&noise());
        let address = forger.address();
        drop(forger);
        let crate::scene::End::Failed(failure) = scene.end_of(address) else {
            panic!("noise is no clean end")
        };
        assert!(!failure.was_ready());
    }
    assert_eq!(scene.server.peers().len(), 1, "the bystander");
    assert!(scene.received().is_empty());
}

#[test]
fn frames_that_have_no_place_before_authentication() {
    let _alone = memory::alone();
    let scene = Scene::new();
    let hello = |version: [u8; 2], padding: u8, size: usize| {
        let mut data = vec![0; size];
        data[..2].copy_from_slice(&version);
        data[2..34].copy_from_slice(KeyPair::generate().public().as_bytes());
        data[34 + 95] = padding;
        frame(COMMAND, &zmtp::command("HELLO", &data))
    };
    let claim = |claimed| zmtp::header(COMMAND | LONG, claimed);
    let cases: Vec<(Vec<u8>, ProtocolError)> = vec![
        (claim(1 << 63), too_large(1 << 63, i64::MAX as u64)),
        (claim(u64::MAX), too_large(u64::MAX, i64::MAX as u64)),
        (claim(1 << 62), too_large(1 << 62, 4_096)),
        (claim(4_097), too_large(4_097, 4_096)),
        (frame(COMMAND, &[b'x'; 5_000]), too_large(5_000, 4_096)),
        (frame(COMMAND, b""), WireError::TruncatedCommand.into()),
        (
            frame(COMMAND, b"\x06HELLO"),
            WireError::TruncatedCommand.into(),
        ),
        (
            frame(COMMAND | MORE, b"x"),
            WireError::ReservedFlags { flags: 5 }.into(),
        ),
        (
            frame(0x08, b"x"),
            WireError::ReservedFlags { flags: 8 }.into(),
        ),
        (frame(0, b"a message"), unexpected(Step::Hello)),
        (
            frame(COMMAND, &zmtp::command("PING", b"\0\0")),
            unexpected(Step::Hello),
        ),
        (
            frame(COMMAND, &zmtp::command("SUBSCRIBE", b"")),
            unexpected(Step::Hello),
        ),
        (
            frame(COMMAND, &zmtp::command("READY", b"")),
            unexpected(Step::Hello),
        ),
        (
            frame(COMMAND, &zmtp::command("INITIATE", &[0; 400])),
            unexpected(Step::Hello),
        ),
        (hello([2, 0], 0, 226), HandshakeError::HelloMalformed.into()),
        (hello([1, 1], 0, 226), HandshakeError::HelloMalformed.into()),
        (hello([1, 0], 1, 226), HandshakeError::HelloMalformed.into()),
        (hello([1, 0], 0, 225), HandshakeError::HelloMalformed.into()),
        (hello([1, 0], 0, 227), HandshakeError::HelloMalformed.into()),
        (
            hello([1, 0], 0, 4_000),
            HandshakeError::HelloMalformed.into(),
        ),
        (
            hello([1, 0], 0, 226),
            HandshakeError::HelloUnreadable.into(),
        ),
    ];
    let growth = Growth::start();
    for (bytes, expected) in cases {
        let mut forger = Forger::connect(scene.address);
        forger.write_ignoring_errors(&bytes);
        // More than was allowed, whatever it claimed.
        forger.write_ignoring_errors(&[0; 10_000]);
        assert_eq!(scene.fault_of(forger.address()), expected);
    }
    growth.assert_below(MEMORY_BOUND);
}

/// A name length beyond the name, and so on.
fn bad_metadata() -> Vec<(Vec<u8>, ProtocolError)> {
    let dealer = forger::metadata("DEALER");
    let and = |more: Vec<u8>| [dealer.clone(), more].concat();
    let many = |count: usize| {
        (0..count)
            .flat_map(|i| property(&format!("X-{i}"), b""))
            .collect()
    };
    vec![
        (
            and(forger::metadata("DEALER")),
            WireError::DuplicateProperty.into(),
        ),
        (
            and(property("SOCKET-TYPE", b"PUSH")),
            WireError::DuplicateProperty.into(),
        ),
        (
            and([property("x-a", b"1"), property("X-A", b"2")].concat()),
            WireError::DuplicateProperty.into(),
        ),
        (
            and(many(64)),
            WireError::TooManyProperties { limit: 64 }.into(),
        ),
        (and(b"\x03X-".into()), WireError::TruncatedMetadata.into()),
        (
            and(b"\x03X-A\0\0\0".into()),
            WireError::TruncatedMetadata.into(),
        ),
        (
            and(b"\x03X-A\0\0\0\x02v".into()),
            WireError::TruncatedMetadata.into(),
        ),
        (
            and(b"\x03X-A\xff\xff\xff\xffv".into()),
            WireError::TruncatedMetadata.into(),
        ),
        (and(property("", b"v")), WireError::BadPropertyName.into()),
        (
            and(property("X A", b"v")),
            WireError::BadPropertyName.into(),
        ),
        (
            and(property("X\n", b"v")),
            WireError::BadPropertyName.into(),
        ),
        (
            and(property("Identity", &[b'i'; 256])),
            WireError::RoutingIdTooLong { size: 256 }.into(),
        ),
        (Vec::new(), WireError::NoSocketType.into()),
        (
            property("Socket-Type", b"BANANA"),
            WireError::NoSocketType.into(),
        ),
        (
            property("Socket-Type", b"\xff\xfe"),
            WireError::NoSocketType.into(),
        ),
    ]
}

#[test]
fn metadata_of_a_client() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let server = scene.server_keys.public();
    let oversized = property("X-Large", &[b'x'; 4_096]);
    let size = 321 + forger::metadata("DEALER").len() + oversized.len();
    let oversized = [forger::metadata("DEALER"), oversized].concat();
    let all = bad_metadata()
        .into_iter()
        .chain([(oversized, too_large(size as u64, 4_096))]);
    for (metadata, expected) in all {
        let mut forger = Forger::connect(scene.address);
        let welcome = forger.welcome(&server);
        let initiate = forger.initiate(&scene.victim_keys, &welcome, &server, &metadata);
        let frame = forger.initiate_frame(&initiate);
        forger.write_ignoring_errors(&frame);
        assert_eq!(scene.fault_of(forger.address()), expected);
    }
    assert_eq!(scene.server.peers().len(), 1, "the bystander");
}

#[test]
fn metadata_of_a_server() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    for (metadata, expected) in bad_metadata() {
        // Commands that are wrong for a DEALER are as wrong for other types.
        let (_client, monitor) = scene.victim_of(&listener);
        let mut forger = Forger::accept(&listener);
        let ephemeral = *forger.ephemeral.public().as_bytes();
        forger.welcome_with(&scene.server_keys, &ephemeral);
        forger.ready_with(&metadata);
        let failure = await_event(&monitor, "a failed handshake", |event| match event {
            sealwire::Event::Failed(failure) => Some(failure.clone()),
            _ => None,
        });
        assert_eq!(fault(&failure), expected);
    }
}

/// Unknown properties are ignored, and the largest metadata that fit are taken.
#[test]
fn metadata_that_are_only_strange() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let room = 4_096 - 321 - forger::metadata("DEALER").len();
    let largest = property("X-Large", &vec![b'x'; room - 1 - "X-Large".len() - 4]);
    for more in [
        largest,
        property("X-Empty", b""),
        property("Resource", b"\0\xff"),
    ] {
        let metadata = [forger::metadata("DEALER"), more].concat();
        let server = scene.server_keys.public();
        let keys = &scene.victim_keys;
        let mut channel = Forger::authenticated(scene.address, &server, keys, &metadata);
        let before = scene.received().len();
        channel.send(0, b"let in");
        let echo = zmtp::read_frame(&mut channel.stream).unwrap().unwrap();
        assert_eq!(echo.len(), 2 + b"let in".len() + 32);
        assert_eq!(scene.received()[before..], [["let in"]]);
    }
}

#[test]
fn frames_that_have_no_place_after_authentication() {
    let _alone = memory::alone();
    let scene = Scene::new();
    let not_verified = ProtocolError::FrameNotVerified {
        index: 0,
        first: true,
    };
    let larger = |size| zmtp::header(LONG, size);
    let message_too_large = ProtocolError::MessageTooLarge {
        limit: MAX_MESSAGE_SIZE,
    };
    let limit = MAX_MESSAGE_SIZE as u64;
    let raw: Vec<(Vec<u8>, ProtocolError)> = vec![
        (larger(1 << 63), too_large(1 << 63, i64::MAX as u64)),
        (larger(1 << 62), message_too_large.clone()),
        (larger(limit + 33), message_too_large),
        (
            zmtp::header(COMMAND | LONG, 1 << 62),
            too_large((1 << 62) - 32, 64 << 10),
        ),
        (frame(0, &[0; 31]), not_verified.clone()),
        (frame(0, &[0; 32]), not_verified.clone()),
        (frame(COMMAND, &[0; 32]), not_verified),
        (
            frame(0xff, &[0; 32]),
            WireError::ReservedFlags { flags: 0xff }.into(),
        ),
    ];
    let malformed = |command| WireError::MalformedCommand { command }.into();
    // Sealed as it should be by someone who is let in.
    let sealed: Vec<(Vec<u8>, ProtocolError)> = vec![
        (b"".into(), WireError::TruncatedCommand.into()),
        (b"\x09PING".into(), WireError::TruncatedCommand.into()),
        (zmtp::command("PING", b"\0"), malformed("PING")),
        (zmtp::command("PING", &[0; 19]), malformed("PING")),
        (zmtp::command("PONG", &[0; 17]), malformed("PONG")),
        (zmtp::command("ERROR", b"\x05four"), malformed("ERROR")),
        (
            zmtp::command("ERROR", b"\x04\x1b[2J"),
            ProtocolError::PeerRefused {
                reason: r"\x1b[2J".into(),
                verified: true,
            },
        ),
    ];
    let server = scene.server_keys.public();
    let metadata = forger::metadata("DEALER");
    let connect = || Forger::authenticated(scene.address, &server, &scene.victim_keys, &metadata);
    let growth = Growth::start();
    for (bytes, expected) in raw {
        let mut channel = connect();
        channel.write_ignoring_errors(&bytes);
        assert_eq!(scene.fault_of(channel.address()), expected);
    }
    for (body, expected) in sealed {
        let mut channel = connect();
        let frame = channel.seal(COMMAND, &body);
        channel.write_ignoring_errors(&frame);
        assert_eq!(scene.fault_of(channel.address()), expected);
    }
    growth.assert_below(MEMORY_BOUND);
    assert!(scene.received().is_empty());
}
