//! `ws`: ZeroMQ over WebSocket, between sockets of ours and against another implementation of
//! WebSocket that speaks ZWS by hand.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use crate::support::silence;
use crate::support::websockets::{every_size_arrives, what_is_queued_leaves_first};
use crate::support::{TIMEOUT, await_event, eventually, every_mechanism, options};
use sealwire::account::Kind;
use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::options::OptionsError;
use sealwire::{
    Endpoint, Error, Event, FailureCause, Generate as _, KeyPair, Message, Monitor, Security,
    SocketType, Unusable, WebSocketError,
};
use sealwire_relay::{Format, Relay, honest};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::handshake::server::{Request, Response};
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{Data, OpCode};
use tungstenite::{Message as WsMessage, WebSocket};

fn socket(socket_type: SocketType, security: &Security) -> Socket {
    options(socket_type)
        .security(security.clone())
        .build_blocking()
        .unwrap()
}

fn port(endpoint: &Endpoint) -> u16 {
    match endpoint {
        Endpoint::Ws { port, .. } => *port,
        other => panic!("{other} is not ws"),
    }
}

#[test]
fn every_mechanism_works_whoever_binds() {
    for (_, server, client) in every_mechanism() {
        for (binding, connecting) in [(&server, &client), (&client, &server)] {
            let bound = socket(SocketType::Pair, binding);
            let other = socket(SocketType::Pair, connecting);
            let endpoint = bound.bind("ws://127.0.0.1:*/some/path").unwrap();
            other.connect(endpoint).unwrap();
            // Lengths on both sides of every boundary of WebSocket and ZMTP, and one that is
            // larger than anything that is buffered on the way.
            let sizes = [
                0, 1, 92, 93, 124, 125, 126, 255, 256, 65_534, 65_535, 65_536, 5_000_000,
            ];
            every_size_arrives(&bound, &other, &sizes, server.mechanisms().next());
        }
    }
}

#[test]
fn subscriptions_pass_with_every_mechanism() {
    for (name, server, client) in every_mechanism() {
        let publisher = socket(SocketType::XPub, &server);
        let subscriber = socket(SocketType::Sub, &client);
        let endpoint = publisher.bind("ws://127.0.0.1:*").unwrap();
        subscriber.subscribe("a").unwrap();
        subscriber.connect(endpoint).unwrap();
        assert_eq!(publisher.recv().unwrap().as_bytes(), b"\x01a", "{name}");
        publisher.send("b").unwrap();
        publisher.send("ab").unwrap();
        assert_eq!(subscriber.recv().unwrap().as_bytes(), b"ab", "{name}");
        subscriber.unsubscribe("a").unwrap();
        assert_eq!(publisher.recv().unwrap().as_bytes(), b"\x00a", "{name}");
    }
}

#[test]
fn what_is_queued_leaves_before_a_socket_closes() {
    let (pull, push) = (
        socket(SocketType::Pull, &Security::plain_text()),
        socket(SocketType::Push, &Security::plain_text()),
    );
    push.connect(pull.bind("ws://127.0.0.1:*/").unwrap())
        .unwrap();
    what_is_queued_leaves_first(&pull, push);
}

/// A command that says of which type a socket is.
fn ready(socket_type: &str) -> WsMessage {
    let mut command = b"\x02\x05READY\x0bSocket-Type".to_vec();
    command.extend((socket_type.len() as u32).to_be_bytes());
    command.extend(socket_type.as_bytes());
    WsMessage::binary(command)
}

/// The other implementation as a client, its upgrade done.
fn client(endpoint: &Endpoint) -> WebSocket<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", port(endpoint))).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut request = endpoint.to_string().into_client_request().unwrap();
    request.headers_mut().insert(
        "Sec-WebSocket-Protocol",
        "ZWS2.0, ZWS2.0/NULL".parse().unwrap(),
    );
    let (client, response) = tungstenite::client(request, stream).unwrap();
    assert_eq!(response.headers()["Sec-WebSocket-Protocol"], "ZWS2.0/NULL");
    client
}

/// The next message that is not of WebSocket itself.
fn next(peer: &mut WebSocket<TcpStream>) -> Vec<u8> {
    loop {
        if let WsMessage::Binary(bytes) = peer.read().unwrap() {
            return bytes.to_vec();
        }
    }
}

