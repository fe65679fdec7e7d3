//! Properties over random splits, random lists of operations and random bytes.

use std::collections::VecDeque;

use proptest::prelude::*;
use sealwire_zmtp::error::Error;
use sealwire_zmtp::mechanism::DataPhase;
use sealwire_zmtp::wire::metadata::Metadata;
use sealwire_zmtp::{Config, Frame, Frames, Mechanism, SocketType};

use crate::support::{Cookies, Pair, Side, client, frames, handshake, provider, server};
use crate::support::{null, protections};

fn payload() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => prop::collection::vec(any::<u8>(), 0..300),
        1 => (any::<u8>(), 8_000..20_000_usize).prop_map(|(byte, size)| vec![byte; size]),
    ]
}

fn message() -> impl Strategy<Value = Frames> {
    prop::collection::vec(payload(), 1..5)
        .prop_map(|frames| frames.into_iter().map(Frame::from).collect())
}

fn protection() -> impl Strategy<Value = (Config, Config)> {
    (0..5_usize).prop_map(|i| protections()[i].clone())
}

/// Cuts `bytes` into pieces of these sizes, used over and over.
fn pieces<'a>(mut bytes: &'a [u8], sizes: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let mut sizes = sizes.iter().cycle();
    std::iter::from_fn(move || {
        let size = (*sizes.next()?).min(bytes.len());
        let (piece, rest) = bytes.split_at(size);
        bytes = rest;
        (size > 0).then_some(piece)
    })
}

/// What two connections may be asked to do, in any order.
#[derive(Clone, Debug)]
enum Operation {
    Send {
        from_a: bool,
        message: Frames,
    },
    /// Moves up to this many bytes.
    Deliver {
        from_a: bool,
        bytes: usize,
    },
    Subscribe {
        topic: Vec<u8>,
    },
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => (any::<bool>(), message())
            .prop_map(|(from_a, message)| Operation::Send { from_a, message }),
        4 => (any::<bool>(), 0..5_000_usize)
            .prop_map(|(from_a, bytes)| Operation::Deliver { from_a, bytes }),
        1 => prop::collection::vec(any::<u8>(), 0..40)
            .prop_map(|topic| Operation::Subscribe { topic }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_split_of_the_stream_gives_the_same_events(
        (a, b) in protection(),
        messages in prop::collection::vec(message(), 1..12),
        sizes in prop::collection::vec(1..200_usize, 1..8),
    ) {
        let mut pair = Pair::new(a, b, &provider());
        loop {
            let (from_a, from_b) = (pair.a.output(), pair.b.output());
            if from_a.is_empty() && from_b.is_empty() {
                break;
            }
            pieces(&from_b, &sizes).for_each(|piece| pair.a.feed(piece));
            pieces(&from_a, &sizes).for_each(|piece| pair.b.feed(piece));
        }
        prop_assert!(pair.a.connection.is_ready() && pair.b.connection.is_ready());
        messages.iter().for_each(|message| pair.a.send(message.clone()));
        pieces(&pair.a.output(), &sizes).for_each(|piece| pair.b.feed(piece));
        prop_assert_eq!(&pair.b.error, &None);
        prop_assert_eq!(pair.b.messages(), messages);
    }

    #[test]
    fn whatever_is_sent_arrives_once_and_in_order(
        (a, b) in protection(),
        operations in prop::collection::vec(operation(), 1..60),
    ) {
        let mut pair = Pair::ready(a, b, &provider());
        let (mut to_a, mut to_b) = (Vec::new(), Vec::new());
        let (mut wire_to_a, mut wire_to_b) = (VecDeque::new(), VecDeque::new());
        for operation in operations {
            match operation {
                Operation::Send { from_a: true, message } => {
                    to_b.push(message.clone());
                    pair.a.send(message);
                }
                Operation::Send { from_a: false, message } => {
                    to_a.push(message.clone());
                    pair.b.send(message);
                }
                Operation::Deliver { from_a: true, bytes } => {
                    wire_to_b.extend(pair.a.output());
                    let bytes = bytes.min(wire_to_b.len());
                    pair.b.feed(&wire_to_b.drain(..bytes).collect::<Vec<u8>>());
                }
                Operation::Deliver { from_a: false, bytes } => {
                    wire_to_a.extend(pair.b.output());
                    let bytes = bytes.min(wire_to_a.len());
                    pair.a.feed(&wire_to_a.drain(..bytes).collect::<Vec<u8>>());
                }
                // Neither side publishes, so it must pass without a trace.
                Operation::Subscribe { topic } => pair.a.connection.subscribe(&topic),
            }
        }
        pair.b.feed(wire_to_b.make_contiguous());
        pair.a.feed(wire_to_a.make_contiguous());
        pair.settle();
        prop_assert_eq!((&pair.a.error, &pair.b.error), (&None, &None));
        prop_assert_eq!(pair.a.messages(), to_a);
        prop_assert_eq!(pair.b.messages(), to_b);
        prop_assert!(pair.a.events.is_empty() && pair.b.events.is_empty());
    }

    #[test]
    fn a_stream_of_frames_that_was_tampered_with_delivers_a_prefix(
        count in 1..80_usize,
        parts in 1..4_usize,
        edits in prop::collection::vec((0..4_u8, any::<prop::sample::Index>(),
            any::<prop::sample::Index>()), 1..4),
    ) {
        let phase = DataPhase::PerMessageNonces;
        let mut pair = Pair::ready(
            client(SocketType::Dealer, phase),
            server(SocketType::Router, phase, Cookies::new(1)),
            &provider(),
        );
        let numbered = |i: usize| -> Frames {
            (0..parts).map(|part| Frame::from(format!("{i}.{part}"))).collect()
        };
        (0..count).for_each(|i| {
            pair.a.send(numbered(i));
            pair.b.send(numbered(i));
        });
        let original = frames(&pair.a.output());
        let reflected = frames(&pair.b.output());
        let mut edited = original.clone();
        for (kind, at, other) in edits {
            let at = at.index(edited.len());
            match kind {
                0 if edited.len() > 1 => drop(edited.remove(at)),
                1 => edited.insert(at, edited[other.index(edited.len())].clone()),
                2 => {
                    let other = other.index(edited.len());
                    edited.swap(at, other);
                }
                _ => edited[at] = reflected[other.index(reflected.len())].clone(),
            }
        }
        pair.a.events.clear();
        pair.b.feed(&edited.concat());
        let intact = original.iter().zip(&edited).take_while(|(a, b)| a == b).count();
        let expected: Vec<_> = (0..intact / parts).map(numbered).collect();
        prop_assert_eq!(pair.b.messages(), expected);
        if intact < edited.len() {
            let index = intact as u64;
            let error = Error::FrameNotVerified { index, first: index == 0 };
            prop_assert_eq!(&pair.b.error, &Some(error));
        }
    }

    #[test]
    fn bytes_in_place_of_a_handshake_step_never_pass(
        step in 0..6_usize,
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        flags in prop::option::of(0..8_u8),
    ) {
        let phase = DataPhase::PerMessageNonces;
        let mut client = Side::new(client(SocketType::Dealer, phase), provider(), 1);
        let config = server(SocketType::Router, phase, Cookies::new(1));
        let mut server = Side::new(config, provider(), 2);
        let mut at = 0;
        handshake(&mut client, &mut server, |_, leg| {
            if at == step {
                *leg = match flags {
                    Some(flags) => crate::support::frame(flags, &bytes),
                    None => bytes.clone(),
                };
            }
            at += 1;
        });
        prop_assert!(!client.connection.is_ready());
        prop_assert_eq!(server.connection.is_ready(), step == 5);
        prop_assert!(client.events.is_empty());
    }

    #[test]
    fn any_bytes_after_the_handshake_are_taken_or_refused(
        (a, b) in protection(),
        chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..20),
    ) {
        let mut pair = Pair::ready(a, b.clone(), &provider());
        for chunk in &chunks {
            pair.b.feed(chunk);
            prop_assert!(pair.b.connection.wanted() <= 1 << 20);
        }
        if b.mechanism.mechanisms().all(Mechanism::encrypts) {
            prop_assert_eq!(pair.b.messages(), []);
        }
        pair.b.connection.end_of_stream();
        prop_assert!(!pair.b.connection.is_ready());
    }

