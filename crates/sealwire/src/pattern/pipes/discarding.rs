//! Undelivered messages, which leave with the signals and are dropped once the socket's lock is
//! released.

use sealwire_zmtp::{Frame, Frames};

use super::Pipes;
use crate::pattern::item::{FromPeer, Item};
use crate::pattern::signals::may_have_owner;
use crate::pattern::{Arrivals, Delivered};

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

    /// Drops all that a peer sends which the socket has left.
    #[cold]
    pub(crate) fn discard_arrivals(&mut self, source: &mut dyn Arrivals) -> Delivered {
        let mut delivered = Delivered::default();
        while let Some(arrival) = source.next() {
            delivered.ignored += usize::from(matches!(arrival, FromPeer::Message(_)));
            self.discard_from_peer(arrival);
        }
        delivered
    }
}
