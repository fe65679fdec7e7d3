//! NULL end to end: READY, metadata, messages of every shape.

use sealwire_zmtp::bytes::{Buf, Bytes};
use sealwire_zmtp::error::{
    CloseKind, Error, HandshakeError, Incompatible, Refusal, Step, WireError,
};
use sealwire_zmtp::mechanism::Claim;
use sealwire_zmtp::wire::command;
use sealwire_zmtp::wire::frame::{COMMAND, Header};
use sealwire_zmtp::wire::greeting::Greeting;
use sealwire_zmtp::wire::metadata::{self, Metadata};
use sealwire_zmtp::{Event, Frame, Frames, Mechanism, SocketType};

use crate::support::{
    Pair, Side, frame, null, null_authorized, protections, provider, providers, told,
};

#[test]
fn every_fitting_pair_of_types_gets_ready_and_every_other_is_refused() {
    for a in SocketType::ALL {
        for b in SocketType::ALL {
            let mut pair = Pair::new(null(a), null(b), &provider());
            pair.settle();
            if a.accepts(b) {
                assert_eq!(pair.a.error, None);
                assert_eq!(pair.a.connection.peer().unwrap().socket_type, b);
                assert_eq!(pair.b.connection.peer().unwrap().socket_type, a);
            } else {
                let expected = Incompatible::SocketTypes { ours: a, theirs: b };
                assert_eq!(pair.a.error, Some(Error::Incompatible(expected)));
                let expected = Incompatible::SocketTypes { ours: b, theirs: a };
                assert_eq!(pair.b.error, Some(Error::Incompatible(expected)));
            }
        }
    }
}

#[test]
fn a_peer_that_only_waits_hears_why_it_is_refused() {
    let mut side = Side::new(null(SocketType::Pub), provider(), 1);
    let mut peer = Side::new(null(SocketType::Push), provider(), 2);
    side.feed(&peer.output());
    peer.feed(&side.output()[..64]);
    side.feed(&peer.output());
    // ERROR comes next, and the READY before it is withheld.
    peer.feed(&side.output());
    assert_eq!(peer.error, told("the socket types cannot be connected"));
}

#[test]
fn metadata_and_routing_id_arrive() {
    let mut dealer = null(SocketType::Dealer);
    dealer.routing_id = b"dealer 7".into();
    dealer.metadata = vec![("X-Region".into(), b"north".into())];
    let pair = Pair::ready(dealer, null(SocketType::Router), &provider());
    let seen = pair.b.connection.peer().unwrap();
    assert_eq!(seen.routing_id, "dealer 7");
    assert_eq!(seen.metadata.get("x-region"), Some(&b"north"[..]));
    assert_eq!((seen.public_key, seen.mechanism), (None, Mechanism::Null));
    assert_eq!(pair.a.connection.peer().unwrap().routing_id, "");
}

#[test]
fn a_routing_id_above_255_bytes_is_refused() {
    for size in [255, 256] {
        let mut side = Side::new(null(SocketType::Router), provider(), 1);
        side.feed(&Greeting::new("NULL", false, [0; 8]).encode());
        let mut metadata = Metadata::default();
        metadata.push(metadata::SOCKET_TYPE, b"DEALER").unwrap();
        metadata.push(metadata::IDENTITY, &vec![7; size]).unwrap();
        let mut ready = b"\x05READY".to_vec();
        metadata.encode(&mut ready);
        let header = Header::new(COMMAND, ready.len()).encode();
        side.feed(&[&header[..], &ready].concat());
        let expected = (size > 255).then_some(WireError::RoutingIdTooLong { size });
        assert_eq!(side.error, expected.map(Error::Wire));
    }
}

#[test]
fn messages_of_every_shape_arrive_in_order_under_every_protection() {
    for provider in providers() {
        for (a, b) in protections() {
            let mut pair = Pair::ready(a, b, &provider);
            let sizes = [
                0, 1, 69, 70, 71, 223, 224, 255, 256, 8191, 8192, 70_000, 1_000_000,
            ];
            let payload = |size: usize| Frame::from(vec![size as u8; size]);
            let singles = sizes.map(|size| Frames::single(payload(size)));
            let multipart: Frames = sizes.map(payload).into_iter().collect();
            let empty: Frames = [Frame::new(), Frame::new()].into_iter().collect();
            let mut sent = Vec::from(singles);
            sent.extend([multipart, empty]);
            for message in &sent {
                pair.a.send(message.clone());
                pair.b.send(message.clone());
            }
            pair.settle();
            assert_eq!((&pair.a.error, &pair.b.error), (&None, &None));
            assert_eq!(pair.a.messages(), sent);
            assert_eq!(pair.b.messages(), sent);
        }
    }
}

