//! How much memory a message takes that comes over `ws` in pieces.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::alone;
use crate::counting::{in_use, peak_of};
use crate::support::{TIMEOUT, eventually, options};
use sealwire::blocking::Socket;
use sealwire::{Endpoint, SocketType};
use sealwire_relay::websocket;

const MESSAGE: usize = 16 << 20;
/// What a connection and the test take beside the message.
const REST: usize = 2 << 20;

/// Connects and says that it is a PUSH.
fn push(socket: &Socket) -> TcpStream {
    let Endpoint::Ws { port, .. } = socket.bind("ws://127.0.0.1:*").unwrap() else {
        panic!("not ws")
    };
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let request = "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\
                   Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                   Sec-WebSocket-Protocol: ZWS2.0/NULL\r\nSec-WebSocket-Version: 13\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        answer.push(byte[0]);
    }
    assert!(answer.starts_with(b"HTTP/1.1 101 "));
    let ready = b"\x02\x05READY\x0bSocket-Type\0\0\0\x04PUSH";
    stream.write_all(&piece(0x82, ready)).unwrap();
    // Only a known peer may send much.
    eventually("the peer is known", || !socket.peers().is_empty());
    stream
}

fn piece(first: u8, payload: &[u8]) -> Vec<u8> {
    websocket::frame(first, true, payload)
}

#[test]
fn a_message_in_pieces_is_in_memory_once() {
    alone(pieces_are_in_memory_once);
}

fn pieces_are_in_memory_once() {
    for size in [512, 4_096, 60_000] {
        let socket = options(SocketType::Pull).build_blocking().unwrap();
        let mut peer = push(&socket);
        let middle = piece(0x00, &vec![7; size]);
        let before = in_use();
        let mut length = 0;
        let peak = peak_of(|| {
            peer.write_all(&piece(0x02, b"\0")).unwrap();
            for _ in 0..MESSAGE / size {
                peer.write_all(&middle).unwrap();
                length += size;
            }
            peer.write_all(&piece(0x80, b"")).unwrap();
            let message = socket.recv().unwrap();
            assert_eq!(message.as_bytes().len(), length);
            assert!(message.as_bytes().iter().all(|&byte| byte == 7));
        });
        let taken = peak - before;
        assert!(
            taken <= length + length / 4 + REST,
            "{taken} bytes for a message of {length} in pieces of {size}"
        );
    }
}
