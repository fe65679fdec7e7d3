//! MISSED: a publisher says how many messages it has dropped, to peers that ask for it alone.

use sealwire_zmtp::error::{ConfigError, WireError};
use sealwire_zmtp::{Config, Event, Frames, SocketType};

use crate::support::{Cookies, Pair, Side, client, frame, null, provider, server};

fn asking(config: Config) -> Config {
    Config {
        asks_for_missed: true,
        ..config
    }
}

#[test]
fn who_asks_is_told() {
    let pairs = [
        (null(SocketType::Sub), null(SocketType::Pub)),
        (
            client(SocketType::Sub, Default::default()),
            server(SocketType::Pub, Default::default(), Cookies::new(1)),
        ),
    ];
    for (sub, publisher) in pairs {
        let mut pair = Pair::ready(asking(sub), publisher, &provider());
        assert!(pair.b.connection.peer().unwrap().asks_for_missed);
        assert!(!pair.a.connection.peer().unwrap().asks_for_missed);
        pair.b.send("before");
        pair.b.connection.tell_missed(7);
        pair.b.connection.tell_missed(u64::MAX);
        pair.b.send("behind");
        pair.settle();
        let message = |text| Event::Message(Frames::from(text));
        assert_eq!(
            pair.a.events,
            [
                message("before"),
                Event::Missed(7),
                Event::Missed(u64::MAX),
                message("behind")
            ]
        );
    }
}

#[test]
fn who_does_not_ask_is_told_nothing_and_hears_nothing() {
    let mut pair = Pair::ready(null(SocketType::Sub), null(SocketType::Pub), &provider());
    assert!(!pair.b.connection.peer().unwrap().asks_for_missed);
    pair.b.connection.tell_missed(7);
    assert_eq!(pair.b.output(), b"");
    for data in [&b"\0\0\0\0\0\0\0\x07"[..], b"other"] {
        pair.a.feed(&frame(4, &[b"\x06MISSED", data].concat()));
        assert_eq!(pair.a.events, []);
    }
    assert_eq!(pair.a.error, None);
}

#[test]
fn one_value_of_the_property_asks() {
    for (value, asks) in [
        (&b"\x01"[..], true),
        (b"", false),
        (b"\0", false),
        (b"1", false),
        (b"\x01\x01", false),
    ] {
        let mut publisher = Side::new(null(SocketType::Pub), provider(), 1);
        let mut greeting = Side::new(null(SocketType::Sub), provider(), 2);
        publisher.feed(&greeting.output());
        let size = (value.len() as u32).to_be_bytes();
        let ready = [
            b"\x05READY\x0bSocket-Type\0\0\0\x03SUB\x11X-SEALWIRE-missed",
            &size[..],
            value,
        ];
        publisher.feed(&frame(4, &ready.concat()));
        let peer = publisher.connection.peer().expect("a peer");
        assert_eq!(peer.asks_for_missed, asks, "{value:?}");
    }
}

#[test]
fn an_application_does_not_set_the_property() {
    let mut sub = null(SocketType::Sub);
    sub.metadata = vec![("x-sealwire-missed".into(), vec![0])];
    assert_eq!(sub.validate(), Err(ConfigError::DuplicateProperty));
}

#[test]
fn a_number_of_another_size_ends_the_connection() {
    let sub = asking(null(SocketType::Sub));
    let mut pair = Pair::ready(sub, null(SocketType::Pub), &provider());
    pair.a.feed(&frame(4, b"\x06MISSED1234567"));
    let expected = WireError::MalformedCommand { command: "MISSED" };
    assert_eq!(pair.a.error, Some(expected.into()));
}
