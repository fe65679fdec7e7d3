//! CURVE: who gets in, what both sides know afterwards, and what an attacker gets.

use std::sync::Arc;

use sealwire_zmtp::connection::{Event, Warning};
use sealwire_zmtp::error::{CloseKind, Error, HandshakeError, Incompatible, Refusal, Step};
use sealwire_zmtp::limits::LARGE_FRAME;
use sealwire_zmtp::mechanism::{CurveClient, CurveServer, FrameOrder};
use sealwire_zmtp::{Config, Frames, Mechanism, MechanismConfig, SocketType};

use crate::support::{
    Cookies, Leg, Pair, SERVER_SEED, Side, assert_each_knows_the_others_key, curve_client,
    curve_server, frames, handshake, keys, plain_server, provider, providers, recorded, told,
};

fn client_side() -> Side {
    Side::new(curve_client(SocketType::Dealer), provider(), 1)
}

fn server_side(cookies: &Arc<Cookies>, seed: u8) -> Side {
    let config = curve_server(SocketType::Router, Arc::clone(cookies));
    Side::new(config, provider(), seed)
}

fn pair() -> Pair {
    Pair::new(
        curve_client(SocketType::Dealer),
        curve_server(SocketType::Router, Cookies::new(1)),
        &provider(),
    )
}

fn handshake_error(kind: HandshakeError) -> Option<Error> {
    Some(Error::Handshake(kind))
}

#[test]
fn both_sides_know_the_others_key() {
    for provider in providers() {
        let mut pair = Pair::new(
            curve_client(SocketType::Dealer),
            curve_server(SocketType::Router, Cookies::new(1)),
            &provider,
        );
        pair.b.decision = Some(Ok(Some("alice".into())));
        pair.settle();
        assert_each_knows_the_others_key(&pair, Mechanism::Curve);
    }
}

#[test]
fn the_commands_have_the_sizes_of_the_specification() {
    let legs = recorded(&mut client_side(), &mut server_side(&Cookies::new(1), 2));
    let sizes: Vec<_> = legs[2..]
        .iter()
        .map(|leg| {
            let header = if leg[0] & 2 == 0 { 2 } else { 9 };
            (leg[0] & 4, leg.len() - header)
        })
        .collect();
    // "Socket-Type" takes 16 bytes and its value.
    assert_eq!(
        sizes,
        [(4, 200), (4, 168), (4, 257 + 22), (4, 30 + 22)],
        "HELLO, WELCOME, INITIATE, READY"
    );
}

#[test]
fn a_refused_client_is_told_why() {
    let mut pair = pair();
    pair.b.decision = Some(Err(Refusal::new("not you")));
    pair.settle();
    assert_eq!(pair.b.error, Some(Error::Refused(Refusal::new("not you"))));
    assert_eq!(pair.a.error, told("not you"));
}

#[test]
fn the_status_that_libzmq_gives_as_a_reason_is_explained() {
    let mut pair = pair();
    pair.b.decision = Some(Err(Refusal::new("400")));
    pair.settle();
    let text = pair.a.error.unwrap().to_string();
    assert!(text.contains("400 (its authenticator refuses"), "{text}");
}

#[test]
fn a_client_with_another_servers_key_gets_no_answer() {
    let mut config = curve_client(SocketType::Dealer);
    config.mechanism = MechanismConfig::from(CurveClient {
        server_key: keys(77).public(),
        keys: None,
        frame_order: FrameOrder::default(),
    });
    let mut client = Side::new(config, provider(), 1);
    let mut server = server_side(&Cookies::new(1), 2);
    handshake(&mut client, &mut server, |_, _| {});
    assert_eq!(
        server.error,
        handshake_error(HandshakeError::HelloUnreadable)
    );
    assert!(server.output().is_empty());
    let closed = client.connection.end_of_stream();
    assert_eq!(
        closed,
        Error::Closed(CloseKind::DuringHandshake(Step::Welcome))
    );
}

