//! Sending part by part. The first part decides whether the message is taken; the last one sends it.

use std::sync::atomic::Ordering;

use libc::c_int;
use sealwire::{Error, Frame, Message, SocketType, embed};

use super::{DONTWAIT, SNDMORE, Socket};
use crate::errno::Errno;
use crate::options::number;

/// The parts of a message that is not complete.
#[derive(Default)]
pub(super) struct Outbound {
    parts: Vec<Frame>,
}

impl Outbound {
    pub(super) fn is_gathering(&self) -> bool {
        !self.parts.is_empty()
    }
}

impl Socket {
    /// Sends a part, or keeps it until the last one comes. A part that was not taken is given back.
    ///
    /// # Errors
    ///
    /// `EAGAIN`, `ENOTSUP`, `EFSM`, `EHOSTUNREACH`, `EINTR`, `ETERM`, as `zmq_msg_send`.
    pub(crate) fn send(&self, part: Frame, flags: c_int) -> Result<(), (Errno, Frame)> {
        if let Err(error) = self.check() {
            return Err((error, part));
        }
        let mut outbound = self.outbound();
        if !outbound.is_gathering()
            && let Err(error) = self.check_lost()
        {
            return Err((error, part));
        }
        // A STREAM sends a routing id and one part, whatever is said to follow.
        let whole = self.socket_type == SocketType::Stream && outbound.is_gathering();
        let last = flags & SNDMORE == 0 || whole;
        if !outbound.is_gathering() && last {
            return self.send_single(part, flags);
        }
        if !outbound.is_gathering()
            && let Err(error) = self.begin(&part, flags)
        {
            return Err((error, part));
        }
        outbound.parts.push(part);
        if !last {
            return Ok(());
        }
        let message = Message::multipart(std::mem::take(&mut outbound.parts));
        // Room was found for its first part. Where the peer has gone since, the message has gone with it.
        match self.send_message(message, flags | DONTWAIT) {
            Ok(()) => Ok(()),
            Err((Errno::AGAIN | Errno::HOSTUNREACH, _)) => {
                self.cut_short.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Err((error, message)) => {
                let mut parts = message.into_frames().into_frames().collect::<Vec<_>>();
                let part = parts.pop().unwrap_or_default();
                outbound.parts = parts;
                Err((error, part))
            }
        }
    }

    /// A REQ whose peer went away before it answered waits for the answer, unless it is relaxed.
    fn check_lost(&self) -> Result<(), Errno> {
        if self.lost.load(Ordering::Relaxed) {
            if !self.settings().flag(number::REQ_RELAXED) {
                return Err(Errno::FSM);
            }
            self.lost.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    fn send_single(&self, part: Frame, flags: c_int) -> Result<(), (Errno, Frame)> {
        match self.socket_type {
            // A name without a message: libzmq finds the peer and sends nothing.
            SocketType::Router | SocketType::Stream => {
                return self.begin(&part, flags).map_err(|error| (error, part));
            }
            _ => {}
        }
        self.send_message(Message::from(part), flags)
            .map_err(|(error, mut message)| (error, message.pop_front().unwrap_or_default()))
    }

    fn send_message(&self, message: Message, flags: c_int) -> Result<(), (Errno, Message)> {
        let sent = match flags & DONTWAIT {
            0 => {
                let limit = self.limit(flags, number::SNDTIMEO);
                embed::send(&self.inner, message, limit, || self.is_over())
            }
            _ => self.inner.try_send(message),
        };
        sent.map_err(|error| {
            let number = self.errno_of_sending(error.error());
            (number, error.into_message())
        })
    }

    /// Waits until a message that begins with this part is taken.
    fn begin(&self, head: &Frame, flags: c_int) -> Result<(), Errno> {
        let limit = self.limit(flags, number::SNDTIMEO);
        embed::wait_for_room(&self.inner, head, limit, || self.is_over())
            .map_err(|error| self.errno_of_sending(&error))
    }

    fn errno_of_sending(&self, error: &Error) -> Errno {
        match error {
            Error::Message(_) => Errno::INVAL,
            error => self.errno(error),
        }
    }
}