#[test]
fn many_small_messages_cross_batches() {
    for (a, b) in protections() {
        let mut pair = Pair::ready(a, b, &provider());
        let sent: Vec<Frames> = (0..10_000)
            .map(|i: u32| Frames::from(format!("{i}")))
            .collect();
        for (count, message) in sent.iter().enumerate() {
            pair.a.send(message.clone());
            if count % 777 == 0 {
                pair.settle();
            }
        }
        pair.settle();
        assert_eq!(pair.b.messages(), sent);
    }
}

#[test]
fn a_large_null_payload_is_not_copied_on_its_way_out() {
    let mut pair = Pair::ready(null(SocketType::Push), null(SocketType::Pull), &provider());
    let payload = Bytes::from(vec![5; 100_000]);
    pair.a.send(payload.clone());
    let transmit = pair.a.connection.transmit();
    let mut chunks = transmit.chunks();
    assert_eq!(chunks.next().unwrap().len(), 9);
    assert_eq!(chunks.next().unwrap().as_ptr(), payload.as_ptr());
    assert_eq!(chunks.next(), None);
    assert_eq!(transmit.remaining(), 100_009);
}

#[test]
fn bytes_one_at_a_time_give_the_same() {
    for (a, b) in protections() {
        let mut pair = Pair::new(a, b, &provider());
        loop {
            let (from_a, from_b) = (pair.a.output(), pair.b.output());
            if from_a.is_empty() && from_b.is_empty() {
                break;
            }
            from_b.chunks(1).for_each(|byte| pair.a.feed(byte));
            from_a.chunks(1).for_each(|byte| pair.b.feed(byte));
        }
        assert!(pair.a.connection.is_ready() && pair.b.connection.is_ready());
        let message: Frames = ["a", "", "ccc"].map(Frame::from).into_iter().collect();
        pair.a.send(message.clone());
        pair.a.output().chunks(1).for_each(|byte| pair.b.feed(byte));
        assert_eq!(pair.b.messages(), [message]);
    }
}

#[test]
fn commands_between_the_frames_of_a_message_do_not_disturb_it() {
    let mut pair = Pair::ready(null(SocketType::Push), null(SocketType::Pull), &provider());
    pair.b.feed(&frame(1, b"first"));
    pair.b.feed(&frame(4, b"\x04PING\0\0ctx"));
    pair.b.feed(&frame(4, b"\x05OTHERwhatever"));
    pair.b.feed(&frame(0, b"last"));
    let expected: Frames = ["first", "last"].map(Frame::from).into_iter().collect();
    assert_eq!(pair.b.messages(), [expected]);
    assert_eq!(pair.b.output(), frame(4, b"\x04PONGctx"));
}

#[test]
fn an_unfinished_message_is_never_delivered() {
    let mut pair = Pair::ready(null(SocketType::Push), null(SocketType::Pull), &provider());
    pair.b.feed(&frame(0, b"whole"));
    pair.b.feed(&frame(1, b"part"));
    assert_eq!(
        pair.b.connection.end_of_stream(),
        Error::Closed(CloseKind::MidMessage)
    );
    pair.b.feed(&frame(0, b"rest"));
    pair.b.collect();
    assert_eq!(pair.b.messages(), [Frames::from("whole")]);
}

#[test]
fn an_end_tells_where_it_came() {
    let ready = || Pair::ready(null(SocketType::Push), null(SocketType::Pull), &provider());
    let mut pair = ready();
    assert_eq!(
        pair.b.connection.end_of_stream(),
        Error::Closed(CloseKind::Clean)
    );
    let mut pair = ready();
    pair.b.feed(&frame(0, b"whole")[..3]);
    assert_eq!(
        pair.b.connection.end_of_stream(),
        Error::Closed(CloseKind::MidMessage)
    );
    let mut side = Side::new(null(SocketType::Push), provider(), 1);
    let mut peer = Side::new(null(SocketType::Pull), provider(), 1);
    side.feed(&peer.output());
    assert_eq!(
        side.connection.end_of_stream(),
        Error::Closed(CloseKind::DuringHandshake(Step::Ready))
    );
}

