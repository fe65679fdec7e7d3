//! Sending part by part. The first part decides whether the message is taken; the last one sends it.

use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::Ordering;

use libc::c_int;
use sealwire::{Error, Frame, Message, SocketType, embed};
use sealwire_zmtp::Frames;

use super::{DONTWAIT, SNDMORE, Socket};
use crate::errno::Errno;
#[cfg(draft)]
use crate::message::Address;
use crate::message::{Call, Msg};
use crate::options::number;

/// The parts of a message that is not complete.
#[derive(Default)]
pub(super) struct Outbound {
    parts: Frames,
}

impl Outbound {
    pub(super) fn is_gathering(&self) -> bool {
        !self.parts.is_empty()
    }
}

impl Socket {
    /// Sends a part, or keeps it until the last one comes. A part that was not taken is left.
    ///
    /// # Errors
    ///
    /// `EAGAIN`, `ENOTSUP`, `EFSM`, `EHOSTUNREACH`, `EINTR`, `ETERM`, as `zmq_msg_send`.
    #[inline]
    pub(crate) fn send(&self, part: &mut Frames, flags: c_int) -> Result<(), Errno> {
        #[cfg(draft)]
        if self.is_thread_safe() {
            return self.send_to(part, &Address::default(), flags);
        }
        self.check()?;
        // Without the lock, which takes a sixth and more of the rate of short messages (decision 31). Parts that another
        // thread begins meanwhile come after this one.
        if flags & SNDMORE == 0 && !self.gathers.load(Ordering::Relaxed) {
            self.check_turn()?;
            return self.send_single(part, flags);
        }
        self.gather(part, flags)
    }

    /// Sends a part of a message that has several.
    fn gather(&self, part: &mut Frames, flags: c_int) -> Result<(), Errno> {
        let mut outbound = self.outbound();
        if !outbound.is_gathering() {
            self.check_turn()?;
            if flags & SNDMORE == 0 {
                // Another thread has just sent the last part of its own.
                return self.send_single(part, flags);
            }
            self.begin(part, flags)?;
        }
        let added = self.add(&mut outbound, part, flags);
        let gathers = outbound.is_gathering();
        self.gathers.store(gathers, Ordering::Relaxed);
        added
    }

    /// Adds a part to those before it, and sends them with the last one.
    fn add(&self, outbound: &mut Outbound, part: &mut Frames, flags: c_int) -> Result<(), Errno> {
        let begins = !outbound.is_gathering();
        // A DGRAM has an address and one part, and no more.
        if flags & SNDMORE != 0 && self.socket_type == SocketType::Dgram && !begins {
            return Err(Errno::INVAL);
        }
        let Some(added) = part.pop_front() else {
            return Err(Errno::INVAL);
        };
        outbound.parts.push_back(added);
        // A STREAM sends a routing id and one part, whatever is said to follow.
        let whole = self.socket_type == SocketType::Stream && !begins;
        if flags & SNDMORE != 0 && !whole {
            return Ok(());
        }
        // Room was found for its first part. Where the peer has gone since, the message has gone with it.
        match self.send_message(&mut outbound.parts, flags | DONTWAIT) {
            Ok(()) => {
                outbound.parts = Frames::new();
                Ok(())
            }
            Err(Errno::AGAIN | Errno::HOSTUNREACH) => {
                outbound.parts = Frames::new();
                self.cut_short.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Err(error) => {
                let mut parts = mem::take(&mut outbound.parts).into_frames();
                *part = parts.next_back().into_iter().collect();
                outbound.parts = parts.collect();
                Err(error)
            }
        }
    }

    /// Sends messages from the front of the queue, waiting for room.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Self::send) for the first message that is left.
    pub(crate) fn send_whole(&self, messages: &mut VecDeque<Message>) -> Result<(), Errno> {
        let _call = Call::begin();
        self.check()?;
        let _outbound = self.outbound();
        self.check_turn()?;
        let limit = || self.limit(0, number::SNDTIMEO);
        embed::send_many(&self.inner, messages, limit, || self.is_over())
            .map_err(|error| self.errno_of_sending(&error))
    }

    /// Sends the body of a message, which is empty afterwards. Where that fails it is as it was.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Self::send).
    #[inline]
    pub(crate) fn send_of(&self, message: &mut Msg, flags: c_int) -> Result<(), Errno> {
        let address = message.take_address();
        let mut part = Frames::single(Frame::new());
        message.take_into(&mut part);
        #[cfg(draft)]
        let sent = match self.is_thread_safe() {
            true => self.send_to(&mut part, &address, flags),
            false => self.send(&mut part, flags),
        };
        #[cfg(not(draft))]
        let sent = self.send(&mut part, flags);
        if sent.is_err()
            && let Some(part) = part.first_mut()
        {
            message.fill(part, None, false);
            message.set_address(address);
        }
        sent
    }

    /// REQ and REP send once they have received all parts. A REQ whose peer went away before it answered waits for the
    /// answer. One that is relaxed does neither.
    #[inline]
    fn check_turn(&self) -> Result<(), Errno> {
        match self.takes_turns() {
            true => self.check_received(),
            false => Ok(()),
        }
    }

    fn check_received(&self) -> Result<(), Errno> {
        // Held by a thread that receives: it is in no message then.
        if let Ok(mut inbound) = self.inbound.try_lock()
            && inbound.more()
        {
            if !self.is_relaxed() {
                return Err(Errno::FSM);
            }
            inbound.leave_message();
        }
        Ok(())
    }

    fn send_single(&self, part: &mut Frames, flags: c_int) -> Result<(), Errno> {
        match self.socket_type {
            // A name without a message: libzmq takes any, and sends nothing.
            SocketType::Router | SocketType::Stream => Ok(()),
            _ => self.send_message(part, flags),
        }
    }

    #[inline]
    pub(super) fn send_message(&self, message: &mut Frames, flags: c_int) -> Result<(), Errno> {
        let sent = match flags & DONTWAIT {
            0 => {
                let limit = || self.limit(flags, number::SNDTIMEO);
                embed::send(&self.inner, message, limit, || self.is_over())
            }
            _ => embed::try_send(&self.inner, message),
        };
        sent.map_err(|error| self.errno_of_sending(&error))
    }

    /// Waits until a message that begins with this part is taken.
    fn begin(&self, part: &Frames, flags: c_int) -> Result<(), Errno> {
        let limit = || self.limit(flags, number::SNDTIMEO);
        let head = part.frames().first().map_or(&[][..], Frame::as_slice);
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
