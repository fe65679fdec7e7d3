//! Messages that are not delivered: they leave with the signals and are dropped once the socket's lock
//! is released, as their payloads may have owners that call the socket.

use sealwire_zmtp::{Frame, Message as Frames};

use super::item::Item;
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

impl Pipes {
    /// Drops a message once the lock is released. Where that is all the same it does so now.
    #[inline]
    pub(crate) fn discard(&mut self, frames: Frames) {
        if frames.frames().iter().any(is_shared) {
            self.signals.discard(Discarded::Message(frames));
        }
    }

    /// The same for a frame.
    #[inline]
    pub(crate) fn discard_frame(&mut self, frame: Frame) {
        if is_shared(&frame) {
            let message = Frames::single(frame);
            self.signals.discard(Discarded::Message(message));
        }
    }

    /// The same for an item that no peer or pattern wanted.
    pub(crate) fn discard_item(&mut self, item: Item) {
        match item {
            Item::Message(frames) | Item::Notice(frames) => self.discard(frames),
            // Memory of ours.
            Item::Stretch(_)
            | Item::Framed(_)
            | Item::Subscribe(_)
            | Item::Cancel(_)
            | Item::Changes(_) => {}
        }
    }

    /// The same for several messages.
    pub(crate) fn discard_all(&mut self, messages: Vec<Frames>) {
        for frames in messages {
            self.discard(frames);
        }
    }
}

/// Whether a frame shares memory with others. One that is held in place owns nothing.
#[inline]
fn is_shared(frame: &Frame) -> bool {
    frame.len() > Frame::INLINE
}
