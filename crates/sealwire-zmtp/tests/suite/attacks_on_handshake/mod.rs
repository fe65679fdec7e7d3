//! Someone on the wire during the BLAKE3 handshake.
//!
//! Source: wire reference, section 8; each attack is replayed as it was demonstrated.

mod lying_peers;

use std::sync::Arc;

use sealwire_zmtp::connection::Event;
use sealwire_zmtp::error::{CloseKind, Error, HandshakeError, Step};
use sealwire_zmtp::mechanism::DataPhase;
use sealwire_zmtp::{Provider, SocketType};

use crate::support::{
    Cookies, Leg, Side, client, frame, handshake, provider, providers, recorded, server, told,
};

const PHASE: DataPhase = DataPhase::PerMessageNonces;

fn client_side(provider: Arc<dyn Provider>) -> Side {
    Side::new(client(SocketType::Dealer, PHASE), provider, 1)
}

fn server_side(provider: Arc<dyn Provider>, cookies: &Arc<Cookies>, seed: u8) -> Side {
    Side::new(
        server(SocketType::Router, PHASE, Arc::clone(cookies)),
        provider,
        seed,
    )
}

fn error(kind: HandshakeError) -> Option<Error> {
    Some(Error::Handshake(kind))
}

/// Where the fields of a command frame end: header and name, then what follows.
fn is_framing(leg: Leg, byte: usize) -> bool {
    let size = match leg {
        Leg::ClientGreeting | Leg::ServerGreeting => 64,
        Leg::Hello | Leg::Ready => 2 + 6,
        Leg::Welcome => 2 + 8,
        Leg::Initiate => 9 + 9,
    };
    byte < size
}

/// The error that a flipped bit behind the framing must cause.
fn expected(leg: Leg, byte: usize, mask: u8) -> HandshakeError {
    match leg {
        Leg::Hello => match byte - 8 {
            0..2 | 34..130 => HandshakeError::HelloMalformed,
            33 if mask == 0x80 => HandshakeError::KeyNotCanonical,
            _ => HandshakeError::HelloUnreadable,
        },
        Leg::Welcome => HandshakeError::WelcomeUnreadable,
        Leg::Initiate if byte < 9 + 9 + 152 => HandshakeError::CookieRejected,
        Leg::Initiate => HandshakeError::InitiateUnreadable,
        Leg::Ready => HandshakeError::ReadyUnreadable,
        Leg::ClientGreeting | Leg::ServerGreeting => unreachable!("all framing"),
    }
}

#[test]
fn every_flipped_bit_ends_the_handshake_with_the_right_error() {
    let sizes = {
        let cookies = Cookies::new(1);
        recorded(
            &mut client_side(provider()),
            &mut server_side(provider(), &cookies, 2),
        )
        .map(|leg| leg.len())
    };
    let legs = [
        Leg::ClientGreeting,
        Leg::ServerGreeting,
        Leg::Hello,
        Leg::Welcome,
        Leg::Initiate,
        Leg::Ready,
    ];
    for (leg, size) in legs.into_iter().zip(sizes) {
        for (byte, bit) in (0..size).flat_map(|byte| (0..8).map(move |bit| (byte, bit))) {
            let mask = 1 << bit;
            let cookies = Cookies::new(1);
            let mut client = client_side(provider());
            let mut server = server_side(provider(), &cookies, 2);
            handshake(&mut client, &mut server, |at, bytes| {
                if at == leg {
                    bytes[byte] ^= mask;
                }
            });
            let context = format!("{leg:?} byte {byte} bit {bit}");
            check_flip(leg, byte, mask, client, server, &context);
        }
    }
}

