//! Sending: one message, or many in one go.

use std::collections::VecDeque;
use std::mem;
use std::time::Duration;

use sealwire_zmtp::{Frame, Frames};

use super::Socket;
use super::limited::Limit;
use crate::error::{Error, Operation, SendError};
use crate::message::Message;
use crate::waiting::Listening;

impl Socket {
    /// Sends a message: hands it to the queues of the peers that it goes to, and waits while these are full.
    /// PUB, XPUB, XSUB, REP and ROUTER do not wait: they drop the message for a peer without room, and count
    /// it. ROUTER waits with [`router_mandatory`](crate::SocketBuilder::router_mandatory), PUB and XPUB with
    /// [`xpub_no_drop`](crate::SocketBuilder::xpub_no_drop).
    ///
    /// **Cancel-safe:** when the future is dropped before it is ready the message was not sent, not even in
    /// part.
    ///
    /// # Errors
    ///
    /// [`SendError`], which holds the message, with one of these:
    ///
    /// * [`Error::Unsupported`] for types that only receive: PULL, SUB, DISH, GATHER.
    /// * [`Error::State`] if a REQ socket has not received its answer yet, or a REP socket has no request to
    ///   answer.
    /// * [`Error::Unroutable`] if no peer has the routing id: SERVER, PEER, STREAM, and ROUTER with
    ///   [`router_mandatory`](crate::SocketBuilder::router_mandatory).
    /// * [`Error::Message`] if the socket type does not send messages of this shape.
    /// * [`Error::Closed`] if another handle closes the socket, [`Error::EngineFailed`] if its I/O thread
    ///   ends.
    /// * [`Error::Forked`] in a child of the process that made the socket.
    pub async fn send(&self, message: impl Into<Message>) -> Result<(), SendError> {
        self.send_frames(&mut message.into().into_frames()).await
    }

    /// Sends a message as [`send`](Socket::send), waiting for room for up to `limit`. The
    /// [send timeout](crate::SocketBuilder::send_timeout) of the socket is for blocking calls.
    ///
    /// **Cancel-safe:** when the future is dropped before it is ready the message was not sent, not even in
    /// part.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Socket::send), with [`Error::TimedOut`] after `limit`.
    pub async fn send_timeout(
        &self,
        message: impl Into<Message>,
        limit: Duration,
    ) -> Result<(), SendError> {
        let mut frames = message.into().into_frames();
        let mut limit = Limit::new(self, Some(limit));
        match limit.wait(self.send_frames(&mut frames)).await {
            Some(done) => done,
            None => {
                let error = limit.timed_out(Operation::Send);
                Err(SendError::new(error, frames.into()))
            }
        }
    }

    /// The frames are taken by the socket or by the error; dropped before, it leaves them.
    async fn send_frames(&self, frames: &mut Frames) -> Result<(), SendError> {
        loop {
            let core = match self.core() {
                Ok(core) => core,
                Err(error) => return Err(SendError::new(error, mem::take(frames).into())),
            };
            if core.send_if_room(frames)? {
                return Ok(());
            }
            let listener = Listening::to(&core.writable);
            core.push_output();
            if core.send_if_room(frames)? {
                return Ok(());
            }
            listener.await;
        }
    }

    /// Sends a message if there is room for it.
    ///
    /// # Errors
    ///
    /// [`Error::WouldBlock`] if there is no room. Otherwise those of [`send`](Socket::send).
    pub fn try_send(&self, message: impl Into<Message>) -> Result<(), SendError> {
        let message = message.into();
        let core = match self.core() {
            Ok(core) => core,
            Err(error) => return Err(SendError::new(error, message)),
        };
        let mut frames = message.into_frames();
        match core.send_if_room(&mut frames)? {
            true => Ok(()),
            false => Err(SendError::new(Error::WouldBlock, frames.into())),
        }
    }

    /// Returns whether a message that begins with this frame would be taken now, for those who send frame by frame.
    #[doc(hidden)]
    pub fn takes(&self, head: &[u8]) -> Result<bool, Error> {
        self.core()?.takes(head)
    }

