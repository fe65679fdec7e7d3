//! A socket that was told nothing about security stays on this machine.

use crate::support::options;
use sealwire::auth::AllowAnyone;
use sealwire::options::SocksProxy;
use sealwire::{
    Blake3Client, Endpoint, Error, Generate as _, KeyPair, Security, Socket, SocketBuilder,
    SocketType, Unusable,
};

/// Endpoints that lead off this machine, by their text alone, with a socket type that can bind and
/// one that can connect.
const NETWORK: [(&str, SocketType, SocketType); 14] = [
    ("tcp://*:PORT", SocketType::Pull, SocketType::Push),
    ("tcp://0.0.0.0:PORT", SocketType::Pull, SocketType::Push),
    ("tcp://[::]:PORT", SocketType::Pull, SocketType::Push),
    ("tcp://192.0.2.1:PORT", SocketType::Pull, SocketType::Push),
    ("tcp://[2001:db8::1]:PORT", SocketType::Rep, SocketType::Req),
    (
        "tcp://[::ffff:192.0.2.1]:PORT",
        SocketType::Rep,
        SocketType::Req,
    ),
    ("tcp://a.invalid:PORT", SocketType::Pub, SocketType::Sub),
    (
        "tcp://localhost.invalid:PORT",
        SocketType::Pub,
        SocketType::Sub,
    ),
    // Not the notation of an address: looked up, so a name.
    ("tcp://127.1:PORT", SocketType::Pub, SocketType::Sub),
    ("ws://192.0.2.1:PORT/", SocketType::Pull, SocketType::Push),
    (
        "ws://a.invalid:PORT/path",
        SocketType::Pull,
        SocketType::Push,
    ),
    ("udp://192.0.2.1:PORT", SocketType::Dish, SocketType::Radio),
    (
        "udp://127.0.0.1;239.0.0.1:PORT",
        SocketType::Dish,
        SocketType::Radio,
    ),
    (
        "tcp://192.0.2.1:PORT",
        SocketType::Stream,
        SocketType::Stream,
    ),
];

fn built(builder: SocketBuilder) -> Socket {
    builder.linger(std::time::Duration::ZERO).build().unwrap()
}

fn unspecified(socket_type: SocketType) -> Socket {
    built(options(socket_type))
}

fn plain(socket_type: SocketType) -> Socket {
    built(options(socket_type).security(Security::plain_text()))
}

fn is_refused<T>(outcome: &Result<T, Error>) -> bool {
    matches!(
        outcome,
        Err(Error::UnusableEndpoint {
            reason: Unusable::NoSecurity,
            ..
        })
    )
}

/// What `bind` takes, and what `connect` takes.
fn both(text: &str) -> (Endpoint, Endpoint) {
    let endpoint = |port: &str| text.replace("PORT", port).parse().unwrap();
    (endpoint("0"), endpoint("9"))
}

#[test]
fn nothing_leaves_the_machine_in_plain_text_without_a_word() {
    for (text, binding, connecting) in NETWORK {
        let (bound, connected) = both(text);
        let refused = unspecified(binding).bind(&bound);
        assert!(is_refused(&refused), "bind {bound}: {refused:?}");
        // Bound only.
        if !matches!(&connected, Endpoint::Tcp { host, .. } if host == "*") {
            let refused = unspecified(connecting).connect(&connected);
            assert!(is_refused(&refused), "connect {connected}: {refused:?}");
            let admitted = plain(connecting).connect(&connected);
            assert!(!is_refused(&admitted), "connect {connected}: {admitted:?}");
        }
        // The system may not have the address.
        let admitted = plain(binding).bind(&bound);
        assert!(!is_refused(&admitted), "bind {bound}: {admitted:?}");
    }
    for bound in ["tcp://*:0", "tcp://0.0.0.0:0"] {
        plain(SocketType::Pull).bind(bound).unwrap();
    }
    // Waiting for the connection makes no difference.
    let peer = sealwire::blocking::Socket::from(unspecified(SocketType::Peer));
    assert!(is_refused(&peer.connect_peer("tcp://192.0.2.1:9")));
}

#[test]
fn a_refused_endpoint_leaves_nothing_behind() {
    let socket = unspecified(SocketType::Pull);
    let monitor = socket.monitor();
    assert!(is_refused(&socket.bind("tcp://*:0")));
    assert!(is_refused(&socket.connect("tcp://192.0.2.1:9")));
    assert!(socket.bound_endpoints().is_empty() && socket.connected_endpoints().is_empty());
    assert!(monitor.try_next().is_none());
    socket.bind("tcp://127.0.0.1:0").unwrap();
}

