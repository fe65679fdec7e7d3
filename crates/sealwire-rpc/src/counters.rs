//! What a client or server has done.

use std::sync::atomic::{AtomicU64, Ordering};

sealwire::counters! {
    /// What a client or server has done since it was made. Each number only grows.
    pub struct Counters;
    /// The same, while they are counted by several threads.
    pub(crate) struct LiveCounters {
        /// Calls made.
        calls,
        /// Of these, how many ended with an error, whatever it was.
        calls_failed,
        /// Calls made again because the other side had not started them.
        calls_retried,
        /// One-way messages sent.
        messages_sent,
        /// Requests received.
        requests,
        /// One-way messages received.
        messages_received,
        /// Answers that nobody waited for any more.
        answers_too_late,
        /// Connections that began.
        connections,
        /// Connections ended because the other side violated the protocol.
        violations,
        /// Connections turned away at the limit.
        connections_refused,
        /// Connections ended because the other side did not say who it is in time, or too many did not.
        connections_silent,
        /// Requests turned away because too many, or too many bytes of them, are held for their peer.
        requests_refused,
        /// Times that requests of a peer had to wait because it does not read its answers.
        peers_paused,
        /// Panics of handlers, hooks, interceptors and wakers. Each ended nothing but its own call.
        panics,
    }
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
