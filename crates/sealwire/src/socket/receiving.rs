//! Receiving: one message, many in one go, or as a stream, and subscriptions to them.

use std::time::Duration;

use super::{Incoming, Socket};
use crate::error::{Error, Operation};
use crate::message::Message;

impl Socket {
    /// Receives a message, waiting for one.
    ///
    /// **Cancel-safe:** when the future is dropped before it is ready no message was taken.
    ///
    /// # Errors
    ///
    /// * [`Error::Unsupported`] for types that only send: PUSH, PUB, RADIO, SCATTER.
    /// * [`Error::State`] if a REQ socket has no request under way, or a REP socket owes an answer.
    /// * [`Error::RequestLost`] if the peer that had the request of a REQ socket went away. It may have acted
    ///   on it.
    /// * [`Error::Closed`] if another handle closes the socket, [`Error::EngineFailed`] if its I/O thread
    ///   ends.
    /// * [`Error::Forked`] in a child of the process that made the socket.
    pub async fn recv(&self) -> Result<Message, Error> {
        loop {
            if let Some(message) = self.core()?.try_receive()? {
                return Ok(message);
            }
            let listener = self.core()?.share_readable();
            if let Some(message) = self.core()?.try_receive()? {
                return Ok(message);
            }
            listener.await;
        }
    }

    /// Receives a message, waiting for one for up to `limit`. The error then says which peers were there, and why
    /// others were not, which a time limit of the executor does not know. The
    /// [receive timeout](crate::SocketBuilder::receive_timeout) of the socket is for blocking calls.
    ///
    /// **Cancel-safe** like [`recv`](Socket::recv).
    ///
    /// ```
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// # use sealwire::Presence;
    /// # use sealwire::{Error, Socket, SocketType};
    /// # use std::time::Duration;
    /// # let pull = Socket::new(SocketType::Pull)?;
    /// # pull.bind("tcp://127.0.0.1:0")?;
    /// match pull.recv_timeout(Duration::from_millis(10)).await {
    ///     Ok(message) => println!("{message:?}"),
    ///     Err(error @ Error::TimedOut { presence: Presence::Nobody, .. }) => println!("{error}"),
    ///     Err(error) => return Err(error),
    /// }
    /// # Ok::<(), sealwire::Error>(()) }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`recv`](Socket::recv), with [`Error::TimedOut`] after `limit`.
    pub async fn recv_timeout(&self, limit: Duration) -> Result<Message, Error> {
        self.within(limit, Operation::Receive, self.recv()).await
    }

    /// Waits for a message, then takes up to `limit` that are there under one lock and appends them to
    /// `into`. Returns how many were taken, 1 or more; 0 at once for a `limit` of 0.
    ///
    /// **Cancel-safe** like [`recv`](Socket::recv).
    ///
    /// # Errors
    ///
    /// Those of [`recv`](Socket::recv); nothing was taken then.
    pub async fn recv_many(&self, into: &mut Vec<Message>, limit: usize) -> Result<usize, Error> {
        loop {
            let taken = self.core()?.try_receive_many(into, limit)?;
            if taken > 0 || limit == 0 {
                return Ok(taken);
            }
            let listener = self.core()?.share_readable();
            let taken = self.core()?.try_receive_many(into, limit)?;
            if taken > 0 {
                return Ok(taken);
            }
            listener.await;
        }
    }

    /// Waits for a message for up to `wait`, then takes up to `limit` that are there under one lock and appends
    /// them to `into`. Returns how many were taken, 1 or more; 0 at once for a `limit` of 0.
    ///
    /// **Cancel-safe** like [`recv`](Socket::recv).
    ///
    /// # Errors
    ///
    /// Those of [`recv`](Socket::recv), with [`Error::TimedOut`] after `wait`; nothing was taken then.
    pub async fn recv_many_timeout(
        &self,
        into: &mut Vec<Message>,
        limit: usize,
        wait: Duration,
    ) -> Result<usize, Error> {
        self.within(wait, Operation::Receive, self.recv_many(into, limit))
            .await
    }

    /// Returns a stream of the messages of this socket: the cheapest way to receive them, since one lock
    /// takes up to 64 that are there, after the first.
    ///
    /// Dropping the stream returns undelivered messages to the front of the queue. They are in no queue
    /// meanwhile, so up to 64 messages may be there beside the high-water mark's. REQ and REP take one at a
    /// time, and so does every socket while other callers wait for its messages.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// # use sealwire::{Socket, SocketType};
    /// # let (pull, push) = (Socket::new(SocketType::Pull)?, Socket::new(SocketType::Push)?);
    /// # push.connect(pull.bind("tcp://127.0.0.1:0")?)?;
    /// # push.send("work").await?;
    /// let mut incoming = pull.incoming();
    /// while let Some(message) = incoming.next().await {
    ///     assert_eq!(message?.as_bytes(), b"work");
    /// #   break;
    /// }
    /// # Ok::<(), sealwire::Error>(()) }).unwrap();
    /// ```
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming::new(self)
    }

    /// Receives a message if there is one.
    ///
    /// # Errors
    ///
    /// [`Error::WouldBlock`] if there is none. Otherwise those of [`recv`](Socket::recv).
    pub fn try_recv(&self) -> Result<Message, Error> {
        if let Some(message) = self.core()?.try_receive()? {
            return Ok(message);
        }
        self.core()?.read_leased();
        self.core()?.try_receive()?.ok_or(Error::WouldBlock)
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
        self.core()?.subscribe(topic.as_ref())
    }

    /// Takes back one [`subscribe`](Socket::subscribe) of the same topic.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] as for [`subscribe`](Socket::subscribe), [`Error::State`] if the socket has no
    /// such subscription.
    pub fn unsubscribe(&self, topic: impl AsRef<[u8]>) -> Result<(), Error> {
        self.core()?.unsubscribe(topic.as_ref())
    }

    /// Returns the number of different topics that are subscribed to: those of a SUB or XSUB itself, or those of the
    /// peers of a PUB or XPUB together. With [`xpub_manual`](crate::SocketBuilder::xpub_manual) only granted ones count.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for other types, [`Error::Closed`] and the like.
    pub fn topics(&self) -> Result<usize, Error> {
        self.core()?.topics()
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
        self.core()?.join(group.as_ref())
    }

    /// Takes back the [`join`](Socket::join) of this group. For DISH only.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for other socket types, [`Error::State`] if the socket has not joined the
    /// group.
    pub fn leave(&self, group: impl AsRef<[u8]>) -> Result<(), Error> {
        self.core()?.leave(group.as_ref())
    }
}
