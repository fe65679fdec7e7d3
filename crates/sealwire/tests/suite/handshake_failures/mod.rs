//! A handshake that fails explains itself, on both sides: a typed error in a monitor event, with
//! the peer's address; and the side that connected goes on trying, with growing waits, and says so
//! each time.

mod strangers;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{TIMEOUT, await_event, options};
use sealwire::auth::{AllowAnyone, AllowedKeys, Client, Decision, PlainClient, Status};
use sealwire::blocking::Socket;
use sealwire::{
    ConnectionFailure, Endpoint, Error, Event, FailureCause, Generate as _, KeyPair, Mechanism,
    Monitor, PeerAddress, ProtocolError, Security, SocketBuilder, SocketType,
};
use sealwire_zmtp::error::{CloseKind, HandshakeError, Incompatible, Refusal, Step};

/// What the two sides of one attempt say.
struct Explained {
    server: ConnectionFailure,
    client: ConnectionFailure,
}

impl Explained {
    /// Lets a client connect to a server and waits until both have failed.
    fn by(server: SocketBuilder, client: SocketBuilder) -> Explained {
        let (server, client) = (
            server.build_blocking().unwrap(),
            client.build_blocking().unwrap(),
        );
        let monitors = [server.monitor(), client.monitor()];
        let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
        client.connect(&endpoint).unwrap();
        let [server, client] = monitors.map(|monitor| failure(&monitor));
        assert_addresses(&endpoint, &server, &client);
        Explained { server, client }
    }

    /// Both errors, for a comparison.
    fn causes(&self) -> [ProtocolError; 2] {
        [&self.server, &self.client].map(protocol)
    }
}

/// Each side names the endpoint it was told and the address of the other.
fn assert_addresses(endpoint: &Endpoint, server: &ConnectionFailure, client: &ConnectionFailure) {
    for failure in [server, client] {
        assert_eq!(failure.endpoint(), endpoint);
        assert!(failure.connection().is_some());
        assert!(!failure.was_ready());
    }
    let PeerAddress::Tcp(of_client) = server.address() else {
        panic!("{server}")
    };
    assert!(of_client.ip().is_loopback());
    assert_eq!(
        client.address(),
        &PeerAddress::Tcp(socket_address(endpoint))
    );
    assert!(
        client.to_string().contains(&client.address().to_string()),
        "{client}"
    );
}

fn socket_address(endpoint: &Endpoint) -> SocketAddr {
    let Endpoint::Tcp { host, port } = endpoint else {
        panic!("no tcp")
    };
    SocketAddr::new(host.parse().unwrap(), *port)
}

fn failed(event: &Event) -> Option<ConnectionFailure> {
    match event {
        Event::Failed(failure) => Some(failure.clone()),
        _ => None,
    }
}

fn failure(monitor: &Monitor) -> ConnectionFailure {
    await_event(monitor, "a failed connection", failed)
}

fn protocol(failure: &ConnectionFailure) -> ProtocolError {
    match failure.cause() {
        FailureCause::Protocol(error) => error.clone(),
        other => panic!("not of the protocol: {other}"),
    }
}

fn router(security: impl Into<Security>) -> SocketBuilder {
    options(SocketType::Router).security(security)
}

fn dealer(security: impl Into<Security>) -> SocketBuilder {
    options(SocketType::Dealer).security(security)
}

fn server_of(keys: &KeyPair) -> Security {
    Security::blake3_server(keys.clone(), AllowAnyone).into()
}

/// Whether the other side left the handshake silently.
fn is_closed(failure: &ConnectionFailure) -> bool {
    let error = protocol(failure);
    matches!(error, ProtocolError::Closed(CloseKind::DuringHandshake(_)))
}

fn refused(reason: &str) -> ProtocolError {
    ProtocolError::PeerRefused {
        reason: reason.into(),
        verified: false,
    }
}

#[test]
fn wrong_server_key() {
    let [keys, others] = [(); 2].map(|()| KeyPair::generate());
    let explained = Explained::by(
        router(server_of(&keys)),
        dealer(Security::blake3_client(others.public())),
    );
    assert_eq!(
        explained.causes(),
        [
            HandshakeError::HelloUnreadable.into(),
            ProtocolError::Closed(CloseKind::DuringHandshake(Step::Welcome)),
        ]
    );
    // Both name the remedy.
    assert!(explained.server.to_string().contains("another server key"));
    assert!(
        explained
            .client
            .to_string()
            .contains("key is probably not the one configured")
    );
}

#[test]
fn client_not_allowed() {
    let [keys, allowed, stranger] = [(); 3].map(|()| KeyPair::generate());
    let list = AllowedKeys::new().allow(allowed.public());
    let client = Security::blake3_client_with_keys(keys.public(), stranger);
    let explained = Explained::by(
        router(Security::blake3_server(keys.clone(), list)),
        dealer(client),
    );
    let [server, client] = explained.causes();
    let ProtocolError::Refused(refusal) = server else {
        panic!("{server}")
    };
    assert_eq!(client, refused(refusal.reason()));
    assert!(explained.client.to_string().contains("unverified"));
}

