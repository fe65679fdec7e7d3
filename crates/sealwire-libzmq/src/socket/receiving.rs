//! Receiving part by part: messages are taken whole, several at once where that makes no difference to the
//! program, and their parts are handed out.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use libc::c_int;
use sealwire::{Frame, Message, Peer, SocketType, embed};

use super::{DONTWAIT, Socket};
use crate::errno::Errno;
use crate::message::{Call, Msg};
use crate::options::number;

/// Messages that are taken under one lock at most. More would gain little, and none of them counts against the
/// high-water mark any more.
const BATCH: usize = 64;
/// Below this mark a program counts messages, and none is taken before it asks for it.
const UNCOUNTED: c_int = 1000;

/// Messages that were taken and not handed out yet.
#[derive(Default)]
pub(super) struct Inbound {
    /// In order; those before `next` were handed out.
    taken: Vec<Message>,
    next: usize,
    /// A part of the next one was handed out.
    inside: bool,
}

impl Inbound {
    /// Whether more parts of the message follow.
    pub(super) fn more(&self) -> bool {
        self.inside
    }

    /// Whether a part can be handed out at once.
    pub(super) fn has_some(&self) -> bool {
        self.next < self.taken.len()
    }

    /// Hands out the next part, with the peer that it came from and whether more parts follow.
    #[inline]
    fn hand_out<R>(
        &mut self,
        to: impl FnOnce(&mut Frame, Option<Arc<Peer>>, bool) -> R,
    ) -> Option<R> {
        let (frames, peer) = embed::parts(self.taken.get_mut(self.next)?);
        let more = frames.len() > 1;
        let peer = if more { peer.clone() } else { peer.take() };
        let handed = match frames.first_mut() {
            Some(part) => to(part, peer, more),
            None => to(&mut Frame::new(), peer, false),
        };
        self.inside = more;
        if more {
            frames.pop_front();
        } else {
            self.advance();
        }
        Some(handed)
    }

    /// Goes on to the next message.
    #[inline]
    fn advance(&mut self) {
        self.next += 1;
        if self.next == self.taken.len() {
            self.taken.clear();
            self.next = 0;
        }
    }

    /// Drops the rest of a message that parts of were handed out.
    pub(super) fn leave_message(&mut self) {
        if mem::take(&mut self.inside) {
            self.advance();
        }
    }

    /// Takes out what is there.
    fn take_all(&mut self) -> impl Iterator<Item = Message> {
        let next = mem::take(&mut self.next);
        self.inside = false;
        mem::take(&mut self.taken).into_iter().skip(next)
    }

    /// Puts what was taken out before what has come since.
    fn put_back(&mut self, messages: VecDeque<Message>) {
        let since: Vec<Message> = self.take_all().collect();
        self.taken = messages.into_iter().chain(since).collect();
    }

    /// Takes out what is there but for a message that parts of were handed out.
    fn take_untouched(&mut self) -> impl Iterator<Item = Message> {
        let kept = self.next + usize::from(self.inside);
        let untouched = self.taken.split_off(kept.min(self.taken.len()));
        if !self.inside {
            self.taken.clear();
            self.next = 0;
        }
        untouched.into_iter()
    }
}

impl Socket {
    /// Receives the next part into a message of the program. It is empty where there is none, and as it was after another
    /// error.
    ///
    /// # Errors
    ///
    /// `EAGAIN`, `ENOTSUP`, `EFSM`, `EINTR`, `ETERM`, as `zmq_msg_recv`.
    #[inline]
    pub(crate) fn receive_into(&self, message: &mut Msg, flags: c_int) -> Result<(), Errno> {
        #[cfg(draft)]
        if self.is_thread_safe() {
            return self.receive_single(message, flags);
        }
        let received = self.receive_with(flags, |part, peer, more| message.fill(part, peer, more));
        if let Err(Errno::AGAIN | Errno::INTR) = received {
            // As libzmq does: a program may look at the size alone.
            message.empty();
        }
        received
    }

    /// The same for a new message.
    ///
    /// # Errors
    ///
    /// Those of [`receive_into`](Self::receive_into).
    pub(crate) fn receive(&self, flags: c_int) -> Result<Msg, Errno> {
        let mut message = Msg::new();
        self.receive_into(&mut message, flags)?;
        Ok(message)
    }

    /// Receives the next part, and gives it to `to` with the peer that it came from and whether more parts follow.
    ///
    /// # Errors
    ///
    /// Those of [`receive_into`](Self::receive_into).
    #[inline]
    pub(crate) fn receive_with<R>(
        &self,
        flags: c_int,
        to: impl FnOnce(&mut Frame, Option<Arc<Peer>>, bool) -> R,
    ) -> Result<R, Errno> {
        self.check()?;
        #[cfg(draft)]
        if self.is_thread_safe() {
            return self.receive_single_with(flags, to);
        }
        let mut inbound = self.inbound();
        if !inbound.has_some() {
            self.fetch(&mut inbound, self.most_at_once(), flags)?;
        }
        let handed = inbound.hand_out(to).ok_or(Errno::AGAIN);
        // The engine tells of what is left with it.
        if inbound.has_some()
            && let Some(readiness) = self.readiness.get()
        {
            readiness.rearm();
        }
        handed
    }

