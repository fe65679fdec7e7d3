//! What the links of a hub reach of it, and what their handles do.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use sealwire::Frame;

use super::Hub;
use crate::counters::LiveCounters;
use crate::link::{CallLink, LinkOptions, Owner};

/// The link of a connection that a hub let in.
pub(crate) type HubLink = CallLink<Hub>;

impl HubLink {
    pub(crate) fn hub(&self) -> &Arc<Hub> {
        self.owner()
    }
}

impl Owner for Hub {
    #[inline]
    fn options(&self) -> &LinkOptions {
        &self.options.link
    }

    #[inline]
    fn counters(&self) -> &LiveCounters {
        &self.counters
    }

    #[inline]
    fn is_here(&self) -> bool {
        Hub::is_here(self)
    }

    #[inline]
    fn now(&self) -> Duration {
        Hub::now(self)
    }

    #[inline]
    fn arm(&self, at: Duration) {
        Hub::arm(self, at);
    }

    #[inline]
    fn try_send(&self, routing_id: u32, frames: &mut VecDeque<Frame>) -> bool {
        self.socket.try_send_many_to(routing_id, frames).is_ok()
    }

    #[inline]
    fn wait_for_socket(&self) {
        Hub::wait_for_socket(self);
    }

    #[inline]
    fn tell_change(&self) {
        self.changes.tell();
    }
}
