//! PLAIN: who gets in, and what is said when somebody does not.

use sealwire_zmtp::connection::Event;
use sealwire_zmtp::error::{Error, HandshakeError, Incompatible, Refusal, Step, WireError};
use sealwire_zmtp::mechanism::Claim;
use sealwire_zmtp::mechanism::plain::PlainCredentials;
use sealwire_zmtp::{Mechanism, SocketType};

use crate::support::{
    Leg, Pair, Side, frame, handshake, plain_client, plain_server, provider, recorded, told,
};

fn pair() -> Pair {
    Pair::new(
        plain_client(SocketType::Dealer),
        plain_server(SocketType::Router),
        &provider(),
    )
}

fn server_after_greeting() -> Side {
    let mut pair = pair();
    let greeting = pair.a.output();
    pair.b.feed(&greeting);
    pair.b.output();
    pair.b
}

#[test]
fn the_server_is_asked_and_the_name_is_kept() {
    let mut pair = pair();
    pair.b.decision = Some(Ok(Some("admin".into())));
    pair.settle();
    let shown = PlainCredentials::new("admin", "s3cret");
    let [Event::Authorize(Claim::Password(asked)), Event::Ready(_)] = &pair.b.events[..] else {
        panic!("{:?}", pair.b.events);
    };
    assert_eq!(**asked, shown);
    assert!(!format!("{:?}", pair.b.events).contains("s3cret"));
    let peer = pair.b.connection.peer().unwrap();
    assert_eq!(
        (peer.user_id.as_deref(), peer.mechanism),
        (Some("admin"), Mechanism::Plain)
    );
    assert_eq!(peer.public_key, None);
}

#[test]
fn the_commands_are_those_of_the_specification() {
    let mut pair = pair();
    let legs = recorded(&mut pair.a, &mut pair.b);
    assert_eq!(legs[2], b"\x04\x13\x05HELLO\x05admin\x06s3cret");
    assert_eq!(legs[3], b"\x04\x08\x07WELCOME");
    assert_eq!(legs[4][2..11], *b"\x08INITIATE");
    assert_eq!(legs[5][2..8], *b"\x05READY");
}

#[test]
fn nothing_goes_out_until_the_application_answers() {
    let mut pair = pair();
    pair.b.decision = None;
    pair.settle();
    assert!(!pair.a.connection.is_ready());
    pair.b.connection.authorize(Ok(None), pair.b.now).unwrap();
    pair.settle();
    assert!(pair.a.connection.is_ready() && pair.b.connection.is_ready());
}

#[test]
fn a_refused_client_is_told_why() {
    let mut pair = pair();
    pair.b.decision = Some(Err(Refusal::new("wrong password")));
    pair.settle();
    assert_eq!(pair.a.error, told("wrong password"));
    assert!(matches!(pair.b.error, Some(Error::Refused(_))));
}

#[test]
fn commands_out_of_turn_and_malformed_ones_are_refused() {
    let expected = |expected| {
        Some(Error::Handshake(HandshakeError::UnexpectedCommand {
            expected,
        }))
    };
    let mut server = server_after_greeting();
    server.feed(&frame(4, b"\x08INITIATE"));
    assert_eq!(server.error, expected(Step::Hello));
    for data in [&b"\x05HELLO"[..], b"\x05HELLO\x01a", b"\x05HELLO\x00\x00x"] {
        let mut server = server_after_greeting();
        server.feed(&frame(4, data));
        let malformed = WireError::MalformedCommand { command: "HELLO" };
        assert_eq!(server.error, Some(malformed.into()));
        assert!(server.events.is_empty());
    }
    let mut pair = pair();
    handshake(&mut pair.a, &mut pair.b, |leg, bytes| {
        if leg == Leg::Welcome {
            *bytes = frame(4, b"\x05READY");
        }
    });
    assert_eq!(pair.a.error, expected(Step::Welcome));
}

#[test]
fn the_error_that_libzmq_misspells_is_understood() {
    let mut pair = pair();
    handshake(&mut pair.a, &mut pair.b, |leg, bytes| {
        if leg == Leg::Welcome {
            *bytes = frame(4, b"\x5eRROR\x03400");
        }
    });
    assert_eq!(pair.a.error, told("400"));
}

/// A peer whose greeting is libzmq's hears the ERROR that libzmq knows, others that of the text.
#[test]
fn each_client_hears_the_error_that_it_knows() {
    for (padding, expected) in [(1, &b"\x5eRROR\x03400"[..]), (0, b"\x05ERROR\x03400")] {
        let mut pair = pair();
        pair.b.decision = Some(Err(Refusal::new("400")));
        let mut told = Vec::new();
        handshake(&mut pair.a, &mut pair.b, |leg, bytes| match leg {
            Leg::ClientGreeting => bytes[8] = padding,
            Leg::Welcome => told.clone_from(bytes),
            _ => {}
        });
        assert_eq!(told, frame(4, expected));
        assert!(matches!(pair.a.error, Some(Error::PeerRefused { .. })));
    }
}

#[test]
fn two_clients_say_so() {
    let mut pair = Pair::new(
        plain_client(SocketType::Dealer),
        plain_client(SocketType::Router),
        &provider(),
    );
    pair.settle();
    assert_eq!(
        pair.a.error,
        Some(Error::Incompatible(Incompatible::BothClients))
    );
}

#[test]
fn what_does_not_fit_is_refused_before_a_byte_is_sent() {
    use sealwire_zmtp::MechanismConfig;
    use sealwire_zmtp::error::ConfigError;
    use sealwire_zmtp::mechanism::PlainClient;
    let mut config = plain_client(SocketType::Dealer);
    config.mechanism = MechanismConfig::from(PlainClient {
        credentials: PlainCredentials::new("admin", vec![0; 256]),
    });
    assert_eq!(config.validate(), Err(ConfigError::CredentialTooLong));
}
