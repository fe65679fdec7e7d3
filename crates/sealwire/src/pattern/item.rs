//! The items that travel through a pipe.

use bytes::Bytes;
use sealwire_zmtp::Frames;

use super::framing::{Framed, FramedRange};

/// Changes of subscriptions between two messages of a queue, where they keep their place.
pub(crate) type Group = u64;

#[derive(Debug)]
pub(crate) enum Item {
    Message(Frames),
    /// Messages to many, framed once for all peers to which frames go as they are: while they are
    /// queued, and as a link gets them.
    FramedRange(FramedRange),
    Framed(Framed),
    /// A message of the socket's own making (hello, welcome, probe): it counts against no limit
    /// and goes with its pipe.
    OwnMessage(Frames),
    Subscribe(Bytes),
    Cancel(Bytes),
    /// The number of messages for the peer that were dropped before this.
    Missed(u64),
    /// Subscriptions and cancellations, while they are queued.
    Changes(Group),
}

/// A message, subscription or cancellation that came from a peer, or the number of messages that it has dropped.
#[derive(Debug)]
pub(crate) enum FromPeer {
    Message(Frames),
    Subscribe(Bytes),
    Cancel(Bytes),
    Missed(u64),
}

/// The cost of messages or changes of subscriptions in a budget, in bytes: more than their
/// payload, so that empty ones count too.
#[inline]
pub(super) fn cost_of(count: usize, payload: usize) -> usize {
    16 * count + payload
}

/// What the tables need for a topic beside its bytes, at most: the peers that want it, and with XPUB
/// what is to be told of it. A sum: tables that have just doubled hold 7 entries in 16 places, and a
/// node of a tree has 11 places, of which one (peers) or six (what is to be told) are used.
const TOPIC_OVERHEAD: usize = 512;

/// What a topic costs of [`MAX_TOPIC_BYTES_PER_PEER`](crate::limits::MAX_TOPIC_BYTES_PER_PEER), in bytes.
pub(crate) fn cost_of_topic(topic: &[u8]) -> usize {
    topic.len() + TOPIC_OVERHEAD
}

impl Item {
    /// As the other end of a pipe gets it that has no connection between: what the other socket made itself is
    /// a message like any other there. Only connections get messages that were framed for many.
    pub(super) fn arrive(self) -> Option<FromPeer> {
        match self {
            Item::Message(frames) | Item::OwnMessage(frames) => Some(FromPeer::Message(frames)),
            Item::Subscribe(topic) => Some(FromPeer::Subscribe(topic)),
            Item::Cancel(topic) => Some(FromPeer::Cancel(topic)),
            Item::Missed(count) => Some(FromPeer::Missed(count)),
            Item::FramedRange(_) | Item::Framed(_) | Item::Changes(_) => None,
        }
    }

    /// What it costs of a budget, in bytes.
    #[inline]
    pub(super) fn cost(&self) -> usize {
        match self {
            Item::Message(_) | Item::FramedRange(_) | Item::Framed(_) => {
                let (count, payload) = self.messages();
                cost_of(count, payload)
            }
            Item::OwnMessage(frames) => cost_of(1, frames.size()),
            Item::Subscribe(topic) | Item::Cancel(topic) => cost_of(1, topic.len()),
            Item::Missed(_) => cost_of(1, size_of::<u64>()),
            Item::Changes(_) => 0,
        }
    }

    /// How many messages of the application it is, and their payload in bytes.
    #[inline]
    pub(crate) fn messages(&self) -> (usize, usize) {
        match self {
            Item::Message(frames) => (1, frames.size()),
            Item::FramedRange(range) => range.messages(),
            Item::Framed(framed) => framed.messages(),
            Item::OwnMessage(_)
            | Item::Subscribe(_)
            | Item::Cancel(_)
            | Item::Missed(_)
            | Item::Changes(_) => (0, 0),
        }
    }
}
