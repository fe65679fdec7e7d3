//! Someone on the path tampers with sealed frames of an established connection.
//!
//! The receiver must end that connection, say which frame it was, and deliver exactly what came
//! before it; nothing of an unfinished multipart message.

use std::sync::{Arc, Mutex};

use sealwire::blocking::Socket;
use sealwire::{FailureCause, Message, ProtocolError};
use sealwire_zmtp::error::{CloseKind, WireError};

use crate::memory;
use crate::scene::{End, MAX_MESSAGE_SIZE, Scene};
use sealwire_relay::zmtp;
use sealwire_relay::{Act, Script, honest, recording};

/// Units before the first sealed frame: the greeting and two commands in each direction.
const HANDSHAKE_UNITS: usize = 3;

/// Does to the sealed frames of a direction, counted from 0, what `tamper` says.
pub(crate) fn data(mut tamper: impl FnMut(usize, Vec<u8>) -> Act + Send + 'static) -> Script {
    Box::new(
        move |index, unit| match index.checked_sub(HANDSHAKE_UNITS) {
            Some(frame) => tamper(frame, unit),
            None => Act::forward(unit),
        },
    )
}

/// Does something to one frame and lets the others pass.
pub(crate) fn frame(
    number: usize,
    mut tamper: impl FnMut(Vec<u8>) -> Act + Send + 'static,
) -> Script {
    data(move |index, unit| {
        if index == number {
            tamper(unit)
        } else {
            Act::forward(unit)
        }
    })
}

fn not_verified(index: u64) -> ProtocolError {
    ProtocolError::FrameNotVerified {
        index,
        first: index == 0,
    }
}