#[test]
fn another_client_is_understood() {
    let socket = socket(SocketType::Rep, &Security::plain_text());
    let endpoint = socket.bind("ws://127.0.0.1:*/zeromq").unwrap();
    let mut peer = client(&endpoint);
    peer.send(ready("REQ")).unwrap();
    assert!(next(&mut peer).starts_with(b"\x02\x05READY"));
    peer.send(WsMessage::binary(&b"\x01"[..])).unwrap();
    // PING and a message in pieces, with a PING between them.
    let piece = |bytes: &'static [u8], opcode, last| {
        WsMessage::Frame(Frame::message(bytes, OpCode::Data(opcode), last))
    };
    peer.send(piece(b"\x00he", Data::Binary, false)).unwrap();
    peer.send(WsMessage::Ping("are you there".into())).unwrap();
    peer.send(piece(b"", Data::Continue, false)).unwrap();
    peer.send(piece(b"llo", Data::Continue, true)).unwrap();
    assert_eq!(
        peer.read().unwrap(),
        WsMessage::Pong("are you there".into())
    );
    assert_eq!(socket.recv().unwrap().as_bytes(), b"hello");
    socket.send("world").unwrap();
    assert_eq!(next(&mut peer), b"\x01");
    assert_eq!(next(&mut peer), b"\x00world");
    peer.close(None).unwrap();
    while peer.read().is_ok() {}
    eventually("the peer is gone", || socket.peers().is_empty());
}

#[test]
#[allow(
    clippy::result_large_err,
    reason = "the callback's type is the library's"
)]
fn another_server_is_understood() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let socket = socket(SocketType::Dealer, &Security::plain_text());
    socket.connect(format!("ws://{address}/zeromq")).unwrap();
    let (stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut peer = tungstenite::accept_hdr(stream, |request: &Request, mut answer: Response| {
        assert_eq!(request.uri().path(), "/zeromq");
        assert_eq!(request.headers()["Host"], address.to_string().as_str());
        let protocol = request.headers()["Sec-WebSocket-Protocol"].clone();
        assert_eq!(protocol, "ZWS2.0/NULL");
        answer
            .headers_mut()
            .insert("Sec-WebSocket-Protocol", protocol);
        Ok(answer)
    })
    .unwrap();
    peer.send(ready("DEALER")).unwrap();
    assert!(next(&mut peer).starts_with(b"\x02\x05READY"));
    socket.send(Message::multipart(["a", "b"])).unwrap();
    assert_eq!(next(&mut peer), b"\x01a");
    assert_eq!(next(&mut peer), b"\x00b");
    peer.send(WsMessage::binary(vec![0; 100_001])).unwrap();
    assert_eq!(socket.recv().unwrap().as_bytes(), vec![0; 100_000]);
}

#[test]
fn a_peer_that_falls_silent_is_noticed_with_every_mechanism() {
    for (_, server, client) in every_mechanism() {
        for (waiting, other) in [(&server, &client), (&client, &server)] {
            let bound = socket(SocketType::Pair, other);
            let endpoint = bound.bind("ws://127.0.0.1:*").unwrap();
            let server = ([127, 0, 0, 1], port(&endpoint)).into();
            let connecting = options(SocketType::Pair).security(waiting.clone());
            silence::is_noticed(server, "ws", connecting);
        }
    }
}

#[test]
fn signs_of_life_are_asked_for_with_websockets_own_ping() {
    let (often, late) = (
        std::time::Duration::from_millis(10),
        std::time::Duration::from_secs(600),
    );
    let socket = options(SocketType::Pair)
        .heartbeat(often)
        .heartbeat_timeout(late)
        .build_blocking()
        .unwrap();
    let endpoint = socket.bind("ws://127.0.0.1:*/zeromq").unwrap();
    let mut peer = client(&endpoint);
    peer.send(ready("PAIR")).unwrap();
    assert!(next(&mut peer).starts_with(b"\x02\x05READY"));
    for _ in 0..5 {
        // The library answers with a PONG.
        assert_eq!(peer.read().unwrap(), WsMessage::Ping("".into()));
    }
    peer.send(WsMessage::binary(&b"\x00still there"[..]))
        .unwrap();
    assert_eq!(socket.recv().unwrap().as_bytes(), b"still there");
    // Large messages and PINGs do not mix.
    socket.send(vec![7; 3_000_000]).unwrap();
    assert_eq!(next(&mut peer).len(), 3_000_001);
}

/// Why the next connection fails because of its WebSocket.
fn failure(monitor: &Monitor) -> WebSocketError {
    await_event(monitor, "a failed WebSocket", |event| match event {
        Event::Failed(failure) => match failure.cause() {
            FailureCause::WebSocket(error) => Some(*error),
            _ => None,
        },
        _ => None,
    })
}

