//! Clients that keep a connection, and clients that get one: server keys under rotation, clients that are
//! removed, limits per address.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use crate::support::{self, await_event, eventually, options};
use sealwire::account::Kind;
use sealwire::auth::{
    AllowAnyone, AllowedKeys, AllowedKeysFile, Client, Decision, PasswordTable, PlainClient,
};
use sealwire::blocking::Socket;
use sealwire::options::OptionsError;
use sealwire::{
    AddressLimit, Error, Event, FailureCause, Generate as _, KeyPair, Mechanism, ProtocolError,
    PublicKey, Security, SocketType, keys,
};

fn client(server: PublicKey, keys: KeyPair) -> Socket {
    options(SocketType::Push)
        .security(Security::blake3_client_with_keys(server, keys))
        .linger(Duration::ZERO)
        .build_blocking()
        .unwrap()
}

#[test]
fn a_server_may_have_several_keys_while_they_change() {
    let server_keys = [(); 4].map(|()| KeyPair::generate());
    let [first, additional @ ..] = &server_keys;
    let security = additional.iter().fold(
        Security::blake3_server(first.clone(), AllowAnyone),
        |security, keys| security.with_additional_keys(keys.clone()),
    );
    let pull = options(SocketType::Pull).security(security.clone());
    let pull = pull.build_blocking().unwrap();
    let endpoint = pull.bind("tcp://127.0.0.1:*").unwrap();
    for keys in &server_keys {
        let client_keys = KeyPair::generate();
        let push = client(keys.public(), client_keys.clone());
        push.connect(&endpoint).unwrap();
        push.send("hello").unwrap();
        let message = pull.recv().unwrap();
        let proved = message.peer().unwrap().public_key();
        assert_eq!(proved, Some(client_keys.public()));
        assert_eq!(push.peers()[0].public_key(), Some(keys.public()));
    }
    // A key that is none of them opens nothing.
    let monitor = pull.monitor();
    let stranger = client(KeyPair::generate().public(), KeyPair::generate());
    stranger.connect(&endpoint).unwrap();
    await_event(&monitor, "unreadable", |event| match event {
        Event::Failed(failure) => Some(failure.to_string()),
        _ => None,
    });
    // More than that would let strangers make the server work.
    let one_more = security.with_additional_keys(KeyPair::generate());
    let refused = options(SocketType::Pull).security(one_more);
    assert!(matches!(
        refused.build_blocking(),
        Err(Error::Options(OptionsError::ServerKeys))
    ));
}

#[test]
fn a_client_that_is_removed_loses_its_connection_and_others_keep_theirs() {
    let server_keys = KeyPair::generate();
    removal(
        |allowed| Security::blake3_server(server_keys.clone(), allowed),
        |keys| Security::blake3_client_with_keys(server_keys.public(), keys),
    );
    removal(
        |allowed| Security::curve_server(server_keys.clone(), allowed),
        |keys| Security::curve_client(server_keys.public(), keys),
    );
}

