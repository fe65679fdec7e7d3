//! Messages one after the other, taken from the queue in batches: one lock for all of a batch.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use super::Socket;
use crate::core::SocketCore;
use crate::error::Error;
use crate::message::Message;
use crate::waiting::Listening;

/// Messages that one lock takes at most. Each further one would save less than it may have to wait
/// for those before it.
const BATCH: usize = 64;

/// Messages that were taken and not handed out yet. Dropping it gives them back.
pub(super) struct Batch<'a> {
    core: &'a SocketCore,
    messages: VecDeque<Message>,
    /// To be told after the messages.
    failed: Option<Error>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(core: &'a SocketCore) -> Self {
        Batch {
            core,
            messages: VecDeque::new(),
            failed: None,
        }
    }

    /// The next message, if it is here already.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Result<Message, Error>> {
        if !self.core.is_here() {
            // Those are the parent's.
            return None;
        }
        match self.messages.pop_front() {
            Some(message) => Some(Ok(message)),
            None => self.failed.take().map(Err),
        }
    }

    /// Takes what is there behind a message that was just received.
    pub(super) fn fill(&mut self) {
        if !self.core.hands_out_batches() {
            return;
        }
        // Neither of these moves a message.
        let mut messages = Vec::from(mem::take(&mut self.messages));
        let failed = self.core.try_receive_many(&mut messages, BATCH).err();
        // The end is for the next call to find.
        self.failed = failed.filter(|error| !is_end(error));
        self.messages = messages.into();
    }
}

/// Whether nothing more will come.
pub(super) fn is_end(error: &Error) -> bool {
    matches!(error, Error::Closed | Error::Drained { .. })
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if !self.messages.is_empty() && self.core.is_here() {
            self.core.give_back(mem::take(&mut self.messages));
        }
    }
}

/// The messages of a socket, one after the other, without end; made by [`Socket::incoming`].
///
/// A [`Stream`], with a [`next`](Incoming::next) of its own for those who need no more. It ends when the socket
/// closes, or was [drained](Socket::drain).
pub struct Incoming<'a> {
    socket: &'a Socket,
    batch: Batch<'a>,
    listener: Option<Listening>,
}

impl<'a> Incoming<'a> {
    pub(super) fn new(socket: &'a Socket) -> Self {
        Incoming {
            socket,
            batch: Batch::new(&socket.handle.core),
            listener: None,
        }
    }

    /// The next message; `None` once the socket is closed or drained.
    ///
    /// **Cancel-safe** like [`Socket::recv`].
    ///
    /// # Errors
    ///
    /// Those of [`Socket::recv`] but [`Error::Closed`] and [`Error::Drained`], which end the stream. After an error the next
    /// message may follow.
    pub async fn next(&mut self) -> Option<Result<Message, Error>> {
        std::future::poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Message, Error>>> {
        if let Some(next) = self.batch.next() {
            return Poll::Ready(Some(next));
        }
        let core = match self.socket.core() {
            Ok(core) => core,
            Err(error) => return Poll::Ready(Some(Err(error))),
        };
        loop {
            let received = core.try_receive();
            if !matches!(received, Ok(None)) {
                // The listener of another waiter must not be taken for this one.
                self.listener = None;
            }
            match received {
                Ok(Some(message)) => {
                    self.batch.fill();
                    return Poll::Ready(Some(Ok(message)));
                }
                Err(error) if is_end(&error) => return Poll::Ready(None),
                Err(error) => return Poll::Ready(Some(Err(error))),
                Ok(None) => {}
            }
            match &mut self.listener {
                // Listening comes before the attempt that decides, or a signal could slip through.
                None => self.listener = Some(core.share_readable()),
                Some(listener) => {
                    ready!(Pin::new(listener).poll(context));
                    self.listener = None;
                }
            }
        }
    }
}

impl Stream for Incoming<'_> {
    type Item = Result<Message, Error>;

    fn poll_next(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Message, Error>>> {
        self.get_mut().poll(context)
    }
}

impl fmt::Debug for Incoming<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming")
            .field("socket", self.socket)
            .finish_non_exhaustive()
    }
}
