//! Receiving: one message, many in one go, or one after the other, and subscriptions to them.

use std::time::Duration;

use super::{Incoming, Socket};
use crate::error::Error;
use crate::message::Message;

impl Socket {
    /// Receives a message. Blocks until there is one, for up to the [receive
    /// timeout](crate::SocketBuilder::receive_timeout).
    ///
    /// # Errors
    ///
    /// * [`Error::TimedOut`] if no message comes within the receive timeout.
    /// * [`Error::Unsupported`] for types that only send: PUSH, PUB, RADIO, SCATTER.
    /// * [`Error::State`] if a REQ socket has no request under way, or a REP socket owes an answer.
    /// * [`Error::RequestLost`] if the peer that had the request of a REQ socket went away. It may have acted
    ///   on it.
    /// * [`Error::Closed`] if another handle closes the socket, [`Error::EngineFailed`] if its I/O thread
    ///   ends.
    /// * [`Error::Interrupted`] if a signal handler ran and the socket is
    ///   [interruptible](crate::SocketBuilder::interruptible); no message was taken.
    pub fn recv(&self) -> Result<Message, Error> {
        let core = self.inner.core()?;
        match core.next_of_sole_peer() {
            Some(message) => Ok(message),
            None => core.recv_within(core.receive_timeout()),
        }
    }

    /// Receives a message. Blocks until there is one, for up to `limit`.
    ///
    /// # Errors
    ///
    /// Those of [`recv`](Socket::recv), with [`Error::TimedOut`] after `limit`.
    pub fn recv_timeout(&self, limit: Duration) -> Result<Message, Error> {
        self.inner.core()?.recv_within(Some(limit))
    }

    /// Receives a message if there is one, without blocking.
    ///
    /// # Errors
    ///
    /// [`Error::WouldBlock`] if there is none. Otherwise those of [`recv`](Socket::recv) but
    /// [`Error::TimedOut`] and [`Error::Interrupted`].
    pub fn try_recv(&self) -> Result<Message, Error> {
        self.inner.try_recv()
    }

    /// Returns an iterator over the messages of this socket: the cheapest way to receive them, since one lock
    /// takes up to 64 that are there, after the first. Each call of `next` blocks for up to the [receive
    /// timeout](crate::SocketBuilder::receive_timeout), and gives the errors of [`recv`](Socket::recv).
    ///
    /// Dropping the iterator returns undelivered messages to the front of the queue. They are in no queue
    /// meanwhile, so up to 64 messages may be there beside the high-water mark's. REQ and REP take one at a
    /// time, and so does every socket while other callers wait for its messages.
    ///
    /// ```
    /// # use sealwire::{SocketType, blocking::Socket};
    /// # let (pull, push) = (Socket::new(SocketType::Pull)?, Socket::new(SocketType::Push)?);
    /// # push.connect(pull.bind("tcp://127.0.0.1:0")?)?;
    /// # push.send("work")?;
    /// for message in pull.incoming() {
    ///     assert_eq!(message?.as_bytes(), b"work");
    /// #   break;
    /// }
    /// # Ok::<(), sealwire::Error>(())
    /// ```
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming::new(self)
    }

    /// Blocks until there is a message, for up to the [receive timeout](crate::SocketBuilder::receive_timeout), then
    /// takes up to `limit` that are there under one lock and appends them to `into`. Returns how many were
    /// taken, 1 or more; 0 at once for a `limit` of 0.
    ///
    /// # Errors
    ///
    /// Those of [`recv`](Socket::recv); nothing was taken then.
    pub fn recv_many(&self, into: &mut Vec<Message>, limit: usize) -> Result<usize, Error> {
        let wait = self.inner.core()?.receive_timeout();
        self.recv_many_within(into, limit, wait)
    }

    /// Blocks until there is a message, for up to `wait`, then takes up to `limit` that are there under one
    /// lock and appends them to `into`. Returns how many were taken, 1 or more; 0 at once for a `limit` of 0.
    ///
    /// # Errors
    ///
    /// Those of [`recv`](Socket::recv), with [`Error::TimedOut`] after `wait`; nothing was taken then.
    pub fn recv_many_timeout(
        &self,
        into: &mut Vec<Message>,
        limit: usize,
        wait: Duration,
    ) -> Result<usize, Error> {
        self.recv_many_within(into, limit, Some(wait))
    }

    fn recv_many_within(
        &self,
        into: &mut Vec<Message>,
        limit: usize,
        wait: Option<Duration>,
    ) -> Result<usize, Error> {
        let core = self.inner.core()?;
        core.wait_readable(wait, || {
            let taken = core.try_receive_many(into, limit)?;
            Ok((taken > 0 || limit == 0).then_some(taken))
        })
    }

    /// Asks all publishers, present and future, for messages whose first frame starts with `topic`. The empty
    /// topic asks for all. Does not wait for the publishers to know.
    ///
    /// # Errors
    ///
    /// * [`Error::Unsupported`] for types other than SUB, XSUB, and XPUB with
    ///   [`xpub_manual`](crate::SocketBuilder::xpub_manual).
    /// * [`Error::State`] if XPUB has read no subscription yet, or its subscriber is gone.
    /// * [`Error::Limit`] if all topics together would take more than 16 MiB.
    pub fn subscribe(&self, topic: impl AsRef<[u8]>) -> Result<(), Error> {
        self.inner.subscribe(topic)
    }

    /// Takes back one [`subscribe`](Socket::subscribe) of the same topic.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] as for [`subscribe`](Socket::subscribe), [`Error::State`] if the socket has no
    /// such subscription.
    pub fn unsubscribe(&self, topic: impl AsRef<[u8]>) -> Result<(), Error> {
        self.inner.unsubscribe(topic)
    }

    /// Returns the number of different topics that are subscribed to: those of a SUB or XSUB itself, or those of the
    /// peers of a PUB or XPUB together. With [`xpub_manual`](crate::SocketBuilder::xpub_manual) only granted ones count.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for other types, [`Error::Closed`] and the like.
    pub fn topics(&self) -> Result<usize, Error> {
        self.inner.topics()
    }

    /// Asks all RADIO sockets, present and future, for messages to this group of 1 to 255 bytes. For DISH
    /// only.
    ///
    /// # Errors
    ///
    /// * [`Error::Unsupported`] for other socket types.
    /// * [`Error::Message`] if the name does not have 1 to 255 bytes.
    /// * [`Error::State`] if the socket has joined the group already.
    /// * [`Error::Limit`] if all groups together would take more than 16 MiB.
    pub fn join(&self, group: impl AsRef<[u8]>) -> Result<(), Error> {
        self.inner.join(group)
    }

    /// Takes back the [`join`](Socket::join) of this group. For DISH only.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for other socket types, [`Error::State`] if the socket has not joined the
    /// group.
    pub fn leave(&self, group: impl AsRef<[u8]>) -> Result<(), Error> {
        self.inner.leave(group)
    }
}