fn removal<S: Into<Security>, C: Into<Security>>(
    server: impl Fn(AllowedKeysFile) -> S,
    client: impl Fn(KeyPair) -> C,
) {
    let folder = tempfile::tempdir().unwrap();
    let (stays, goes) = (KeyPair::generate(), KeyPair::generate());
    let file = |name: &str| folder.path().join(name);
    std::fs::write(file("stays"), stays.public().to_string()).unwrap();
    std::fs::write(file("goes"), goes.public().to_string()).unwrap();
    let pull = options(SocketType::Pull)
        .security(server(AllowedKeysFile::open(folder.path()).unwrap()))
        .build_blocking()
        .unwrap();
    let endpoint = pull.bind("tcp://127.0.0.1:*").unwrap();
    let [stays, goes] = [stays, goes].map(|keys| {
        let push = options(SocketType::Push).security(client(keys));
        let push = push.linger(Duration::ZERO).build_blocking().unwrap();
        push.connect(&endpoint).unwrap();
        push.send("hello").unwrap();
        pull.recv().unwrap();
        push
    });
    let (ours, theirs) = (pull.monitor(), goes.monitor());
    std::fs::remove_file(file("goes")).unwrap();
    let ended = |event: &Event| match event {
        Event::Failed(failure) if failure.was_ready() => Some(failure.cause().clone()),
        _ => None,
    };
    let here = await_event(&ours, "disconnected", |event| {
        let user_id = event.peer().and_then(|peer| peer.user_id());
        let named = user_id == Some("goes") && event.to_string().contains("(goes)");
        ended(event).filter(|_| named)
    });
    assert!(
        matches!(
            here,
            FailureCause::Rejected("this key is no longer allowed here")
        ),
        "{here}"
    );
    let told = await_event(&theirs, "disconnected", ended);
    assert!(
        matches!(
            &told,
            FailureCause::Protocol(ProtocolError::PeerRefused { reason, verified: true })
                if reason == "this key is no longer allowed here"
        ),
        "{told}"
    );
    // It is not let in again, and the other one has not been disturbed.
    await_event(&theirs, "refused", |event| match event {
        Event::Failed(failure) if !failure.was_ready() => Some(()),
        _ => None,
    });
    stays.send("still here").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"still here");
    assert_eq!(stays.counters().disconnects, 0);
}

#[test]
fn a_list_that_lets_nobody_in_is_told_where_the_server_is_bound() {
    let folder = tempfile::tempdir().unwrap();
    let keys = KeyPair::generate();
    let in_a_folder = || AllowedKeysFile::open(folder.path()).unwrap();
    let somebody = AllowedKeys::new().allow(keys.public());
    let closed = |security: Security| {
        let pull = options(SocketType::Pull).security(security);
        let pull = pull.build_blocking().unwrap();
        let monitor = pull.monitor();
        pull.bind("inproc://nobody-asks").unwrap();
        let bound = pull.bind("tcp://127.0.0.1:*").unwrap();
        let events = std::iter::from_fn(|| monitor.try_next());
        let told = events.filter_map(|event| match &event {
            Event::NobodyAllowed {
                endpoint,
                mechanism,
            } => {
                assert_eq!(*endpoint, bound, "{event}");
                Some(*mechanism)
            }
            _ => None,
        });
        told.collect::<Vec<_>>()
    };
    let blake3 = || Security::blake3_server(keys.clone(), AllowedKeys::new());
    assert_eq!(closed(blake3().into()), [Mechanism::Blake3]);
    let of_folder = Security::curve_server(keys.clone(), in_a_folder());
    assert_eq!(closed(of_folder), [Mechanism::Curve]);
    let passwords = Security::plain_server(PasswordTable::new());
    assert_eq!(closed(passwords), [Mechanism::Plain]);
    let two = blake3().or_curve_server(keys.clone(), somebody.clone());
    assert_eq!(closed(two), [Mechanism::Blake3]);
    let open = Security::blake3_server(keys.clone(), somebody);
    assert_eq!(closed(open.into()), []);
    let decides = Security::blake3_server(keys.clone(), |_: &Client<'_>| false);
    assert_eq!(closed(decides.into()), []);
}

#[test]
fn a_directory_has_certificates_of_czmq_and_keys_of_ours_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, theirs, secret] = [(); 3].map(|()| KeyPair::generate());
    keys::write_key_pair(folder.path().join("ours"), &ours).unwrap();
    keys::write_czmq_certificate(folder.path().join("theirs"), &theirs).unwrap();
    let bare = secret.secret().to_z85();
    std::fs::write(folder.path().join("bare.key"), bare.as_bytes()).unwrap();

    let server_keys = KeyPair::generate();
    let allowed = AllowedKeysFile::open(folder.path()).unwrap();
    let pull =
        options(SocketType::Pull).security(Security::curve_server(server_keys.clone(), allowed));
    let pull = pull.build_blocking().unwrap();
    let endpoint = pull.bind("tcp://127.0.0.1:*").unwrap();
    for (keys, user) in [(ours, "ours"), (theirs, "theirs")] {
        let push = options(SocketType::Push)
            .security(Security::curve_client(server_keys.public(), keys))
            .build_blocking()
            .unwrap();
        push.connect(&endpoint).unwrap();
        push.send("hello").unwrap();
        let message = pull.recv().unwrap();
        assert_eq!(message.peer().unwrap().user_id(), Some(user));
    }
}