#[test]
fn two_clients_and_two_servers_say_so() {
    let mut clients = Pair::new(
        curve_client(SocketType::Dealer),
        curve_client(SocketType::Router),
        &provider(),
    );
    clients.settle();
    let expected = Some(Error::Incompatible(Incompatible::BothClients));
    assert_eq!(clients.a.error, expected);
    let mut servers = Pair::new(
        curve_server(SocketType::Dealer, Cookies::new(1)),
        curve_server(SocketType::Router, Cookies::new(2)),
        &provider(),
    );
    servers.settle();
    let expected = Some(Error::Incompatible(Incompatible::BothServers));
    assert_eq!(servers.a.error, expected);
}

#[test]
fn another_mechanism_is_named() {
    let mut pair = Pair::new(
        curve_client(SocketType::Dealer),
        plain_server(SocketType::Router),
        &provider(),
    );
    pair.settle();
    let text = pair.a.error.unwrap().to_string();
    assert!(text.contains("mechanism PLAIN, this side CURVE"), "{text}");
}

#[test]
fn every_flipped_bit_of_a_box_ends_the_handshake() {
    let legs = recorded(&mut client_side(), &mut server_side(&Cookies::new(1), 2));
    // Where the fields behind the command's name begin. The padding of HELLO says nothing.
    for (index, leg, from) in [
        (2, Leg::Hello, 2 + 6),
        (3, Leg::Welcome, 2 + 8),
        (4, Leg::Initiate, 9 + 9),
        (5, Leg::Ready, 2 + 6),
    ] {
        for byte in from..legs[index].len() {
            if leg == Leg::Hello && (from + 2..from + 2 + 72).contains(&byte) {
                continue;
            }
            let (mut client, mut server) = (client_side(), server_side(&Cookies::new(1), 2));
            handshake(&mut client, &mut server, |here, bytes| {
                if here == leg {
                    bytes[byte] ^= 1 << (byte % 8);
                }
            });
            let (to, error) = match leg {
                Leg::Hello | Leg::Initiate => (&server, &server.error),
                _ => (&client, &client.error),
            };
            assert!(
                matches!(error, Some(Error::Handshake(_))),
                "{leg:?}, byte {byte}: {error:?}"
            );
            assert!(!to.connection.is_ready());
        }
    }
}

#[test]
fn a_cookie_is_good_for_one_connection_and_not_for_long() {
    let cookies = Cookies::new(1);
    let (mut client, mut server) = (client_side(), server_side(&cookies, 2));
    let legs = recorded(&mut client, &mut server);

    // All that this client sent, to another connection of the same server.
    let mut other = server_side(&cookies, 3);
    for leg in [&legs[0], &legs[2], &legs[4]] {
        other.feed(leg);
    }
    assert_eq!(other.error, handshake_error(HandshakeError::CookieRejected));

    for (rotations, accepted) in [(1, true), (2, false)] {
        let (mut client, mut server) = (client_side(), server_side(&cookies, 2));
        handshake(&mut client, &mut server, |leg, _| {
            if leg == Leg::Initiate {
                (0..rotations).for_each(|seed| cookies.rotate(50 + 10 * rotations + seed));
            }
        });
        assert_eq!(server.connection.is_ready(), accepted, "{rotations}");
    }
}

#[test]
fn keys_of_low_order_are_refused() {
    let mut server = server_side(&Cookies::new(1), 2);
    let legs = recorded(&mut client_side(), &mut server_side(&Cookies::new(1), 2));
    let mut hello = legs[2].clone();
    hello[2 + 80..2 + 112].fill(0);
    server.feed(&legs[0]);
    server.feed(&hello);
    assert_eq!(server.error, handshake_error(HandshakeError::WeakKey));
}

