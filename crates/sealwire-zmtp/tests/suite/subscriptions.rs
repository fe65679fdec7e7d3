//! Subscriptions: by command, by message, and to peers that know only the latter.

use sealwire_zmtp::error::WireError;
use sealwire_zmtp::{Event, Frame, Frames, SocketType};

use crate::support::{Cookies, Pair, Side, client, frame, null, provider, server};

fn subscribe(topic: &'static str) -> Event {
    Event::Subscribe(topic.into())
}

fn cancel(topic: &'static str) -> Event {
    Event::Cancel(topic.into())
}

#[test]
fn commands_reach_the_publisher() {
    let pairs = [
        (null(SocketType::Sub), null(SocketType::Pub)),
        (null(SocketType::XSub), null(SocketType::XPub)),
        (
            client(SocketType::Sub, Default::default()),
            server(SocketType::XPub, Default::default(), Cookies::new(1)),
        ),
    ];
    for (a, b) in pairs {
        let mut pair = Pair::ready(a, b, &provider());
        pair.a.connection.subscribe(b"");
        pair.a.connection.subscribe(b"weather");
        pair.a.connection.cancel(b"");
        pair.settle();
        assert_eq!(
            pair.b.events,
            [subscribe(""), subscribe("weather"), cancel("")]
        );
        pair.b.send("weather: rain");
        pair.settle();
        assert_eq!(pair.a.messages(), [Frames::from("weather: rain")]);
    }
}

#[test]
fn the_bytes_are_those_of_each_version() {
    let mut pair = Pair::ready(null(SocketType::Sub), null(SocketType::Pub), &provider());
    pair.a.connection.subscribe(b"ab");
    pair.a.connection.cancel(b"ab");
    let expected = [frame(4, b"\x09SUBSCRIBEab"), frame(4, b"\x06CANCELab")].concat();
    assert_eq!(pair.a.output(), expected);

    let mut old = Side::new(null(SocketType::Pub), provider(), 1);
    let mut sub = Side::new(null(SocketType::Sub), provider(), 2);
    let mut greeting = old.output();
    greeting[11] = 0;
    old.feed(&sub.output());
    sub.feed(&[greeting, old.output()].concat());
    sub.output();
    sub.connection.subscribe(b"ab");
    sub.connection.cancel(b"ab");
    assert_eq!(
        sub.output(),
        [frame(0, b"\x01ab"), frame(0, b"\x00ab")].concat()
    );
}

#[test]
fn messages_that_subscribe_are_understood_from_any_version() {
    let mut pair = Pair::ready(null(SocketType::XSub), null(SocketType::XPub), &provider());
    pair.a.send(&b"\x01topic"[..]);
    pair.a.send(&b"\x00topic"[..]);
    pair.a.send(&b"\x01"[..]);
    pair.a.send("for the application");
    pair.a.send(Frames::from_iter([
        Frame::from(b"\x01x"),
        Frame::from("two frames"),
    ]));
    pair.a.send("");
    pair.settle();
    let multipart = Frames::from_iter([Frame::from(b"\x01x"), Frame::from("two frames")]);
    assert_eq!(
        pair.b.events,
        [
            subscribe("topic"),
            cancel("topic"),
            subscribe(""),
            Event::Message("for the application".into()),
            Event::Message(multipart),
            Event::Message("".into()),
        ]
    );
}

#[test]
fn other_sockets_see_neither() {
    let mut pair = Pair::ready(null(SocketType::Push), null(SocketType::Pull), &provider());
    pair.b.feed(&frame(4, b"\x09SUBSCRIBEab"));
    pair.b.feed(&frame(0, b"\x01ab"));
    assert_eq!(pair.b.error, None);
    assert_eq!(
        pair.b.events,
        [Event::Message(Frames::from(&b"\x01ab"[..]))]
    );
}

#[test]
fn nothing_is_staged_before_ready() {
    let mut side = Side::new(null(SocketType::Sub), provider(), 1);
    side.output();
    side.connection.subscribe(b"early");
    assert_eq!(side.connection.pending_bytes(), 0);
}

#[test]
fn groups_are_joined_and_left_by_command() {
    let mut pair = Pair::ready(null(SocketType::Dish), null(SocketType::Radio), &provider());
    pair.a.connection.subscribe(b"ab");
    pair.a.connection.cancel(b"ab");
    let bytes = pair.a.output();
    assert_eq!(
        bytes,
        [frame(4, b"\x04JOINab"), frame(4, b"\x05LEAVEab")].concat()
    );
    pair.b.feed(&bytes);
    pair.settle();
    assert_eq!(pair.b.events, [subscribe("ab"), cancel("ab")]);
    // What names no group ends the connection of a radio, and no other.
    for name in [&b""[..], &[b'g'; 256]] {
        let join = frame(4, &[&b"\x04JOIN"[..], name].concat());
        let mut other = Pair::ready(null(SocketType::Push), null(SocketType::Pull), &provider());
        other.b.feed(&join);
        assert_eq!(other.b.error, None);
        let mut radio = Pair::ready(null(SocketType::Dish), null(SocketType::Radio), &provider());
        radio.b.feed(&join);
        let command = "JOIN";
        assert_eq!(
            radio.b.error,
            Some(WireError::MalformedCommand { command }.into())
        );
    }
    // A subscription is nothing to a radio.
    pair.b.events.clear();
    pair.b.feed(&frame(4, b"\x09SUBSCRIBEab"));
    pair.settle();
    assert!(pair.b.events.is_empty());
}
