//! Someone on the wire after the handshake: every frame that is not the next one is refused.

use sealwire_zmtp::error::{CloseKind, Error};
use sealwire_zmtp::mechanism::DataPhase;
use sealwire_zmtp::{Config, Event, Frame, Frames, SocketType};

use crate::support::{Cookies, Pair, client, frames, provider, providers, server};

/// A client and its server.
fn sides(phase: DataPhase) -> (Config, Config) {
    (
        client(SocketType::Dealer, phase),
        server(SocketType::Router, phase, Cookies::new(1)),
    )
}

fn pair_with(phase: DataPhase) -> Pair {
    let (client, server) = sides(phase);
    Pair::ready(client, server, &provider())
}

fn pair() -> Pair {
    pair_with(DataPhase::PerMessageNonces)
}

/// The client's frames for messages "0", "1" and so on.
fn numbered(pair: &mut Pair, count: usize) -> Vec<Vec<u8>> {
    (0..count).for_each(|i| pair.a.send(i.to_string()));
    frames(&pair.a.output())
}

fn not_verified(index: u64) -> Option<Error> {
    Some(Error::FrameNotVerified {
        index,
        first: index == 0,
    })
}

/// Feeds `bytes` to the server and checks that exactly the first `delivered` messages came through
/// before the connection ended.
fn check(pair: &mut Pair, bytes: &[u8], delivered: usize) {
    pair.b.feed(bytes);
    assert_eq!(pair.b.error, not_verified(delivered as u64));
    let expected: Vec<_> = (0..delivered)
        .map(|i| Frames::from(i.to_string()))
        .collect();
    assert_eq!(pair.b.messages(), expected);
    pair.b.feed(bytes);
    assert_eq!(
        pair.b.messages(),
        [],
        "a connection that is over delivers nothing more"
    );
}

#[test]
fn a_dropped_frame() {
    for dropped in [0, 1, 31, 32, 40, 99] {
        let mut pair = pair();
        let mut frames = numbered(&mut pair, 101);
        frames.remove(dropped);
        check(&mut pair, &frames.concat(), dropped);
    }
}

#[test]
fn a_repeated_frame() {
    for repeated in [0, 5, 31, 32, 63] {
        let mut pair = pair();
        let mut frames = numbered(&mut pair, 70);
        frames.insert(repeated + 1, frames[repeated].clone());
        check(&mut pair, &frames.concat(), repeated + 1);
    }
}

#[test]
fn frames_in_another_order() {
    let mut pair = pair();
    let mut frames = numbered(&mut pair, 10);
    frames.swap(4, 5);
    check(&mut pair, &frames.concat(), 4);
}

#[test]
fn a_frame_of_another_connection() {
    let mut other = pair();
    let foreign = numbered(&mut other, 10);
    let (client, server) = sides(DataPhase::PerMessageNonces);
    let mut pair = Pair::new(client.clone(), server, &provider());
    pair.a = crate::support::Side::new(client, provider(), 7);
    pair.settle();
    let mut frames = numbered(&mut pair, 10);
    frames[3] = foreign[3].clone();
    check(&mut pair, &frames.concat(), 3);
}

#[test]
fn a_frame_reflected_to_its_sender() {
    let mut pair = pair();
    let frames = numbered(&mut pair, 2);
    pair.a.feed(&frames[0]);
    assert_eq!(pair.a.error, not_verified(0));
    assert_eq!(pair.a.messages(), []);
}

