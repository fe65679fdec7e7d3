//! Receiving part by part: a message is taken whole, and its parts are handed out.

use std::sync::Arc;

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
    /// The peer that owes an answer is gone: libzmq waits for it all the same.
    lost: bool,
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
        let mut inbound = self.inbound();
        if let Some(part) = inbound.next() {
            return Ok(part);
        }
        let mut message = self.next_message(&mut inbound, flags)?;
        let part = message.pop_front().unwrap_or_default();
        let peer = message.peer().cloned();
        if message.is_empty() {
            return Ok(Msg::received(part, peer, false));
        }
        inbound.peer.clone_from(&peer);
        inbound.rest = message.into_frames();
        Ok(Msg::received(part, peer, true))
    }

    fn next_message(&self, inbound: &mut Inbound, flags: c_int) -> Result<Message, Errno> {
        let received = match flags & DONTWAIT {
            0 => {
                let limit = self.limit(flags, number::RCVTIMEO);
                match embed::receive(&self.inner, limit, || self.is_over()) {
                    Err(Error::RequestLost) => {
                        inbound.lost = true;
                        let waited = embed::wait(&self.inner, limit, || self.is_over());
                        return Err(self.errno(&waited.err().unwrap_or(Error::WouldBlock)));
                    }
                    received => received,
                }
            }
            _ => self.inner.try_recv(),
        };
        received.map_err(|error| match error {
            Error::RequestLost => {
                inbound.lost = true;
                Errno::AGAIN
            }
            error => self.errno(&error),
        })
    }
}