fn limit(event: &Event) -> Option<AddressLimit> {
    match event {
        Event::Failed(failure) => match failure.cause() {
            FailureCause::AddressLimit(limit) => Some(*limit),
            _ => None,
        },
        _ => None,
    }
}

#[test]
fn an_address_gets_so_many_connections_and_others_get_theirs() {
    let pull = options(SocketType::Pull)
        .security(Security::plain_text())
        .max_connections_per_address(2);
    let pull = pull.build_blocking().unwrap();
    let monitor = pull.monitor();
    let endpoint = pull.bind("tcp://*:0").unwrap().to_string();
    let at = |host: &str| endpoint.replace('*', host);
    let connect = |host: &str| {
        let push = options(SocketType::Push)
            .security(Security::plain_text())
            .build_blocking()
            .unwrap();
        push.connect(at(host)).unwrap();
        push
    };
    let guests = [connect("127.0.0.1"), connect("127.0.0.1")];
    eventually("both are there", || pull.peers().len() == 2);
    let third = connect("127.0.0.1");
    assert_eq!(
        await_event(&monitor, "limit", limit),
        AddressLimit::Connections
    );
    // Another address has an account of its own, and one that leaves makes room.
    if support::has_ipv6() {
        let other = connect("[::1]");
        eventually("the other one is there", || other.peers().len() == 1);
    }
    let [leaves, _stays] = guests;
    leaves.close().unwrap();
    eventually("the third one gets in", || third.peers().len() == 1);
}

/// One more connection of the same key is refused until one of the others ends.
fn holder_gets_so_many(
    server: impl Into<Security>,
    client: impl Into<Security>,
    other: impl Into<Security>,
) {
    let (client, other) = (client.into(), other.into());
    let pull = options(SocketType::Pull)
        .security(server)
        .max_connections_per_key(2);
    let pull = pull.build_blocking().unwrap();
    let monitor = pull.monitor();
    let endpoint = pull.bind("tcp://127.0.0.1:*").unwrap();
    let connect = |security: &Security| {
        let push = options(SocketType::Push).security(security.clone());
        let push = push.reconnect(Duration::from_millis(10), Duration::from_millis(100));
        let push = push.build_blocking().unwrap();
        push.connect(&endpoint).unwrap();
        push
    };
    let guests = [connect(&client), connect(&client)];
    eventually("both are there", || pull.peers().len() == 2);
    let third = connect(&client);
    let limit = await_event(&monitor, "the limit of its key", |event| match event {
        Event::Failed(failure) => match failure.cause() {
            FailureCause::KeyLimit { limit } => Some(*limit),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(limit, 2);
    assert!(pull.counters().exceeded(Kind::Connections) > 0);
    let other = connect(&other);
    other.send("from another").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"from another");
    let [leaves, stays] = guests;
    leaves.close().unwrap();
    third.send("from the third").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"from the third");
    stays.send("from the second").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"from the second");
    assert_eq!(stays.counters().handshakes_completed, 1);
}

