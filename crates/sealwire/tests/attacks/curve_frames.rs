//! Someone on the path leaves out, repeats or moves whole frames of CURVE.
//!
//! CurveZMQ only demands that their numbers rise. Here each follows the one before, so that no
//! message is made of parts of others.

use sealwire::{Frame, Message, ProtocolError};

use crate::data_frames::{data, frame, reorder};
use crate::memory;
use crate::relay::{Act, Script, honest};
use crate::scene::{Mechanism, Scene};

/// What is done, how, and the number of the frame that then does not verify.
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
