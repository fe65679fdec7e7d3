//! `wss`: ZeroMQ over WebSocket over TLS, between sockets of ours, and against a client that is put
//! together from other parts.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use crate::support::authority::Authority;
use crate::support::silence;
use crate::support::websockets::{every_size_arrives, what_is_queued_leaves_first};
use crate::support::{TIMEOUT, await_event, eventually, every_mechanism, options};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use sealwire::account::Kind;
use sealwire::options::{TlsConfigError, TlsIdentity, TlsTrust};
use sealwire::protocol::Step;
use sealwire::{
    Endpoint, Error, Event, FailureCause, Monitor, ProtocolError, Security, SocketBuilder,
    SocketType, TlsError, Unusable, WebSocketError,
};
use tungstenite::Message as WsMessage;
use tungstenite::client::IntoClientRequest as _;

/// Both roles at once, as either side of a test may bind.
fn secured(socket_type: SocketType, authority: &Authority) -> SocketBuilder {
    options(socket_type)
        .tls_identity(authority.identity())
        .tls_trust(authority.trust())
}

fn port(endpoint: &Endpoint) -> u16 {
    match endpoint {
        Endpoint::Wss { port, .. } => *port,
        other => panic!("{other} is not wss"),
    }
}

#[test]
fn every_mechanism_works_inside_whoever_binds() {
    let authority = Authority::new();
    for (_, server, client) in every_mechanism() {
        for (binding, connecting, host) in [
            (&server, &client, "127.0.0.1"),
            (&client, &server, "localhost"),
        ] {
            let socket = |security: &Security| {
                secured(SocketType::Pair, &authority)
                    .security(security.clone())
                    .build_blocking()
                    .unwrap()
            };
            let (bound, other) = (socket(binding), socket(connecting));
            let endpoint = bound.bind(format!("wss://{host}:*/some/path")).unwrap();
            let there = format!("wss://{host}:{}/some/path", port(&endpoint));
            other.connect(there).unwrap();
            // Lengths around the boundaries of WebSocket and of TLS's records, and one that is
            // larger than anything that is buffered on the way.
            let sizes = [
                0, 1, 125, 126, 16_383, 16_384, 16_385, 65_536, 131_073, 5_000_000,
            ];
            every_size_arrives(&bound, &other, &sizes, server.mechanisms().next());
        }
    }
}

#[test]
fn what_is_queued_leaves_before_a_socket_closes() {
    let authority = Authority::new();
    let pull = secured(SocketType::Pull, &authority)
        .build_blocking()
        .unwrap();
    let push = secured(SocketType::Push, &authority)
        .build_blocking()
        .unwrap();
    push.connect(pull.bind("wss://127.0.0.1:*").unwrap())
        .unwrap();
    what_is_queued_leaves_first(&pull, push);
}

#[test]
fn a_receiver_that_waits_makes_the_sender_wait() {
    /// Messages, their size in bytes, and most of them that may be under way: what the queues hold
    /// is little, what systems hold is more.
    const MESSAGES: u32 = 200;
    const SIZE: usize = 300_000;
    const UNDER_WAY: u64 = 100;
    let authority = Authority::new();
    let pull = secured(SocketType::Pull, &authority)
        .receive_high_water_mark(2)
        .build_blocking()
        .unwrap();
    let push = secured(SocketType::Push, &authority)
        .send_high_water_mark(2)
        .build_blocking()
        .unwrap();
    push.connect(pull.bind("wss://127.0.0.1:*").unwrap())
        .unwrap();
    let sender = push.clone();
    let sending = std::thread::spawn(move || {
        for number in 0..MESSAGES {
            let mut body = vec![7; SIZE];
            body[..4].copy_from_slice(&number.to_be_bytes());
            sender.send(body).unwrap();
        }
    });
    // Both queues are full, and nothing more moves.
    eventually("the receiver is paused and the sender has no room", || {
        let counts = [(&pull, Kind::Received), (&push, Kind::Queued)];
        counts
            .iter()
            .all(|(socket, kind)| socket.counters().exceeded(*kind) > 0)
    });
    for number in 0..MESSAGES {
        assert!(push.counters().messages_sent <= u64::from(number) + UNDER_WAY);
        let message = pull.recv().unwrap();
        assert_eq!(message.as_bytes().len(), SIZE);
        assert_eq!(message.as_bytes()[..4], number.to_be_bytes());
    }
    sending.join().unwrap();
}

