//! Numbers that are measured as messages pass: what went through, how long it waited, how long the peer
//! took to answer. Each is owned by one thread or stands under a lock that is held anyway.

mod histogram;
mod peer_numbers;
mod probe;
mod round_trip;
mod work;

pub use self::histogram::Histogram;
pub use self::peer_numbers::PeerNumbers;
pub(crate) use self::probe::Probe;
pub(crate) use self::round_trip::LiveRoundTrip;
pub use self::round_trip::RoundTrip;
pub(crate) use self::work::LiveWork;
pub use self::work::Work;

/// Messages of the application and their payload, in both directions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// Messages handed to connections.
    pub messages_sent: u64,
    /// Payload bytes of these.
    pub bytes_sent: u64,
    /// Messages that arrived for the application.
    pub messages_received: u64,
    /// Payload bytes of these.
    pub bytes_received: u64,
}

impl Traffic {
    pub(crate) fn note_sent(&mut self, messages: usize, bytes: usize) {
        self.messages_sent += messages as u64;
        self.bytes_sent += bytes as u64;
    }

    pub(crate) fn note_received(&mut self, messages: usize, bytes: usize) {
        self.messages_received += messages as u64;
        self.bytes_received += bytes as u64;
    }

    pub(crate) fn add(&mut self, other: Traffic) {
        self.messages_sent += other.messages_sent;
        self.bytes_sent += other.bytes_sent;
        self.messages_received += other.messages_received;
        self.bytes_received += other.bytes_received;
    }
}

/// How much waits in the queues of one direction, and the most that has waited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueDepth {
    /// Messages now.
    pub messages: usize,
    /// Payload bytes of these.
    pub bytes: usize,
    /// The most messages that have waited in the queue of one peer.
    pub most_messages: usize,
}

impl QueueDepth {
    /// With the queue of one more peer.
    pub(crate) fn add(&mut self, other: QueueDepth) {
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.most_messages = self.most_messages.max(other.most_messages);
    }
}
