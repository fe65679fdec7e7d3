//! How long messages wait in the queues of a socket, as samples show.

use std::sync::Arc;
use std::time::Duration;

use crate::measures::Histogram;

/// Tells the time since the context began.
pub(crate) type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Of all peers, also of those that are gone.
pub(crate) struct Waits {
    clock: Clock,
    pub(crate) outbound: Histogram,
    pub(crate) inbound: Histogram,
}

impl Waits {
    pub(super) fn new(clock: Clock) -> Self {
        Waits {
            clock,
            outbound: Histogram::default(),
            inbound: Histogram::default(),
        }
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// A message was taken for its connection that was queued at `since`.
    #[cold]
    pub(super) fn note_outbound(&mut self, since: Duration) {
        let time = (self.clock)().saturating_sub(since);
        self.outbound.record(time);
    }

    /// A message was read that had arrived at `since`.
    #[cold]
    pub(super) fn note_inbound(&mut self, since: Duration) {
        let time = (self.clock)().saturating_sub(since);
        self.inbound.record(time);
    }
}
