//! What a link reaches of the client or server that it belongs to.

use std::collections::VecDeque;
use std::time::Duration;

use sealwire::Frame;

use crate::counters::LiveCounters;
use crate::limits::{Limits, bounded};
use crate::proto::{Settings, Side};

/// A client or server, below its links: socket, clock, counters, and those who wait for changes.
pub(crate) trait Owner {
    fn options(&self) -> &LinkOptions;
    fn counters(&self) -> &LiveCounters;
    /// Whether it was made in this process, and not before a fork.
    fn is_here(&self) -> bool;
    /// The time since the context began.
    fn now(&self) -> Duration;
    /// The link has something to process then.
    fn arm(&self, at: Duration);
    /// Hands frames to the connection without waiting; those that there was no room for stay. `false` when it
    /// is gone.
    fn try_send(&self, routing_id: u32, frames: &mut VecDeque<Frame>) -> bool;
    /// The connection had no room for what the link has to send.
    fn wait_for_socket(&self);
    /// Tells those who wait that a link has come to its end, or takes no more calls.
    fn tell_change(&self);
}

/// What all links of a client or server are made with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkOptions {
    pub(crate) side: Side,
    pub(crate) settings: Settings,
    /// Bytes of answers that may wait for a peer.
    pub(crate) answer_budget: usize,
    /// How long a peer may read nothing while too much waits for it.
    pub(crate) write_limit: Duration,
    /// How long a peer may answer nothing while no call can be made.
    pub(crate) read_limit: Duration,
}

impl LinkOptions {
    pub(crate) fn of(side: Side, limits: &Limits) -> Self {
        LinkOptions {
            side,
            settings: Settings::of(limits),
            answer_budget: limits.answer_budget as usize,
            write_limit: bounded(limits.write),
            read_limit: bounded(limits.read),
        }
    }
}
