//! Advisories about WebSocket before authentication, of NATS, and about pieces of messages, of quinn.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use sealwire::account::Kind;
use sealwire::auth::AllowAnyone;
use sealwire::{
    FailureCause, Generate as _, KeyPair, ProtocolError, Security, SocketType, WebSocketError,
};
use sealwire_zmtp::error::WireError;

use super::Server;
use crate::forger;
use crate::memory::{self, Growth};
use crate::support::{eventually, options};
use sealwire_relay::websocket::{frame, message};
use sealwire_relay::zmtp;

const NOISE: usize = 16 << 20;

/// First octets of frames: the last, or the only one, of a message of bytes.
const BINARY: u8 = 0x82;
const FIRST_PIECE: u8 = 0x02;
const PIECE: u8 = 0x00;
const PING: u8 = 0x89;

fn server(max_message_size: usize) -> Server {
    let security = Security::blake3_server(KeyPair::generate(), AllowAnyone);
    Server::at(
        "ws://127.0.0.1:*",
        options(SocketType::Pull)
            .security(security)
            .max_message_size(max_message_size),
    )
}

/// A client that nobody knows, its upgrade done. Gives the server's answer too.
fn upgraded(server: &Server, fields: &str) -> (TcpStream, String) {
    upgraded_to("BLAKE3", server, fields)
}

fn upgraded_to(mechanism: &str, server: &Server, fields: &str) -> (TcpStream, String) {
    let mut stream = forger::connect(server.address);
    let request = format!(
        "GET / HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Protocol: ZWS2.0/{mechanism}\r\n{fields}\r\n",
        server.address
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        let mut octet = [0];
        stream.read_exact(&mut octet).unwrap();
        answer.extend(octet);
    }
    (stream, String::from_utf8(answer).unwrap())
}

/// A frame's header, with a mask of zeros.
fn header(first: u8, length: u64) -> Vec<u8> {
    match length {
        ..=125 => vec![first, 0x80 | length as u8, 0, 0, 0, 0],
        126..=0xffff => [&[first, 0xfe][..], &(length as u16).to_be_bytes(), &[0; 4]].concat(),
        _ => [&[first, 0xff][..], &length.to_be_bytes(), &[0; 4]].concat(),
    }
}

/// The greeting, as a message.
fn greeting() -> Vec<u8> {
    message(true, &[&[2][..], &zmtp::greeting("BLAKE3", false)].concat())
}

fn websocket(server: &Server, stream: &TcpStream) -> WebSocketError {
    match server.cause_for(stream) {
        FailureCause::WebSocket(error) => error,
        other => panic!("no fault of WebSocket: {other}"),
    }
}

/// A frame's length went from 64 bits without a sign to one with, and a buffer of a negative size was
/// a panic, before authentication.
#[test]
fn cve_2026_27889_lengths_of_frames() {
    let _alone = memory::alone();
    let server = server(usize::MAX);
    let largest = i64::MAX as u64;
    let growth = Growth::start();
    for first in [BINARY, FIRST_PIECE, PING] {
        for length in [
            u64::MAX,
            u64::MAX - 8,
            largest + 1,
            largest,
            largest - 8,
            1 << 62,
            1 << 32,
        ] {
            let (mut stream, _) = upgraded(&server, "");
            stream.write_all(&header(first, length)).unwrap();
            let _ = stream.write_all(&[2; 10_000]);
            let error = websocket(&server, &stream);
            let expected = match (first, length) {
                (PING, _) => WebSocketError::BadFrame,
                (_, length) if length > largest => WebSocketError::BadFrame,
                // The first message is a greeting, of 64 bytes.
                (BINARY, _) => WebSocketError::NotZmtp,
                _ => WebSocketError::TooLarge,
            };
            assert_eq!(error, expected, "{first:x}, {length}");
        }
    }
    growth.assert_below(NOISE);
}

/// Messages could be compressed before authentication, and were bounded when they had been put into
/// memory. Compression is not agreed to here, and what claims to be compressed is refused.
#[test]
fn cve_2026_27571_compression_is_not_spoken() {
    let _shared = memory::shared();
    let server = server(1_000);
    let offer = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n";
    let (mut stream, answer) = upgraded(&server, offer);
    assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
    let extensions = answer.to_ascii_lowercase().contains("extensions");
    assert!(!extensions, "{answer}");
    // RSV1 says that a message is compressed (RFC 7692). These are a megabyte of zeros.
    stream.write_all(&header(BINARY | 0x40, 20)).unwrap();
    assert_eq!(websocket(&server, &stream), WebSocketError::BadFrame);
}