#[test]
fn the_authenticator_gives_the_reason() {
    let keys = KeyPair::generate();
    let decide = |_: &Client<'_>| Decision::refuse("closed\non \u{1b}Sundays");
    let explained = Explained::by(
        router(Security::blake3_server(keys.clone(), decide)),
        dealer(Security::blake3_client(keys.public())),
    );
    let reason = "closed?on ?Sundays";
    assert_eq!(
        explained.causes(),
        [
            ProtocolError::Refused(Refusal::new(reason)),
            refused(reason)
        ]
    );
}

/// What the client hears has to be libzmq's three digits; this side keeps the words. Of what will
/// pass it hears nothing, as libzmq's never come again after ERROR.
#[test]
fn curve_and_plain_clients_hear_a_status() {
    let (keys, client) = (KeyPair::generate(), KeyPair::generate());
    let why = |status| Decision::refuse_as(status, "closed on Sundays");
    for (status, digits) in [
        (Status::Temporary, None),
        (Status::Refused, Some("400")),
        (Status::Failed, Some("500")),
    ] {
        let by_key = move |_: &Client<'_>| why(status);
        let by_password = move |_: &PlainClient<'_>| why(status);
        for (server, client) in [
            (
                Security::curve_server(keys.clone(), by_key),
                Security::curve_client(keys.public(), client.clone()),
            ),
            (
                Security::plain_server(by_password),
                Security::plain_client("name", "password"),
            ),
        ] {
            let explained = Explained::by(router(server), dealer(client));
            let words = ProtocolError::Refused(Refusal::new("closed on Sundays"));
            match digits {
                Some(digits) => assert_eq!(explained.causes(), [words, refused(digits)]),
                None => {
                    assert_eq!(explained.causes()[0], words);
                    assert!(is_closed(&explained.client), "{}", explained.client);
                }
            }
        }
    }
}

/// It will pass, so a client that comes again may get in.
#[test]
fn a_panic_of_the_authenticator_is_a_refusal_for_now() {
    let (keys, client) = (KeyPair::generate(), KeyPair::generate());
    let panics = |_: &Client<'_>| -> Decision { panic!("on purpose") };
    let explained = Explained::by(
        router(Security::curve_server(keys.clone(), panics)),
        dealer(Security::curve_client(keys.public(), client)),
    );
    assert!(matches!(&explained.causes()[0], ProtocolError::Refused(_)));
    assert!(is_closed(&explained.client), "{}", explained.client);
}

#[test]
fn mechanisms_differ() {
    let keys = KeyPair::generate();
    let mismatch = |ours, theirs: Mechanism| -> ProtocolError {
        Incompatible::MechanismMismatch {
            ours: vec![ours],
            theirs: theirs.name().into(),
        }
        .into()
    };
    let (null, blake3) = (Mechanism::Null, Mechanism::Blake3);
    let (null, blake3) = (mismatch(null, blake3), mismatch(blake3, null));
    let explained = Explained::by(router(server_of(&keys)), dealer(Security::plain_text()));
    assert_eq!(explained.causes(), [blake3.clone(), null.clone()]);
    let client = Security::blake3_client(keys.public());
    let explained = Explained::by(router(Security::plain_text()), dealer(client));
    assert_eq!(explained.causes(), [null, blake3]);
}

#[test]
fn two_servers_and_two_clients() {
    let keys = KeyPair::generate();
    let explained = Explained::by(router(server_of(&keys)), dealer(server_of(&keys)));
    let both = ProtocolError::from(Incompatible::BothServers);
    assert_eq!(explained.causes(), [both.clone(), both]);
    let client = || Security::blake3_client(keys.public());
    let explained = Explained::by(router(client()), dealer(client()));
    let both = ProtocolError::from(Incompatible::BothClients);
    assert_eq!(explained.causes(), [both.clone(), both]);
}

#[test]
fn socket_types_that_do_not_fit() {
    let keys = KeyPair::generate();
    let types = |ours, theirs| ProtocolError::from(Incompatible::SocketTypes { ours, theirs });
    let pull = |security| options(SocketType::Pull).security(security);
    let explained = Explained::by(pull(Security::plain_text()), dealer(Security::plain_text()));
    let [server, client] = explained.causes();
    let told = refused("the socket types cannot be connected");
    let (ours, theirs) = (SocketType::Pull, SocketType::Dealer);
    // The first side tells the other one, which may have found out by itself.
    assert!(
        [types(ours, theirs), told.clone()].contains(&server),
        "{server}"
    );
    assert!(
        [types(theirs, ours), told.clone()].contains(&client),
        "{client}"
    );
    assert!(server != client);

    let client = Security::blake3_client(keys.public());
    let explained = Explained::by(pull(server_of(&keys)), dealer(client));
    assert_eq!(explained.causes(), [types(ours, theirs), told]);
}