#[test]
fn what_has_no_place_in_the_handshake_is_refused() {
    let started = || {
        let mut side = Side::new(null(SocketType::Push), provider(), 1);
        side.feed(&Side::new(null(SocketType::Pull), provider(), 1).output());
        side
    };
    let unexpected = HandshakeError::UnexpectedCommand {
        expected: Step::Ready,
    };
    for (bytes, expected) in [
        (frame(0, b"a message"), Error::Handshake(unexpected)),
        (frame(4, b"\x05HELLO"), Error::Handshake(unexpected)),
        (
            frame(4, b"\x07REA"),
            Error::Wire(WireError::TruncatedCommand),
        ),
        (frame(4, b"\x05READY"), Error::Wire(WireError::NoSocketType)),
        (
            frame(4, b"\x05READY\x0bSocket-Type\0"),
            Error::Wire(WireError::TruncatedMetadata),
        ),
        (
            vec![0x08],
            Error::Wire(WireError::ReservedFlags { flags: 8 }),
        ),
    ] {
        let mut side = started();
        side.feed(&bytes);
        assert_eq!(side.error, Some(expected));
        assert!(!side.connection.is_ready());
    }
}

#[test]
fn a_refusal_by_the_peer_is_escaped_and_called_unverified() {
    let mut side = Side::new(null(SocketType::Push), provider(), 1);
    side.feed(&Side::new(null(SocketType::Pull), provider(), 1).output());
    side.feed(&frame(4, b"\x05ERROR\x05\x1b[2Jx"));
    let error = side.error.unwrap();
    assert_eq!(
        error,
        Error::PeerRefused {
            reason: r"\x1b[2Jx".into(),
            verified: false
        }
    );
    assert!(error.to_string().contains("unverified"));
}

#[test]
fn sending_needs_a_ready_connection_and_a_frame() {
    let mut side = Side::new(null(SocketType::Push), provider(), 1);
    let error = side.connection.send("early".into()).unwrap_err();
    assert_eq!(error.into_message(), Frames::from("early"));
    let mut pair = Pair::ready(null(SocketType::Push), null(SocketType::Pull), &provider());
    assert!(pair.a.connection.send(Frames::new()).is_err());
    pair.a.connection.end_of_stream();
    assert!(pair.a.connection.send("late".into()).is_err());
}

#[test]
fn application_bytes_right_behind_ready_are_taken() {
    let mut a = Side::new(null(SocketType::Push), provider(), 1);
    let mut b = Side::new(null(SocketType::Pull), provider(), 2);
    a.feed(&b.output());
    b.feed(&a.output());
    a.feed(&b.output());
    a.send("at once");
    let ready_and_message = a.output();
    assert!(
        command::split(&ready_and_message[2..]).is_err(),
        "ready was sent before"
    );
    b.feed(&ready_and_message);
    assert_eq!(b.messages(), [Frames::from("at once")]);
    assert!(
        b.events
            .iter()
            .any(|event| matches!(event, Event::Ready(_)))
    );
}

/// A side that decides, and a peer that has sent all it can: its READY, where it does not decide
/// itself.
fn asked(peer_config: sealwire_zmtp::Config) -> Pair {
    let mut pair = Pair::new(null_authorized(SocketType::Pull), peer_config, &provider());
    pair.a.decision = None;
    pair.settle();
    assert_eq!(pair.a.events, [Event::Authorize(Claim::Address)]);
    pair
}

#[test]
fn who_decides_holds_ready_back_until_then() {
    let mut pair = asked(null(SocketType::Push));
    assert!(!pair.a.connection.is_ready() && !pair.b.connection.is_ready());
    let decision = Ok(Some("alice".into()));
    pair.a.connection.authorize(decision, pair.a.now).unwrap();
    // Both READYs are there, and messages may follow at once.
    assert!(pair.a.connection.is_ready());
    pair.settle();
    assert!(pair.b.connection.is_ready());
    let peer = pair.a.connection.peer().unwrap();
    assert_eq!(peer.user_id.as_deref(), Some("alice"));
    assert_eq!((peer.mechanism, peer.public_key), (Mechanism::Null, None));
    pair.b.send("hello");
    pair.settle();
    assert_eq!(pair.a.messages(), [Frames::from("hello")]);
    // Nothing is asked a second time.
    assert!(pair.a.connection.authorize(Ok(None), pair.a.now).is_ok());
}

