//! Messages one after the other, for a thread that blocks.

use std::fmt;
use std::iter::FusedIterator;

use super::Socket;
use crate::error::Error;
use crate::message::Message;
use crate::socket::incoming::{Batch, is_end};

/// The messages of a socket, one after the other, without end; made by [`Socket::incoming`].
///
/// The iterator ends when the socket closes, or was [drained](Socket::drain).
pub struct Incoming<'a> {
    socket: &'a Socket,
    batch: Batch<'a>,
    ended: bool,
}

impl<'a> Incoming<'a> {
    pub(super) fn new(socket: &'a Socket) -> Self {
        Incoming {
            socket,
            batch: Batch::new(&socket.inner.handle.core),
            ended: false,
        }
    }

    fn receive(&mut self) -> Option<Result<Message, Error>> {
        if self.ended {
            return None;
        }
        match self.socket.recv() {
            Err(error) if is_end(&error) => {
                self.ended = true;
                None
            }
            received => {
                if received.is_ok() {
                    self.batch.fill();
                }
                Some(received)
            }
        }
    }
}

impl Iterator for Incoming<'_> {
    type Item = Result<Message, Error>;

    #[inline]
    fn next(&mut self) -> Option<Result<Message, Error>> {
        match self.batch.next() {
            None => self.receive(),
            next => next,
        }
    }
}

impl FusedIterator for Incoming<'_> {}

impl fmt::Debug for Incoming<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming")
            .field("socket", self.socket)
            .finish_non_exhaustive()
    }
}