#[test]
fn an_authenticator_that_does_not_answer() {
    let keys = KeyPair::generate();
    let attempt = |limit| {
        let (release, gate) = std::sync::mpsc::channel::<()>();
        let gate = std::sync::Mutex::new(gate);
        let decide = move |_: &Client<'_>| gate.lock().unwrap().recv().is_ok();
        let server = router(Security::blake3_server(keys.clone(), decide));
        let client = dealer(Security::blake3_client(keys.public()));
        let explained = Explained::by(server.handshake_timeout(limit), client);
        drop(release);
        explained.causes()
    };
    let expected = [
        ProtocolError::HandshakeTimeout {
            step: Step::Authorization,
        },
        ProtocolError::Closed(CloseKind::DuringHandshake(Step::Ready)),
    ];
    // Where the machine stalls, the time may be over before the authenticator is asked.
    let mut limit = Duration::from_millis(500);
    let mut causes = attempt(limit);
    while causes != expected && limit < TIMEOUT / 4 {
        limit *= 2;
        causes = attempt(limit);
    }
    assert_eq!(causes, expected);
}

/// Greeting and handshake cannot tell the data phases apart: the first frame does, in whichever
/// direction it goes, and the error says that this may be why.
#[test]
fn data_phases_differ() {
    let keys = KeyPair::generate();
    let (server, client) = (
        Security::blake3_server(keys.clone(), AllowAnyone),
        Security::blake3_client(keys.public()),
    );
    let weak_server = server
        .clone()
        .with_continuous_keystream_unauthenticated_order();
    let weak_client = client
        .clone()
        .with_continuous_keystream_unauthenticated_order();
    for (server, client) in [(weak_server, client), (server, weak_client)] {
        let server = router(server).build_blocking().unwrap();
        let client = dealer(client).build_blocking().unwrap();
        let monitor = server.monitor();
        client
            .connect(server.bind("tcp://127.0.0.1:0").unwrap())
            .unwrap();
        client.send("not understood").unwrap();
        let failure = failure(&monitor);
        assert!(failure.was_ready());
        let expected = ProtocolError::FrameNotVerified {
            index: 0,
            first: true,
        };
        assert_eq!(protocol(&failure), expected);
        assert!(failure.to_string().contains("data phase"), "{failure}");
        assert!(server.try_recv().is_err());
    }
}

/// A client that is refused comes back after growing waits, reports each refusal, says so to who
/// waits, and is let in once the server changes its mind.
#[test]
fn a_refused_client_reports_each_attempt_and_gets_in_later() {
    let keys = KeyPair::generate();
    let open = Arc::new(AtomicBool::new(false));
    let decide = {
        let open = open.clone();
        move |_: &Client<'_>| open.load(Ordering::SeqCst)
    };
    let server = router(Security::blake3_server(keys.clone(), decide))
        .build_blocking()
        .unwrap();
    let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
    let (shortest, longest) = (Duration::from_millis(10), Duration::from_millis(80));
    let client = dealer(Security::blake3_client(keys.public()))
        .reconnect(shortest, longest)
        .build_blocking()
        .unwrap();
    let monitor = client.monitor();
    client.connect(endpoint).unwrap();
    for number in 1..=6_u32 {
        assert!(matches!(
            protocol(&failure(&monitor)),
            ProtocolError::PeerRefused { .. }
        ));
        let (attempt, delay) = await_event(&monitor, "another attempt", |event| match event {
            Event::Retrying { attempt, delay, .. } => Some((*attempt, *delay)),
            _ => None,
        });
        assert_eq!(attempt, number);
        // Doubled each time, with up to a half taken off at random.
        let full = (shortest * 2_u32.pow(number - 1)).min(longest);
        assert!(delay <= full && delay >= full / 2, "{number}: {delay:?}");
    }
    let error = client.recv_timeout(Duration::from_millis(10)).unwrap_err();
    let Error::TimedOut { last_failure, .. } = &error else {
        panic!("{error}")
    };
    assert!(matches!(
        protocol(last_failure.as_ref().unwrap()),
        ProtocolError::PeerRefused { .. }
    ));
    open.store(true, Ordering::SeqCst);
    client.send("at last").unwrap();
    assert_eq!(server.recv().unwrap().frame(1), Some(&b"at last"[..]));
    assert!(client.counters().reconnects >= 6);
}

/// The failure of one peer is not a failure of the socket.
#[test]
fn others_are_not_concerned() {
    let keys = KeyPair::generate();
    let server = router(server_of(&keys)).build_blocking().unwrap();
    let monitor = server.monitor();
    let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
    let connect = |security| -> Socket {
        let client = dealer(security).build_blocking().unwrap();
        client.connect(&endpoint).unwrap();
        client
    };
    let right = connect(Security::blake3_client(keys.public()));
    let wrong = connect(Security::blake3_client(KeyPair::generate().public()));
    failure(&monitor);
    right.send("here").unwrap();
    assert_eq!(server.recv().unwrap().frame(1), Some(&b"here"[..]));
    assert!(wrong.peers().is_empty());
}
