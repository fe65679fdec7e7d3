//! Sizes, windows and time limits, of clients and servers alike.

use std::time::Duration;

use sealwire::SocketBuilder;

use crate::proto::{HEADER, Settings};

/// What one side lets the other have, and how long it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Calls that the other side may have open at a time on one connection. It is told, and its
    /// callers wait. Default 4,096, at most 1,048,576.
    pub max_calls: u32,
    /// One-way messages that may be under way on one connection before some of them have been
    /// dealt with. Default 1,024.
    pub one_way_window: u32,
    /// The same for the items of each stream. Default 64.
    pub stream_window: u32,
    /// Bytes of a body, from either side. Default 4 MiB.
    pub max_body: u32,
    /// Bytes of the requests of all calls that the other side may have open on one connection, each
    /// counted with 64 bytes more. It is told, and its callers wait; what comes all the same ends
    /// the connection. A single request may always be open. Default 64 MiB.
    pub request_budget: u32,
    /// Bytes of one-way messages and stream items that may be under way on one connection before
    /// some of them have been dealt with, each counted with 64 bytes more. It is told, and senders
    /// wait. Streams share it: one whose items nobody reads takes of it what it holds. A single
    /// message may always be under way. Default 64 MiB.
    pub message_budget: u32,
    /// Bytes of answers and stream items that wait here for one connection's peer to read them,
    /// each counted with 64 bytes more, beside those in the socket (8 MiB). When they are as many,
    /// no more requests of that peer are given to the handler until it has read; when it reads
    /// nothing for the time of `write`, the connection is ended. What handlers answer that run
    /// already comes on top, at most 64 times `max_body`; then their callers get
    /// [`RESOURCE_EXHAUSTED`](crate::Code::RESOURCE_EXHAUSTED). Default 8 MiB.
    pub answer_budget: u32,
    /// Time for an answer, unless the call says otherwise; `None` for no limit. Default 30 s.
    pub request: Option<Duration>,
    /// How long a caller waits for room, and how long a peer for which answers wait may read
    /// nothing. Default 3 s.
    pub write: Duration,
    /// A connection on which nothing was heard for so long is given up, though it was asked for a
    /// sign of life. Default 15 s.
    pub read: Duration,
    /// How long what is queued may take to leave when a side closes. Default 3 s.
    pub linger: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_calls: 4_096,
            one_way_window: 1_024,
            stream_window: 64,
            max_body: 4 << 20,
            request_budget: 64 << 20,
            message_budget: 64 << 20,
            answer_budget: 8 << 20,
            request: Some(Duration::from_secs(30)),
            write: Duration::from_secs(3),
            read: Duration::from_secs(15),
            linger: Duration::from_secs(3),
        }
    }
}

/// A hundred years: longer limits are taken for this one, so that no sum of times overflows.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// `limit`, or the longest there is.
pub(crate) fn bounded(limit: Duration) -> Duration {
    limit.min(LONGEST)
}

/// How long a thread that waits for the other side looks for its message before it sleeps.
pub(crate) const SPIN: Duration = Duration::from_micros(50);
/// Messages in each queue of a connection.
const QUEUE: usize = 8_192;
/// Bytes in each queue of a connection.
const QUEUE_BYTES: usize = 8 << 20;
/// Bytes that an error's message and fixed part may add to a body.
const ERROR_MARGIN: usize = (64 << 10) + 4;

impl Limits {
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            max_calls: self.max_calls.clamp(1, 1 << 20),
            one_way_window: self.one_way_window.max(1),
            stream_window: self.stream_window.max(1),
            max_body: self.max_body,
            request_budget: self.request_budget,
            message_budget: self.message_budget,
        }
    }

    pub(crate) fn apply(&self, socket: SocketBuilder) -> SocketBuilder {
        // A thread that waits for an answer reads for others too: signals end none of its waits.
        #[cfg(unix)]
        let socket = socket.interruptible(false);
        socket
            .omit_routing_id(true)
            .connection_events(true)
            .send_high_water_mark(QUEUE)
            .receive_high_water_mark(QUEUE)
            .send_byte_budget(QUEUE_BYTES)
            .receive_byte_budget(QUEUE_BYTES)
            .max_message_size(self.max_body as usize + HEADER + ERROR_MARGIN)
            .heartbeat(self.read / 3, self.read, self.read)
            .linger(self.linger)
    }
}