#[test]
fn every_flipped_bit_of_a_frame() {
    for provider in providers() {
        let ready = || {
            let (client, server) = sides(DataPhase::PerMessageNonces);
            Pair::ready(client, server, &provider)
        };
        let mut sender = ready();
        let original = numbered(&mut sender, 3);
        for bit in 0..original[1].len() * 8 {
            // The same entropy gives the same keys, so a fresh receiver stands in for the first.
            let mut pair = ready();
            let mut frames = original.clone();
            frames[1][bit / 8] ^= 1 << (bit % 8);
            pair.b.feed(&frames.concat());
            assert_eq!(pair.b.messages(), [Frames::from("0")], "bit {bit}");
            match pair.b.error {
                // A length that grew beyond what is there asks for bytes that never come.
                None => assert_eq!(
                    pair.b.connection.end_of_stream(),
                    Error::Closed(CloseKind::MidMessage),
                    "bit {bit}"
                ),
                Some(
                    Error::FrameNotVerified {
                        index: 1,
                        first: false,
                    }
                    | Error::Wire(_)
                    | Error::MessageTooLarge { .. },
                ) => {}
                other => panic!("bit {bit}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_command_cannot_become_a_message_nor_a_part_a_whole() {
    // MORE taken off: the flags are authenticated.
    let mut pair = pair();
    pair.a.send(Frames::from_iter(["a", "b"].map(Frame::from)));
    let mut bytes = pair.a.output();
    assert_eq!(bytes[0], 1);
    bytes[0] = 0;
    check(&mut pair, &bytes, 0);
    // COMMAND taken off.
    let mut pair = self::pair();
    pair.a.connection.subscribe(b"topic");
    let mut bytes = pair.a.output();
    bytes[0] = 0;
    check(&mut pair, &bytes, 0);
}

#[test]
fn a_length_in_another_form_is_another_frame() {
    let mut pair = pair();
    let frame = &numbered(&mut pair, 1)[0];
    let long = [&[2, 0, 0, 0, 0, 0, 0, 0, frame[1]], &frame[2..]].concat();
    check(&mut pair, &long, 0);
}

#[test]
fn a_truncated_frame_and_one_too_short_for_a_tag() {
    let mut pair = pair();
    let frames = numbered(&mut pair, 2);
    pair.b.feed(&frames[0]);
    pair.b.feed(&frames[1][..frames[1].len() - 1]);
    assert_eq!(pair.b.error, None);
    assert_eq!(
        pair.b.connection.end_of_stream(),
        Error::Closed(CloseKind::MidMessage)
    );
    assert_eq!(pair.b.messages(), [Frames::from("0")]);

    for size in [0, 31] {
        let mut pair = self::pair();
        pair.b.feed(&crate::support::frame(0, &vec![0; size]));
        assert_eq!(pair.b.error, not_verified(0));
    }
}

#[test]
fn a_cut_within_a_message_delivers_no_part_of_it() {
    let mut pair = pair();
    pair.a.send("whole");
    pair.a
        .send(Frames::from_iter(["one", "two", "three"].map(Frame::from)));
    let frames = frames(&pair.a.output());
    assert_eq!(frames.len(), 4);
    pair.b.feed(&frames[..3].concat());
    assert_eq!(pair.b.messages(), [Frames::from("whole")]);
    assert_eq!(
        pair.b.connection.end_of_stream(),
        Error::Closed(CloseKind::MidMessage)
    );
    assert_eq!(pair.b.connection.poll_event(), None);
}

#[test]
fn plaintext_after_the_handshake_is_refused() {
    for bytes in [
        crate::support::frame(0, &[0; 64]),
        crate::support::frame(4, &[5; 64]),
    ] {
        let mut pair = pair();
        check(&mut pair, &bytes, 0);
    }
}

/// Not a wish but a fact about the weaker data phase, which is why it has a warning and a long
/// name: with one keystream nobody notices that a frame is missing.
#[test]
fn what_the_continuous_keystream_gives_up() {
    let mut pair = pair_with(DataPhase::ContinuousKeystreamUnauthenticatedOrder);
    let frames = numbered(&mut pair, 2);
    pair.b.feed(&frames[1]);
    assert_eq!(pair.b.error, None);
    let messages = pair.b.messages();
    assert_eq!(messages.len(), 1);
    assert_ne!(messages[0], Frames::from("1"), "it decrypts to noise");
    // A changed frame is noticed all the same.
    let mut changed = frames[0].clone();
    *changed.last_mut().unwrap() ^= 1;
    pair.b.feed(&changed);
    assert_eq!(
        pair.b.error,
        Some(Error::FrameNotVerified {
            index: 1,
            first: false
        })
    );
    assert!(
        !pair
            .b
            .events
            .iter()
            .any(|event| matches!(event, Event::Message(_)))
    );
}
