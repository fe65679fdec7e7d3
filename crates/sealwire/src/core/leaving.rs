//! Leaving peers: once `disconnect` returns, the socket has none that it connected to there. Their connections go on
//! until what was queued for them has gone out.
//!
//! ```text
//!   peer ── disconnect ──▶ left ── all is sent, or the linger time is over ──▶ gone
//! ```
//!
//! For the pattern a peer that was left is gone: no message goes to it, and it counts nowhere. What it had sent
//! before stays to be read; what it sends after that is dropped and counted. Its account is charged with what lies
//! here until its connection has ended.

use super::{Registration, RegistrationKind, SocketCore, State};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::monitor::add;

impl SocketCore {
    /// Takes an endpoint out, and leaves the peer that the socket connected to there.
    pub(crate) fn unregister(
        &self,
        endpoint: &Endpoint,
        kind: RegistrationKind,
    ) -> Result<Registration, Error> {
        let (registration, left, dropped, readable) = self.with(|state| {
            let registration = state.endpoints.unregister(endpoint, kind);
            state.endpoints_changed();
            let connected = registration.as_ref();
            let connected = connected.filter(|it| it.kind == RegistrationKind::Connected);
            let left = connected.is_some_and(|it| state.leave(it.id));
            let dropped = connected.map_or(0, |it| state.queues.give_up(it.id));
            state.life.count_unsent(dropped);
            (registration, left, dropped, state.queues.pattern.readable())
        });
        add(&self.counters.dropped_unsent, dropped);
        if left {
            // A thread that reads from this peer directly has to read elsewhere.
            self.readable.wake_direct_reader();
            if readable {
                self.notify_readable(1);
            }
        }
        // No connection to this endpoint will come: those who wait for one are told.
        self.notify_writable();
        registration.ok_or_else(|| Error::UnknownEndpoint(endpoint.clone()))
    }
}

impl State {
    /// Leaves the peers that this `connect` found, and says whether there were any.
    fn leave(&mut self, connector: u64) -> bool {
        let left = self.queues.pipes.made_by(connector);
        for &id in &left {
            let farewell = self.farewell(id);
            self.queues.leave(id, farewell);
        }
        !left.is_empty()
    }

    /// Whether a connection of this `connect` comes too late: the socket has left its endpoint. One that is being
    /// drained has left all of them, and takes what is on its way.
    pub(super) fn has_left(&self, connector: u64) -> bool {
        !self.endpoints.has(connector) && !self.life.is_draining()
    }
}
