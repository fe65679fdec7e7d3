//! Handshakes that repeat themselves, are refused or forged: advisories of quinn, snow and NATS.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use sealwire::auth::Client;
use sealwire::{Generate as _, KeyPair, ProtocolError, Security, SocketType};
use sealwire_zmtp::error::{HandshakeError, Step, WireError};

use super::Server;
use crate::data_frames::frame;
use crate::forger::{self, Forger};
use crate::memory;
use crate::scene::{Mechanism, Scene};
use crate::support::{eventually, options};
use sealwire_relay::zmtp;
use sealwire_relay::{Act, Format, Relay, Script, honest};

/// Carries everything, and one unit twice.
fn twice(which: usize) -> Script {
    Box::new(move |index, unit| match index == which {
        true => Act::forward([&unit[..], &unit].concat()),
        false => Act::forward(unit),
    })
}

/// A second INFO found its handshake's state gone (CVE-2026-58250 of NATS). Each step that comes twice
/// is named as what it is, on both sides.
#[test]
fn cve_2026_58250_every_step_twice() {
    let _shared = memory::shared();
    let unexpected = |expected| HandshakeError::UnexpectedCommand { expected }.into();
    // The signature of a greeting, read as flags of a frame.
    let flags = ProtocolError::from(WireError::ReservedFlags { flags: 0xff });
    for mechanism in [Mechanism::Blake3, Mechanism::Curve] {
        let to_server: [(usize, ProtocolError); 3] = [
            (0, flags.clone()),
            (1, unexpected(Step::Initiate)),
            (2, HandshakeError::UnexpectedData.into()),
        ];
        for (which, expected) in to_server {
            let scene = Scene::protected_by(mechanism, |server| server);
            let client = scene.attacked_client(twice(which), honest());
            let fault = scene.fault_of(client.carried.address);
            assert_eq!(fault, expected, "{mechanism:?}, unit {which}");
            assert!(scene.received().is_empty());
        }
        // The first frame of BLAKE3 says more: the peers may have agreed on different data phases.
        let again = ProtocolError::FrameNotVerified {
            index: 0,
            first: matches!(mechanism, Mechanism::Blake3),
        };
        let to_client: [(usize, ProtocolError); 3] =
            [(0, flags.clone()), (1, unexpected(Step::Ready)), (2, again)];
        for (which, expected) in to_client {
            let scene = Scene::protected_by(mechanism, |server| server);
            let client = scene.attacked_client(honest(), twice(which));
            assert_eq!(client.fault(), expected, "{mechanism:?}, unit {which}");
            assert!(client.socket.try_recv().is_err());
        }
    }
}

/// What did not verify moved the number of the next message, so that one forged packet made all that
/// followed unreadable, for as long as the session lasted. Here it ends its connection, and the next has
/// keys and numbers of its own.
#[test]
fn rustsec_2024_0011_a_forged_frame_costs_one_connection() {
    let _shared = memory::shared();
    for mechanism in [Mechanism::Blake3, Mechanism::Curve] {
        let scene = Scene::protected_by(mechanism, |server| server);
        let relay = Relay::before(scene.address, Format::Zmtp);
        let client = scene
            .victim()
            .reconnect(Duration::from_millis(1), Duration::from_millis(1))
            .build_blocking()
            .unwrap();
        client.connect(relay.endpoint()).unwrap();
        // Before the third frame of the client comes one that it has not sent.
        let injects = frame(2, |unit| {
            let mut forged = unit.clone();
            let last = forged.len() - 1;
            forged[last] ^= 1;
            Act::forward([forged, unit].concat())
        });
        let carried = relay.carry(injects, honest());
        for text in ["one", "two", "three"] {
            client.send(text).unwrap();
        }
        // CURVE's own numbers begin behind those of the handshake; the fault counts from 0.
        let expected = ProtocolError::FrameNotVerified {
            index: 2,
            first: false,
        };
        assert_eq!(scene.fault_of(carried.address), expected, "{mechanism:?}");
        drop(carried);
        let _next = relay.carry(honest(), honest());
        client.send("after it").unwrap();
        eventually("the next connection works", || {
            scene
                .received()
                .last()
                .is_some_and(|last| last == &["after it"])
        });
        let received = scene.received();
        assert!(received.starts_with(&[vec!["one".into()], vec!["two".into()]]));
        assert!(
            received.len() == 3,
            "the forged one is not among them: {received:?}"
        );
    }
}

