//! Sending: one message, or many in one go, and waiting for room up to a time limit.

use std::collections::VecDeque;
use std::time::Duration;

use super::Socket;
use crate::error::{Error, SendError};
use crate::message::Message;

impl Socket {
    /// Sends a message, blocking while there is no room (as [`Socket::send`](crate::Socket::send))
    /// for up to the send timeout.
    ///
    /// # Errors
    ///
    /// As [`Socket::send`](crate::Socket::send), and [`Error::TimedOut`].
    pub fn send(&self, message: impl Into<Message>) -> Result<(), SendError> {
        let limit = self.inner.handle.core.options().send_timeout;
        self.send_within(message.into(), limit)
    }

    /// Sends a message, waiting no longer than `limit`.
    ///
    /// # Errors
    ///
    /// As [`send`](Socket::send).
    pub fn send_timeout(
        &self,
        message: impl Into<Message>,
        limit: Duration,
    ) -> Result<(), SendError> {
        self.send_within(message.into(), Some(limit))
    }

    /// See [`Socket::try_send`](crate::Socket::try_send).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn try_send(&self, message: impl Into<Message>) -> Result<(), SendError> {
        self.inner.try_send(message)
    }

    /// Sends all these messages, in order, each as [`send`](Socket::send) would: the cheapest way
    /// to send many, since one lock takes up to 256 of them and the connection is told once. Each
    /// message leaves the queue when it is sent; the queue keeps its memory.
    ///
    /// Blocks while there is no room, each time for up to the send timeout: it counts from when
    /// there was room for no more, and anew after each time that some went. So all together may
    /// take longer, as with `send` in a loop.
    ///
    /// Returns how many messages there were. All of them were sent then, and the queue is empty.
    ///
    /// After an error those that are gone from the queue were sent, and those that are left were
    /// not, the first of them being the one that the error is about. Nothing is lost, so the call may
    /// be repeated; where that message can never go, take it out before.
    ///
    /// Other handles may send in between, also while this one does not wait.
    ///
    /// # Errors
    ///
    /// As [`Socket::send_many`](crate::Socket::send_many), and [`Error::TimedOut`].
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
        core.send_many_within(messages, core.options().send_timeout)
    }

    /// As [`send_many`](Socket::send_many), waiting no longer than `limit` each time that there is
    /// no room.
    ///
    /// # Errors
    ///
    /// As [`send_many`](Socket::send_many).
    pub fn send_many_timeout(
        &self,
        messages: &mut VecDeque<Message>,
        limit: Duration,
    ) -> Result<usize, Error> {
        self.inner.core()?.send_many_within(messages, Some(limit))
    }

    /// See [`Socket::try_send_many`](crate::Socket::try_send_many).
    ///
    /// # Errors
    ///
    /// As there.
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