#[test]
fn a_key_gets_so_many_connections_and_others_get_theirs() {
    let keys = KeyPair::generate();
    let [one, other] = [(); 2].map(|()| KeyPair::generate());
    holder_gets_so_many(
        Security::blake3_server(keys.clone(), AllowAnyone),
        Security::blake3_client_with_keys(keys.public(), one.clone()),
        Security::blake3_client_with_keys(keys.public(), other.clone()),
    );
    holder_gets_so_many(
        Security::curve_server(keys.clone(), AllowAnyone),
        Security::curve_client(keys.public(), one),
        Security::curve_client(keys.public(), other),
    );
    holder_gets_so_many(
        Security::plain_server(|client: &PlainClient<'_>| {
            Decision::allow_as(String::from_utf8_lossy(client.credentials().username()))
        }),
        Security::plain_client("one", "password"),
        Security::plain_client("other", "password"),
    );
}

#[test]
fn an_address_gets_so_many_half_open_handshakes() {
    let pull = options(SocketType::Pull).max_handshakes_per_address(3);
    let pull = pull.build_blocking().unwrap();
    let monitor = pull.monitor();
    let endpoint = pull.bind("tcp://127.0.0.1:*").unwrap().to_string();
    let address = endpoint.trim_start_matches("tcp://");
    let silent: Vec<_> = (0..4)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    assert_eq!(
        await_event(&monitor, "limit", limit),
        AddressLimit::Handshakes
    );
    assert!(pull.counters().exceeded(Kind::Handshakes) > 0);
    // A client that speaks is heard meanwhile, from the same address too.
    let push = options(SocketType::Push).build_blocking().unwrap();
    push.connect(&*endpoint).unwrap();
    push.send("hello").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"hello");
    drop(silent);
}

#[test]
fn an_address_connects_at_the_rate_it_may() {
    let pull = options(SocketType::Pull);
    let pull = pull.connection_rate_per_address(5, Duration::from_secs(3_600));
    let pull = pull.build_blocking().unwrap();
    let monitor = pull.monitor();
    let endpoint = pull.bind("tcp://127.0.0.1:*").unwrap();
    for _ in 0..5 {
        let push = options(SocketType::Push).build_blocking().unwrap();
        push.connect(&endpoint).unwrap();
        push.send("hello").unwrap();
        pull.recv().unwrap();
    }
    let push = options(SocketType::Push).build_blocking().unwrap();
    push.connect(&endpoint).unwrap();
    assert_eq!(await_event(&monitor, "limit", limit), AddressLimit::Rate);
}

/// Connects and does what it takes to be ready, as a PUSH over NULL.
fn ready_and_silent(address: &str) -> TcpStream {
    let mut greeting = [0; 64];
    greeting[..16].copy_from_slice(b"\xff\0\0\0\0\0\0\0\0\x7f\x03\x01NULL");
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&greeting).unwrap();
    let ready = b"\x04\x1a\x05READY\x0bSocket-Type\0\0\0\x04PUSH";
    stream.write_all(ready).unwrap();
    stream
}

#[test]
fn heartbeats_end_a_peer_that_is_connected_and_says_nothing() {
    let pull = options(SocketType::Pull)
        .max_connections(1)
        .heartbeat(Duration::from_millis(100))
        .heartbeat_timeout(Duration::from_secs(2))
        .heartbeat_ttl(Duration::ZERO)
        .build_blocking()
        .unwrap();
    let monitor = pull.monitor();
    let endpoint = pull.bind("tcp://127.0.0.1:*").unwrap().to_string();
    // The system at the other end acknowledges whatever is sent, keepalive included.
    let _silent = ready_and_silent(endpoint.trim_start_matches("tcp://"));
    await_event(&monitor, "ready", |event| {
        matches!(event, Event::Ready { .. }).then_some(())
    });
    let push = options(SocketType::Push).build_blocking().unwrap();
    push.connect(&*endpoint).unwrap();
    push.send("in its place").unwrap();
    await_event(&monitor, "silent", |event| match event {
        Event::Failed(failure) if failure.was_ready() => {
            let timeout = ProtocolError::HeartbeatTimeout;
            assert!(matches!(failure.cause(), FailureCause::Protocol(it) if *it == timeout));
            Some(())
        }
        _ => None,
    });
    assert_eq!(pull.recv().unwrap().as_bytes(), b"in its place");
}
