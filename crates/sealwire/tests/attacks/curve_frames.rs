//! Someone on the path leaves out, repeats or moves whole frames of CURVE.
//!
//! CurveZMQ only demands that their numbers rise. Here each follows the one before, so that no
//! message is made of parts of others.

use sealwire::auth::AllowedKeys;
use sealwire::{
    Event, Frame, Generate as _, KeyPair, Message, ProtocolError, Security, SocketType, Warning,
};

use crate::data_frames::{data, frame, reorder};
use crate::memory;
use crate::scene::{Mechanism, Scene, address_of};
use crate::support::{await_event, options};
use sealwire_relay::{Act, Format, Relay, Script, honest};

/// The name of the manipulation, its script, and the number of the frame that then does not verify.
type Misplacing = (&'static str, fn() -> Script, u64);

const MISPLACED: [Misplacing; 5] = [
    ("drop the first", || frame(0, |_| Act::drop()), 0),
    ("drop", || frame(2, |_| Act::drop()), 2),
    ("drop two", || without(2..4), 2),
    (
        "repeat",
        || frame(2, |unit| Act::forward([&unit[..], &unit].concat())),
        3,
    ),
    ("reorder", || reorder(2), 2),
];

fn without(left_out: std::ops::Range<usize>) -> Script {
    data(move |index, unit| match left_out.contains(&index) {
        true => Act::drop(),
        false => Act::forward(unit),
    })
}

fn not_verified(index: u64) -> ProtocolError {
    let first = false;
    ProtocolError::FrameNotVerified { index, first }
}

fn texts() -> Vec<String> {
    (0..6).map(|number| format!("message {number}")).collect()
}

#[test]
fn misplaced_frames_are_noticed_by_the_server() {
    let _shared = memory::shared();
    for (name, script, index) in MISPLACED {
        let scene = Scene::protected_by(Mechanism::Curve, |server| server);
        let client = scene.attacked_client(script(), honest());
        for text in texts() {
            client.socket.send(text.as_str()).unwrap();
        }
        let fault = scene.fault_of(client.carried.address);
        assert_eq!(fault, not_verified(index), "{name}");
        let whole: Vec<_> = texts()[..index as usize]
            .iter()
            .map(|text| vec![text.clone()])
            .collect();
        assert_eq!(scene.received(), whole, "{name}");
    }
}

#[test]
fn misplaced_frames_are_noticed_by_the_client() {
    let _shared = memory::shared();
    for (name, script, index) in MISPLACED {
        let scene = Scene::protected_by(Mechanism::Curve, |server| server);
        let client = scene.attacked_client(honest(), script());
        // The server echoes them.
        for text in texts() {
            client.socket.send(text.as_str()).unwrap();
        }
        assert_eq!(client.fault(), not_verified(index), "{name}");
        for text in &texts()[..index as usize] {
            assert_eq!(
                client.socket.recv().unwrap().as_str().unwrap(),
                text,
                "{name}"
            );
        }
        assert!(client.socket.try_recv().is_err(), "{name}");
    }
}

#[test]
fn parts_of_two_messages_do_not_make_a_third() {
    let _shared = memory::shared();
    let scene = Scene::protected_by(Mechanism::Curve, |server| server);
    let client = scene.attacked_client(without(1..3), honest());
    for parts in [["pay", "alice"], ["refuse", "mallory"]] {
        client
            .socket
            .send(Message::from_iter(parts.map(Frame::from)))
            .unwrap();
    }
    let fault = scene.fault_of(client.carried.address);
    assert_eq!(fault, not_verified(1));
    assert_eq!(scene.received(), Vec::<Vec<String>>::new());
}

/// A server that explicitly accepts gaps gets the remaining messages, and a warning.
#[test]
fn gaps_are_accepted_by_name_alone() {
    let _shared = memory::shared();
    let (keys, client_keys) = (KeyPair::generate(), KeyPair::generate());
    let server = options(SocketType::Pull)
        .security(Security::curve_server_accepting_gaps_unauthenticated_order(
            keys.clone(),
            AllowedKeys::new().allow(client_keys.public()),
        ))
        .build_blocking()
        .unwrap();
    let monitor = server.monitor();
    let address = address_of(&server.bind("tcp://127.0.0.1:0").unwrap());
    let relay = Relay::before(address, Format::Zmtp);
    let client = options(SocketType::Push)
        .security(Security::curve_client(keys.public(), client_keys))
        .build_blocking()
        .unwrap();
    client.connect(relay.endpoint()).unwrap();
    let _carried = relay.carry(without(1..2), honest());
    for text in texts() {
        client.send(text.as_str()).unwrap();
    }
    for text in texts().iter().filter(|text| *text != "message 1") {
        assert_eq!(server.recv().unwrap().as_str().unwrap(), text);
    }
    let warning = await_event(&monitor, "a warning", |event| match event {
        Event::Warning { warning, .. } => Some(*warning),
        _ => None,
    });
    assert_eq!(warning, Warning::GapsAccepted);
}