    #[test]
    fn metadata_that_parses_is_written_back_the_same(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(metadata) = Metadata::parse(&bytes) {
            let mut again = Vec::new();
            metadata.encode(&mut again);
            prop_assert_eq!(again, bytes);
        }
    }

    #[test]
    fn a_message_behaves_like_a_deque_of_frames(operations in prop::collection::vec((0..4_u8, payload()), 0..40)) {
        let mut message = Frames::new();
        let mut model = VecDeque::new();
        for (operation, payload) in operations {
            let frame = Frame::from(payload);
            match operation {
                0 => { message.push_back(frame.clone()); model.push_back(frame); }
                1 => { message.push_front(frame.clone()); model.push_front(frame); }
                _ => prop_assert_eq!(message.pop_front(), model.pop_front()),
            }
            prop_assert_eq!(message.frames(), &*model.make_contiguous());
            prop_assert_eq!(message.size(), model.iter().map(|frame| frame.len()).sum::<usize>());
        }
        prop_assert_eq!(message.into_frames().collect::<VecDeque<_>>(), model);
    }
}

/// Two NULL sides whose bytes are cut everywhere once, which no random choice guarantees.
#[test]
fn every_single_cut_of_a_short_stream() {
    let mut sender = Pair::ready(null(SocketType::Push), null(SocketType::Pull), &provider());
    let sent = [
        Frames::from("a"),
        Frames::from_iter(["b", "", "c"].map(Frame::from)),
        Frames::from(vec![7; 300]),
    ];
    sent.iter()
        .for_each(|message| sender.a.send(message.clone()));
    let stream = sender.a.output();
    for cut in 0..=stream.len() {
        let mut pair = Pair::ready(null(SocketType::Push), null(SocketType::Pull), &provider());
        pair.b.feed(&stream[..cut]);
        pair.b.feed(&stream[cut..]);
        assert_eq!(pair.b.messages(), sent);
    }
}
