//! The greeting: sent at once, refused as early as a wrong byte is seen.

use sealwire_zmtp::connection::{Direction, Event};
use sealwire_zmtp::error::{CloseKind, Error, Incompatible, Step, WireError};
use sealwire_zmtp::wire::greeting::Greeting;
use sealwire_zmtp::{Config, Mechanism, SocketType};

use crate::support::{Cookies, Pair, Side, client, null, provider, server};

#[test]
fn it_is_there_before_anything_is_received() {
    let mut side = Side::new(null(SocketType::Pair), provider(), 1);
    let greeting = Greeting::parse(&side.output()).unwrap().unwrap();
    assert!(greeting.is_mechanism("NULL"));
    assert!(!greeting.as_server);
    assert_eq!((greeting.minor, greeting.padding), (1, [0; 8]));
    assert!(side.output().is_empty());
}

#[test]
fn in_parts_the_rest_follows_the_peers_signature_once() {
    let mut side = Side::greeting_in_parts(null(SocketType::Pair));
    let signature = [0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f];
    assert_eq!(side.output(), signature);
    let theirs = Side::new(null(SocketType::Pair), provider(), 2).output();
    side.feed(&theirs[..9]);
    assert!(side.output().is_empty());
    side.feed(&theirs[9..10]);
    let rest = side.output();
    let whole = Greeting::parse(&[&signature[..], &rest].concat());
    assert!(whole.unwrap().unwrap().is_mechanism("NULL"));
    assert_eq!(rest.len(), 54);
    side.feed(&theirs[10..63]);
    assert!(side.output().is_empty());
    side.feed(&theirs[63..]);
    assert!(side.output().starts_with(b"\x04\x1a\x05READY"));
}

#[test]
fn in_parts_it_goes_to_peers_of_each_kind() {
    for blake3 in [false, true] {
        let (ours, theirs) = match blake3 {
            false => (null(SocketType::Pair), null(SocketType::Pair)),
            true => {
                let server = server(SocketType::Pair, Default::default(), Cookies::new(1));
                (client(SocketType::Pair, Default::default()), server)
            }
        };
        let mut side = Side::greeting_in_parts(ours);
        // BLAKE3 is none of libzmq's.
        let first = side.output();
        assert_eq!(first.len(), if blake3 { 64 } else { 10 });
        let mut pair = Pair {
            a: side,
            b: Side::new(theirs, provider(), 2),
        };
        pair.b.feed(&first);
        pair.settle();
        assert!(pair.a.connection.is_ready() && pair.b.connection.is_ready());
    }
}

#[test]
fn in_parts_on_both_sides_neither_waits_for_ever() {
    let [a, b] = [(); 2].map(|()| Side::greeting_in_parts(null(SocketType::Pair)));
    let mut pair = Pair { a, b };
    pair.settle();
    assert!(pair.a.connection.is_ready() && pair.b.connection.is_ready());
}

#[test]
fn a_wrong_signature_gets_no_more_than_ours() {
    let mut side = Side::greeting_in_parts(null(SocketType::Pair));
    side.output();
    side.feed(&[0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7e]);
    assert!(side.error.is_some());
    assert!(side.output().is_empty());
}

#[test]
fn a_blake3_server_fills_the_padding_with_its_entropy() {
    let paddings: Vec<_> = [1, 2]
        .map(|seed| {
            let config = server(SocketType::Pair, Default::default(), Cookies::new(1));
            let mut side = Side::new(config, provider(), seed);
            Greeting::parse(&side.output()).unwrap().unwrap().padding
        })
        .into();
    assert_ne!(paddings[0], [0; 8]);
    assert_ne!(paddings[0], paddings[1]);
}

