//! A stream that blocks where what it runs over does.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::task::Poll;

use super::StreamError;
use super::direction::{self, Handshaking, Sending};
use super::transport::{Blocking, now};
use crate::{Channel, Handshake, Identity, Incoming, PublicKey, Reason};

/// An authenticated, encrypted stream of bytes over `S`. Dropped without [`finish`](Stream::finish) or
/// [`close`](Stream::close), it leaves the peer with an error, as what is cut off may not be all.
#[derive(Debug)]
pub struct Stream<S> {
    transport: S,
    peer: PublicKey,
    sending: Sending,
    incoming: Incoming,
}

impl<S: Read + Write> Stream<S> {
    /// Connects as `identity` to the owner of the key `listener`, and nobody else: who has another key is not told
    /// ours. Blocks for a round trip.
    ///
    /// # Errors
    ///
    /// * [`StreamError::Handshake`] if another key is proved, or the peer speaks something else.
    /// * [`StreamError::Io`] if the connection fails or ends before.
    /// * [`StreamError::Randomness`].
    ///
    /// A listener that does not let us in says so later: the first read is then an error with
    /// [`BrokenOff`](super::BrokenOff).
    pub fn connect(
        mut transport: S,
        identity: &Identity,
        listener: PublicKey,
    ) -> Result<Self, StreamError> {
        let channel = shake(Handshake::connect(identity, listener)?, &mut transport)?;
        let mut stream = Self::new(transport, channel);
        // The listener waits for the confirmation.
        stream.flush()?;
        Ok(stream)
    }

    /// Accepts a connector whose key `admit` lets in. Blocks for a round trip.
    ///
    /// # Errors
    ///
    /// * [`StreamError::Refused`] for another key; its owner is told.
    /// * [`StreamError::Handshake`] if the peer speaks something else, or knows another key of ours.
    /// * [`StreamError::Io`] if the connection fails or ends before.
    /// * [`StreamError::Randomness`].
    pub fn accept(
        mut transport: S,
        identity: &Arc<Identity>,
        admit: impl FnOnce(&PublicKey) -> bool,
    ) -> Result<Self, StreamError> {
        let channel = shake(Handshake::listen(identity)?, &mut transport)?;
        let stream = Self::new(transport, channel);
        if admit(&stream.peer) {
            return Ok(stream);
        }
        let peer = Box::new(stream.peer);
        stream.break_off(Reason::Refused)?;
        Err(StreamError::Refused(peer))
    }

    fn new(transport: S, channel: Channel) -> Self {
        Stream {
            transport,
            peer: channel.peer,
            sending: Sending::new(channel.outgoing),
            incoming: channel.incoming,
        }
    }

    /// Returns the peer's key, whose secret it has proved to hold.
    pub const fn peer(&self) -> &PublicKey {
        &self.peer
    }

    /// Returns what it runs over, to set time limits for example. Bytes that are read or written there are missing
    /// here.
    pub const fn transport(&self) -> &S {
        &self.transport
    }

    /// Sends what is left, and says that it was all. Reading goes on.
    ///
    /// # Errors
    ///
    /// Those of what it runs over.
    pub fn finish(&mut self) -> io::Result<()> {
        now(self.sending.finish(&mut Blocking(&mut self.transport)))
    }

    /// The same, and returns what it ran over. What the peer sent and was not read is lost.
    ///
    /// # Errors
    ///
    /// Those of what it runs over.
    pub fn close(mut self) -> io::Result<S> {
        self.finish()?;
        Ok(self.transport)
    }

    /// Tells the peer that this is not all, and why. Bytes that were written and not flushed are not sent.
    ///
    /// # Errors
    ///
    /// Those of what it runs over.
    pub fn break_off(mut self, reason: Reason) -> io::Result<()> {
        let transport = &mut Blocking(&mut self.transport);
        now(self.sending.break_off(reason, transport))
    }

    /// Splits it for two threads. `clone` gives another handle to the same connection, as
    /// [`TcpStream::try_clone`](std::net::TcpStream::try_clone) does.
    ///
    /// # Errors
    ///
    /// Those of `clone`.
    pub fn split(
        self,
        clone: impl FnOnce(&S) -> io::Result<S>,
    ) -> io::Result<(Reader<S>, Writer<S>)> {
        let reader = Reader {
            transport: clone(&self.transport)?,
            incoming: self.incoming,
        };
        let writer = Writer {
            transport: self.transport,
            sending: self.sending,
        };
        Ok((reader, writer))
    }
}

fn shake<S: Read + Write>(handshake: Handshake, transport: &mut S) -> Result<Channel, StreamError> {
    let mut handshaking = Handshaking::new(handshake);
    loop {
        match handshaking.advance(&mut Blocking(transport)) {
            Poll::Ready(Err(StreamError::Io(error)))
                if error.kind() == io::ErrorKind::Interrupted => {}
            Poll::Ready(done) => return done,
            Poll::Pending => {
                return Err(io::Error::from(io::ErrorKind::WouldBlock).into());
            }
        }
    }
}

impl<S: Read + Write> Read for Stream<S> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let transport = &mut Blocking(&mut self.transport);
        now(direction::read(&mut self.incoming, transport, into))
    }
}

impl<S: Read + Write> Write for Stream<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let transport = &mut Blocking(&mut self.transport);
        now(self.sending.write(transport, bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        now(self.sending.flush(&mut Blocking(&mut self.transport)))
    }
}

/// The half of a [`Stream`] that reads.
#[derive(Debug)]
pub struct Reader<S> {
    transport: S,
    incoming: Incoming,
}

impl<S: Read + Write> Read for Reader<S> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let transport = &mut Blocking(&mut self.transport);
        now(direction::read(&mut self.incoming, transport, into))
    }
}

/// The half of a [`Stream`] that writes.
#[derive(Debug)]
pub struct Writer<S> {
    transport: S,
    sending: Sending,
}

impl<S: Read + Write> Writer<S> {
    /// See [`Stream::finish`].
    ///
    /// # Errors
    ///
    /// Those of what it runs over.
    pub fn finish(&mut self) -> io::Result<()> {
        now(self.sending.finish(&mut Blocking(&mut self.transport)))
    }
}

impl<S: Read + Write> Write for Writer<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let transport = &mut Blocking(&mut self.transport);
        now(self.sending.write(transport, bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        now(self.sending.flush(&mut Blocking(&mut self.transport)))
    }
}