/// The milder kind: as much memory as was sent, before authentication and without bound. Where the size has
/// no bound, the number has one.
#[test]
fn cve_2026_33219_memory_of_strangers() {
    let _alone = memory::alone();
    let server = server(64 << 20);
    let growth = Growth::start();
    // A message in pieces.
    let (mut stream, _) = upgraded(&server, "");
    let mut pieces = header(FIRST_PIECE, 1_000);
    pieces.extend([2; 1_000]);
    for _ in 0..100_000 {
        if stream.write_all(&pieces).is_err() {
            break;
        }
        pieces[0] = PIECE;
    }
    assert_eq!(websocket(&server, &stream), WebSocketError::TooLarge);
    // A greeting is followed by one command of at most 4 KiB.
    let (mut stream, _) = upgraded(&server, "");
    stream.write_all(&greeting()).unwrap();
    stream
        .write_all(&[header(BINARY, 70_000), vec![2]].concat())
        .unwrap();
    let (claimed, limit) = (69_999, 4_096);
    let expected: ProtocolError = WireError::FrameTooLarge { claimed, limit }.into();
    assert_eq!(server.fault_of(&stream), expected);
    growth.assert_below(NOISE);
}

/// PINGs of somebody who reads no PONG: what is owed does not grow.
#[test]
fn cve_2026_33219_pings_of_strangers() {
    let _alone = memory::alone();
    let server = server(1_000);
    let (mut stream, _) = upgraded(&server, "");
    let ping = [header(PING, 125), vec![b'?'; 125]].concat();
    let pings = ping.repeat(1_000);
    let growth = Growth::start();
    // 128 MiB, of which the system holds some.
    for _ in 0..1_000 {
        if stream.write_all(&pings).is_err() {
            break;
        }
    }
    growth.assert_below(NOISE);
}

/// What an incomplete packet had announced was kept until time was up. A handshake's frame is of 4 KiB
/// here; a header that announces more is the end, and of one that does not, only what has come is kept.
#[test]
fn cve_2026_58210_what_is_announced_and_does_not_come() {
    const CONNECTIONS: usize = 200;
    let _alone = memory::alone();
    let server = server(64 << 20);
    let growth = Growth::start();
    for announced in [4_097, 70_000, 1 << 24, 1 << 40] {
        let (mut stream, _) = upgraded(&server, "");
        stream.write_all(&greeting()).unwrap();
        // The flags of ZWS say that it is a command.
        let begun = [header(BINARY, 1 + announced), vec![2]].concat();
        stream.write_all(&begun).unwrap();
        let (claimed, limit) = (announced, 4_096);
        let expected: ProtocolError = WireError::FrameTooLarge { claimed, limit }.into();
        assert_eq!(server.fault_of(&stream), expected);
    }
    let strangers: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let (mut stream, _) = upgraded(&server, "");
            stream.write_all(&greeting()).unwrap();
            // All but the last octet of the longest command that there may be.
            let begun = [header(BINARY, 1 + 4_096), vec![2; 4_096]].concat();
            stream.write_all(&begun).unwrap();
            stream
        })
        .collect();
    growth.assert_below(NOISE);
    drop(strangers);
}

/// A fragment took more memory than it had bytes, and their number was not bounded. Here the pieces of
/// a message lie in one buffer, TCP puts them in order, and there are 65,536 of them at most.
#[test]
fn rustsec_2026_0185_messages_in_pieces_of_one_byte() {
    const PIECES: usize = 65_535;
    const CONNECTIONS: usize = 50;
    let _alone = memory::alone();
    let server = Server::at("ws://127.0.0.1:*", options(SocketType::Pull));
    let growth = Growth::start();
    let mut streams = Vec::new();
    for _ in 0..CONNECTIONS {
        let (mut stream, _) = upgraded_to("NULL", &server, "");
        let ready = [&[2][..], &zmtp::command("READY", &forger::metadata("PUSH"))].concat();
        stream.write_all(&message(true, &ready)).unwrap();
        // From there on it takes more than 4 KiB.
        eventually("the server knows it", || {
            server.socket.peers().len() == streams.len() + 1
        });
        let mut pieces = frame(FIRST_PIECE, true, &[0]);
        pieces.extend(frame(PIECE, true, &[7]).repeat(PIECES - 1));
        stream.write_all(&pieces).unwrap();
        streams.push(stream);
    }
    let held = || -> Vec<usize> {
        let peers = server.socket.peers().into_iter();
        let held = peers.map(|peer| peer.account().held(Kind::Arriving));
        held.filter(|held| *held >= PIECES).collect()
    };
    eventually("all pieces have come", || held().len() == CONNECTIONS);
    assert!(
        held().iter().all(|held| *held <= PIECES * 3 / 2),
        "{:?}",
        held()
    );
    growth.assert_below(NOISE);
    // And each is whole with its last piece.
    for stream in &mut streams {
        stream.write_all(&frame(PIECE | 0x80, true, &[7])).unwrap();
        assert_eq!(server.socket.recv().unwrap().as_bytes(), [7; PIECES]);
    }
    // One piece more is too many, although the others are empty.
    let mut pieces = frame(FIRST_PIECE, true, &[0]);
    pieces.extend(frame(PIECE, true, &[]).repeat(PIECES + 1));
    let _ = streams[0].write_all(&pieces);
    let error = websocket(&server, &streams[0]);
    assert_eq!(error, WebSocketError::TooManyPieces);
}
