//! A WebSocket over a TCP stream, with TLS or without. To the session it is the byte stream of
//! ZMTP.

use std::io::{self, IoSlice, Read as _, Write as _};
use std::net::Shutdown;

use bytes::{Buf as _, BytesMut};
use mio::net::TcpStream;

#[cfg(feature = "wss")]
use super::tls::Tls;
use super::zws::{Address, ProtocolBytes, Role, Terms, Zws};
use crate::entropy;
use crate::limits::MAX_WEBSOCKET_PENDING;

/// The layer between the WebSocket and TCP.
pub(super) enum Carrier {
    Nothing,
    #[cfg(feature = "wss")]
    Tls(Box<Tls>),
}

impl Carrier {
    /// Takes bytes of TCP.
    fn receive(&mut self, bytes: &[u8], into: &mut BytesMut) -> io::Result<()> {
        match self {
            Carrier::Nothing => {
                into.extend_from_slice(bytes);
                Ok(())
            }
            #[cfg(feature = "wss")]
            Carrier::Tls(tls) => tls.receive(bytes, into).map_err(into_io),
        }
    }

    fn peer_has_closed(&self) -> bool {
        match self {
            Carrier::Nothing => false,
            #[cfg(feature = "wss")]
            Carrier::Tls(tls) => tls.peer_has_closed(),
        }
    }

    fn holds_output(&self) -> bool {
        match self {
            Carrier::Nothing => false,
            #[cfg(feature = "wss")]
            Carrier::Tls(tls) => tls.holds_output(),
        }
    }

    /// Sends what it holds itself, then as much of `pending` as TCP takes.
    fn send(&mut self, pending: &mut BytesMut, tcp: &mut TcpStream) -> io::Result<()> {
        match self {
            Carrier::Nothing => send_all(pending, tcp),
            #[cfg(feature = "wss")]
            Carrier::Tls(tls) => loop {
                tls.send(tcp)?;
                if pending.is_empty() {
                    return Ok(());
                }
                match tls.seal(pending)? {
                    0 => return Err(io::ErrorKind::WouldBlock.into()),
                    sealed => pending.advance(sealed),
                }
            },
        }
    }

    /// Says that no more will be sent.
    fn close(&mut self) {
        match self {
            Carrier::Nothing => {}
            #[cfg(feature = "wss")]
            Carrier::Tls(tls) => tls.close(),
        }
    }
}

