//! A stream for tasks, over the traits that executors share.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};

use super::StreamError;
use super::direction::{self, Handshaking, Sending};
use super::transport::Transport;
use crate::{Channel, Handshake, Identity, Incoming, PublicKey, Reason};

/// [`Stream`](super::Stream) for tasks: over anything that has the traits of `futures-io`, and has them itself. For tokio,
/// `tokio-util` translates (`compat`). Dropped without [`close`](futures_io::AsyncWrite::poll_close), it leaves the
/// peer with an error.
#[derive(Debug)]
pub struct AsyncStream<S> {
    transport: S,
    peer: PublicKey,
    sending: Sending,
    incoming: Incoming,
}

struct Polled<'a, 'b, S> {
    transport: &'a mut S,
    context: &'a mut Context<'b>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Transport for Polled<'_, '_, S> {
    fn read(&mut self, into: &mut [u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.transport).poll_read(self.context, into)
    }

    fn write(&mut self, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.transport).poll_write(self.context, bytes)
    }

    fn flush(&mut self) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.transport).poll_flush(self.context)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncStream<S> {
    /// Connects as [`Stream::connect`](super::Stream::connect).
    ///
    /// Not cancel-safe: a connection whose handshake was dropped is of no use.
    ///
    /// # Errors
    ///
    /// Those of [`Stream::connect`](super::Stream::connect).
    pub async fn connect(
        transport: S,
        identity: &Identity,
        listener: PublicKey,
    ) -> Result<Self, StreamError> {
        let mut stream = Self::shake(transport, Handshake::connect(identity, listener)?).await?;
        // The listener waits for the confirmation.
        stream
            .run(|sending, transport| sending.flush(transport))
            .await?;
        Ok(stream)
    }

    /// Accepts a connector as [`Stream::accept`](super::Stream::accept).
    ///
    /// Not cancel-safe: a connection whose handshake was dropped is of no use.
    ///
    /// # Errors
    ///
    /// Those of [`Stream::accept`](super::Stream::accept).
    pub async fn accept(
        transport: S,
        identity: &Arc<Identity>,
        admit: impl FnOnce(&PublicKey) -> bool,
    ) -> Result<Self, StreamError> {
        let mut stream = Self::shake(transport, Handshake::listen(identity)?).await?;
        if admit(&stream.peer) {
            return Ok(stream);
        }
        stream
            .run(|sending, transport| sending.break_off(Reason::Refused, transport))
            .await?;
        Err(StreamError::Refused(Box::new(stream.peer)))
    }

    async fn shake(mut transport: S, handshake: Handshake) -> Result<Self, StreamError> {
        let mut handshaking = Handshaking::new(handshake);
        let channel = poll_fn(|context| {
            let transport = &mut Polled {
                transport: &mut transport,
                context,
            };
            handshaking.advance(transport)
        });
        let Channel {
            peer,
            outgoing,
            incoming,
        } = channel.await?;
        Ok(AsyncStream {
            transport,
            peer,
            sending: Sending::new(outgoing),
            incoming,
        })
    }

    async fn run(
        &mut self,
        mut step: impl FnMut(&mut Sending, &mut Polled<'_, '_, S>) -> Poll<io::Result<()>>,
    ) -> io::Result<()> {
        poll_fn(|context| {
            let transport = &mut Polled {
                transport: &mut self.transport,
                context,
            };
            step(&mut self.sending, transport)
        })
        .await
    }

    /// Returns the peer's key, whose secret it has proved to hold.
    pub const fn peer(&self) -> &PublicKey {
        &self.peer
    }

    /// Returns what it runs over. Bytes that are read or written there are missing here.
    pub const fn transport(&self) -> &S {
        &self.transport
    }

    /// Sends what is left, and says that it was all. Reading goes on.
    ///
    /// # Errors
    ///
    /// Those of what it runs over.
    pub async fn finish(&mut self) -> io::Result<()> {
        self.run(|sending, transport| sending.finish(transport))
            .await
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for AsyncStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let transport = &mut Polled {
            transport: &mut this.transport,
            context,
        };
        direction::read(&mut this.incoming, transport, into)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for AsyncStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let transport = &mut Polled {
            transport: &mut this.transport,
            context,
        };
        this.sending.write(transport, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let transport = &mut Polled {
            transport: &mut this.transport,
            context,
        };
        this.sending.flush(transport)
    }

    /// Says that it was all, and closes what it runs over.
    fn poll_close(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let transport = &mut Polled {
            transport: &mut this.transport,
            context,
        };
        std::task::ready!(this.sending.finish(transport))?;
        Pin::new(&mut this.transport).poll_close(context)
    }
}