/// A pair that is ready, and the frames of some messages from client to server.
fn with_frames(count: usize) -> (Pair, Vec<Vec<u8>>) {
    let mut pair = pair();
    pair.settle();
    for i in 0..count {
        pair.a.send(format!("message {i}").as_str());
    }
    let frames = frames(&pair.a.output());
    assert_eq!(frames.len(), count);
    (pair, frames)
}

/// The same from server to client.
fn with_frames_of_the_server(count: usize) -> (Pair, Vec<Vec<u8>>) {
    let mut pair = pair();
    pair.settle();
    for i in 0..count {
        pair.b.send(format!("message {i}").as_str());
    }
    let frames = frames(&pair.b.output());
    assert_eq!(frames.len(), count);
    (pair, frames)
}

#[test]
fn frames_look_as_libzmq_sends_them() {
    let (_, frames) = with_frames(2);
    for (number, frame) in (3..).zip(frames) {
        // No flags outside; a name, a number that goes on from INITIATE's, tag, flags, payload.
        assert_eq!(frame[..2], [0, 8 + 8 + 16 + 1 + 9]);
        assert_eq!(frame[2..10], *b"\x07MESSAGE");
        assert_eq!(frame[10..18], u64::to_be_bytes(number));
        assert_eq!(frame.len(), 2 + 42);
    }
}

#[test]
fn changed_frames_are_refused() {
    let (_, untouched) = with_frames(3);
    for bit in 0..untouched[1].len() * 8 {
        // The length changes what a frame is, and COMMAND outside says nothing.
        if (8..16).contains(&bit) || bit == 2 {
            continue;
        }
        let (mut pair, mut frames) = with_frames(3);
        frames[1][bit / 8] ^= 1 << (bit % 8);
        pair.b.feed(&frames.concat());
        assert_eq!(pair.b.messages(), [Frames::from("message 0")], "bit {bit}");
        // LONG asks for a longer header and waits for the rest.
        assert!(pair.b.error.is_some() || bit == 1, "bit {bit}");
    }
}

/// What a relay can do with whole frames; the first untouched ones are delivered, and no other.
const MISPLACED: [(&[usize], usize); 9] = [
    (&[1, 2], 0),
    (&[0, 2], 1),
    (&[0, 3], 1),
    (&[0, 0, 1], 1),
    (&[1, 0, 2], 0),
    (&[0, 2, 1], 1),
    (&[0, 1, 3, 2], 2),
    (&[0, 1, 2, 2, 3], 3),
    (&[0, 1, 2, 0, 3], 3),
];

fn assert_not_verified(side: &Side, context: &dyn std::fmt::Debug) {
    let refused = matches!(side.error, Some(Error::FrameNotVerified { .. }));
    assert!(refused, "{context:?}: {:?}", side.error);
}

#[test]
fn dropped_repeated_and_reordered_frames_are_refused_in_both_directions() {
    for (order, whole) in MISPLACED {
        let expected: Vec<_> = (0..whole)
            .map(|i| Frames::from(format!("message {i}").as_str()))
            .collect();
        let (mut pair, frames) = with_frames(4);
        let sent: Vec<_> = order.iter().flat_map(|i| frames[*i].clone()).collect();
        pair.b.feed(&sent);
        assert_not_verified(&pair.b, &order);
        assert_eq!(pair.b.messages(), expected, "{order:?}");

        let (mut pair, frames) = with_frames_of_the_server(4);
        let sent: Vec<_> = order.iter().flat_map(|i| frames[*i].clone()).collect();
        pair.a.feed(&sent);
        assert_not_verified(&pair.a, &order);
        assert_eq!(pair.a.messages(), expected, "{order:?}");
    }
}

/// A dropped frame could join parts of two messages to one that nobody sent.
#[test]
fn two_messages_are_not_spliced_to_a_third() {
    let mut pair = pair();
    pair.settle();
    for parts in [["pay", "alice"], ["refuse", "mallory"]] {
        pair.a.send(
            parts
                .map(sealwire_zmtp::Frame::from)
                .into_iter()
                .collect::<Frames>(),
        );
    }
    let frames = frames(&pair.a.output());
    pair.b.feed(&[&frames[0][..], &frames[3]].concat());
    assert_not_verified(&pair.b, &"pay, mallory");
    assert_eq!(pair.b.messages(), []);
}

