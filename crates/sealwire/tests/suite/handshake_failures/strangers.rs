//! The other end is not a Sealwire socket: a silent one, another protocol, or nobody.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use super::{dealer, failure, protocol, router, server_of, socket_address};
use sealwire::blocking::Socket;
use sealwire::{
    ConnectionFailure, FailureCause, Generate as _, KeyPair, Monitor, PeerAddress, ProtocolError,
    Security, SocketBuilder,
};
use sealwire_zmtp::error::{CloseKind, Step, WireError};

#[test]
fn a_peer_that_says_nothing() {
    let limit = Duration::from_millis(200);
    let timeout = |step| ProtocolError::HandshakeTimeout { step };
    let keys = KeyPair::generate();

    let server = router(server_of(&keys))
        .handshake_timeout(limit)
        .build_blocking()
        .unwrap();
    let monitor = server.monitor();
    let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
    let silent = TcpStream::connect(socket_address(&endpoint)).unwrap();
    let failure_of_server = failure(&monitor);
    assert_eq!(protocol(&failure_of_server), timeout(Step::Greeting));
    let address = silent.local_addr().unwrap();
    assert_eq!(failure_of_server.address(), &PeerAddress::Tcp(address));

    let client = dealer(Security::blake3_client(keys.public())).handshake_timeout(limit);
    let (_client, silent, monitor) = dialing(client);
    let address = silent.local_addr().unwrap();
    let failure_of_client = failure(&monitor);
    assert_eq!(protocol(&failure_of_client), timeout(Step::Greeting));
    assert_eq!(failure_of_client.address(), &PeerAddress::Tcp(address));
}

/// A client that connects to a listener which is not a socket of ours.
fn dialing(client: SocketBuilder) -> (Socket, TcpListener, Monitor) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = client.build_blocking().unwrap();
    let monitor = client.monitor();
    let address = listener.local_addr().unwrap();
    client.connect(format!("tcp://{address}")).unwrap();
    (client, listener, monitor)
}

#[test]
fn garbage() {
    let keys = KeyPair::generate();
    let signature = |byte| ProtocolError::from(WireError::BadSignature { position: 0, byte });
    let server = router(server_of(&keys)).build_blocking().unwrap();
    let monitor = server.monitor();
    let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
    let mut browser = TcpStream::connect(socket_address(&endpoint)).unwrap();
    browser.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let failure_of_server = failure(&monitor);
    assert_eq!(protocol(&failure_of_server), signature(b'G'));
    assert!(
        failure_of_server
            .to_string()
            .contains("does not speak ZMTP")
    );

    let client = dealer(Security::blake3_client(keys.public()));
    let (_client, listener, monitor) = dialing(client);
    let (mut mail_server, _) = listener.accept().unwrap();
    mail_server
        .write_all(b"220 mail.example ESMTP\r\n")
        .unwrap();
    assert_eq!(protocol(&failure(&monitor)), signature(b'2'));
}

#[test]
fn a_peer_that_closes() {
    let keys = KeyPair::generate();
    let closed = ProtocolError::Closed(CloseKind::DuringHandshake(Step::Greeting));
    // Bytes that are unread when one side closes make the system say "reset".
    let closed_or_reset = |failure: &ConnectionFailure| match failure.cause() {
        FailureCause::Protocol(error) => *error == closed,
        FailureCause::Transport(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        _ => false,
    };
    let server = router(server_of(&keys)).build_blocking().unwrap();
    let monitor = server.monitor();
    let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
    drop(TcpStream::connect(socket_address(&endpoint)).unwrap());
    let failure_of_server = failure(&monitor);
    assert!(closed_or_reset(&failure_of_server), "{failure_of_server}");

    let client = dealer(Security::blake3_client(keys.public()));
    let (_client, listener, monitor) = dialing(client);
    drop(listener.accept().unwrap());
    let failure_of_client = failure(&monitor);
    assert!(closed_or_reset(&failure_of_client), "{failure_of_client}");
}

#[test]
fn nobody_there() {
    let client = dealer(Security::plain_text()).build_blocking().unwrap();
    let monitor = client.monitor();
    // Bound and given back, so that nobody listens there.
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    client.connect(format!("tcp://{address}")).unwrap();
    let failure = failure(&monitor);
    assert!(matches!(failure.cause(), FailureCause::Connect(error)
        if error.kind() == std::io::ErrorKind::ConnectionRefused));
    assert_eq!(failure.address(), &PeerAddress::Tcp(address));
    assert_eq!(failure.connection(), None);
}