#[test]
fn a_wrong_byte_is_refused_at_once() {
    let mut side = Side::new(null(SocketType::Pair), provider(), 1);
    side.feed(b"GET / HTTP/1.1");
    let expected = Error::Wire(WireError::BadSignature {
        position: 0,
        byte: b'G',
    });
    assert_eq!(side.error, Some(expected.clone()));
    assert_eq!(side.connection.end_of_stream(), expected);

    let mut side = Side::new(null(SocketType::Pair), provider(), 1);
    side.feed(&[0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f]);
    assert_eq!(side.error, None);
    side.feed(&[2]);
    assert_eq!(
        side.error,
        Some(Error::Wire(WireError::UnsupportedVersion { major: 2 }))
    );
}

#[test]
fn mechanisms_that_differ_are_named_on_both_sides() {
    let mut pair = Pair::new(
        null(SocketType::Pair),
        client(SocketType::Pair, Default::default()),
        &provider(),
    );
    pair.settle();
    let mismatch = |ours, theirs: Mechanism| {
        let theirs = theirs.name().into();
        Some(Error::Incompatible(Incompatible::MechanismMismatch {
            ours: vec![ours],
            theirs,
        }))
    };
    assert_eq!(pair.a.error, mismatch(Mechanism::Null, Mechanism::Blake3));
    assert_eq!(pair.b.error, mismatch(Mechanism::Blake3, Mechanism::Null));
}

#[test]
fn two_clients_and_two_servers_are_told_apart() {
    let client = || client(SocketType::Pair, Default::default());
    let server = || server(SocketType::Pair, Default::default(), Cookies::new(1));
    let error = |a: Config, b: Config| {
        let mut pair = Pair::new(a, b, &provider());
        pair.settle();
        assert_eq!(pair.a.error, pair.b.error);
        pair.a.error.unwrap()
    };
    assert_eq!(
        error(client(), client()),
        Error::Incompatible(Incompatible::BothClients)
    );
    assert_eq!(
        error(server(), server()),
        Error::Incompatible(Incompatible::BothServers)
    );
}

#[test]
fn an_end_before_or_within_the_greeting_says_so() {
    for bytes in [&b""[..], b"\xff\0\0"] {
        let mut side = Side::new(null(SocketType::Pair), provider(), 1);
        side.feed(bytes);
        assert_eq!(
            side.connection.end_of_stream(),
            Error::Closed(CloseKind::DuringHandshake(Step::Greeting))
        );
    }
}

#[test]
fn later_versions_are_spoken_to_as_3_1_and_older_ones_as_3_0() {
    for (minor, expected) in [(0, 0), (1, 1), (7, 1)] {
        let mut peer = Side::new(null(SocketType::Pair), provider(), 1);
        let mut side = Side::new(null(SocketType::Pair), provider(), 2);
        let mut greeting = peer.output();
        greeting[11] = minor;
        peer.feed(&side.output());
        side.feed(&[greeting, peer.output()].concat());
        assert_eq!(side.error, None);
        assert_eq!(side.connection.peer().unwrap().zmtp_minor, expected);
        assert!(matches!(side.events[..], [Event::Ready(_)]));
    }
}

#[test]
fn the_trace_names_every_step() {
    let mut pair = Pair::ready(
        client(SocketType::Pair, Default::default()),
        server(SocketType::Pair, Default::default(), Cookies::new(1)),
        &provider(),
    );
    let steps: Vec<_> = std::iter::from_fn(|| pair.a.connection.poll_handshake_trace())
        .map(|step| (step.command, step.direction, step.wire_size))
        .collect();
    use Direction::{Received, Sent};
    // Two or nine bytes for flags and length; metadata is `Socket-Type` with `PAIR`, 20 bytes.
    assert_eq!(
        steps,
        [
            ("GREETING", Sent, 64),
            ("GREETING", Received, 64),
            ("HELLO", Sent, 2 + 232),
            ("WELCOME", Received, 2 + 224),
            ("INITIATE", Sent, 9 + 321 + 20),
            ("READY", Received, 2 + 38 + 20),
        ]
    );
    assert_eq!(
        std::iter::from_fn(|| pair.b.connection.poll_handshake_trace()).count(),
        6
    );
}
