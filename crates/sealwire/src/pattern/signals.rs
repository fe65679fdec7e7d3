//! The work that remains after a socket's lock is released: links get their signals, and undelivered
//! messages are dropped, as their payloads may have owners that call the socket.

use std::mem;
use std::sync::Arc;

use sealwire_zmtp::{Frame, Frames};

use super::item::Item;
use super::link::{Dismissal, Link};
use crate::guard;

/// What a pattern is done with. Messages, and the links of pipes, may own what others wrote: its
/// destructor may call the socket.
pub(super) enum Discarded {
    Message(Frames),
    /// With its link.
    Pipe(Box<dyn Send>),
}

impl Discarded {
    /// To be called without the lock.
    pub(super) fn drop(self) {
        match self {
            Discarded::Message(frames) => drop(frames),
            Discarded::Pipe(pipe) => drop(pipe),
        }
    }
}

/// What the core has to tell a link once the lock is released.
pub(super) enum LinkSignal {
    OutputReady(Arc<dyn Link>),
    InputWanted(Arc<dyn Link>),
    Disconnect(Arc<dyn Link>, Dismissal),
    Finish(Arc<dyn Link>),
}

impl LinkSignal {
    fn deliver(self, alone: bool) {
        match self {
            LinkSignal::OutputReady(link) => link.output_ready(alone),
            LinkSignal::InputWanted(link) => link.input_wanted(),
            LinkSignal::Disconnect(link, reason) => link.disconnect(reason),
            LinkSignal::Finish(link) => link.finish(),
        }
    }
}

/// Most entries of a list whose memory is kept.
const MOST_KEPT: usize = 1_024;

/// The work that is left once the lock is released: links are told, and discarded frames are dropped. A
/// single signal takes no memory; the rest takes some, which is kept.
#[derive(Default)]
pub(crate) struct Signals {
    first: Option<LinkSignal>,
    others: Vec<LinkSignal>,
    discarded: Vec<Discarded>,
    /// Events of drops wait to be told.
    pub(crate) tells: bool,
    /// Messages that newer ones replaced, since the socket was made.
    pub(super) replaced: u64,
}

impl Signals {
    pub(super) fn push(&mut self, signal: LinkSignal) {
        match self.first {
            None => self.first = Some(signal),
            Some(_) => self.others.push(signal),
        }
    }

    #[cold]
    fn leave(&mut self, discarded: Discarded) {
        self.discarded.push(discarded);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none() && self.discarded.is_empty() && !self.tells
    }

    #[inline]
    pub(super) fn take(&mut self) -> Option<Signals> {
        if self.is_empty() {
            return None;
        }
        let mut taken = Signals {
            first: self.first.take(),
            tells: mem::take(&mut self.tells),
            ..Signals::default()
        };
        if !self.others.is_empty() {
            mem::swap(&mut taken.others, &mut self.others);
        }
        if !self.discarded.is_empty() {
            mem::swap(&mut taken.discarded, &mut self.discarded);
        }
        Some(taken)
    }

    /// Returns the memory that was used, for [`reuse`](Self::reuse).
    pub(crate) fn deliver(mut self) -> Option<Signals> {
        let alone = self.others.is_empty();
        for signal in self.first.take().into_iter().chain(self.others.drain(..)) {
            signal.deliver(alone);
        }
        let dropped = !self.discarded.is_empty();
        // One by one: what panics must not keep the others from being dropped.
        for discarded in self.discarded.drain(..) {
            guard::contain("dropping messages", || discarded.drop());
        }
        (!alone || dropped).then_some(self)
    }

    /// Takes memory back, unless other signals have come and taken some themselves.
    pub(super) fn reuse(&mut self, delivered: Signals) {
        if self.others.capacity() == 0 {
            self.others = delivered.others;
        }
        if self.discarded.capacity() == 0 && delivered.discarded.capacity() <= MOST_KEPT {
            self.discarded = delivered.discarded;
        }
    }

    /// Drops a message once the lock is released; at once where all of it is memory of ours.
    #[inline]
    pub(super) fn discard(&mut self, frames: Frames) {
        if frames.frames().iter().any(may_have_owner) {
            self.leave(Discarded::Message(frames));
        }
    }

    /// The same for an item that nobody wants.
    pub(super) fn discard_item(&mut self, item: Item) {
        match item {
            Item::Message(frames) | Item::OwnMessage(frames) => self.discard(frames),
            // Memory of ours.
            Item::FramedRange(_)
            | Item::Framed(_)
            | Item::Subscribe(_)
            | Item::Cancel(_)
            | Item::Missed(_)
            | Item::Changes(_) => {}
        }
    }

    /// Drops a pipe, with its link, once the lock is released.
    pub(super) fn discard_pipe(&mut self, pipe: Box<dyn Send>) {
        self.leave(Discarded::Pipe(pipe));
    }
}

/// Whether a frame holds more than its own bytes in place.
#[inline]
pub(super) fn may_have_owner(frame: &Frame) -> bool {
    frame.len() > Frame::INLINE
}