#[test]
fn a_decision_before_the_ready_of_the_peer_is_as_good() {
    let mut side = Side::new(null_authorized(SocketType::Pull), provider(), 1);
    let mut peer = Side::new(null(SocketType::Push), provider(), 2);
    let greeting = side.output();
    side.feed(&peer.output());
    assert_eq!(side.events, [Event::Authorize(Claim::Address)]);
    let ready = side.output();
    assert_eq!(ready[2..8], *b"\x05READY");
    assert!(!side.connection.is_ready());
    peer.feed(&[greeting, ready].concat());
    side.feed(&peer.output());
    assert!(side.connection.is_ready() && peer.connection.is_ready());
}

#[test]
fn both_sides_may_decide_in_any_order() {
    // The peer has agreed at once.
    let mut pair = asked(null_authorized(SocketType::Push));
    assert!(!pair.a.connection.is_ready() && !pair.b.connection.is_ready());
    pair.a.connection.authorize(Ok(None), pair.a.now).unwrap();
    pair.settle();
    assert!(pair.a.connection.is_ready() && pair.b.connection.is_ready());

    let [a, b] = [SocketType::Pull, SocketType::Push].map(null_authorized);
    let mut pair = Pair::new(a, b, &provider());
    (pair.a.decision, pair.b.decision) = (None, None);
    pair.settle();
    pair.b.connection.authorize(Ok(None), pair.b.now).unwrap();
    pair.settle();
    assert!(!pair.a.connection.is_ready() && !pair.b.connection.is_ready());
    pair.a.connection.authorize(Ok(None), pair.a.now).unwrap();
    pair.settle();
    assert!(pair.a.connection.is_ready() && pair.b.connection.is_ready());
}

#[test]
fn who_is_refused_hears_the_reason_and_was_never_connected() {
    for before_ready in [true, false] {
        let mut pair = Pair::new(
            null_authorized(SocketType::Pull),
            null(SocketType::Push),
            &provider(),
        );
        let refusal = Refusal::new("400");
        let expected = Some(Error::Refused(refusal.clone()));
        if before_ready {
            pair.a.decision = Some(Err(refusal));
            pair.settle();
        } else {
            pair.a.decision = None;
            pair.settle();
            let result = pair.a.connection.authorize(Err(refusal), pair.a.now);
            pair.a.note(result);
            pair.settle();
        }
        assert_eq!(pair.a.error, expected);
        let told = Error::PeerRefused {
            reason: "400".into(),
            verified: false,
        };
        assert_eq!(pair.b.error, Some(told));
        let is_ready = |event: &Event| matches!(event, Event::Ready(_));
        assert!(!pair.a.events.iter().chain(&pair.b.events).any(is_ready));
    }
}

#[test]
fn nothing_may_follow_the_ready_of_a_peer_that_is_not_decided_about() {
    for behind in [frame(0, b"early"), frame(4, b"\x05READY"), vec![0]] {
        let mut pair = asked(null(SocketType::Push));
        pair.a.feed(&behind);
        let error = Error::Handshake(HandshakeError::UnexpectedData);
        assert_eq!(pair.a.error, Some(error.clone()));
        // The answer comes too late.
        let late = pair.a.connection.authorize(Ok(None), pair.a.now);
        assert_eq!(late, Err(error));
    }
}

#[test]
fn a_peer_that_does_not_fit_is_refused_before_it_is_decided_about() {
    let pair = asked(null(SocketType::Pub));
    let types = Incompatible::SocketTypes {
        ours: SocketType::Pull,
        theirs: SocketType::Pub,
    };
    assert_eq!(pair.a.error, Some(types.into()));
    assert!(matches!(pair.b.error, Some(Error::PeerRefused { .. })));
}

#[test]
fn a_decision_takes_no_longer_than_a_handshake_may() {
    let mut pair = asked(null(SocketType::Push));
    pair.a.connection.handle_timeout(pair.a.now).unwrap();
    let deadline = pair.a.connection.next_timeout().unwrap();
    let late = pair.a.connection.handle_timeout(deadline);
    let step = Step::Authorization;
    assert_eq!(late, Err(Error::HandshakeTimeout { step }));
}
