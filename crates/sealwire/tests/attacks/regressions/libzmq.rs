//! libzmq's advisories.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Duration;

use sealwire::blocking::Socket;
use sealwire::{Event, ProtocolError, Security, SocketType};
use sealwire_zmtp::error::{HandshakeError, WireError};

use super::{Server, speaking_null};
use crate::forger;
use crate::memory::{self, Growth};
use crate::scene::{Mechanism, Scene};
use crate::support::{eventually, every_mechanism, options, texts};
use sealwire_relay::zmtp::{self, COMMAND, LONG, MORE};
use sealwire_relay::{Act, honest};

/// What moves a little beside what is measured.
const NOISE: usize = 16 << 20;

fn connected(server: &Server, socket_type: SocketType, security: Security) -> Socket {
    let socket = options(socket_type)
        .security(security)
        .linger(Duration::ZERO)
        .build_blocking()
        .unwrap();
    socket.connect(server.endpoint()).unwrap();
    socket
}

/// A server had room for 400 bytes of INITIATE's box on its stack, and copied what there was.
#[test]
fn cve_2019_13132_an_initiate_of_any_size() {
    let _shared = memory::shared();
    let scene = Scene::protected_by(Mechanism::Curve, |server| server);
    for size in [514, 600, 1_000, 4_095, 4_096, 4_097, 65_536] {
        let longer = move |index, unit: Vec<u8>| {
            if index != 2 {
                return Act::forward(unit);
            }
            let mut body = unit[zmtp::header_size(&unit)..].to_vec();
            assert!(body.starts_with(b"\x08INITIATE") && body.len() < 400);
            body.resize(size, 0xa5);
            Act::forward(zmtp::frame(COMMAND, &body))
        };
        let client = scene.attacked_client(Box::new(longer), honest());
        let expected: ProtocolError = match size {
            ..=4_096 => HandshakeError::InitiateUnreadable.into(),
            _ => {
                let (claimed, limit) = (size as u64, 4_096);
                WireError::FrameTooLarge { claimed, limit }.into()
            }
        };
        let fault = scene.fault_of(client.carried.address);
        assert_eq!(fault, expected, "{size} bytes");
    }
}

/// A length near 2^64 and a pointer came to less than the end of the buffer, so as many bytes as were
/// sent were copied behind it. No limit of messages stands before the arithmetic here.
#[test]
fn cve_2019_6250_lengths_that_wrap_around() {
    let _alone = memory::alone();
    let pull = Server::bound(options(SocketType::Pull).max_message_size(usize::MAX));
    let push = connected(&pull, SocketType::Push, Security::plain_text());
    let largest = i64::MAX as u64;
    let growth = Growth::start();
    for claimed in (0..20)
        .map(|less| u64::MAX - less)
        .chain((0..20).map(|less| largest + 1 - less))
    {
        let mut peer = speaking_null(forger::connect(pull.address), 1, "PUSH");
        peer.write_all(&zmtp::header(LONG, claimed)).unwrap();
        // The server may be gone before all of it is written.
        let _ = peer.write_all(&[0x41; 100_000]);
        push.send("still here").unwrap();
        assert_eq!(pull.socket.recv().unwrap().as_bytes(), b"still here");
        if claimed > largest {
            let limit = largest;
            let expected = WireError::FrameTooLarge { claimed, limit };
            assert_eq!(pull.fault_of(&peer), expected.into());
        }
    }
    assert!(pull.socket.try_recv().is_err(), "nothing was delivered");
    growth.assert_below(NOISE);
}

/// Connections that do nothing, greet, or begin a handshake. None is done with it.
fn strangers(server: &Server, mechanism: &str) -> Vec<TcpStream> {
    let greeting = zmtp::greeting(mechanism, false);
    let begun = [&greeting[..], &zmtp::header(COMMAND, 200), b"\x05HELLO"].concat();
    let said = [&b""[..], &greeting, &begun];
    let strangers = said.iter().cycle().take(30).map(|said| {
        let mut stream = forger::connect(server.address);
        stream.write_all(said).unwrap();
        stream
    });
    strangers.collect()
}