#[test]
fn a_request_that_is_none_ends_its_connection_only() {
    let socket = socket(SocketType::Pull, &Security::plain_text());
    let monitor = socket.monitor();
    let endpoint = socket.bind("ws://127.0.0.1:*/here").unwrap();
    let mut good = client(&endpoint);
    good.send(ready("PUSH")).unwrap();
    for (request, error, status) in [
        ("POST /here HTTP/1.1\r\n", WebSocketError::NotHttp, "400"),
        ("\u{16}\u{3}\u{1} TLS", WebSocketError::Tls, "400"),
        (
            "GET /here HTTP/1.1\r\nHost: a\r\n\r\n",
            WebSocketError::NoUpgrade,
            "426",
        ),
        (
            &format!("GET /here HTTP/1.1\r\nX: {}", "y".repeat(8 << 10)),
            WebSocketError::HeadTooLarge,
            "431",
        ),
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", port(&endpoint))).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        assert_eq!(failure(&monitor), error);
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let expected = format!("HTTP/1.1 {status} ");
        assert!(answer.starts_with(&expected), "{answer}");
    }
    good.send(WsMessage::binary(&b"\x00still here"[..]))
        .unwrap();
    assert_eq!(socket.recv().unwrap().as_bytes(), b"still here");
}

#[test]
fn a_message_that_is_no_frame_of_zmtp_ends_its_connection() {
    let socket = socket(SocketType::Pull, &Security::plain_text());
    let monitor = socket.monitor();
    let endpoint = socket.bind("ws://127.0.0.1:*").unwrap();
    let large = Frame::message(vec![0; 5_000], OpCode::Data(Data::Binary), false);
    for (message, error) in [
        (WsMessage::text("text"), WebSocketError::NotZmtp),
        (WsMessage::binary(Vec::new()), WebSocketError::NotZmtp),
        (WsMessage::binary(vec![4]), WebSocketError::NotZmtp),
        (WsMessage::Frame(large), WebSocketError::TooLarge),
        (
            WsMessage::Frame(Frame::message("", OpCode::Data(Data::Continue), true)),
            WebSocketError::BadFrame,
        ),
    ] {
        let mut peer = client(&endpoint);
        peer.send(message).unwrap();
        assert_eq!(failure(&monitor), error);
        // The peer hears it too.
        loop {
            match peer.read() {
                Ok(WsMessage::Close(reason)) => {
                    assert_eq!(u16::from(reason.unwrap().code), 1002);
                    break;
                }
                Ok(_) => {}
                Err(error) => panic!("no CLOSE: {error}"),
            }
        }
    }
}