    /// Sends all messages of the queue, in order, each as [`send`](Socket::send) would: the cheapest way to
    /// send many, since one lock takes up to 256 of them and the connection is told once. Waits while there
    /// is no room. Each message leaves the queue when it is sent; the queue keeps its memory. Returns how
    /// many there were. Other handles may send in between.
    ///
    /// **Cancel-safe:** when the future is dropped before it is ready, the messages that were not sent are in
    /// the queue.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Socket::send), without the message. The queue then holds the messages that were not
    /// sent; the error is about the first. Nothing is lost, so the call may be repeated. Remove a message
    /// that can never be sent before that.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// # use sealwire::{Message, Socket, SocketType};
    /// # use std::collections::VecDeque;
    /// # let (pull, push) = (Socket::new(SocketType::Pull)?, Socket::new(SocketType::Push)?);
    /// # push.connect(pull.bind("tcp://127.0.0.1:0")?)?;
    /// let mut messages: VecDeque<_> = ["one", "two"].map(Message::from).into();
    /// assert_eq!(push.send_many(&mut messages).await?, 2);
    /// assert!(messages.is_empty());
    /// # assert_eq!(pull.recv().await?.as_bytes(), b"one");
    /// # assert_eq!(pull.recv().await?.as_bytes(), b"two");
    /// # Ok::<(), sealwire::Error>(()) }).unwrap();
    /// ```
    pub async fn send_many(&self, messages: &mut VecDeque<Message>) -> Result<usize, Error> {
        self.send_all(messages, None).await
    }

    async fn send_all(
        &self,
        messages: &mut VecDeque<Message>,
        limit: Option<Duration>,
    ) -> Result<usize, Error> {
        let count = messages.len();
        let mut listener = None;
        let mut limit = Limit::new(self, limit);
        loop {
            let core = self.core()?;
            let sent = core.try_send_many(messages)?;
            if messages.is_empty() {
                return Ok(count);
            }
            if sent > 0 {
                limit.restart();
            }
            // After the last one that went there may be an error to be told instead of no room.
            match listener.take().filter(|_| sent == 0) {
                Some(listener) => {
                    let told = limit.wait(listener).await;
                    told.ok_or_else(|| limit.timed_out(Operation::Send))?;
                }
                None => {
                    // Listening comes before the attempt that decides, or a signal could slip
                    // through.
                    listener = Some(Listening::to(&core.writable));
                    core.push_output();
                }
            }
        }
    }

    /// Sends all messages of the queue, in order, as [`send_many`](Socket::send_many), and waits for up to `limit`
    /// each time that there is no room.
    ///
    /// **Cancel-safe** like [`send_many`](Socket::send_many).
    ///
    /// # Errors
    ///
    /// Those of [`send_many`](Socket::send_many), with [`Error::TimedOut`] after `limit`: the messages that were
    /// not sent are in the queue.
    pub async fn send_many_timeout(
        &self,
        messages: &mut VecDeque<Message>,
        limit: Duration,
    ) -> Result<usize, Error> {
        self.send_all(messages, Some(limit)).await
    }

    /// Sends messages from the front of the queue, in order, as long as there is room, and returns how many
    /// were sent. Each leaves the queue when it is sent; the queue keeps its memory.
    ///
    /// If fewer were sent than there were, either there is no room for the next, or it cannot be sent: the
    /// next call returns its error, or 0 for want of room. To wait, ask for [`room`](Socket::room) before
    /// trying, or call [`send_many`](Socket::send_many).
    ///
    /// # Errors
    ///
    /// Those of [`send`](Socket::send), and only if nothing was sent. The error is about the first message of
    /// the queue, which stays there. A full queue is not an error.
    pub fn try_send_many(&self, messages: &mut VecDeque<Message>) -> Result<usize, Error> {
        self.core()?.try_send_many(messages)
    }

    /// Queues payloads for the connection of this [routing id](crate::Peer::connection_routing_id) of a
    /// SERVER or PEER socket, in order and in one go, as long as it has room. The rest stays in `payloads`.
    /// Returns how many were queued.
    ///
    /// # Errors
    ///
    /// [`Error::Unroutable`] if there is no such connection, [`Error::Unsupported`] for other socket types,
    /// [`Error::Closed`] if another handle has closed the socket. All payloads are left then.
    pub fn try_send_many_to(
        &self,
        routing_id: u32,
        payloads: &mut VecDeque<Frame>,
    ) -> Result<usize, Error> {
        self.core()?.try_send_many_to(routing_id, payloads)
    }

    /// Waits until there may be room for messages that [`try_send`](Socket::try_send),
    /// [`try_send_many`](Socket::try_send_many) or [`try_send_many_to`](Socket::try_send_many_to)
    /// found none for. It counts from this call, not from the first poll: so ask first, then try,
    /// then wait.
    pub fn room(&self) -> impl Future<Output = ()> + Send + use<> {
        match self.core() {
            Ok(core) => Listening::to(&core.writable),
            Err(_) => Listening::over(),
        }
    }
}