#[test]
fn a_peer_that_falls_silent_is_noticed_with_every_mechanism() {
    let authority = Authority::new();
    for (_, server, client) in every_mechanism() {
        let bound = secured(SocketType::Pair, &authority)
            .security(server)
            .build_blocking()
            .unwrap();
        let port = port(&bound.bind("wss://127.0.0.1:*").unwrap());
        let connecting = secured(SocketType::Pair, &authority).security(client);
        silence::is_noticed(([127, 0, 0, 1], port).into(), "wss", connecting);
    }
}

/// Why the next connection fails because of TLS.
fn failure(monitor: &Monitor) -> TlsError {
    await_event(monitor, "a failure of TLS", |event| match event {
        Event::Failed(failure) => match failure.cause() {
            FailureCause::Tls(error) => Some(error.clone()),
            _ => None,
        },
        _ => None,
    })
}

/// What client and server say of a certificate that the client does not accept.
fn refused(identity: TlsIdentity, trust: TlsTrust) -> (TlsError, TlsError) {
    let server = options(SocketType::Pull)
        .tls_identity(identity)
        .build_blocking()
        .unwrap();
    let client = options(SocketType::Push)
        .tls_trust(trust)
        .build_blocking()
        .unwrap();
    let (at_server, at_client) = (server.monitor(), client.monitor());
    client
        .connect(server.bind("wss://127.0.0.1:*").unwrap())
        .unwrap();
    let told = (failure(&at_client), failure(&at_server));
    for socket in [&client, &server] {
        let failure = socket.last_failure().expect("it comes before the event");
        assert!(failure.is_handshake_failure(), "{failure:?}");
    }
    assert_eq!(client.counters().handshakes_completed, 0);
    assert_eq!(server.counters().handshakes_completed, 0);
    told
}

#[test]
fn a_certificate_that_is_not_accepted_is_told_on_both_sides() {
    let (authority, other) = (Authority::new(), Authority::new());
    let certify = |names: &[&str], years| {
        let (chain, key) = authority.certify(names, years);
        TlsIdentity::from_pem(chain, key).unwrap()
    };
    let here = ["127.0.0.1"];

    let (at_client, at_server) = refused(authority.identity(), other.trust());
    assert_eq!(at_client, TlsError::UnknownAuthority);
    assert!(matches!(&at_server, TlsError::Refused(why) if why.contains("authority")));

    let (at_client, at_server) = refused(certify(&here, (2000, 2020)), authority.trust());
    assert_eq!(at_client, TlsError::Expired);
    assert!(matches!(&at_server, TlsError::Refused(why) if why.contains("expired")));

    let (at_client, at_server) = refused(certify(&here, (3000, 4000)), authority.trust());
    assert_eq!(at_client, TlsError::NotYetValid);
    assert!(matches!(at_server, TlsError::Refused(_)));

    let (at_client, at_server) = refused(certify(&["192.0.2.1"], (2000, 4000)), authority.trust());
    assert!(matches!(at_client, TlsError::WrongHostName(_)));
    assert!(matches!(at_server, TlsError::Refused(_)));

    let trust = authority.trust().with_host_name("example.org").unwrap();
    let (at_client, _) = refused(authority.identity(), trust);
    assert!(
        matches!(&at_client, TlsError::WrongHostName(why) if why.contains("example.org")),
        "{at_client}"
    );
}

#[test]
fn a_name_of_its_own_and_several_authorities_are_believed() {
    let (authority, other) = (Authority::new(), Authority::new());
    let (chain, key) = authority.certify(&["example.org"], (2000, 4000));
    let server = options(SocketType::Pull)
        .tls_identity(TlsIdentity::from_pem(chain, key).unwrap())
        .build_blocking()
        .unwrap();
    let trust = other.trust().and_pem(&authority.pem).unwrap();
    let client = options(SocketType::Push)
        .tls_trust(trust.with_host_name("example.org").unwrap())
        .build_blocking()
        .unwrap();
    client
        .connect(server.bind("wss://127.0.0.1:*").unwrap())
        .unwrap();
    client.send("hello").unwrap();
    assert_eq!(server.recv().unwrap().as_bytes(), b"hello");
}

