//! Receiving part by part: a message is taken whole, and its parts are handed out.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use libc::c_int;
use sealwire::{Error, Message, Peer, embed};
use sealwire_zmtp::Frames;

use super::{DONTWAIT, Socket};
use crate::errno::Errno;
use crate::message::Msg;
use crate::options::number;

/// The rest of the message that is being received.
#[derive(Default)]
pub(super) struct Inbound {
    rest: Frames,
    peer: Option<Arc<Peer>>,
}

impl Inbound {
    /// Whether more parts of the message follow.
    pub(super) fn more(&self) -> bool {
        !self.rest.is_empty()
    }

    fn next(&mut self) -> Option<Msg> {
        let part = self.rest.pop_front()?;
        let more = self.more();
        let peer = match more {
            true => self.peer.clone(),
            false => self.peer.take(),
        };
        Some(Msg::received(part, peer, more))
    }
}

impl Socket {
    /// Receives the next part.
    ///
    /// # Errors
    ///
    /// `EAGAIN`, `ENOTSUP`, `EFSM`, `EINTR`, `ETERM`, as `zmq_msg_recv`.
    pub(crate) fn receive(&self, flags: c_int) -> Result<Msg, Errno> {
        self.check()?;
        #[cfg(feature = "draft")]
        if self.is_thread_safe() {
            return self.receive_single(flags);
        }
        let mut inbound = self.inbound();
        if let Some(part) = inbound.next() {
            return Ok(part);
        }
        let mut message = self.next_message(flags)?;
        let part = message.pop_front().unwrap_or_default();
        let peer = message.peer().cloned();
        if message.is_empty() {
            return Ok(Msg::received(part, peer, false));
        }
        inbound.peer.clone_from(&peer);
        inbound.rest = message.into_frames();
        Ok(Msg::received(part, peer, true))
    }

    pub(super) fn next_message(&self, flags: c_int) -> Result<Message, Errno> {
        let limit = self.limit(flags, number::RCVTIMEO);
        if !self.lost.load(Ordering::Relaxed) {
            let received = match flags & DONTWAIT {
                0 => embed::receive(&self.inner, limit, || self.is_over()),
                _ => self.inner.try_recv(),
            };
            match received {
                Err(Error::RequestLost) => self.lost.store(true, Ordering::Relaxed),
                received => return received.map_err(|error| self.errno(&error)),
            }
        }
        // The peer that owes an answer is gone. libzmq waits for it all the same.
        match embed::wait(&self.inner, limit, || self.is_over()) {
            Ok(()) => Err(Errno::AGAIN),
            Err(error) => Err(self.errno(&error)),
        }
    }
}
