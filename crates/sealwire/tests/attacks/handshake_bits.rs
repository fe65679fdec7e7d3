//! Someone on the path flips one bit of a handshake message: every bit of both greetings and of
//! HELLO, WELCOME, INITIATE and READY, each on a connection of its own.
//!
//! The side that finds it out must be the right one and name the right fault.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use sealwire::{Mechanism, ProtocolError};
use sealwire_zmtp::error::{CloseKind, HandshakeError, Incompatible, Step, WireError};
use sealwire_zmtp::wire::greeting::Greeting;

use crate::memory;
use crate::scene::{End, Scene, fault};
use sealwire_relay::zmtp;
use sealwire_relay::{Act, Script, honest, recording};

/// Connections at the same time.
const WORKERS: usize = 24;
/// What a frame may claim before the peer is authenticated.
const MAX_HANDSHAKE_FRAME: u64 = 4_096;
/// The end of a sealed box.
const TAG: usize = 32;
/// Cookie, key, vouch and tag of INITIATE, with metadata that are empty.
const INITIATE_FIELDS: usize = 152 + 32 + (64 + TAG) + TAG;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

/// One bit of one message of the handshake.
#[derive(Debug, Clone, Copy)]
struct Target {
    sender: Side,
    /// 0 is the greeting.
    unit: usize,
    bit: usize,
}

#[test]
fn no_bit_of_the_handshake_can_be_flipped() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let units = record_a_handshake(&scene);
    let sizes = units
        .each_ref()
        .map(|side| side.iter().map(Vec::len).collect::<Vec<_>>());
    // The socket types and no more are in the metadata.
    assert_eq!(sizes, [vec![64, 234, 352], vec![64, 226, 62]]);
    let targets: Vec<Target> = [Side::Client, Side::Server]
        .into_iter()
        .flat_map(|sender| (0..3).map(move |unit| (sender, unit)))
        .flat_map(|(sender, unit)| {
            let bits = 0..sizes[sender as usize][unit] * 8;
            bits.map(move |bit| Target { sender, unit, bit })
        })
        .collect();

    let before = scene.server.counters();
    let received_before = scene.received().len();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(&target) = targets.get(next.fetch_add(1, Ordering::Relaxed)) {
                    attempt(&scene, target);
                    if target.bit % 64 == 0 {
                        scene.bystander_is_served();
                    }
                }
            });
        }
    });
    assert_eq!(
        scene.received().len(),
        received_before,
        "a message got through"
    );
    // READY is the server's last word: it cannot know that it was changed on the way.
    let ready_bits = sizes[1][2] * 8;
    let completed = scene.server.counters().handshakes_completed - before.handshakes_completed;
    assert_eq!(completed, ready_bits as u64);
}

/// The messages of a handshake that nobody interferes with: the client's, then the server's.
fn record_a_handshake(scene: &Scene) -> [Vec<Vec<u8>>; 2] {
    let copies = [(); 2].map(|()| Arc::<Mutex<Vec<Vec<u8>>>>::default());
    let client = scene.attacked_client(recording(&copies[0]), recording(&copies[1]));
    client.socket.send("all is well").unwrap();
    assert_eq!(client.socket.recv().unwrap().as_bytes(), b"all is well");
    copies.map(|copy| copy.lock().unwrap()[..3].to_vec())
}

fn attempt(scene: &Scene, target: Target) {
    let flipped = Arc::new(Mutex::new(Vec::new()));
    let script: Script = Box::new({
        let flipped = flipped.clone();
        move |index, mut unit| {
            if index == target.unit {
                sealwire_relay::flip(&mut unit, target.bit);
                flipped.lock().unwrap().clone_from(&unit);
            }
            Act::forward(unit)
        }
    });
    let client = match target.sender {
        Side::Client => scene.attacked_client(script, honest()),
        Side::Server => scene.attacked_client(honest(), script),
    };
    client.socket.send("must not arrive").unwrap();
    let address = client.carried.address;
    let failure = client.failure();
    let unit = flipped.lock().unwrap().clone();
    let (side, expected) = expectation(target, &unit);
    let end = scene.end_of(address);
    let found = match (side, end) {
        (Side::Client, _) => fault(&failure),
        (Side::Server, End::Failed(failure)) => fault(&failure),
        (Side::Server, End::Clean) => panic!("{target:?}: a clean end"),
    };
    if let ProtocolError::HandshakeTimeout { step } = expected {
        // The sender waits as well and may be the first to give up.
        let left = ProtocolError::Closed(CloseKind::DuringHandshake(step));
        assert!(found == expected || found == left, "{target:?}: {found}");
    } else {
        assert_eq!(found, expected, "{target:?}");
    }
    assert_eq!(
        client.socket.counters().handshakes_completed,
        0,
        "{target:?}"
    );
}