/// A request to upgrade, and the beginning of the answer.
fn ask(port: u16, fields: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let request = format!(
        "GET / HTTP/1.1\r\n{fields}Upgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Protocol: ZWS2.0/NULL\r\nSec-WebSocket-Version: 13\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = vec![0; 12];
    stream.read_exact(&mut answer).unwrap();
    if !answer.ends_with(b"101") {
        stream.read_to_end(&mut answer).unwrap();
    }
    String::from_utf8(answer).unwrap()
}

#[test]
fn a_web_page_is_refused_unless_its_origin_is_allowed() {
    let closed = socket(SocketType::Pull, &Security::plain_text());
    let allowing = options(SocketType::Pull)
        .ws_allow_origin("https://app.example")
        .ws_allow_host("app.example")
        .build_blocking()
        .unwrap();
    let open = options(SocketType::Pull)
        .ws_allow_any_origin(true)
        .build_blocking()
        .unwrap();
    let evil = "Host: 127.0.0.1\r\nOrigin: https://evil.example\r\n";
    let app = "Host: app.example:8080\r\nOrigin: https://app.example\r\n";
    let rebound = "Host: evil.example\r\n";
    let (origin, host) = (
        WebSocketError::OriginNotAllowed,
        WebSocketError::HostNotAllowed,
    );
    for (socket, cases) in [
        (
            &closed,
            [
                (evil, Some(origin)),
                (app, Some(origin)),
                (rebound, Some(host)),
            ],
        ),
        (
            &allowing,
            [(evil, Some(origin)), (app, None), (rebound, Some(host))],
        ),
        (
            &open,
            [(evil, None), (app, Some(host)), (rebound, Some(host))],
        ),
    ] {
        let monitor = socket.monitor();
        let port = port(&socket.bind("ws://127.0.0.1:*").unwrap());
        for (fields, error) in cases {
            let answer = ask(port, fields);
            match error {
                None => assert!(answer.starts_with("HTTP/1.1 101"), "{fields}{answer}"),
                Some(error) => {
                    assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
                    assert!(answer.ends_with(" is not allowed.\n"), "{answer}");
                    assert_eq!(failure(&monitor), error, "{fields}");
                }
            }
        }
    }
}

/// A client of ours hears it by the status.
#[test]
fn a_name_that_is_not_allowed_is_told_on_both_sides() {
    let server = socket(SocketType::Pull, &Security::plain_text());
    let client = socket(SocketType::Push, &Security::plain_text());
    let (at_server, at_client) = (server.monitor(), client.monitor());
    let port = port(&server.bind("ws://127.0.0.1:*").unwrap());
    // To the relay's address it is the name of another host that the client asks for.
    let relay = Relay::before(([127, 0, 0, 1], port).into(), Format::WebSocket);
    client
        .connect(format!("ws://0.0.0.0:{}", relay.address().port()))
        .unwrap();
    let _carried = relay.carry(honest(), honest());
    assert_eq!(failure(&at_server), WebSocketError::HostNotAllowed);
    let refused = failure(&at_client);
    assert_eq!(refused, WebSocketError::Refused(403));
    assert!(refused.to_string().contains("host name"), "{refused}");
}

#[test]
fn what_is_no_origin_is_refused_when_the_socket_is_made() {
    for origin in ["null", "*", "app.example", "https://app.example/"] {
        let built = options(SocketType::Pull)
            .ws_allow_origin(origin)
            .build_blocking();
        let error = built.unwrap_err();
        let named =
            matches!(&error, Error::Options(OptionsError::Origin(named)) if named == origin);
        assert!(named, "{error}");
    }
}

/// A message that is not complete is charged to who sends it, also in pieces.
#[test]
fn unfinished_messages_are_charged_and_bounded() {
    let socket = options(SocketType::Pull)
        .max_message_size(100_000)
        .build_blocking()
        .unwrap();
    let monitor = socket.monitor();
    let endpoint = socket.bind("ws://127.0.0.1:*").unwrap();
    let mut peer = client(&endpoint);
    peer.send(ready("PUSH")).unwrap();
    let of_peer = await_event(&monitor, "ready", |event| match event {
        Event::Ready { peer } => Some(peer.clone()),
        _ => None,
    });
    let arriving = |least, most| {
        eventually("it is charged", || {
            (least..=most).contains(&of_peer.account().held(Kind::Arriving))
        });
    };
    // A frame with MORE in one piece, then one in pieces.
    peer.send(WsMessage::binary([&[1][..], &[7; 50_000]].concat()))
        .unwrap();
    arriving(50_000, 50_000);
    let piece = |opcode, size| {
        let payload = vec![0; size];
        WsMessage::Frame(Frame::message(payload, OpCode::Data(opcode), false))
    };
    peer.send(piece(Data::Binary, 40_000)).unwrap();
    arriving(90_000, 102_000);
    // Together they are more than a message may be.
    peer.send(piece(Data::Continue, 20_000)).unwrap();
    assert_eq!(failure(&monitor), WebSocketError::TooLarge);
    arriving(0, 0);
    assert_eq!(of_peer.account().exceeded(Kind::Arriving), 1);
}

#[test]
fn a_message_of_pieces_without_end_is_not_waited_for() {
    let socket = socket(SocketType::Pull, &Security::plain_text());
    let monitor = socket.monitor();
    let mut peer = client(&socket.bind("ws://127.0.0.1:*").unwrap());
    peer.send(ready("PUSH")).unwrap();
    let first = Frame::message("", OpCode::Data(Data::Binary), false);
    peer.write(WsMessage::Frame(first)).unwrap();
    // The connection may end while they are sent.
    for _ in 0..65_536 {
        let empty = Frame::message("", OpCode::Data(Data::Continue), false);
        if peer.write(WsMessage::Frame(empty)).is_err() {
            break;
        }
    }
    let _ = peer.flush();
    assert_eq!(failure(&monitor), WebSocketError::TooManyPieces);
}

#[test]
fn different_mechanisms_are_told_on_both_sides() {
    let all = every_mechanism();
    let server = socket(SocketType::Pull, &all[0].1);
    let client = socket(SocketType::Push, &all[1].2);
    let (at_server, at_client) = (server.monitor(), client.monitor());
    client
        .connect(server.bind("ws://127.0.0.1:*").unwrap())
        .unwrap();
    assert_eq!(failure(&at_server), WebSocketError::NoCommonSubprotocol);
    assert_eq!(failure(&at_client), WebSocketError::Refused(400));
}

#[test]
fn two_servers_refuse_each_other() {
    let keys = || Security::blake3_server(KeyPair::generate(), AllowAnyone).into();
    let (one, two) = (
        socket(SocketType::Pair, &keys()),
        socket(SocketType::Pair, &keys()),
    );
    let monitor = one.monitor();
    two.connect(one.bind("ws://127.0.0.1:*").unwrap()).unwrap();
    await_event(&monitor, "two servers", |event| match event {
        Event::Failed(failure) => matches!(failure.cause(), FailureCause::Protocol(error)
                if error.to_string().contains("server"))
        .then_some(()),
        _ => None,
    });
}

#[test]
fn a_stream_socket_has_no_use_for_it() {
    let stream = options(SocketType::Stream).build_blocking().unwrap();
    assert!(matches!(
        stream.bind("ws://127.0.0.1:*"),
        Err(Error::UnusableEndpoint {
            reason: Unusable::Transport,
            ..
        })
    ));
}
