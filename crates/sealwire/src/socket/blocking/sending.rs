//! Sending: one message, or many in one go, and waiting for room up to a time limit.

use std::collections::VecDeque;
use std::time::Duration;

use event_listener::{Listener as _, listener};

use super::Socket;
use crate::error::{Error, Operation, SendError};
use crate::guard;
use crate::message::Message;
use crate::options::from_now;

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
    pub fn send_for(&self, message: impl Into<Message>, limit: Duration) -> Result<(), SendError> {
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
        let limit = self.inner.core()?.options().send_timeout;
        self.send_many_within(messages, limit)
    }

    /// As [`send_many`](Socket::send_many), waiting no longer than `limit` each time that there is
    /// no room.
    ///
    /// # Errors
    ///
    /// As [`send_many`](Socket::send_many).
    pub fn send_many_for(
        &self,
        messages: &mut VecDeque<Message>,
        limit: Duration,
    ) -> Result<usize, Error> {
        self.send_many_within(messages, Some(limit))
    }

    /// See [`Socket::try_send_many`](crate::Socket::try_send_many).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn try_send_many(&self, messages: &mut VecDeque<Message>) -> Result<usize, Error> {
        self.inner.try_send_many(messages)
    }

    /// As [`send`](Socket::send), but waits only while the condition holds, which is looked at on
    /// each [`wake`](Socket::wake).
    pub(crate) fn send_while(
        &self,
        message: Message,
        condition: impl Fn() -> bool,
    ) -> Result<(), SendError> {
        let core = match self.inner.core() {
            Ok(core) => core,
            Err(error) => return Err(SendError::new(error, message)),
        };
        let mut frames = message.into_frames();
        loop {
            // Listening comes before the attempt, or a signal could slip through.
            listener!(core.writable.threads => listener);
            if core.send_if_room(&mut frames)? {
                return Ok(());
            }
            if !condition() || guard::must_not_wait() {
                return Err(SendError::new(Error::WouldBlock, frames.into()));
            }
            listener.wait();
        }
    }

    fn send_within(&self, message: Message, limit: Option<Duration>) -> Result<(), SendError> {
        let core = match self.inner.core() {
            Ok(core) => core,
            Err(error) => return Err(SendError::new(error, message)),
        };
        let mut frames = message.into_frames();
        let mut attempt = || core.send_if_room(&mut frames);
        if attempt()? || self.wait_for_room(limit, attempt)? {
            return Ok(());
        }
        Err(SendError::new(self.no_room(limit), frames.into()))
    }

    fn send_many_within(
        &self,
        messages: &mut VecDeque<Message>,
        limit: Option<Duration>,
    ) -> Result<usize, Error> {
        let core = self.inner.core()?;
        let count = messages.len();
        loop {
            core.try_send_many(messages)?;
            if messages.is_empty() {
                return Ok(count);
            }
            let some_sent = || Ok::<_, Error>(core.try_send_many(messages)? > 0);
            if !self.wait_for_room(limit, some_sent)? {
                return Err(self.no_room(limit));
            }
        }
    }

    /// Why nothing was sent where there is no room.
    fn no_room(&self, limit: Option<Duration>) -> Error {
        if guard::must_not_wait() {
            return Error::WouldBlock;
        }
        self.timed_out(Operation::Send, limit.unwrap_or_default())
    }

    /// Attempts it at once and then whenever there may be room, until it is done; `false` when
    /// there was none within the limit, or the thread must not wait.
    fn wait_for_room<E>(
        &self,
        limit: Option<Duration>,
        mut attempt: impl FnMut() -> Result<bool, E>,
    ) -> Result<bool, E> {
        if guard::must_not_wait() {
            return Ok(false);
        }
        let core = &self.inner.handle.core;
        let deadline = limit.map(from_now);
        if self.looks(&core.looks_for_room) {
            core.push_output();
            let done = || Ok(attempt()?.then_some(()));
            if self.look(&core.looks_for_room, done)?.is_some() {
                return Ok(true);
            }
        }
        loop {
            // Listening comes before the attempt that decides, or a signal could slip through. On
            // the stack, as a thread that sends faster than others receive comes here often.
            listener!(core.writable.threads => room);
            core.push_output();
            if attempt()? {
                return Ok(true);
            }
            let woken = self.sleep(&core.looks_for_room, || match deadline {
                None => {
                    room.wait();
                    true
                }
                Some(deadline) => room.wait_deadline(deadline).is_some(),
            });
            if !woken {
                return attempt();
            }
        }
    }
}