/// The side that notices a flipped bit, and the error that it reports. `unit` is the message as it arrives.
fn expectation(target: Target, unit: &[u8]) -> (Side, ProtocolError) {
    let receiver = match target.sender {
        Side::Client => Side::Server,
        Side::Server => Side::Client,
    };
    let byte = target.bit / 8;
    if target.unit == 0 {
        return greeting_expectation(receiver, byte, unit);
    }
    let step = match (target.sender, target.unit) {
        (Side::Client, 1) => Step::Hello,
        (Side::Client, _) => Step::Initiate,
        (Side::Server, 1) => Step::Welcome,
        (Side::Server, _) => Step::Ready,
    };
    let fault = header_fault(step, unit).unwrap_or_else(|| body_fault(step, unit, byte));
    (receiver, fault)
}

fn greeting_expectation(receiver: Side, byte: usize, unit: &[u8]) -> (Side, ProtocolError) {
    let fault = match byte {
        0 | 9 => WireError::BadSignature {
            position: byte,
            byte: unit[byte],
        }
        .into(),
        10 if unit[10] < 3 => WireError::UnsupportedVersion { major: unit[10] }.into(),
        12..32 => Incompatible::MechanismMismatch {
            ours: vec![Mechanism::Blake3],
            theirs: Greeting::parse(unit).unwrap().unwrap().mechanism_text(),
        }
        .into(),
        32 if receiver == Side::Server => Incompatible::BothServers.into(),
        32 if unit[32] == 0 => Incompatible::BothClients.into(),
        // What means nothing by itself is in the transcript.
        _ => return (Side::Client, HandshakeError::WelcomeUnreadable.into()),
    };
    (receiver, fault)
}

/// What a changed flag or length leads to; `None` when it still is a command frame of this size.
fn header_fault(step: Step, unit: &[u8]) -> Option<ProtocolError> {
    let flags = unit[0];
    if !matches!(flags, 0..=4 | 6) {
        return Some(WireError::ReservedFlags { flags }.into());
    }
    let (claimed, header) = (zmtp::claimed(unit), zmtp::header_size(unit));
    let too_large = |limit| WireError::FrameTooLarge { claimed, limit }.into();
    if claimed > i64::MAX as u64 {
        return Some(too_large(i64::MAX as u64));
    }
    if flags & zmtp::COMMAND == 0 {
        return Some(HandshakeError::UnexpectedCommand { expected: step }.into());
    }
    if claimed > MAX_HANDSHAKE_FRAME {
        return Some(too_large(MAX_HANDSHAKE_FRAME));
    }
    if claimed == 0 {
        return Some(WireError::TruncatedCommand.into());
    }
    if claimed > (unit.len() - header) as u64 {
        // The rest never comes.
        return Some(ProtocolError::HandshakeTimeout { step });
    }
    None
}

fn body_fault(step: Step, unit: &[u8], byte: usize) -> ProtocolError {
    let name = zmtp::header_size(unit)..zmtp::header_size(unit) + 1 + step.to_string().len();
    let in_body = byte.saturating_sub(name.end);
    if byte == name.start && usize::from(unit[byte]) >= unit.len() - name.start {
        return WireError::TruncatedCommand.into();
    }
    if name.contains(&byte) {
        return HandshakeError::UnexpectedCommand { expected: step }.into();
    }
    // By the length, which may have been made smaller.
    let data = (zmtp::claimed(unit) as usize).saturating_sub(name.len());
    let fault = match step {
        Step::Initiate if data < INITIATE_FIELDS => HandshakeError::InitiateMalformed,
        Step::Ready if data < TAG => HandshakeError::ReadyMalformed,
        // The length was made smaller.
        Step::Hello if byte < name.start => HandshakeError::HelloMalformed,
        // Version, then C', then padding, then the box.
        Step::Hello if matches!(in_body, 0..2 | 34..130) => HandshakeError::HelloMalformed,
        Step::Hello if in_body == 33 && unit[byte] & 0x80 != 0 => HandshakeError::KeyNotCanonical,
        Step::Hello => HandshakeError::HelloUnreadable,
        Step::Welcome => HandshakeError::WelcomeUnreadable,
        Step::Initiate if byte >= name.end && in_body < 152 => HandshakeError::CookieRejected,
        Step::Initiate => HandshakeError::InitiateUnreadable,
        _ => HandshakeError::ReadyUnreadable,
    };
    fault.into()
}