/// A connection had its pipe before it had proved itself, so a socket that shares its messages out
/// gave most of them to strangers that had only connected.
#[test]
fn cve_2020_15166_strangers_get_and_hold_up_nothing() {
    const MESSAGES: usize = 90;
    let _shared = memory::shared();
    for (name, server_security, client_security) in every_mechanism() {
        let push = Server::bound(options(SocketType::Push).security(server_security.clone()));
        let accepted = push.socket.monitor();
        let strangers = strangers(&push, name);
        let mut seen = 0;
        while seen < strangers.len() {
            let event = accepted.wait_next().expect("the socket is open");
            seen += usize::from(matches!(event, Event::Accepted { .. }));
        }
        let pull = connected(&push, SocketType::Pull, client_security.clone());
        for number in 0..MESSAGES {
            push.socket.send(format!("{number}")).unwrap();
        }
        for number in 0..MESSAGES {
            let message = pull.recv().unwrap();
            assert_eq!(texts(&message), [number.to_string()], "{name}");
        }
        assert_eq!(push.socket.peers().len(), 1, "{name}");

        // The other way round, where libzmq's server received nothing any more.
        let rep = Server::bound(options(SocketType::Rep).security(server_security));
        let strangers_of_rep = self::strangers(&rep, name);
        let req = connected(&rep, SocketType::Req, client_security);
        for _ in 0..MESSAGES {
            req.send("question").unwrap();
            assert_eq!(rep.socket.recv().unwrap().as_bytes(), b"question", "{name}");
            rep.socket.send("answer").unwrap();
            assert_eq!(req.recv().unwrap().as_bytes(), b"answer", "{name}");
        }
        drop((strangers, strangers_of_rep));
    }
}

/// What the test above would see if strangers had pipes: these do, as NULL asks nothing of them.
#[test]
fn peers_that_are_ready_have_their_share() {
    let _shared = memory::shared();
    let push = Server::bound(options(SocketType::Push));
    let ready: Vec<_> = (0..2)
        .map(|_| speaking_null(forger::connect(push.address), 1, "PULL"))
        .collect();
    let pull = connected(&push, SocketType::Pull, Security::plain_text());
    eventually("all are there", || push.socket.peers().len() == 3);
    for number in 0..9 {
        push.socket.send(format!("{number}")).unwrap();
    }
    for mut stream in ready {
        let units = (0..3).map(|_| zmtp::read_frame(&mut stream).unwrap().unwrap());
        assert!(units.into_iter().all(|unit| unit[..2] == [0, 1]));
    }
    for _ in 0..3 {
        pull.recv().unwrap();
    }
    assert!(pull.try_recv().is_err());
}

/// The frames of a message that was not finished stayed in memory when its connection ended: a server
/// that cut every connection there used up its clients' memory.
#[test]
fn cve_2021_20234_messages_that_are_never_finished() {
    const ROUNDS: usize = 200;
    const FRAME: usize = 1 << 20;
    let _alone = memory::alone();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = options(SocketType::Dealer)
        .reconnect(Duration::from_millis(1), Duration::from_millis(1))
        .linger(Duration::ZERO)
        .build_blocking()
        .unwrap();
    let address = listener.local_addr().unwrap();
    client.connect(format!("tcp://{address}")).unwrap();
    let mut growth = None;
    for round in 0..ROUNDS {
        let (stream, _) = listener.accept().unwrap();
        let mut server = speaking_null(stream, 1, "ROUTER");
        server.write_all(&zmtp::frame(MORE, &[7; FRAME])).unwrap();
        server
            .write_all(&zmtp::header(LONG | MORE, 2 << 20))
            .unwrap();
        server.write_all(&[7; FRAME]).unwrap();
        server.shutdown(Shutdown::Write).unwrap();
        // Until the client has read all of it and closes.
        server.read_to_end(&mut Vec::new()).unwrap();
        if round == ROUNDS / 10 {
            growth = Some(Growth::start());
        }
    }
    growth.unwrap().assert_below(2 * NOISE);
    assert!(client.try_recv().is_err(), "no part was delivered");
}