#[test]
fn what_stays_on_the_machine_needs_no_word() {
    let folder = tempfile::tempdir().unwrap();
    for endpoint in [
        "tcp://127.0.0.1:PORT".to_owned(),
        "tcp://127.8.8.8:PORT".to_owned(),
        "tcp://localhost:PORT".to_owned(),
        "tcp://LocalHost:PORT".to_owned(),
        "ws://127.0.0.1:PORT/".to_owned(),
        "inproc://plain-text".to_owned(),
        format!("ipc://{}", folder.path().join("socket").display()),
    ] {
        let (bound, connected) = both(&endpoint);
        unspecified(SocketType::Pull).bind(&bound).unwrap();
        unspecified(SocketType::Push).connect(&connected).unwrap();
    }
    // Where the system has IPv6; the endpoint itself is not refused anywhere.
    for endpoint in ["tcp://[::1]:PORT", "tcp://[::ffff:127.0.0.1]:PORT"] {
        let (bound, connected) = both(endpoint);
        assert!(!is_refused(&unspecified(SocketType::Pull).bind(&bound)));
        unspecified(SocketType::Push).connect(&connected).unwrap();
    }
    let (bound, connected) = both("udp://127.0.0.1:PORT");
    unspecified(SocketType::Dish).bind(&bound).unwrap();
    unspecified(SocketType::Radio).connect(&connected).unwrap();
    unspecified(SocketType::Stream)
        .bind("tcp://127.0.0.1:0")
        .unwrap();
}

#[test]
fn a_mechanism_is_a_choice() {
    let keys = KeyPair::generate();
    let client: Blake3Client = Security::blake3_client(keys.public());
    for security in [
        client.into(),
        Security::blake3_server(keys.clone(), AllowAnyone).into(),
        Security::curve_client(keys.public(), KeyPair::generate()),
        Security::curve_server(keys, AllowAnyone),
        Security::plain_client("admin", "s3cret"),
    ] {
        let socket = built(options(SocketType::Pair).security(security));
        socket.bind("tcp://*:0").unwrap();
        socket.connect("tcp://a.invalid:9").unwrap();
    }
}

/// A ZAP handler says who may connect, and encrypts nothing.
#[test]
fn a_zap_domain_is_not_a_choice() {
    let socket = built(options(SocketType::Pull).zap_domain("global"));
    assert!(is_refused(&socket.bind("tcp://*:0")));
}

#[test]
fn the_way_to_a_proxy_counts() {
    let connect = |proxy: &str, endpoint: &str| {
        let proxy = SocksProxy::new(proxy, 1);
        built(options(SocketType::Push).socks_proxy(proxy)).connect(endpoint)
    };
    assert!(is_refused(&connect("127.0.0.1", "tcp://a.invalid:9")));
    assert!(is_refused(&connect("192.0.2.1", "tcp://127.0.0.1:9")));
    assert!(is_refused(&connect("proxy.invalid", "ws://localhost:9")));
    connect("localhost", "tcp://127.0.0.1:9").unwrap();
    // It takes no proxy.
    connect("192.0.2.1", "inproc://no-proxy").unwrap();
}

#[cfg(feature = "wss")]
#[test]
fn tls_is_encryption() {
    // Some other problem: there is no certificate, and no authority.
    let socket = unspecified(SocketType::Pair);
    assert!(matches!(
        socket.bind("wss://*:0/"),
        Err(Error::UnusableEndpoint {
            reason: Unusable::NoTlsIdentity,
            ..
        })
    ));
    assert!(matches!(
        socket.connect("wss://a.invalid:9/"),
        Err(Error::UnusableEndpoint {
            reason: Unusable::NoTlsTrust,
            ..
        })
    ));
}

#[test]
fn the_error_says_what_to_do() {
    let told = |socket_type, endpoint: &str| {
        let refused = unspecified(socket_type).bind(endpoint).unwrap_err();
        refused.to_string()
    };
    assert_eq!(
        told(SocketType::Pull, "tcp://*:0"),
        "tcp://*:0 leaves this machine, and the socket has no security: give it one that encrypts \
         (Security's blake3_server, blake3_client, curve_server or curve_client), or Security's \
         plain_text if anyone on the way may read and change everything"
    );
    // No mechanism is offered to those who can have none.
    let stream = told(SocketType::Stream, "tcp://*:0");
    assert!(
        stream.contains("a STREAM socket encrypts nothing"),
        "{stream}"
    );
    let udp = told(SocketType::Dish, "udp://*:0");
    assert!(udp.contains("udp encrypts nothing"), "{udp}");
    for text in [stream, udp] {
        assert!(text.contains("Security's plain_text"), "{text}");
    }
}