/// Decides about nobody until it is opened; then about each by its key.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<State>, Condvar)>);

#[derive(Default)]
struct State {
    open: bool,
    asked: usize,
    allowed: Vec<[u8; 32]>,
}

impl Gate {
    fn decide(&self, client: &Client<'_>) -> bool {
        let (state, opened) = &*self.0;
        let mut state = state.lock().unwrap();
        state.asked += 1;
        opened.notify_all();
        let state = opened.wait_while(state, |state| !state.open).unwrap();
        state.allowed.contains(client.public_key().as_bytes())
    }

    /// Waits until it was asked so often.
    fn await_questions(&self, count: usize) {
        let (state, opened) = &*self.0;
        let state = state.lock().unwrap();
        drop(
            opened
                .wait_while(state, |state| state.asked < count)
                .unwrap(),
        );
    }

    fn open(&self) {
        self.0.0.lock().unwrap().open = true;
        self.0.1.notify_all();
    }
}

/// State of a connection that was refused or had ended was looked up by the number of another, and
/// was not there. Here connections end while an authenticator is asked about them, others take their
/// places in its tables, and repeat themselves after they are refused. Each decision reaches the
/// connection that it was made for.
#[test]
fn rustsec_2024_0373_decisions_for_connections_that_are_gone() {
    /// Questions that are asked at once.
    const ASKED: usize = 4;
    const PLACES: u64 = 10;
    let _shared = memory::shared();
    let (gate, keys) = (Gate::default(), KeyPair::generate());
    let (good, bad) = (KeyPair::generate(), KeyPair::generate());
    gate.0.0.lock().unwrap().allowed = vec![*good.public().as_bytes()];
    let asked = gate.clone();
    let server = Server::bound(
        options(SocketType::Router)
            .security(Security::blake3_server(
                keys.clone(),
                move |client: &Client<'_>| asked.decide(client),
            ))
            // Only what the test does ends a handshake, however slow the machine.
            .handshake_timeout(Duration::from_secs(3_600)),
    );
    let initiate = |client: &KeyPair| {
        let mut forger = Forger::connect(server.address);
        let welcome = forger.welcome(&keys.public());
        let metadata = forger::metadata("DEALER");
        let initiate = forger.initiate(client, &welcome, &keys.public(), &metadata);
        let frame = forger.initiate_frame(&initiate);
        forger.write(&frame);
        (forger, frame)
    };
    // These would be let in, and go while they are asked about or wait for it.
    let first: Vec<_> = (0..PLACES).map(|_| initiate(&good)).collect();
    gate.await_questions(ASKED);
    drop(first);
    let failed = || server.socket.counters().handshakes_failed;
    eventually("they are gone", || failed() == PLACES);
    // These are not let in, and have the places of the others.
    let second: Vec<_> = (0..PLACES).map(|_| initiate(&bad)).collect();
    gate.open();
    for (mut forger, initiate) in second {
        let answer = forger.read();
        let body = &answer[zmtp::header_size(&answer)..];
        assert!(body.starts_with(b"\x05ERROR"), "{body:?}");
        // The refused client repeats all that it sent.
        let hello = forger.hello(&keys.public());
        forger.write_ignoring_errors(&[initiate, hello].concat());
    }
    eventually("they were refused", || failed() == 2 * PLACES);
    let (mut forger, _) = initiate(&good);
    assert!(forger.read()[2..].starts_with(b"\x05READY"));
    assert_eq!(server.socket.counters().handshakes_completed, 1);
}
