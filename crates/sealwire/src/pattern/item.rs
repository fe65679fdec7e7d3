//! What travels through a pipe.

use bytes::Bytes;
use sealwire_zmtp::Message as Frames;

use super::framing::{Framed, Stretch};

#[derive(Debug)]
pub(crate) enum Item {
    Message(Frames),
    /// Messages to many, framed once for all peers to which frames go as they are: while they are
    /// queued, and as a link gets them.
    Stretch(Stretch),
    Framed(Framed),
    /// A message of the socket's own making (hello, welcome, probe): it counts against no limit
    /// and goes with its pipe.
    Notice(Frames),
    Subscribe(Bytes),
    Cancel(Bytes),
}

/// What a message or a change of subscriptions costs of a budget beside its payload, in bytes, so
/// that empty ones count too.
pub(super) const COST: usize = 16;

impl Item {
    /// What it costs of a budget, in bytes.
    #[inline]
    pub(super) fn cost(&self) -> usize {
        match self {
            Item::Message(frames) | Item::Notice(frames) => COST + frames.size(),
            Item::Stretch(stretch) => stretch.cost(),
            Item::Framed(framed) => {
                let (messages, size) = framed.messages();
                COST * messages + size
            }
            Item::Subscribe(topic) | Item::Cancel(topic) => COST + topic.len(),
        }
    }

    /// How many messages of the application it is, and their payload in bytes.
    #[inline]
    pub(crate) fn messages(&self) -> (usize, usize) {
        match self {
            Item::Message(frames) => (1, frames.size()),
            Item::Stretch(stretch) => stretch.messages(),
            Item::Framed(framed) => framed.messages(),
            Item::Notice(_) | Item::Subscribe(_) | Item::Cancel(_) => (0, 0),
        }
    }
}