#[test]
fn what_is_no_tls_ends_its_connection_only() {
    let authority = Authority::new();
    let server = secured(SocketType::Pull, &authority)
        .build_blocking()
        .unwrap();
    let monitor = server.monitor();
    let endpoint = server.bind("wss://127.0.0.1:*").unwrap();
    let good = secured(SocketType::Push, &authority)
        .build_blocking()
        .unwrap();
    good.connect(&endpoint).unwrap();
    good.send("hello").unwrap();
    assert_eq!(server.recv().unwrap().as_bytes(), b"hello");
    for (bytes, no_tls) in [
        (&b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"[..], true),
        (&[0; 100], true),
        (&[0xff; 100], true),
        // A handshake that is none, and one that is far too long.
        (b"\x16\x03\x01\x00\x05hello", false),
        (b"\x16\x03\x01\xff\xff", false),
        (b"\x16\x03\x01\x00\x04\x01\xff\xff\xff", false),
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", port(&endpoint))).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.write_all(bytes).unwrap();
        let error = failure(&monitor);
        assert_eq!(error == TlsError::NotTls, no_tls, "{bytes:?}: {error}");
        // It is closed, whether the reason arrives or not.
        let _ = stream.read_to_end(&mut Vec::new());
    }
    good.send("still here").unwrap();
    assert_eq!(server.recv().unwrap().as_bytes(), b"still here");
}

#[test]
fn with_tls_on_one_side_only_both_are_told() {
    let authority = Authority::new();
    let server = secured(SocketType::Pull, &authority)
        .build_blocking()
        .unwrap();
    let (tls, plain) = (
        server.bind("wss://127.0.0.1:*").unwrap(),
        server.bind("ws://127.0.0.1:*").unwrap(),
    );
    let Endpoint::Ws { port: plain, .. } = plain else {
        panic!("{plain} is not ws")
    };
    let ends_of_websocket = |monitor: &Monitor| {
        await_event(monitor, "a failed WebSocket", |event| match event {
            Event::Failed(failure) => match failure.cause() {
                FailureCause::WebSocket(error) => Some(*error),
                _ => None,
            },
            _ => None,
        })
    };

    let at_server = server.monitor();
    let client = options(SocketType::Push).build_blocking().unwrap();
    let at_client = client.monitor();
    client
        .connect(format!("ws://127.0.0.1:{}", port(&tls)))
        .unwrap();
    assert_eq!(failure(&at_server), TlsError::NotTls);
    assert_eq!(ends_of_websocket(&at_client), WebSocketError::Tls);
    client.close().unwrap();

    let at_server = server.monitor();
    let client = secured(SocketType::Push, &authority)
        .build_blocking()
        .unwrap();
    let at_client = client.monitor();
    client.connect(format!("wss://127.0.0.1:{plain}")).unwrap();
    assert_eq!(failure(&at_client), TlsError::NotTls);
    assert_eq!(ends_of_websocket(&at_server), WebSocketError::Tls);
}

#[test]
fn a_handshake_that_stops_half_way_is_ended() {
    let authority = Authority::new();
    let server = secured(SocketType::Pull, &authority)
        .handshake_timeout(Duration::from_millis(100))
        .build_blocking()
        .unwrap();
    let monitor = server.monitor();
    let endpoint = server.bind("wss://127.0.0.1:*").unwrap();
    // Nothing; the beginning of a record; all of the handshake and no WebSocket.
    let raw = || TcpStream::connect(("127.0.0.1", port(&endpoint))).unwrap();
    for bytes in [&b""[..], b"\x16\x03\x01\x02\x00\x01\x00"] {
        let mut stream = raw();
        stream.write_all(bytes).unwrap();
        await_timeout(&monitor);
        drop(stream);
    }
    let mut tls = StreamOwned::new(another_client(&authority), raw());
    // It may be over before this is done: that is the point.
    let _ = tls.conn.complete_io(&mut tls.sock);
    await_timeout(&monitor);

    // A server that says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = secured(SocketType::Push, &authority)
        .handshake_timeout(Duration::from_millis(100))
        .build_blocking()
        .unwrap();
    let monitor = client.monitor();
    client
        .connect(format!("wss://{}", silent.local_addr().unwrap()))
        .unwrap();
    await_timeout(&monitor);
}

fn await_timeout(monitor: &Monitor) {
    let step = Step::Greeting;
    let expected = ProtocolError::HandshakeTimeout { step }.to_string();
    await_event(monitor, "the end of the time", |event| match event {
        Event::Failed(failure) => (failure.cause().to_string() == expected).then_some(()),
        _ => None,
    });
}

/// TLS of a client that is none of our sockets.
fn another_client(authority: &Authority) -> ClientConnection {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(authority.pem.as_bytes()).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    ClientConnection::new(Arc::new(config), ServerName::try_from("localhost").unwrap()).unwrap()
}

#[test]
fn another_client_is_understood() {
    let authority = Authority::new();
    let socket = secured(SocketType::Rep, &authority)
        .build_blocking()
        .unwrap();
    let endpoint = socket.bind("wss://127.0.0.1:*/zeromq").unwrap();
    let stream = TcpStream::connect(("127.0.0.1", port(&endpoint))).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let stream = StreamOwned::new(another_client(&authority), stream);
    let mut request = endpoint.to_string().into_client_request().unwrap();
    request
        .headers_mut()
        .insert("Sec-WebSocket-Protocol", "ZWS2.0/NULL".parse().unwrap());
    let (mut peer, response) = tungstenite::client(request, stream).unwrap();
    assert_eq!(response.headers()["Sec-WebSocket-Protocol"], "ZWS2.0/NULL");
    let mut ready = b"\x02\x05READY\x0bSocket-Type\x00\x00\x00\x03".to_vec();
    ready.extend(b"REQ");
    peer.send(WsMessage::binary(ready)).unwrap();
    peer.send(WsMessage::binary(&b"\x01"[..])).unwrap();
    peer.send(WsMessage::binary(&b"\x00hello"[..])).unwrap();
    assert_eq!(socket.recv().unwrap().as_bytes(), b"hello");
    socket.send("world").unwrap();
    let mut received = Vec::new();
    while received.len() < 3 {
        if let WsMessage::Binary(bytes) = peer.read().unwrap() {
            received.push(bytes);
        }
    }
    assert!(received[0].starts_with(b"\x02\x05READY"));
    assert_eq!(received[1..], [&b"\x01"[..], b"\x00world"]);
    // TLS says that it ends, and WebSocket does not.
    let stream = peer.get_mut();
    stream.conn.send_close_notify();
    stream.conn.complete_io(&mut stream.sock).unwrap();
    eventually("the peer is gone", || socket.peers().is_empty());
}

#[test]
fn what_is_missing_is_asked_for() {
    let authority = Authority::new();
    let bare = options(SocketType::Pair).build_blocking().unwrap();
    assert!(matches!(
        bare.bind("wss://127.0.0.1:*"),
        Err(Error::UnusableEndpoint {
            reason: Unusable::NoTlsIdentity,
            ..
        })
    ));
    assert!(matches!(
        bare.connect("wss://127.0.0.1:9"),
        Err(Error::UnusableEndpoint {
            reason: Unusable::NoTlsTrust,
            ..
        })
    ));
    let pair = secured(SocketType::Pair, &authority)
        .build_blocking()
        .unwrap();
    assert!(matches!(
        pair.connect("wss://not..a-name:9"),
        Err(Error::UnusableEndpoint {
            reason: Unusable::TlsHostName,
            ..
        })
    ));
    let stream = secured(SocketType::Stream, &authority)
        .build_blocking()
        .unwrap();
    assert!(matches!(
        stream.bind("wss://127.0.0.1:*"),
        Err(Error::UnusableEndpoint {
            reason: Unusable::Transport,
            ..
        })
    ));
}

#[test]
fn what_cannot_be_used_is_named_and_keys_are_not_shown() {
    use TlsConfigError as E;
    let authority = Authority::new();
    let (chain, key) = authority.certify(&["a"], (2000, 4000));
    let (_, other_key) = authority.certify(&["a"], (2000, 4000));
    let from = |chain: &str, key: &str| TlsIdentity::from_pem(chain, key).unwrap_err();
    assert!(matches!(from("", &key), E::Certificate(_)));
    assert!(matches!(from(&key, &key), E::Certificate(_)));
    assert!(matches!(from(&chain, ""), E::PrivateKey(_)));
    assert!(matches!(from(&chain, &chain), E::PrivateKey(_)));
    assert_eq!(from(&chain, &other_key), E::KeyMismatch);
    let cut = &chain[..chain.len() / 2];
    assert!(matches!(from(cut, &key), E::Certificate(_)));
    assert!(matches!(
        TlsTrust::from_pem("no PEM"),
        Err(E::Certificate(_))
    ));
    let named = authority.trust().with_host_name("a b");
    assert_eq!(named.unwrap_err(), E::HostName("a b".into()));
    let identity = TlsIdentity::from_pem(&chain, &key).unwrap();
    assert_eq!(format!("{identity:?}"), "TlsIdentity { .. }");
}
