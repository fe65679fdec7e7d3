//! STREAM: plain TCP and Unix connections, against plain sockets and against itself.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};

use crate::support::{self, Path, TIMEOUT, eventually, options};
use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::options::OptionsError;
use sealwire::{
    Endpoint, Error, Frame, Generate as _, KeyPair, Message, MessageError, Security, SocketType,
    Unusable,
};

fn stream() -> Socket {
    options(SocketType::Stream).build_blocking().unwrap()
}

fn port(endpoint: &Endpoint) -> u16 {
    match endpoint {
        Endpoint::Tcp { port, .. } => *port,
        other => panic!("{other} is not TCP"),
    }
}

/// A listening STREAM socket and a plain connection to it.
fn accepted() -> (Socket, TcpStream) {
    let socket = stream();
    let endpoint = socket.bind("tcp://127.0.0.1:*").unwrap();
    let plain = TcpStream::connect(("127.0.0.1", port(&endpoint))).unwrap();
    plain.set_read_timeout(Some(TIMEOUT)).unwrap();
    (socket, plain)
}

/// The routing id and the body of the next message.
fn receive(socket: &Socket) -> (Frame, Vec<u8>) {
    let message = socket.recv().unwrap();
    let [id, body] = message.frames() else {
        panic!("not an id and a body: {message:?}")
    };
    (id.clone(), body.to_vec())
}

/// The id of a connection that was made just now.
fn greeted(socket: &Socket) -> Frame {
    let (id, body) = receive(socket);
    assert!(body.is_empty(), "no message of a new connection: {body:?}");
    assert_eq!((id.len(), id.as_slice()[0]), (5, 0));
    id
}

/// Reads until `length` bytes have come from this connection.
fn receive_bytes(socket: &Socket, from: &Frame, length: usize) -> Vec<u8> {
    let mut all = Vec::new();
    while all.len() < length {
        let (id, body) = receive(socket);
        assert_eq!(id, *from);
        assert!(!body.is_empty(), "the connection ended after {}", all.len());
        all.extend(body);
    }
    all
}

fn send(socket: &Socket, to: &Frame, body: impl Into<Frame>) {
    socket
        .send(Message::multipart([to.clone(), body.into()]))
        .unwrap();
}

#[test]
fn a_plain_client_is_served() {
    let (socket, mut plain) = accepted();
    let id = greeted(&socket);
    plain.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
    assert_eq!(receive_bytes(&socket, &id, 18), b"GET / HTTP/1.0\r\n\r\n");
    send(&socket, &id, "HTTP/1.0 200 OK\r\n\r\n");
    send(&socket, &id, "hello");
    // Queued messages go out before the connection ends.
    send(&socket, &id, "");
    let mut answer = String::new();
    plain.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "HTTP/1.0 200 OK\r\n\r\nhello");
}

#[test]
fn a_connection_that_was_closed_here_is_gone_at_once() {
    let (socket, _plain) = accepted();
    let id = greeted(&socket);
    send(&socket, &id, "");
    let error = socket
        .send(Message::multipart([id.clone(), "late".into()]))
        .unwrap_err();
    assert!(matches!(error.error(), Error::Unroutable(name) if *name == id.as_slice()));
    assert_eq!(error.into_message().len(), 2);
}

#[test]
fn a_peer_that_leaves_is_told_of() {
    let (socket, mut plain) = accepted();
    let id = greeted(&socket);
    plain.write_all(b"last words").unwrap();
    plain.shutdown(Shutdown::Both).unwrap();
    assert_eq!(receive_bytes(&socket, &id, 10), b"last words");
    assert_eq!(receive(&socket), (id.clone(), Vec::new()));
    let error = socket
        .send(Message::multipart([id, "late".into()]))
        .unwrap_err();
    assert!(matches!(error.error(), Error::Unroutable(_)));
}

#[test]
fn nothing_is_told_where_that_is_switched_off() {
    let socket = options(SocketType::Stream)
        .stream_notify(false)
        .build_blocking()
        .unwrap();
    let endpoint = socket.bind("tcp://127.0.0.1:*").unwrap();
    for text in ["first", "second"] {
        let mut plain = TcpStream::connect(("127.0.0.1", port(&endpoint))).unwrap();
        plain.write_all(text.as_bytes()).unwrap();
        drop(plain);
        // Neither the new connection nor the end of the one before comes as a message.
        assert_eq!(receive(&socket).1, text.as_bytes());
        eventually("it is gone", || socket.peers().is_empty());
    }
}

#[test]
fn connections_have_different_names() {
    let (socket, mut one) = accepted();
    let first = greeted(&socket);
    let address = one.peer_addr().unwrap();
    let mut two = TcpStream::connect(address).unwrap();
    two.set_read_timeout(Some(TIMEOUT)).unwrap();
    let second = greeted(&socket);
    assert_ne!(first, second);
    for (id, plain) in [(&second, &mut two), (&first, &mut one)] {
        send(&socket, id, id.to_vec());
        let mut answer = [0; 5];
        plain.read_exact(&mut answer).unwrap();
        assert_eq!(answer, id.as_slice());
    }
}

#[test]
fn a_plain_server_is_connected_to_and_left_for_good() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let socket = stream();
    socket.connect(format!("tcp://{address}")).unwrap();
    let (mut plain, _) = server.accept().unwrap();
    plain.set_read_timeout(Some(TIMEOUT)).unwrap();
    let id = greeted(&socket);
    send(&socket, &id, "question");
    let mut question = [0; 8];
    plain.read_exact(&mut question).unwrap();
    assert_eq!(&question, b"question");
    send(&socket, &id, "");
    assert_eq!(plain.read(&mut question).unwrap(), 0);
    drop(plain);
    eventually("the endpoint is given up", || {
        socket.connected_endpoints().is_empty()
    });
}