    /// Receives the messages that are there, or what is left of them, without waiting: for who passes all of them on
    /// at once.
    ///
    /// # Errors
    ///
    /// Those of [`receive_into`](Self::receive_into).
    pub(crate) fn receive_whole(&self) -> Result<VecDeque<Message>, Errno> {
        let _call = Call::begin();
        self.check()?;
        let mut inbound = self.inbound();
        if !inbound.has_some() {
            let most = match self.socket_type {
                SocketType::Req | SocketType::Rep => 1,
                _ if self.has_byte_budget() => 1,
                _ => BATCH,
            };
            self.fetch(&mut inbound, most, DONTWAIT)?;
        }
        Ok(inbound.take_all().collect())
    }

    /// Puts messages back that could not be passed on, to be received again.
    pub(crate) fn return_whole(&self, messages: VecDeque<Message>) {
        let mut inbound = self.inbound();
        inbound.put_back(messages);
        if inbound.has_some()
            && let Some(readiness) = self.readiness.get()
        {
            readiness.rearm();
        }
    }

    /// Takes a message, for those who keep none between two calls.
    #[cfg(draft)]
    pub(super) fn next_message(&self, flags: c_int) -> Result<Message, Errno> {
        self.check()?;
        let mut inbound = Inbound::default();
        self.fetch(&mut inbound, 1, flags)?;
        inbound.take_all().next().ok_or(Errno::AGAIN)
    }

    /// Takes messages, one at least and up to `most`.
    fn fetch(&self, inbound: &mut Inbound, most: usize, flags: c_int) -> Result<(), Errno> {
        let limit = || self.limit(flags, number::RCVTIMEO);
        let into = &mut inbound.taken;
        let received = match flags & DONTWAIT {
            0 => embed::receive(&self.inner, into, most, limit, || self.is_over()),
            _ => embed::try_receive(&self.inner, into, most),
        };
        received.map_err(|error| self.errno(&error))
    }

    /// How many messages are taken at once: one where taking it has an effect, or the program counts them.
    fn most_at_once(&self) -> usize {
        let uncounted = match self.socket_type {
            SocketType::Pull | SocketType::Sub | SocketType::Dealer | SocketType::Pair => true,
            SocketType::Router => !self.settings().flag(number::ROUTER_MANDATORY),
            _ => false,
        };
        if !uncounted {
            return 1;
        }
        if self.has_byte_budget() {
            return 1;
        }
        let settings = self.settings();
        let mark = settings.int(number::RCVHWM);
        match (mark == 0 || mark >= UNCOUNTED) && !settings.flag(number::CONFLATE) {
            true => BATCH,
            false => 1,
        }
    }

    /// Messages that were taken count against it no more, and may be of any size.
    fn has_byte_budget(&self) -> bool {
        self.settings().bits(number::RCV_BYTE_BUDGET) != 0
    }

    /// Gives back what was taken and nobody asked for: to be counted as unread, or to be forgotten with its peer.
    pub(super) fn give_back(&self) {
        // A thread that is in it waits for messages, and has none.
        if let Ok(mut inbound) = self.inbound.try_lock() {
            embed::give_back(&self.inner, inbound.take_untouched());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;

    #[test]
    fn several_messages_are_taken_only_where_the_program_does_not_count_them() {
        let context = Context::without_rules();
        let most = |socket_type, options: &[(c_int, c_int)]| {
            let socket = context.open_briefly(socket_type);
            for (option, value) in options {
                socket.set(*option, Some(&value.to_ne_bytes())).unwrap();
            }
            socket.most_at_once()
        };
        let counted: &[(c_int, c_int)] = &[(number::RCVHWM, UNCOUNTED - 1)];
        for socket_type in [SocketType::Pull, SocketType::Sub, SocketType::Dealer] {
            assert_eq!(most(socket_type, &[]), BATCH);
            assert_eq!(most(socket_type, &[(number::RCVHWM, 0)]), BATCH);
            assert_eq!(most(socket_type, counted), 1);
            assert_eq!(most(socket_type, &[(number::CONFLATE, 1)]), 1);
        }
        let budgeted = context.open_briefly(SocketType::Pull);
        let budget = 1_000_000_u64.to_ne_bytes();
        budgeted
            .set(number::RCV_BYTE_BUDGET, Some(&budget))
            .unwrap();
        assert_eq!(budgeted.most_at_once(), 1);
        assert_eq!(most(SocketType::Router, &[]), BATCH);
        assert_eq!(
            most(SocketType::Router, &[(number::ROUTER_MANDATORY, 1)]),
            1
        );
        for socket_type in [SocketType::Req, SocketType::Rep, SocketType::XPub] {
            assert_eq!(most(socket_type, &[]), 1, "{socket_type}");
        }
    }
}
