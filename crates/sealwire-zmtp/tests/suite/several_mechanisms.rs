//! A server with several mechanisms: the client's greeting chooses, and nobody else does.

use std::time::Duration;

use sealwire_zmtp::error::{Error, HandshakeError, Incompatible, Step};
use sealwire_zmtp::wire::greeting::{self, Greeting};
use sealwire_zmtp::{Config, Frames, Mechanism, SocketType};

use crate::support::{
    Cookies, Pair, Side, any_of, assert_each_knows_the_others_key, client, curve_client,
    curve_server, null, plain_client, provider, providers, server,
};

/// What a server sends before it knows its client: signature and major version.
const PARTIAL: usize = 11;

fn servers() -> Config {
    any_of(SocketType::Router, Cookies::new(1))
}

fn blake3_client() -> Config {
    client(SocketType::Dealer, Default::default())
}

fn mismatch(ours: &[Mechanism], theirs: Mechanism) -> Option<Error> {
    let error = Incompatible::MechanismMismatch {
        ours: ours.into(),
        theirs: theirs.name().into(),
    };
    Some(error.into())
}

#[test]
fn each_client_is_served_with_the_mechanism_that_it_names() {
    let clients = [
        (Mechanism::Blake3, blake3_client()),
        (Mechanism::Curve, curve_client(SocketType::Dealer)),
    ];
    for provider in providers() {
        for (mechanism, client) in clients.clone() {
            let mut pair = Pair::new(client, servers(), &provider);
            assert_eq!(pair.b.connection.mechanism(), None);
            pair.b.decision = Some(Ok(Some("alice".into())));
            pair.settle();
            assert_each_knows_the_others_key(&pair, mechanism);
            for side in [&pair.a, &pair.b] {
                assert_eq!(side.connection.mechanism(), Some(mechanism));
            }
            pair.a.send("to the server");
            pair.b.send("to the client");
            pair.settle();
            assert_eq!(pair.b.messages(), [Frames::from("to the server")]);
            assert_eq!(pair.a.messages(), [Frames::from("to the client")]);
            // Known also to those who hear of a question after the end.
            pair.b.connection.end_of_stream();
            assert_eq!(pair.b.connection.mechanism(), Some(mechanism));
        }
    }
}

#[test]
fn other_clients_and_the_server_are_told_what_is_wrong() {
    let both = [Mechanism::Blake3, Mechanism::Curve];
    for (named, client) in [
        (Mechanism::Null, null(SocketType::Dealer)),
        (Mechanism::Plain, plain_client(SocketType::Dealer)),
    ] {
        let mut pair = Pair::new(client, servers(), &provider());
        pair.settle();
        assert_eq!(pair.b.error, mismatch(&both, named));
        assert_eq!(pair.a.error, mismatch(&[named], Mechanism::Blake3));
        let text = pair.b.error.unwrap().to_string();
        assert!(text.contains("this side BLAKE3 or CURVE"), "{text}");
    }
}

#[test]
fn two_servers_are_told_apart() {
    for other in [
        server(SocketType::Dealer, Default::default(), Cookies::new(2)),
        curve_server(SocketType::Dealer, Cookies::new(2)),
    ] {
        let mut pair = Pair::new(other, servers(), &provider());
        pair.settle();
        let expected = Some(Error::Incompatible(Incompatible::BothServers));
        assert_eq!((&pair.a.error, &pair.b.error), (&expected, &expected));
    }
}

#[test]
fn the_client_is_heard_before_a_mechanism_is_named() {
    for (client, name) in [
        (blake3_client(), "BLAKE3"),
        (curve_client(SocketType::Dealer), "CURVE"),
    ] {
        let mut client = Side::new(client, provider(), 1);
        let mut server = Side::new(servers(), provider(), 2);
        let mut sent = server.output();
        assert_eq!(sent.len(), PARTIAL);
        let greeting = client.output();
        // Also to a client that says its mechanism after it has heard a version.
        server.feed(&greeting[..PARTIAL - 1]);
        assert!(server.output().is_empty());
        server.feed(&greeting[PARTIAL - 1..greeting::SIZE - 1]);
        assert!(server.output().is_empty());
        server.feed(&greeting[greeting::SIZE - 1..]);
        sent.extend(server.output());
        let sent = Greeting::parse(&sent).unwrap().unwrap();
        assert!(sent.is_mechanism(name) && sent.as_server);
        assert_ne!(sent.padding, [0; 8]);
    }
}

/// A client has one mechanism, so there is none weaker to which somebody on the path could lead it.
#[test]
fn nobody_on_the_path_chooses_for_a_client() {
    let mut client = Side::new(blake3_client(), provider(), 1);
    let mut server = Side::new(servers(), provider(), 2);
    let mut greeting = client.output();
    greeting[12..32].fill(0);
    greeting[12..17].copy_from_slice(b"CURVE");
    let mut answer = server.output();
    server.feed(&greeting);
    answer.extend(server.output());
    client.feed(&answer);
    let expected = mismatch(&[Mechanism::Blake3], Mechanism::Curve);
    assert_eq!(client.error, expected);
    // Nor by changing both greetings: the transcript holds them as they were sent.
    let mut client = Side::new(blake3_client(), provider(), 1);
    let mut server = Side::new(servers(), provider(), 2);
    let mut greeting = client.output();
    greeting[40] ^= 1;
    server.feed(&greeting);
    client.feed(&server.output());
    server.feed(&client.output());
    client.feed(&server.output());
    let expected = HandshakeError::WelcomeUnreadable;
    assert_eq!(client.error, Some(Error::Handshake(expected)));
}

#[test]
fn two_such_servers_wait_until_the_deadline() {
    let mut pair = Pair::new(servers(), servers(), &provider());
    pair.settle();
    assert_eq!((&pair.a.error, &pair.b.error), (&None, &None));
    let deadline = pair.a.connection.next_timeout().unwrap();
    let almost = deadline - Duration::from_millis(1);
    assert_eq!(pair.a.connection.handle_timeout(almost), Ok(()));
    let step = Step::Greeting;
    let expected = Err(Error::HandshakeTimeout { step });
    assert_eq!(pair.a.connection.handle_timeout(deadline), expected);
}
