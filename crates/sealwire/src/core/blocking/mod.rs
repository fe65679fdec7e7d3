//! Threads that block: until there is a message, or room for one, up to a time limit.

mod receiving;
mod sending;

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::SocketCore;
use crate::error::{Error, Operation};
use crate::guard;
use crate::options::from_now;
use crate::waiting::{Spinning, Unfinished, Until};

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

    /// How long the calls of the socket's options wait.
    pub(crate) fn until(&self, limit: Option<Duration>) -> Until<'_> {
        Until {
            deadline: limit.map(from_now),
            interrupt: self.options().interrupt.as_ref(),
        }
    }

    /// The error where something was not done within the limit, or could not be waited for.
    pub(crate) fn unfinished(
        &self,
        why: Unfinished,
        operation: Operation,
        limit: Option<Duration>,
    ) -> Error {
        match why {
            #[cfg(unix)]
            Unfinished::Interrupted => Error::Interrupted,
            #[cfg(unix)]
            Unfinished::Refused(error) => Error::System(error),
            Unfinished::TimedOut if guard::must_not_wait() => Error::WouldBlock,
            Unfinished::TimedOut => Error::TimedOut {
                operation,
                limit: limit.unwrap_or_default(),
                presence: self.presence(),
                last_failure: self.hub.last_failure().map(Box::new),
            },
        }
    }
}
