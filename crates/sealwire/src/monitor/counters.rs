//! Counters of a socket.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::account::{Excesses, Kind};

crate::counters! {
    /// What a socket has done since it was made. Each number only grows.
    pub struct Counters;
    /// The same, while they are counted by several threads.
    pub(crate) struct LiveCounters {
        /// Copies dropped because the peer's queue was at its high-water mark (PUB, ROUTER, XSUB) or
        /// the peer to answer was gone (REP, ROUTER).
        dropped_at_send,
        /// Messages of which nothing had been written when their connection or the socket ended. They did
        /// not arrive.
        dropped_unsent,
        /// Messages that were written to a connection which has ended since, and may have arrived: an
        /// upper bound of what was lost on the way. An answered heartbeat proves that what was sent
        /// before it arrived, and takes it out; without heartbeats all messages of a connection count.
        unconfirmed,
        /// Received messages that nobody had read when the socket ended, or for which there was no room
        /// when their connection did.
        dropped_unread,
        /// Received messages that the socket type has no use for: without a delimiter (REP, REQ), not
        /// asked for (REQ), of a topic not subscribed to (SUB), of a group not joined (DISH), or sent to
        /// PUB or PUSH; and datagrams that are none of a RADIO (DISH) or too large (DISH, DGRAM).
        dropped_at_receive,
        /// Handshakes completed.
        handshakes_completed,
        /// Handshakes that failed, for whatever reason.
        handshakes_failed,
        /// Attempts to connect that followed a failed or ended connection.
        reconnects,
        /// Connections that ended after their handshake.
        disconnects,
    }
    with exceeded: [u64; Kind::ALL.len()], counted in excesses: Arc<Excesses>;
    and, counted elsewhere {
        /// Messages handed to a connection.
        messages_sent,
        /// Payload bytes of these.
        bytes_sent,
        /// Messages that arrived for the application. Within the process they arrive in batches, when
        /// those before them have been read.
        messages_received,
        /// Payload bytes of these.
        bytes_received,
        /// Messages that a newer one replaced before they were sent or read (`conflate`, `req_relaxed`).
        replaced,
        /// Messages that publishers of Sealwire dropped for this socket (SUB, XSUB, DISH), as they say.
        missed,
    }
}

impl Counters {
    /// Returns how often peers of this socket, also those that are gone, reached the bound of a kind: pauses,
    /// refusals and disconnections, as [`Kind::excess`] says.
    pub fn exceeded(&self, kind: Kind) -> u64 {
        self.exceeded[kind as usize]
    }
}

pub(crate) fn add(counter: &AtomicU64, amount: usize) {
    if amount > 0 {
        counter.fetch_add(amount as u64, Ordering::Relaxed);
    }
}