/// The tampering, and the number of the frame that then does not verify.
type Tampering = (&'static str, fn() -> Script, u64);

/// The manipulations of frame 2 of five that change its order or content.
const TAMPERINGS: [Tampering; 9] = [
    ("drop", || frame(2, |_| Act::drop()), 2),
    ("drop the first", || frame(0, |_| Act::drop()), 0),
    (
        "repeat",
        || frame(2, |unit| Act::forward([&unit[..], &unit].concat())),
        3,
    ),
    ("reorder", || reorder(2), 2),
    ("reorder the first two", || reorder(0), 0),
    (
        "take a byte off the end",
        || frame(2, |unit| Act::forward(&unit[..unit.len() - 1])),
        2,
    ),
    ("take the whole tag off", || frame(2, without_tag), 2),
    ("make it a command", || frame(2, |unit| flipped(unit, 2)), 2),
    ("add MORE", || frame(2, |unit| flipped(unit, 0)), 2),
];

/// Holds frame `number` back until after the next one.
pub(crate) fn reorder(number: usize) -> Script {
    let mut held = Vec::new();
    data(move |index, unit| {
        if index == number {
            held = unit;
            Act::drop()
        } else {
            Act::forward([unit, std::mem::take(&mut held)].concat())
        }
    })
}

fn without_tag(unit: Vec<u8>) -> Act {
    let body = &unit[2..unit.len() - 32];
    Act::forward(zmtp::frame(unit[0], body))
}

fn flipped(mut unit: Vec<u8>, bit: usize) -> Act {
    sealwire_relay::flip(&mut unit, bit);
    Act::forward(unit)
}

/// Five messages of one frame each, then some more, so that a relay that waits for bytes gets them.
fn send_all(client: &Socket) -> Vec<Vec<String>> {
    let bodies: Vec<String> = (0..5).map(|number| format!("message {number}")).collect();
    for body in &bodies {
        client.send(body.as_str()).unwrap();
    }
    for _ in 0..40 {
        // The connection may be over by now; then there is nobody to send to.
        let _ = client.try_send(vec![b'.'; 200]);
    }
    bodies.into_iter().map(|body| vec![body]).collect()
}

#[test]
fn tampering_on_the_way_to_the_server_is_noticed() {
    let _shared = memory::shared();
    for (name, script, index) in TAMPERINGS {
        let scene = Scene::new();
        let client = scene.attacked_client(script(), honest());
        let sent = send_all(&client.socket);
        assert_eq!(
            scene.fault_of(client.carried.address),
            not_verified(index),
            "{name}"
        );
        assert_eq!(scene.received(), sent[..index as usize], "{name}");
    }
}

#[test]
fn tampering_on_the_way_to_the_client_is_noticed() {
    let _shared = memory::shared();
    for (name, script, index) in TAMPERINGS {
        let scene = Scene::new();
        let client = scene.attacked_client(honest(), script());
        let sent = send_all(&client.socket);
        assert_eq!(client.fault(), not_verified(index), "{name}");
        for message in &sent[..index as usize] {
            assert_eq!(
                client.socket.recv().unwrap().as_str().unwrap(),
                message[0],
                "{name}"
            );
        }
        assert!(
            client.socket.try_recv().is_err(),
            "{name}: nothing more is delivered"
        );
    }
}

/// Every bit of a frame with a short and of one with a long header.
#[test]
fn no_bit_of_a_frame_can_be_flipped() {
    let _shared = memory::shared();
    let scene = Scene::new();
    for body in [vec![b'x'; 5], vec![b'y'; 300]] {
        let overhead = if body.len() + 32 > 255 {
            9 + 32
        } else {
            2 + 32
        };
        for bit in 0..(body.len() + overhead) * 8 {
            let before = scene.received().len();
            let client = scene.attacked_client(frame(1, move |unit| flipped(unit, bit)), honest());
            client.socket.send("good").unwrap();
            client.socket.send(body.clone()).unwrap();
            // Enough for whatever a larger length may claim and the limit allows.
            for _ in 0..2 * MAX_MESSAGE_SIZE / 300 {
                let _ = client.socket.try_send(vec![b'z'; 300]);
            }
            let fault = scene.fault_of(client.carried.address);
            let fits = match &fault {
                ProtocolError::FrameNotVerified { index: 1, first } => !first,
                ProtocolError::Wire(WireError::ReservedFlags { .. }) => bit < 8,
                // A length, or the flag that says how it is written.
                ProtocolError::Wire(WireError::FrameTooLarge { .. })
                | ProtocolError::MessageTooLarge { .. } => bit == 1 || (8..72).contains(&bit),
                _ => false,
            };
            assert!(fits, "bit {bit}: {fault}");
            assert_eq!(scene.received()[before..], [["good"]], "bit {bit}");
        }
    }
}

#[test]
fn a_frame_of_another_connection_does_not_verify() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let other = Arc::<Mutex<Vec<Vec<u8>>>>::default();
    let donor = scene.attacked_client(recording(&other), honest());
    // The same client, the same place in the order, the same words.
    donor.socket.send("pay").unwrap();
    donor.socket.recv().unwrap();
    let stolen = other.lock().unwrap()[HANDSHAKE_UNITS].clone();
    let client = scene.attacked_client(frame(0, move |_| Act::forward(stolen.clone())), honest());
    client.socket.send("pay").unwrap();
    assert_eq!(scene.fault_of(client.carried.address), not_verified(0));
    assert_eq!(scene.received(), [["pay"]], "the donor's, once");
    donor.socket.send("the donor goes on").unwrap();
    donor.socket.recv().unwrap();
}

#[test]
fn a_frame_does_not_verify_in_the_other_direction() {
    let _shared = memory::shared();
    for number in [0, 2] {
        let scene = Scene::new();
        let client = scene.attacked_client(frame(number, Act::reflect), honest());
        let sent = send_all(&client.socket);
        // It arrives after as many echoes as messages got through, if not before them.
        let fault = client.fault();
        assert!(
            matches!(fault, ProtocolError::FrameNotVerified { index, .. }
            if index <= number as u64),
            "{fault}"
        );
        let mut echoes = Vec::new();
        while let Ok(echo) = client.socket.try_recv() {
            echoes.push(vec![echo.as_str().unwrap().to_owned()]);
        }
        assert!(
            echoes.len() <= number && sent.starts_with(&echoes),
            "{echoes:?}"
        );
    }
}

#[test]
fn a_whole_handshake_does_not_work_in_a_mirror() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let client = scene.attacked_client(
        Box::new(|_, unit| Act::reflect(unit)),
        Box::new(|_, _| Act::drop()),
    );
    let fault = client.fault();
    let expected = sealwire_zmtp::error::Incompatible::BothClients;
    assert_eq!(fault, ProtocolError::Incompatible(expected));
}

