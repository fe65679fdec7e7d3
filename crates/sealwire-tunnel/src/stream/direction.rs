//! The loops of both directions and of the handshake. Each may be left at any point where it waits, or with an
//! error of what it runs over, and goes on from there the next time.

use std::io;
use std::task::{Poll, ready};

use super::transport::Transport;
use super::{BrokenOff, StreamError};
use crate::{Channel, Handshake, Incoming, MAX_BLOCK_SIZE, Opened, Outgoing, Reason};

/// A handshake under way.
pub(super) struct Handshaking {
    handshake: Handshake,
    /// Something was sent since the last flush.
    unflushed: bool,
}

impl Handshaking {
    pub(super) const fn new(handshake: Handshake) -> Self {
        Handshaking {
            handshake,
            unflushed: false,
        }
    }

    /// Sends what the handshake has to send, and receives until there is a channel.
    pub(super) fn advance(
        &mut self,
        transport: &mut impl Transport,
    ) -> Poll<Result<Channel, StreamError>> {
        let handshake = &mut self.handshake;
        loop {
            while !handshake.unsent().is_empty() {
                let count = ready!(transport.write(handshake.unsent()))?;
                handshake.sent(some(count)?);
                self.unflushed = true;
            }
            if self.unflushed {
                ready!(transport.flush())?;
                self.unflushed = false;
            }
            let count = ready!(transport.read(handshake.room()))?;
            if count == 0 {
                return Poll::Ready(Err(cut_off().into()));
            }
            if let Some(channel) = handshake.received(count)? {
                return Poll::Ready(Ok(channel));
            }
        }
    }
}

/// Reads bytes that are authentic; 0 at the end that the peer meant.
pub(super) fn read(
    incoming: &mut Incoming,
    transport: &mut impl Transport,
    into: &mut [u8],
) -> Poll<io::Result<usize>> {
    if into.is_empty() {
        return Poll::Ready(Ok(0));
    }
    loop {
        let opened = incoming.open();
        match opened.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))? {
            Opened::Text => {
                let text = incoming.text();
                let count = text.len().min(into.len());
                into[..count].copy_from_slice(&text[..count]);
                incoming.take(count);
                return Poll::Ready(Ok(count));
            }
            Opened::End => return Poll::Ready(Ok(0)),
            Opened::BrokenOff(reason) => {
                let kind = io::ErrorKind::ConnectionAborted;
                return Poll::Ready(Err(io::Error::new(kind, BrokenOff(reason))));
            }
            Opened::NeedsMore => {
                let count = ready!(transport.read(incoming.room()))?;
                if count == 0 {
                    return Poll::Ready(Err(cut_off()));
                }
                incoming.received(count);
            }
        }
    }
}

/// The bytes to be sent, and how many of the next block are there.
#[derive(Debug)]
pub(super) struct Sending {
    outgoing: Outgoing,
    staged: usize,
    /// Something was sent since the last flush.
    unflushed: bool,
}

impl Sending {
    pub(super) const fn new(outgoing: Outgoing) -> Self {
        Sending {
            outgoing,
            staged: 0,
            unflushed: false,
        }
    }

    /// Takes some bytes, once there is room.
    pub(super) fn write(
        &mut self,
        transport: &mut impl Transport,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.outgoing.is_closed() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if self.staged == MAX_BLOCK_SIZE {
            self.seal();
        }
        ready!(self.send(transport))?;
        let room = &mut self.outgoing.room()[self.staged..];
        let count = room.len().min(bytes.len());
        room[..count].copy_from_slice(&bytes[..count]);
        self.staged += count;
        Poll::Ready(Ok(count))
    }

    /// Seals what there is and sends it.
    pub(super) fn flush(&mut self, transport: &mut impl Transport) -> Poll<io::Result<()>> {
        ready!(self.send(transport))?;
        self.seal();
        self.send_and_flush(transport)
    }

    /// The same, and says that it was all. Does nothing more once it has.
    pub(super) fn finish(&mut self, transport: &mut impl Transport) -> Poll<io::Result<()>> {
        ready!(self.flush(transport))?;
        self.outgoing.end();
        self.send_and_flush(transport)
    }

    fn send_and_flush(&mut self, transport: &mut impl Transport) -> Poll<io::Result<()>> {
        ready!(self.send(transport))?;
        if self.unflushed {
            ready!(transport.flush())?;
            self.unflushed = false;
        }
        Poll::Ready(Ok(()))
    }

    /// Nothing is unsent where something is staged.
    fn seal(&mut self) {
        if self.staged > 0 {
            self.outgoing.seal(std::mem::take(&mut self.staged));
        }
    }

    fn send(&mut self, transport: &mut impl Transport) -> Poll<io::Result<()>> {
        while !self.outgoing.unsent().is_empty() {
            let count = ready!(transport.write(self.outgoing.unsent()))?;
            self.outgoing.sent(some(count)?);
            self.unflushed = true;
        }
        Poll::Ready(Ok(()))
    }

    /// Says why it was not all. Staged bytes are not sent.
    pub(super) fn break_off(
        &mut self,
        reason: Reason,
        transport: &mut impl Transport,
    ) -> Poll<io::Result<()>> {
        self.staged = 0;
        self.outgoing.break_off(reason);
        self.send_and_flush(transport)
    }
}

fn some(count: usize) -> io::Result<usize> {
    if count == 0 {
        return Err(io::ErrorKind::WriteZero.into());
    }
    Ok(count)
}

fn cut_off() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "cut off: the other side did not say that it was all",
    )
}