fn check_flip(leg: Leg, byte: usize, mask: u8, mut client: Side, mut server: Side, context: &str) {
    assert!(!client.connection.is_ready(), "{context}");
    assert_eq!(client.events, [], "{context}");
    if leg == Leg::Ready {
        // The server cannot know; it has sent what it had to.
        assert!(matches!(
            server.events[..],
            [Event::Authorize(_), Event::Ready(_)]
        ));
    } else {
        assert_eq!(server.events, [], "{context}");
    }
    let honest = match leg {
        Leg::Hello | Leg::Initiate => &mut server,
        _ => &mut client,
    };
    if !is_framing(leg, byte) {
        assert_eq!(honest.error, error(expected(leg, byte, mask)), "{context}");
        return;
    }
    // Framing: refused at once by one side, or the bytes that a longer length asks for never come.
    let refused = [client.error.clone(), server.error.clone()]
        .into_iter()
        .flatten()
        .next();
    match refused {
        Some(Error::Wire(_) | Error::Incompatible(_) | Error::Handshake(_)) => {}
        Some(other) => panic!("{context}: {other:?}"),
        None => {
            let ends = [
                client.connection.end_of_stream(),
                server.connection.end_of_stream(),
            ];
            let closed = |end: &Error| matches!(end, Error::Closed(CloseKind::DuringHandshake(_)));
            assert!(ends.iter().any(closed), "{context}: {ends:?}");
        }
    }
}

#[test]
fn a_recorded_handshake_is_not_accepted_again() {
    for provider in providers() {
        let cookies = Cookies::new(1);
        let mut server = server_side(provider.clone(), &cookies, 2);
        let mut client = client_side(provider.clone());
        let legs = recorded(&mut client, &mut server);
        client.send("pay 100");
        let data = client.output();
        server.feed(&data);
        assert_eq!(server.messages().len(), 1);

        // Also a server whose randomness repeats, which leaves the connection id alone to
        // tell the two apart.
        for seed in [3, 2] {
            let mut server = server_side(provider.clone(), &cookies, seed);
            server.output();
            server.feed(&legs[0]);
            server.feed(&legs[2]);
            assert_eq!(server.error, None);
            assert!(
                !server.output().is_empty(),
                "HELLO alone can be replayed and is answered"
            );
            server.feed(&[&legs[4][..], &data].concat());
            assert_eq!(server.error, error(HandshakeError::CookieRejected));
            assert_eq!(server.events, []);
        }
    }
}

#[test]
fn the_same_hello_never_gets_the_same_welcome() {
    let cookies = Cookies::new(1);
    let legs = recorded(
        &mut client_side(provider()),
        &mut server_side(provider(), &cookies, 2),
    );
    let answer = |seed| {
        let mut server = server_side(provider(), &cookies, seed);
        let greeting = server.output();
        server.feed(&[&legs[0][..], &legs[2]].concat());
        // WELCOME's key and nonce come from HELLO and from a transcript that begins with this.
        (greeting, server.output())
    };
    let (first, second) = (answer(3), answer(4));
    assert_ne!(first.0, second.0);
    assert_ne!(first.1, second.1);
    assert_eq!(first.1.len(), legs[3].len());
}

#[test]
fn a_cookie_lives_for_one_rotation() {
    for rotations in 0..4 {
        let cookies = Cookies::new(1);
        let mut client = client_side(provider());
        let mut server = server_side(provider(), &cookies, 2);
        handshake(&mut client, &mut server, |leg, _| {
            if leg == Leg::Initiate {
                (0..rotations).for_each(|i| cookies.rotate(10 + i));
            }
        });
        if rotations <= 1 {
            assert!(server.connection.is_ready());
        } else {
            assert_eq!(server.error, error(HandshakeError::CookieRejected));
        }
    }
}

#[test]
fn a_cookie_of_another_connection_or_server_is_refused() {
    let cookies = Cookies::new(1);
    let mut client = client_side(provider());
    let mut server = server_side(provider(), &cookies, 2);
    // The connection in between takes a number of its own.
    let mut other = server_side(provider(), &cookies, 2);
    other.feed(&client_side(provider()).output());
    let mut other_client = client_side(provider());
    other_client.feed(&other.output());
    other_client.output();
    handshake(&mut client, &mut server, |leg, bytes| {
        if leg == Leg::Initiate {
            other.feed(&recorded_hello());
            other.feed(bytes);
        }
    });
    assert!(other.error.is_some() && other.events.is_empty());
    assert!(
        server.connection.is_ready(),
        "the connection it belongs to still takes it"
    );
}

/// A HELLO that any server with the usual key answers.
fn recorded_hello() -> Vec<u8> {
    let cookies = Cookies::new(1);
    let [_, _, hello, ..] = recorded(
        &mut client_side(provider()),
        &mut server_side(provider(), &cookies, 2),
    );
    hello
}