#[test]
fn plain_frames_have_no_place_among_sealed_ones() {
    let _shared = memory::shared();
    let forged = [
        zmtp::frame(0, b"forged"),
        zmtp::frame(0, &[b'f'; 64]),
        zmtp::frame(zmtp::COMMAND, &zmtp::command("ERROR", b"\x07go away")),
        zmtp::frame(zmtp::COMMAND, &zmtp::command("PING", b"\0\0")),
        zmtp::frame(0, b""),
    ];
    for forged in forged {
        let scene = Scene::new();
        let inject = move |unit: Vec<u8>| Act::forward([&unit[..], &forged].concat());
        let client = scene.attacked_client(frame(1, inject), honest());
        let sent = send_all(&client.socket);
        assert_eq!(scene.fault_of(client.carried.address), not_verified(2));
        assert_eq!(scene.received(), sent[..2]);
    }
}

#[test]
fn a_cut_inside_a_frame_is_reported() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let cut = |unit: Vec<u8>| Act::forward_and_cut(&unit[..unit.len() / 2]);
    let client = scene.attacked_client(frame(2, cut), honest());
    let sent = send_all(&client.socket);
    let fault = scene.fault_of(client.carried.address);
    assert_eq!(fault, ProtocolError::Closed(CloseKind::MidMessage));
    assert_eq!(scene.received(), sent[..2]);
}

/// ZMTP has no authenticated end: this one is told, and told as what it looks like.
#[test]
fn a_cut_between_messages_looks_like_an_end() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let client = scene.attacked_client(frame(2, Act::forward_and_cut), honest());
    let sent = send_all(&client.socket);
    let end = scene.end_of(client.carried.address);
    assert!(
        matches!(&end, End::Clean)
            || matches!(&end, End::Failed(failure)
                if matches!(failure.cause(), FailureCause::Transport(_))),
        "{end:?}"
    );
    assert_eq!(scene.received(), sent[..3]);
}

/// The tampering, and the fault that it shows as.
type Cut = (&'static str, fn() -> Script, ProtocolError);

#[test]
fn no_part_of_an_unfinished_message_is_delivered() {
    let _shared = memory::shared();
    // Frame 0 is a message of its own; frames 1, 2 and 3 are one together.
    let attacks: [Cut; 5] = [
        (
            "flip the last",
            || frame(3, |unit| flipped(unit, 40)),
            not_verified(3),
        ),
        (
            "drop the middle",
            || frame(2, |_| Act::drop()),
            not_verified(2),
        ),
        (
            "take MORE off",
            || frame(2, |unit| flipped(unit, 0)),
            not_verified(2),
        ),
        (
            "cut before the last",
            || frame(2, Act::forward_and_cut),
            ProtocolError::Closed(CloseKind::MidMessage),
        ),
        (
            "cut in the last",
            || frame(3, |unit| Act::forward_and_cut(&unit[..9])),
            ProtocolError::Closed(CloseKind::MidMessage),
        ),
    ];
    for (name, script, fault) in attacks {
        let scene = Scene::new();
        let client = scene.attacked_client(script(), honest());
        client.socket.send("whole").unwrap();
        client
            .socket
            .send(Message::multipart(["one", "two", "three"]))
            .unwrap();
        let _ = client.socket.try_send("behind");
        assert_eq!(scene.fault_of(client.carried.address), fault, "{name}");
        assert_eq!(scene.received(), [["whole"]], "{name}");
    }
}

/// Delay is not a forgery: whatever the pieces are, the same messages come out.
#[test]
fn bytes_that_come_one_by_one_are_put_together() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let one_by_one = || -> Script {
        Box::new(|_, unit| Act {
            one_by_one: true,
            ..Act::forward(unit)
        })
    };
    let client = scene.attacked_client(one_by_one(), one_by_one());
    for number in 0..3 {
        let message = Message::multipart([format!("{number}"), "x".repeat(300)]);
        client.socket.send(message.clone()).unwrap();
        assert_eq!(client.socket.recv().unwrap().frames(), message.frames());
    }
}
