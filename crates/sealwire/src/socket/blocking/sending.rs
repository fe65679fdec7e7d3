//! Sending: one message, or many in one go, and waiting for room up to a time limit.

use std::collections::VecDeque;
use std::time::Duration;

use super::Socket;
use crate::error::{Error, SendError};
use crate::message::Message;

impl Socket {
    /// Sends a message: hands it to the queues of the peers that it goes to. Blocks while these are full, for
    /// up to the [send timeout](crate::SocketBuilder::send_timeout). PUB, XPUB, XSUB, REP and ROUTER do not
    /// block: they drop the message for a peer without room, and count it. ROUTER blocks with
    /// [`router_mandatory`](crate::SocketBuilder::router_mandatory), PUB and XPUB with
    /// [`xpub_no_drop`](crate::SocketBuilder::xpub_no_drop).
    ///
    /// # Errors
    ///
    /// [`SendError`], which holds the message, with one of these:
    ///
    /// * [`Error::TimedOut`] if there is no room within the send timeout.
    /// * [`Error::Unsupported`] for types that only receive: PULL, SUB, DISH, GATHER.
    /// * [`Error::State`] if a REQ socket has not received its answer yet, or a REP socket has no request to
    ///   answer.
    /// * [`Error::Unroutable`] if no peer has the routing id: SERVER, PEER, STREAM, and ROUTER with
    ///   [`router_mandatory`](crate::SocketBuilder::router_mandatory).
    /// * [`Error::Message`] if the socket type does not send messages of this shape.
    /// * [`Error::Closed`] if another handle closes the socket, [`Error::EngineFailed`] if its I/O thread
    ///   ends.
    /// * [`Error::Interrupted`] if a signal handler ran and the socket is
    ///   [interruptible](crate::SocketBuilder::interruptible).
    pub fn send(&self, message: impl Into<Message>) -> Result<(), SendError> {
        let limit = self.inner.handle.core.send_timeout();
        self.send_within(message.into(), limit)
    }

    /// Sends a message. Blocks while there is no room, for up to `limit`.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Socket::send), with [`Error::TimedOut`] after `limit`.
    pub fn send_timeout(
        &self,
        message: impl Into<Message>,
        limit: Duration,
    ) -> Result<(), SendError> {
        self.send_within(message.into(), Some(limit))
    }

    /// Sends a message if there is room for it, without blocking.
    ///
    /// # Errors
    ///
    /// [`Error::WouldBlock`] if there is no room. Otherwise those of [`send`](Socket::send) but
    /// [`Error::TimedOut`] and [`Error::Interrupted`].
    pub fn try_send(&self, message: impl Into<Message>) -> Result<(), SendError> {
        self.inner.try_send(message)
    }

    /// Sends all messages of the queue, in order, each as [`send`](Socket::send) would: the cheapest way to
    /// send many, since one lock takes up to 256 of them and the connection is told once. Each message leaves
    /// the queue when it is sent; the queue keeps its memory. Returns how many there were.
    ///
    /// Blocks while there is no room, each time for up to the [send timeout](crate::SocketBuilder::send_timeout),
    /// which starts anew after each batch that was sent. So the whole call may take longer, as `send` in a
    /// loop does. Other handles may send in between.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Socket::send), without the message. The queue then holds the messages that were not
    /// sent; the error is about the first. Nothing is lost, so the call may be repeated. Remove a message
    /// that can never be sent before that.
    ///
    /// ```
    /// # use sealwire::{Message, SocketType, blocking::Socket};
    /// # use std::collections::VecDeque;
    /// # let (pull, push) = (Socket::new(SocketType::Pull)?, Socket::new(SocketType::Push)?);
    /// # push.connect(pull.bind("tcp://127.0.0.1:0")?)?;
    /// let mut messages = VecDeque::with_capacity(256);
    /// for number in 0..1_000_u32 {
    ///     messages.push_back(Message::from(&number.to_be_bytes()));
    ///     if messages.len() == 256 {
    ///         push.send_many(&mut messages)?;
    ///     }
    /// }
    /// push.send_many(&mut messages)?;
    /// # for number in 0..1_000_u32 {
    /// #     assert_eq!(pull.recv()?.as_bytes(), number.to_be_bytes());
    /// # }
    /// # Ok::<(), sealwire::Error>(())
    /// ```
    pub fn send_many(&self, messages: &mut VecDeque<Message>) -> Result<usize, Error> {
        let core = self.inner.core()?;
        core.send_many_within(messages, core.send_timeout())
    }

    /// Sends all messages of the queue, in order, as [`send_many`](Socket::send_many), and blocks for up to
    /// `limit` each time that there is no room.
    ///
    /// # Errors
    ///
    /// Those of [`send_many`](Socket::send_many), with [`Error::TimedOut`] after `limit`.
    pub fn send_many_timeout(
        &self,
        messages: &mut VecDeque<Message>,
        limit: Duration,
    ) -> Result<usize, Error> {
        self.inner.core()?.send_many_within(messages, Some(limit))
    }

    /// Sends messages from the front of the queue, in order, as long as there is room, without blocking.
    /// Returns how many were sent. Each leaves the queue when it is sent; the queue keeps its memory.
    ///
    /// If fewer were sent than there were, either there is no room for the next, or it cannot be sent: the
    /// next call returns its error, or 0 for want of room.
    ///
    /// # Errors
    ///
    /// Those of [`try_send`](Socket::try_send) but [`Error::WouldBlock`], and only if nothing was sent. The
    /// error is about the first message of the queue, which stays there.
    pub fn try_send_many(&self, messages: &mut VecDeque<Message>) -> Result<usize, Error> {
        self.inner.try_send_many(messages)
    }

    fn send_within(&self, message: Message, limit: Option<Duration>) -> Result<(), SendError> {
        match self.inner.core() {
            Ok(core) => core.send_within(message, limit),
            Err(error) => Err(SendError::new(error, message)),
        }
    }
}