/// What came from ZMTP 1 went to a decoder of its own, which wrote beyond its buffer
/// (CVE-2021-20235), and without the security that the socket was set to (CVE-2014-9721). No earlier
/// version than 3 is spoken here, under no mechanism, by either side.
#[test]
fn cve_2021_20235_and_cve_2014_9721_old_versions_are_not_spoken() {
    let _shared = memory::shared();
    let bad = |position, byte| WireError::BadSignature { position, byte }.into();
    let version = |major| WireError::UnsupportedVersion { major }.into();
    // What follows a greeting of each version: a routing id, then a message of 8,000 bytes.
    let first = [
        &b"\x01\x00"[..],
        b"\xff\0\0\0\0\0\0\x1f\x41\x00",
        &[0x41; 8_000],
    ]
    .concat();
    let signed = b"\xff\0\0\0\0\0\0\0\x01\x7f";
    let second = [
        &signed[..],
        b"\x01\x05\x00\x00",
        b"\x02\0\0\0\0\0\0\x1f\x40",
        &[0x41; 8_000],
    ]
    .concat();
    let third = [&signed[..], b"\x02\x05\x00\x00", &[0; 8_000]].concat();
    let cases: [(&[u8], ProtocolError); 3] = [
        (&first, bad(0, 1)),
        (&second, version(1)),
        (&third, version(2)),
    ];
    for (name, server_security, client_security) in every_mechanism() {
        let pull = Server::bound(options(SocketType::Pull).security(server_security));
        let push = connected(&pull, SocketType::Push, client_security.clone());
        for (bytes, expected) in &cases {
            for piece in [1, bytes.len()] {
                let mut stream = forger::connect(pull.address);
                for piece in bytes.chunks(piece) {
                    // The server is gone before all of it is written.
                    if stream.write_all(piece).is_err() {
                        break;
                    }
                }
                assert_eq!(pull.fault_of(&stream), *expected, "{name}");
            }
            // And where the server is the old one.
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let client = options(SocketType::Pull)
                .security(client_security.clone())
                .linger(Duration::ZERO)
                .build_blocking()
                .unwrap();
            let address = listener.local_addr().unwrap();
            client.connect(format!("tcp://{address}")).unwrap();
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.write_all(bytes);
            let mut said = Vec::new();
            // Its end may be a reset, as not all was read.
            let _ = stream.read_to_end(&mut said);
            assert!(said.len() <= zmtp::GREETING_SIZE, "{name}: {}", said.len());
            assert!(client.try_recv().is_err());
        }
        push.send("still here").unwrap();
        assert_eq!(pull.socket.recv().unwrap().as_bytes(), b"still here");
        assert!(pull.socket.try_recv().is_err(), "{name}");
    }
}

/// Whether what has come and was not read begins like this.
fn begins_with(stream: &TcpStream, expected: &[u8]) -> bool {
    let mut seen = vec![0; expected.len()];
    stream.set_nonblocking(true).unwrap();
    let length = stream.peek(&mut seen);
    stream.set_nonblocking(false).unwrap();
    matches!(length, Ok(length) if seen[..length] == *expected)
}

/// Cancelling went down a tree of one node for each byte of the topic, by recursion: a long topic was
/// more than the stack had. A peer of ZMTP 3.0 subscribes by messages, which may be large.
#[test]
fn cve_2021_20236_topics_as_long_as_they_may_be() {
    const LENGTH: usize = 15 << 20;
    let _alone = memory::alone();
    for socket_type in [SocketType::XPub, SocketType::Pub] {
        let publisher = Server::bound(options(socket_type));
        let other = connected(&publisher, SocketType::Sub, Security::plain_text());
        other.subscribe("news").unwrap();
        let mut subscriber = speaking_null(forger::connect(publisher.address), 0, "SUB");
        let mut topic = vec![0x41; 1 + LENGTH];
        for octet in [1, 0] {
            topic[0] = octet;
            subscriber.write_all(&zmtp::frame(0, &topic)).unwrap();
        }
        // Each is the beginning of the next.
        for octet in [1, 0] {
            for length in 1..=500 {
                topic[0] = octet;
                let change = zmtp::frame(0, &topic[..1 + length]);
                subscriber.write_all(&change).unwrap();
            }
        }
        subscriber.write_all(&zmtp::frame(0, b"\x01last")).unwrap();
        // The last one comes through, so all before it were handled.
        eventually("the last subscription counts", || {
            publisher.socket.send("last").unwrap();
            begins_with(&subscriber, &zmtp::frame(0, b"last"))
        });
        eventually("others are served", || {
            publisher.socket.send("news").unwrap();
            other.try_recv().is_ok()
        });
    }
}

/// Messages to a PUB are nothing that it can read, and it kept what they referred to.
#[test]
fn cve_2021_20237_messages_to_a_publisher() {
    const MESSAGES: usize = 200;
    let _alone = memory::alone();
    let publisher = Server::bound(options(SocketType::Pub));
    let other = connected(&publisher, SocketType::Sub, Security::plain_text());
    other.subscribe("news").unwrap();
    let mut sender = speaking_null(forger::connect(publisher.address), 1, "SUB");
    let growth = Growth::start();
    for _ in 0..MESSAGES {
        sender.write_all(&zmtp::frame(MORE, &[7; 1 << 20])).unwrap();
        sender.write_all(&zmtp::frame(0, b"end")).unwrap();
    }
    sender
        .write_all(&zmtp::frame(COMMAND, &zmtp::command("SUBSCRIBE", b"last")))
        .unwrap();
    eventually("the subscription behind them counts", || {
        publisher.socket.send("last").unwrap();
        begins_with(&sender, &zmtp::frame(0, b"last"))
    });
    growth.assert_below(NOISE);
    eventually("others are served", || {
        publisher.socket.send("news").unwrap();
        other.try_recv().is_ok()
    });
}
