//! Calls and one-way messages with metadata.

use super::*;

fn metadata(value: usize) -> Metadata<'static> {
    let mut metadata = Metadata::new();
    metadata.append("key", vec![7; value]).unwrap();
    metadata
}

/// Bytes in front of the body.
fn size(metadata: &Metadata<'_>) -> usize {
    metadata.size() + 2
}

fn content<'a>(metadata: &'a Metadata<'a>, body: &'a [u8]) -> Content<'a> {
    Content { metadata, body }
}

#[test]
fn calls_streams_and_messages_carry_it_beside_the_body() {
    let mut pair = Pair::new();
    let sent = metadata(300);
    let key = pair
        .client
        .call(content(&sent, b"question"), pair.now, None, false);
    let (served, body, _) = request(pair.carry_to_server());
    assert_eq!(
        (&body[..], body.metadata()),
        (&b"question"[..], sent.borrowed())
    );
    assert_eq!(body.clone().into_bytes()[..], b"question"[..]);
    assert_eq!(pair.server.held().requests, 64 + size(&sent) + 8);
    pair.server.reply(served, &body);
    pair.server.release(served);
    assert_eq!(pair.server.held().requests, 0);
    pair.carry_to_client();
    let outcome = pair.outcome(key.unwrap());
    assert!(matches!(outcome, Poll::Ready(Ok(body)) if body.metadata().is_empty()));

    let stream = pair
        .client
        .call(content(&sent, b""), pair.now, None, true)
        .unwrap();
    let (served, body, _) = request(pair.carry_to_server());
    assert_eq!((&body[..], body.metadata()), (&b""[..], sent.borrowed()));
    pair.server.fail(served, &Code::ABORTED.into());
    pair.server.release(served);
    pair.carry_to_client();
    assert!(pair.outcome(stream).is_ready());

    pair.client.one_way(content(&sent, b"note")).unwrap();
    let events = pair.carry_to_server();
    let Ok([CallEvent::OneWay(body)]) = <[CallEvent; 1]>::try_from(events) else {
        panic!("not one message");
    };
    assert_eq!(
        (&body[..], body.metadata()),
        (&b"note"[..], sent.borrowed())
    );
    assert_eq!(pair.server.held().unhandled, 64 + size(&sent) + 4);
    pair.server.one_way_done(&body);
    assert_eq!(pair.server.held().unhandled, 0);
    pair.assert_empty();
}

/// A body of the largest size has room for the largest metadata beside it.
#[test]
fn its_size_is_not_that_of_the_body() {
    let mut pair = Pair::new();
    let (sent, body) = (metadata(8_192 - 6), [9; 1_000]);
    assert_eq!(sent.size(), 8_192);
    pair.client
        .call(content(&sent, &body), pair.now, None, false)
        .unwrap();
    let (_, received, _) = request(pair.carry_to_server());
    assert_eq!(received.metadata(), sent);
    assert_eq!(received[..], body[..]);
    let beyond = pair
        .client
        .call(content(&sent, &[9; 1_001]), pair.now, None, false);
    let (size, limit) = (1_001, 1_000);
    assert_eq!(beyond.unwrap_err(), NotSent::TooLarge { size, limit });
    // What the peer sends is bounded the same way.
    let wire = [&[0x82, 0, 0, 0, 0, 0, 0, 4, 1, b'a', 0, 0][..], &[9; 1_001]].concat();
    let allowed = pair.server.receive(wire[..wire.len() - 1].into(), pair.now);
    assert!(matches!(allowed, Ok(CallEvent::OneWay(body)) if body.len() == 1_000));
    let beyond = pair.server.receive(wire[..].into(), pair.now);
    assert_eq!(beyond.unwrap_err(), Violation::TooLarge);
}

/// Both sides count the same: who sends with metadata has room for less, and never exceeds what is allowed.
#[test]
fn it_counts_as_the_body_does() {
    let mut settings = SETTINGS;
    settings.request_budget = 3_000;
    settings.message_budget = 3_000;
    let mut client = Protocol::new(Side::Client, settings, settings, ANSWERS);
    let mut server = Protocol::new(Side::Server, settings, settings, ANSWERS);
    let (sent, now) = (metadata(900), Duration::from_secs(1));
    for _ in 0..3 {
        client
            .call(content(&sent, b"body"), now, None, false)
            .unwrap();
        client.one_way(content(&sent, b"body")).unwrap();
    }
    let call = client.call(content(&sent, b"body"), now, None, false);
    assert_eq!(call.unwrap_err(), NotSent::Full);
    assert_eq!(client.one_way(content(&sent, b"body")), Err(NotSent::Full));
    let events = Pair::carry(&mut client, &mut server, now);
    assert_eq!(events.len(), 6);
    let each = 64 + size(&sent) + 4;
    assert_eq!(server.held().requests, 3 * each);
    assert_eq!(server.held().unhandled, 3 * each);
    for event in events {
        match event {
            CallEvent::OneWay(body) => server.one_way_done(&body),
            CallEvent::Request(asked) => {
                server.fail_and_release(asked.key, &Code::ABORTED.into());
            }
            other => panic!("{other:?}"),
        }
    }
    Pair::carry(&mut server, &mut client, now);
    client
        .call(content(&sent, b"body"), now, None, false)
        .unwrap();
    client.one_way(content(&sent, b"body")).unwrap();

    // A peer that does not count it is found out.
    let wire = |number| {
        let mut wire = vec![0x83, 0, 0, 0, 0, number];
        sent.write(|part| wire.extend_from_slice(part));
        Frame::from(wire)
    };
    let mut server = Protocol::new(Side::Server, settings, settings, ANSWERS);
    for number in [1, 3, 5] {
        assert!(server.receive(wire(number), now).is_ok());
    }
    let beyond = server.receive(wire(7), now);
    assert_eq!(beyond.unwrap_err(), Violation::BeyondCalls);
}

#[test]
fn a_peer_that_sends_it_otherwise_has_violated_the_protocol() {
    for (kind, number) in [(0x82, 0), (0x83, 1), (0x84, 1)] {
        for (rest, violation) in [
            (&b""[..], Violation::Truncated),
            (b"\0", Violation::Truncated),
            (b"\0\0", Violation::Metadata),
            (b"\0\x04\x01a\0", Violation::Truncated),
            (b"\0\x04\x01A\0\0", Violation::Metadata),
            (b"\x20\x01", Violation::MetadataTooLarge),
        ] {
            let mut pair = Pair::new();
            let wire = [&[kind, 0, 0, 0, 0, number][..], rest].concat();
            let violated = pair.server.receive(wire.into(), pair.now);
            assert_eq!(violated.unwrap_err(), violation, "{kind} {rest:?}");
        }
    }
    for kind in [0x81, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b] {
        let mut pair = Pair::new();
        let wire = [kind, 0, 0, 0, 0, 1, 0, 4, 1, b'a', 0, 0];
        let violated = pair.server.receive(wire[..].into(), pair.now);
        assert_eq!(violated.unwrap_err(), Violation::UnknownKind(kind));
    }
}