#[test]
fn one_initiate_per_connection() {
    let cookies = Cookies::new(1);
    let mut client = client_side(provider());
    let mut server = server_side(provider(), &cookies, 2);
    server.decision = None;
    let mut initiate = Vec::new();
    handshake(&mut client, &mut server, |leg, bytes| {
        if leg == Leg::Initiate {
            initiate = bytes.clone();
        }
    });
    // While the authenticator thinks.
    server.feed(&initiate);
    assert_eq!(server.error, error(HandshakeError::UnexpectedData));
    assert_eq!(server.events.len(), 1);

    // After it agreed, when nothing unsealed has a place any more.
    let mut server = server_side(provider(), &cookies, 2);
    handshake(&mut client_side(provider()), &mut server, |leg, bytes| {
        if leg == Leg::Initiate {
            initiate = bytes.clone();
        }
    });
    server.events.clear();
    server.feed(&initiate);
    assert_eq!(
        server.error,
        Some(Error::FrameNotVerified {
            index: 0,
            first: true
        })
    );
    assert_eq!(server.events, []);

    // Twice in one piece.
    let mut server = server_side(provider(), &cookies, 2);
    handshake(&mut client_side(provider()), &mut server, |leg, bytes| {
        if leg == Leg::Initiate {
            *bytes = bytes.repeat(2);
        }
    });
    assert_eq!(server.error, error(HandshakeError::UnexpectedData));
}

#[test]
fn steps_out_of_order_are_refused() {
    let cookies = Cookies::new(1);
    let legs = recorded(
        &mut client_side(provider()),
        &mut server_side(provider(), &cookies, 2),
    );
    let unexpected = |expected| error(HandshakeError::UnexpectedCommand { expected });
    // A server that waits for HELLO.
    for leg in [&legs[3], &legs[4], &legs[5], &frame(0, b"message")] {
        let mut server = server_side(provider(), &cookies, 2);
        server.feed(&[&legs[0][..], leg].concat());
        assert_eq!(server.error, unexpected(Step::Hello));
    }
    // A server that waits for INITIATE.
    for leg in [&legs[2], &legs[3], &legs[5]] {
        let mut server = server_side(provider(), &cookies, 2);
        server.feed(&[&legs[0][..], &legs[2], leg].concat());
        assert_eq!(server.error, unexpected(Step::Initiate));
    }
    // A client that waits for WELCOME.
    for leg in [&legs[2], &legs[4], &legs[5]] {
        let mut client = client_side(provider());
        client.feed(&[&legs[1][..], leg].concat());
        assert_eq!(client.error, unexpected(Step::Welcome));
    }
    // A client that waits for READY.
    for leg in [&legs[2], &legs[3], &legs[4]] {
        let mut client = client_side(provider());
        client.feed(&[&legs[1][..], &legs[3], leg].concat());
        assert_eq!(client.error, unexpected(Step::Ready));
    }
}

#[test]
fn messages_reflected_to_their_sender_are_refused() {
    let cookies = Cookies::new(1);
    let mut client = client_side(provider());
    let greeting = server_side(provider(), &cookies, 2).output();
    client.output();
    client.feed(&greeting);
    let hello = client.output();
    client.feed(&hello);
    assert_eq!(
        client.error,
        error(HandshakeError::UnexpectedCommand {
            expected: Step::Welcome
        })
    );
}

#[test]
fn hello_is_larger_than_its_answer() {
    let cookies = Cookies::new(1);
    let legs = recorded(
        &mut client_side(provider()),
        &mut server_side(provider(), &cookies, 2),
    );
    assert!(legs[2].len() > legs[3].len());
}

#[test]
fn an_error_from_the_wire_ends_the_attempt_and_is_called_unverified() {
    let cookies = Cookies::new(1);
    let mut client = client_side(provider());
    client.feed(&server_side(provider(), &cookies, 2).output());
    client.feed(&frame(4, b"\x05ERROR\x04\x07\r\n!"));
    assert_eq!(client.error, told(r"\x07\x0d\x0a!"));
}