#[test]
fn a_server_that_ends_the_connection_is_connected_to_again() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let socket = stream();
    socket.connect(format!("tcp://{address}")).unwrap();
    let mut names = Vec::new();
    for _ in 0..2 {
        let (plain, _) = server.accept().unwrap();
        let id = greeted(&socket);
        drop(plain);
        assert_eq!(receive(&socket), (id.clone(), Vec::new()));
        names.push(id);
    }
    assert_ne!(names[0], names[1]);
}

#[test]
fn large_transfers_pass_both_ways() {
    let ipv6 = support::has_ipv6().then_some("tcp6");
    for transport in ["tcp", "ipc", "abstract"].into_iter().chain(ipv6) {
        let path = Path {
            transport,
            keys: None,
        };
        let (server, client) = path.pair(SocketType::Stream, SocketType::Stream);
        let (at_server, at_client) = (greeted(&server), greeted(&client));
        let body: Vec<u8> = (0..3_000_000_u32)
            .map(|n| (n.wrapping_mul(n) >> 7) as u8)
            .collect();
        // More than the system holds on the way: sender and receiver must go on together.
        std::thread::scope(|scope| {
            scope.spawn(|| send(&client, &at_client, body.clone()));
            assert!(receive_bytes(&server, &at_server, body.len()) == body);
            scope.spawn(|| send(&server, &at_server, body.clone()));
            assert!(receive_bytes(&client, &at_client, body.len()) == body);
        });
    }
}

#[test]
fn a_reader_that_is_slow_stops_the_peer() {
    let socket = options(SocketType::Stream)
        .receive_high_water_mark(2)
        .build_blocking()
        .unwrap();
    let endpoint = socket.bind("tcp://127.0.0.1:*").unwrap();
    let mut plain = TcpStream::connect(("127.0.0.1", port(&endpoint))).unwrap();
    let body = vec![7; 30 << 20];
    std::thread::scope(|scope| {
        let writer = scope.spawn(move || {
            plain.write_all(&body).unwrap();
            body
        });
        let id = greeted(&socket);
        let received = receive_bytes(&socket, &id, 30 << 20);
        assert!(received == writer.join().unwrap());
    });
}

#[test]
fn messages_are_an_id_and_a_body() {
    let (socket, _plain) = accepted();
    let id = greeted(&socket);
    for wrong in [
        Message::from("one frame"),
        Message::multipart([id.clone(), "two".into(), "three".into()]),
    ] {
        let error = socket.send(wrong).unwrap_err();
        assert!(matches!(
            error.error(),
            Error::Message(MessageError::NoConnection)
        ));
    }
    let error = socket
        .send(Message::multipart(["nobody", "body"]))
        .unwrap_err();
    assert!(matches!(error.error(), Error::Unroutable(name) if name == b"nobody"));
}

#[test]
fn what_needs_zmtp_is_refused() {
    let keys = KeyPair::generate();
    let protected = options(SocketType::Stream)
        .security(Security::blake3_server(keys, AllowAnyone))
        .build_blocking();
    assert!(matches!(
        protected,
        Err(Error::Options(OptionsError::Unprotected(
            SocketType::Stream
        )))
    ));
    for builder in [
        options(SocketType::Stream).routing_id("name"),
        options(SocketType::Stream).metadata("X-Name", "value"),
        options(SocketType::Stream).zap_domain("domain"),
        options(SocketType::Stream).heartbeat(TIMEOUT),
        options(SocketType::Router).stream_notify(false),
    ] {
        assert!(matches!(
            builder.build_blocking(),
            Err(Error::Options(OptionsError::NotApplicable { .. }))
        ));
    }
    let socket = stream();
    for outcome in [
        socket.bind("inproc://stream").map(drop),
        socket.connect("inproc://stream"),
    ] {
        assert!(matches!(
            outcome,
            Err(Error::UnusableEndpoint {
                reason: Unusable::Transport,
                ..
            })
        ));
    }
}

/// As libzmq, a socket that connects begins with the signature, whose padding is libzmq's; one that listens
/// sends its greeting at once, as natively.
#[test]
fn as_libzmq_the_greeting_of_a_socket_that_connects_is_libzmqs() {
    for (as_libzmq, connects, padding) in [(true, true, 1), (true, false, 0), (false, true, 0)] {
        let builder = options(SocketType::Dealer);
        let builder = match as_libzmq {
            true => sealwire::embed::as_libzmq(builder, false),
            false => builder,
        };
        let socket = builder.build_blocking().unwrap();
        let mut plain = if connects {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            socket.connect(format!("tcp://127.0.0.1:{port}")).unwrap();
            listener.accept().unwrap().0
        } else {
            let endpoint = socket.bind("tcp://127.0.0.1:*").unwrap();
            TcpStream::connect(("127.0.0.1", port(&endpoint))).unwrap()
        };
        plain.set_read_timeout(Some(TIMEOUT)).unwrap();
        let mut signature = [0; 10];
        plain.read_exact(&mut signature).unwrap();
        assert_eq!(signature, [0xff, 0, 0, 0, 0, 0, 0, 0, padding, 0x7f]);
        let mut rest = [0; 54];
        if as_libzmq && connects {
            plain.write_all(&signature).unwrap();
        }
        plain.read_exact(&mut rest).unwrap();
        assert!(rest.starts_with(b"\x03\x01NULL\0"));
    }
}