fn send_all(pending: &mut BytesMut, tcp: &mut TcpStream) -> io::Result<()> {
    while !pending.is_empty() {
        match tcp.write(pending) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => pending.advance(written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// An empty buffer of up to this size is kept for the next read.
const MAX_KEPT: usize = 64 << 10;

pub(crate) struct WebSocket {
    pub(super) tcp: TcpStream,
    carrier: Carrier,
    zws: Zws,
    /// Of the transport, not yet understood.
    input: BytesMut,
    /// For the protocol.
    unread: ProtocolBytes,
    /// Something came from the transport.
    heard: bool,
}

impl WebSocket {
    pub(super) fn new(
        tcp: TcpStream,
        carrier: Carrier,
        role: Role,
        terms: Terms,
        address: Address,
    ) -> Self {
        let mut nonce = [0; 16];
        entropy::fill(&mut nonce);
        WebSocket {
            tcp,
            carrier,
            zws: Zws::new(role, terms, address, nonce, Box::new(masks())),
            input: BytesMut::new(),
            unread: ProtocolBytes::default(),
            heard: false,
        }
    }

    /// The peer is known.
    pub(super) fn trust(&mut self) {
        self.zws.trust();
    }

    pub(super) fn has_heartbeat(&self) -> bool {
        self.zws.has_heartbeat()
    }

    /// Asks for a sign of life, with the next that is written.
    pub(super) fn ping(&mut self) {
        self.zws.ping();
    }

    pub(super) fn take_heard(&mut self) -> bool {
        std::mem::take(&mut self.heard)
    }

    /// Counts what the protocol holds of an unfinished message as a part of that message.
    pub(super) fn leave_room_for(&mut self, held: usize) {
        self.zws.leave_room_for(held);
    }

    /// Bytes of memory for what has come and the protocol has not got.
    pub(super) fn arriving(&self) -> usize {
        self.zws.arriving() + self.unread.held()
    }

    /// Reads from TCP at most once, behind what is in the buffer, which must have room, or into another
    /// one in its place where it is empty. [`Interrupted`](io::ErrorKind::Interrupted) says that what
    /// came was for the layers below ZMTP only. A peer that never stops sending such would otherwise
    /// keep the thread for itself.
    pub(super) fn read_behind(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        if self.unread.is_empty() && !self.input.is_empty() {
            self.process()?;
        }
        if self.unread.is_empty() {
            let before = buffer.len();
            buffer.resize(buffer.capacity(), 0);
            let outcome = self.receive(&mut buffer[before..]);
            buffer.truncate(before);
            if !outcome? {
                return Ok(0);
            }
        }
        Ok(self.unread.hand_over(buffer))
    }

    /// Reads from TCP with the help of `memory`. `false` at the end.
    fn receive(&mut self, memory: &mut [u8]) -> io::Result<bool> {
        if self.zws.peer_has_closed() || self.carrier.peer_has_closed() {
            return Ok(false);
        }
        let length = self.tcp.read(memory)?;
        if length == 0 {
            return Ok(false);
        }
        self.heard = true;
        if let Err(error) = self.carrier.receive(&memory[..length], &mut self.input) {
            // The peer is told why, if it takes that at once.
            let _ = self.flush();
            return Err(error);
        }
        self.process()?;
        if self.unread.is_empty() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        Ok(true)
    }

    /// Makes bytes for ZMTP of what has come, as far as that can be done now.
    fn process(&mut self) -> io::Result<()> {
        let received = self.zws.receive(&mut self.input, &mut self.unread);
        // A large read must not be remembered by an idle connection.
        if self.input.is_empty() && self.input.capacity() > MAX_KEPT {
            self.input = BytesMut::new();
        }
        // Answers to what came: an upgrade, a PONG.
        match self.flush() {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock && received.is_ok() => {
                return Err(error);
            }
            _ => {}
        }
        received.map_err(into_io)
    }

    pub(super) fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        if !self.zws.is_open() || self.holds_output() {
            self.flush()?;
        }
        if !self.zws.is_open() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let mut taken = 0;
        for slice in slices {
            self.zws.send(slice);
            taken += slice.len();
            if self.zws.pending().len() >= MAX_WEBSOCKET_PENDING {
                break;
            }
        }
        match self.flush() {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(taken),
        }
    }

    /// Whether something waits for the transport.
    pub(super) fn holds_output(&self) -> bool {
        !self.zws.held().is_empty() || self.carrier.holds_output()
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.carrier.send(self.zws.pending(), &mut self.tcp)
    }

    /// Says that nothing more will come.
    pub(super) fn finish_writing(&mut self) {
        self.zws.close();
        // What the transport does not take at once is lost, as the connection is about to be.
        let _ = self.flush();
        self.carrier.close();
        let _ = self.flush();
        let _ = self.tcp.shutdown(Shutdown::Write);
    }
}

fn into_io(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// Masks that nobody can foresee (RFC 6455, section 10.3), 256 for each call of the system.
fn masks() -> impl FnMut() -> [u8; 4] + Send {
    let mut pool = [0; 1_024];
    let mut used = pool.len();
    move || {
        if used == pool.len() {
            entropy::fill(&mut pool);
            used = 0;
        }
        let mask = pool[used..].first_chunk().copied();
        used += 4;
        mask.expect("the pool is a multiple of four bytes")
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::{Duration, Instant};

    use sealwire_zmtp::Mechanism;

    use super::*;

    fn server(max_message_size: usize) -> (WebSocket, std::net::TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        accepted.set_nonblocking(true).unwrap();
        let socket = WebSocket::new(
            TcpStream::from_std(accepted),
            Carrier::Nothing,
            Role::Server,
            Terms {
                mechanism: Mechanism::Null,
                as_server: true,
                max_message_size,
                bounds_parts: false,
                access: Default::default(),
            },
            Address::new("127.0.0.1", 80, "/"),
        );
        (socket, peer)
    }

    /// A peer may send its first message behind its handshake, so that one read has both. Larger messages
    /// may come in pieces once it is known, which it is when the protocol has the handshake.
    #[test]
    fn a_long_message_in_pieces_behind_the_handshake_waits_for_its_end() {
        const SIZE: usize = 20_000;
        const REQUEST: &str = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n\
            Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
            Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: ZWS2.0/NULL\r\n\r\n";
        let piece = |first: u8, bytes: &[u8]| sealwire_relay::websocket::frame(first, true, bytes);
        for known in [true, false] {
            let (mut socket, mut peer) = server(1 << 20);
            let pieces = [piece(0x02, &[0; 1_000]), piece(0x80, &[7; SIZE])].concat();
            peer.write_all(&[REQUEST.as_bytes(), &pieces].concat())
                .unwrap();
            let (mut received, deadline) = (Vec::new(), Instant::now() + Duration::from_secs(60));
            let outcome = loop {
                let mut buffer = Vec::with_capacity(1 << 16);
                match socket.read_behind(&mut buffer) {
                    Ok(_) if received.is_empty() && known => socket.trust(),
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::InvalidData => break Err(error),
                    Err(_) => assert!(Instant::now() < deadline),
                }
                received.append(&mut buffer);
                // The greeting that is assumed, a header, and what the two pieces have beside the flags.
                if received.len() == 64 + 9 + 999 + SIZE {
                    break Ok(());
                }
            };
            assert_eq!(outcome.is_ok(), known, "{outcome:?}");
            if known {
                let body = &received[64 + 9..];
                assert!(body[..999].iter().all(|byte| *byte == 0));
                assert!(body[999..].iter().all(|byte| *byte == 7));
            }
        }
    }

    #[test]
    fn a_turn_reads_once_whatever_came() {
        let (mut socket, mut peer) = server(0);
        // A request that never ends: nothing in it is for ZMTP.
        peer.write_all(&[b"GET / HTTP/1.1\r\n", &[b'a'; 112][..]].concat())
            .unwrap();
        let (mut reads, deadline) = (0, Instant::now() + Duration::from_secs(60));
        while reads < 8 {
            let error = socket.read_behind(&mut Vec::with_capacity(16)).unwrap_err();
            match error.kind() {
                io::ErrorKind::Interrupted => reads += 1,
                io::ErrorKind::WouldBlock => assert!(Instant::now() < deadline, "{reads} reads"),
                _ => panic!("{error}"),
            }
        }
        assert_eq!(
            socket
                .read_behind(&mut Vec::with_capacity(16))
                .unwrap_err()
                .kind(),
            io::ErrorKind::WouldBlock
        );
    }
}
