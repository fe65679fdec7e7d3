//! Messages that are not delivered: they leave with the signals and are dropped once the socket's lock
//! is released, as their payloads may have owners that call the socket.

use sealwire_zmtp::{Frame, Frames};

use super::item::{FromPeer, Item};
use super::link::Signals;
use super::pipe::Pipe;
use super::pipes::Pipes;

/// What a pattern is done with. Messages, and the links of pipes, may own what others wrote: its
/// destructor may call the socket.
pub(super) enum Discarded {
    Message(Frames),
    Pipe(Box<Pipe>),
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

impl Signals {
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
            | Item::Changes(_) => {}
        }
    }

    /// Drops a pipe, with its link, once the lock is released.
    pub(super) fn discard_pipe(&mut self, pipe: Pipe) {
        self.leave(Discarded::Pipe(Box::new(pipe)));
    }
}

impl Pipes {
    /// Drops a message once the socket's lock is released.
    #[inline]
    pub(crate) fn discard(&mut self, frames: Frames) {
        self.signals.discard(frames);
    }

    /// The same for a frame.
    #[inline]
    pub(crate) fn discard_frame(&mut self, frame: Frame) {
        if may_have_owner(&frame) {
            self.signals.discard(Frames::single(frame));
        }
    }

    /// The same for an item that no peer or pattern wanted.
    pub(crate) fn discard_item(&mut self, item: Item) {
        self.signals.discard_item(item);
    }

    /// The same for what a peer sent. Topics are memory of ours.
    pub(crate) fn discard_from_peer(&mut self, arrival: FromPeer) {
        if let FromPeer::Message(frames) = arrival {
            self.discard(frames);
        }
    }

    /// The same for several messages.
    pub(crate) fn discard_all(&mut self, messages: Vec<Frames>) {
        for frames in messages {
            self.discard(frames);
        }
    }
}

/// Whether a frame holds more than its own bytes in place.
#[inline]
fn may_have_owner(frame: &Frame) -> bool {
    frame.len() > Frame::INLINE
}
