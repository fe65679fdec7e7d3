//! How much the queues of a pipe may hold.

use crate::options::SocketOptions;

/// The limit of one queue. Zero means no limit, as in libzmq.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct QueueLimit {
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
}

impl QueueLimit {
    /// Whether a queue that holds so much takes one more message.
    pub(crate) fn admits(self, messages: usize, bytes: usize) -> bool {
        (self.messages == 0 || messages < self.messages) && (self.bytes == 0 || bytes < self.bytes)
    }

    /// What a queue which holds so much has room for.
    pub(super) fn room(self, messages: usize, bytes: usize) -> Room {
        let left = |limit: usize, held| match limit {
            0 => usize::MAX,
            limit => limit.saturating_sub(held),
        };
        Room {
            messages: left(self.messages, messages),
            bytes: left(self.bytes, bytes),
        }
    }

    /// Whether at least half the queue is free.
    pub(super) fn half_free(self, messages: usize, bytes: usize) -> bool {
        (self.messages == 0 || messages <= self.messages / 2)
            && (self.bytes == 0 || bytes <= self.bytes / 2)
    }
}

/// How much may be moved: messages, and bytes of payload that are not yet reached by those before
/// the last one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
}

impl Room {
    /// Any number of messages, until they have this number of bytes.
    pub(crate) fn of_bytes(bytes: usize) -> Self {
        Room {
            messages: usize::MAX,
            bytes,
        }
    }
}

/// Queue limits of one pipe.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HighWaterMarks {
    pub(crate) send: QueueLimit,
    pub(crate) receive: QueueLimit,
    /// Both queues hold the latest message only.
    pub(crate) conflate: bool,
}

impl HighWaterMarks {
    pub(crate) fn of(options: &SocketOptions) -> Self {
        HighWaterMarks {
            send: QueueLimit {
                messages: options.send_high_water_mark,
                bytes: options.send_byte_budget,
            },
            receive: QueueLimit {
                messages: options.receive_high_water_mark,
                bytes: options.receive_byte_budget,
            },
            conflate: options.behaviour.conflate,
        }
    }
}