#[test]
fn frames_of_another_connection_do_not_fit_in() {
    let mut other = Pair::new(
        curve_client(SocketType::Dealer),
        curve_server(SocketType::Router, Cookies::new(7)),
        &provider(),
    );
    other.a = Side::new(curve_client(SocketType::Dealer), provider(), 77);
    other.settle();
    (0..2).for_each(|_| other.a.send("foreign"));
    let foreign = frames(&other.a.output());
    let (mut pair, frames) = with_frames(2);
    pair.b.feed(&[&frames[0][..], &foreign[1]].concat());
    assert_not_verified(&pair.b, &"foreign");
    assert_eq!(pair.b.messages(), [Frames::from("message 0")]);
}

/// A peer that skips numbers is for those who say so, and are warned.
#[test]
fn gaps_are_accepted_by_name_alone() {
    let mut config = Config::new(SocketType::Router);
    config.mechanism = MechanismConfig::from(CurveServer {
        keys: keys(SERVER_SEED),
        additional_key: None,
        cookies: Cookies::new(1),
        frame_order: FrameOrder::GapsUnauthenticatedOrder,
    });
    let mut pair = Pair::new(curve_client(SocketType::Dealer), config, &provider());
    pair.settle();
    assert!(
        pair.b
            .events
            .contains(&Event::Warning(Warning::GapsAccepted))
    );
    (0..4).for_each(|i| pair.a.send(format!("message {i}").as_str()));
    let frames = frames(&pair.a.output());
    pair.b.feed(&[&frames[1][..], &frames[3]].concat());
    assert_eq!(
        pair.b.messages(),
        [Frames::from("message 1"), Frames::from("message 3")]
    );
    pair.b.feed(&frames[2]);
    assert_not_verified(&pair.b, &"numbers fall");
}

#[test]
fn frames_do_not_pass_for_those_of_the_other_direction() {
    let (mut pair, frames) = with_frames(1);
    pair.a.feed(&frames[0]);
    let refused = matches!(pair.a.error, Some(Error::FrameNotVerified { .. }));
    assert!(refused, "{:?}", pair.a.error);
}

#[test]
fn commands_and_parts_travel_inside() {
    let mut pair = Pair::new(
        curve_client(SocketType::Sub),
        curve_server(SocketType::XPub, Cookies::new(1)),
        &provider(),
    );
    pair.settle();
    pair.b.events.clear();
    pair.a.connection.subscribe(b"news");
    let bytes = pair.a.output();
    assert_eq!(bytes[0], 0, "COMMAND is sealed");
    pair.b.feed(&bytes);
    assert_eq!(pair.b.events, [Event::Subscribe("news".into())]);

    let parts: [Vec<u8>; 4] = ["news".into(), vec![7; LARGE_FRAME], vec![], vec![9; 300]];
    let message: Frames = parts.into_iter().map(sealwire_zmtp::Frame::from).collect();
    pair.b.send(message.clone());
    pair.settle();
    assert_eq!(pair.a.messages(), [message]);
}

#[test]
fn limits_hold_for_what_is_inside() {
    let mut config = curve_server(SocketType::Router, Cookies::new(1));
    config.limits.max_message_size = 100;
    config.limits.max_command_size = 50;
    let mut pair = Pair::new(curve_client(SocketType::Dealer), config, &provider());
    pair.settle();
    pair.a.send("fits");
    pair.a.send(vec![0_u8; 101].as_slice());
    pair.settle();
    assert_eq!(pair.b.messages(), [Frames::from("fits")]);
    assert_eq!(pair.b.error, Some(Error::MessageTooLarge { limit: 100 }));
}
