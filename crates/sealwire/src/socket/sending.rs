//! Sending: one message, or many in one go.

use std::collections::VecDeque;

use sealwire_zmtp::Frame;

use super::Socket;
use crate::error::{Error, SendError};
use crate::message::Message;
use crate::waiting::Listening;

impl Socket {
    /// Sends a message: hands it to the queue of the peer or peers it goes to, and waits while
    /// there is no room, where the socket type waits (all but PUB, XPUB, XSUB, REP and ROUTER,
    /// which drop and count).
    ///
    /// **Cancel-safe:** when the future is dropped before it is ready the message was not sent,
    /// not even in part.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the message in it, for [`Error::State`], [`Error::Unsupported`],
    /// [`Error::Unroutable`], [`Error::Message`],
    /// [`Error::Closed`].
    pub async fn send(&self, message: impl Into<Message>) -> Result<(), SendError> {
        let mut frames = message.into().into_frames();
        loop {
            let core = match self.core() {
                Ok(core) => core,
                Err(error) => return Err(SendError::new(error, frames.into())),
            };
            if core.send_if_room(&mut frames)? {
                return Ok(());
            }
            let listener = Listening::to(&core.writable);
            core.push_output();
            if core.send_if_room(&mut frames)? {
                return Ok(());
            }
            listener.await;
        }
    }

    /// Sends a message if that can be done at once.
    ///
    /// # Errors
    ///
    /// As [`send`](Socket::send), and [`Error::WouldBlock`].
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

    /// Sends all these messages, in order, each as [`send`](Socket::send) would: the cheapest way
    /// to send many, since one lock takes up to 256 of them and the connection is told once. Waits
    /// while there is no room. Each message leaves the queue when it is sent; the queue keeps its
    /// memory.
    ///
    /// Returns how many messages there were. All of them were sent then, and the queue is empty.
    ///
    /// After an error those that are gone from the queue were sent, and those that are left were
    /// not, the first of them being the one that the error is about. Nothing is lost, so the call may
    /// be repeated; where that message can never go, take it out before.
    ///
    /// Other handles may send in between, also while this one does not wait.
    ///
    /// **Cancel-safe:** when the future is dropped before it is ready, what was not sent is in the
    /// queue.
    ///
    /// # Errors
    ///
    /// As [`send`](Socket::send), without the message, which is in the queue.
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
        let count = messages.len();
        let mut listener = None;
        loop {
            let core = self.core()?;
            let sent = core.try_send_many(messages)?;
            if messages.is_empty() {
                return Ok(count);
            }
            // After the last one that went there may be an error to be told instead of no room.
            match listener.take().filter(|_| sent == 0) {
                Some(listener) => listener.await,
                None => {
                    // Listening comes before the attempt that decides, or a signal could slip
                    // through.
                    listener = Some(Listening::to(&core.writable));
                    core.push_output();
                }
            }
        }
    }

    /// Sends messages from the front of the queue, in order, as long as that can be done at once,
    /// and returns how many. Each leaves the queue when it is sent; the queue keeps its memory.
    ///
    /// When fewer were sent than there were, there is no room for the next, or it cannot be sent:
    /// the next call says why, by an error, or has sent none for want of room. To wait, ask for
    /// [`room`](Socket::room) before trying, or call [`send_many`](Socket::send_many).
    ///
    /// # Errors
    ///
    /// As [`send`](Socket::send), and only when nothing was sent; the message that it is about is
    /// the first of the queue. A full queue is not an error.
    pub fn try_send_many(&self, messages: &mut VecDeque<Message>) -> Result<usize, Error> {
        self.core()?.try_send_many(messages)
    }

    /// SERVER, PEER: queues payloads for the connection of this [routing id](crate::Peer::connection_routing_id), in
    /// order and in one go, as long as it has room. The rest stays in `payloads`. Returns how
    /// many were queued.
    ///
    /// # Errors
    ///
    /// [`Error::Unroutable`] when there is no such connection, [`Error::Unsupported`] for other
    /// types, [`Error::Closed`]; then all payloads are left.
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
