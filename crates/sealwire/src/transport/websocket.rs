//! A TCP stream under a WebSocket: to the session it is the byte stream of ZMTP.

use std::io::{self, IoSlice, Read as _, Write as _};
use std::net::Shutdown;

use bytes::{Buf as _, BytesMut};
use mio::net::TcpStream;

use super::zws::{Address, Role, Terms, WebSocketError, Zws};
use crate::entropy;

/// No more is taken from the protocol while so many bytes wait for the transport.
const MAX_PENDING: usize = 128 << 10;

pub(crate) struct WebSocket {
    pub(super) tcp: TcpStream,
    zws: Zws,
    /// Of the transport, not yet understood.
    input: BytesMut,
    /// For the protocol.
    ready: BytesMut,
    /// Something came from the transport.
    heard: bool,
}

impl WebSocket {
    pub(super) fn new(tcp: TcpStream, role: Role, terms: Terms, address: Address) -> Self {
        let mut nonce = [0; 16];
        entropy::fill(&mut nonce);
        WebSocket {
            tcp,
            zws: Zws::new(role, terms, address, nonce, Box::new(masks())),
            input: BytesMut::new(),
            ready: BytesMut::new(),
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

    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() {
            if self.zws.peer_has_closed() {
                return Ok(0);
            }
            let length = self.tcp.read(buffer)?;
            if length == 0 {
                return Ok(0);
            }
            self.heard = true;
            self.input.extend_from_slice(&buffer[..length]);
            let received = self.zws.receive(&mut self.input, &mut self.ready);
            // Answers to what came: an upgrade, a PONG, a CLOSE.
            match self.flush() {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock && received.is_ok() => {
                    return Err(error);
                }
                _ => {}
            }
            received.map_err(into_io)?;
        }
        let length = self.ready.len().min(buffer.len());
        self.ready.copy_to_slice(&mut buffer[..length]);
        Ok(length)
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
            if self.zws.pending().len() >= MAX_PENDING {
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
        !self.zws.held().is_empty()
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        let pending = self.zws.pending();
        while !pending.is_empty() {
            match self.tcp.write(pending) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => pending.advance(written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Says that nothing more will come.
    pub(super) fn finish_writing(&mut self) {
        self.zws.close();
        // What the transport does not take at once is lost, as the connection is about to be.
        let _ = self.flush();
        let _ = self.tcp.shutdown(Shutdown::Write);
    }
}

fn into_io(error: WebSocketError) -> io::Error {
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
