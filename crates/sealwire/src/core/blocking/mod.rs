//! Threads that block: until there is a message, or room for one, up to a time limit.

mod receiving;
mod sending;

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::SocketCore;
use crate::error::{Error, Operation};
use crate::guard;
use crate::waiting::Spinning;

/// Spins where the peer is a thread of this process, which takes its next batch from a queue within
/// microseconds: about what it takes for a queue of a hundred messages. Being woken takes longer.
pub(super) const fn spinning_in_process() -> Spinning {
    Spinning::tried_first(Duration::from_micros(8), Duration::from_micros(100))
}

impl SocketCore {
    /// Spins only where there was a peer in this process.
    fn if_in_process<'a>(&self, spinning: &'a Spinning) -> Option<&'a Spinning> {
        let in_process = self.has_had_peers_in_process.load(Ordering::Relaxed);
        in_process.then_some(spinning)
    }

    /// The error where something was not done within the limit, or could not be waited for.
    pub(crate) fn timed_out(&self, operation: Operation, limit: Option<Duration>) -> Error {
        if guard::must_not_wait() {
            return Error::WouldBlock;
        }
        Error::TimedOut {
            operation,
            limit: limit.unwrap_or_default(),
            last_failure: self.hub.last_failure().map(Box::new),
        }
    }
}
