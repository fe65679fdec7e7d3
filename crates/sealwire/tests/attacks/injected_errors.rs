//! Someone on the path says ERROR in the clear, in the name of the other side.
//!
//! Before the handshake is done nobody can tell who said it. So it may end one attempt, is shown
//! as unverified, and is never a reason to give up.

use std::time::Duration;

use sealwire::{Event, FailureCause, ProtocolError};

use crate::memory;
use crate::scene::Scene;
use crate::support::await_event;
use sealwire_relay::zmtp::{self, COMMAND};
use sealwire_relay::{Act, Format, Relay, Script, honest};

/// Words that would do harm on a terminal.
const REASON: &[u8] = b"\x1b[2Jyou are not\x0awelcome\xff";
const ESCAPED: &str = r"\x1b[2Jyou are not\x0awelcome\xff";

fn error(reason: &[u8]) -> Vec<u8> {
    let data = [&[reason.len() as u8], reason].concat();
    zmtp::frame(COMMAND, &zmtp::command("ERROR", &data))
}

/// Says ERROR behind unit `after`.
fn injecting(after: usize) -> Script {
    Box::new(move |index, mut unit| {
        if index == after {
            unit.extend(error(REASON));
        }
        Act::forward(unit)
    })
}

fn unverified(error: &ProtocolError) -> bool {
    matches!(error, ProtocolError::PeerRefused { reason, verified: false } if reason == ESCAPED)
}

#[test]
fn the_client_goes_on_and_connects_when_the_interference_stops() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let relay = Relay::before(scene.address, Format::Zmtp);
    let pause = Duration::from_millis(10);
    let client = scene
        .victim()
        .reconnect(pause, pause)
        .build_blocking()
        .unwrap();
    let monitor = client.monitor();
    client.connect(relay.endpoint()).unwrap();
    client.send("at last").unwrap();
    // Behind the greeting, and behind WELCOME; often enough to see that nobody counts.
    for attempt in 0..20 {
        let _carried = relay.carry(honest(), injecting(attempt % 2));
        let failure = await_event(&monitor, "an attempt failed", |event| match event {
            Event::Failed(failure) => Some(failure.clone()),
            _ => None,
        });
        assert!(!failure.was_ready());
        assert!(failure.to_string().contains("unverified"), "{failure}");
        assert!(!failure.to_string().contains(char::is_control));
        let FailureCause::Protocol(error) = failure.cause() else {
            panic!("{failure}")
        };
        assert!(unverified(error), "{error}");
    }
    let _carried = relay.carry(honest(), honest());
    assert_eq!(client.recv().unwrap().as_bytes(), b"at last");
    assert_eq!(scene.received(), [["at last"]]);
}

#[test]
fn the_server_ends_that_attempt_only() {
    let _shared = memory::shared();
    for after in [0, 1] {
        let scene = Scene::new();
        let client = scene.attacked_client(injecting(after), honest());
        let error = scene.fault_of(client.carried.address);
        assert!(unverified(&error), "{error}");
        // The bystander is asked when the scene ends; the victim may come again, too.
        let client = scene.attacked_client(honest(), honest());
        client.socket.send("second attempt").unwrap();
        assert_eq!(client.socket.recv().unwrap().as_bytes(), b"second attempt");
    }
}

#[test]
fn after_the_handshake_plain_words_do_not_count() {
    let _shared = memory::shared();
    let scene = Scene::new();
    // Behind READY.
    let client = scene.attacked_client(honest(), injecting(2));
    let fault = client.fault();
    assert!(
        matches!(fault, ProtocolError::FrameNotVerified { index: 0, .. }),
        "{fault}"
    );
}

#[test]
fn an_error_that_is_malformed_is_reported_as_such() {
    let _shared = memory::shared();
    for data in [&b""[..], b"\x05four", b"\x03four"] {
        let scene = Scene::new();
        let command = zmtp::frame(COMMAND, &zmtp::command("ERROR", data));
        let script: Script = Box::new(move |index, unit| match index {
            1 => Act::forward(command.clone()),
            _ => Act::forward(unit),
        });
        let client = scene.attacked_client(honest(), script);
        let expected = sealwire_zmtp::error::WireError::MalformedCommand { command: "ERROR" };
        assert_eq!(client.fault(), ProtocolError::Wire(expected));
    }
}
