//! Leaving peers: once `disconnect` returns, the socket has none that it connected to there, and once
//! `unbind_and_disconnect` returns none that came through there. Their connections go on until what was queued for them
//! has gone out.
//!
//! ```text
//!   peer ── disconnect ──▶ left ── all is sent, or the linger time is over ──▶ gone
//! ```
//!
//! For the pattern a peer that was left is gone: no message goes to it, and it counts nowhere. What it had sent
//! before stays to be read, but as libzmq does; what it sends after that is dropped and counted. Its account is charged with what lies
//! here until its connection has ended.

use super::{Registration, RegistrationKind, SocketCore, State};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::monitor::add;
use crate::pattern::Provenance;

impl SocketCore {
    /// Takes an endpoint out, and leaves the peer that the socket connected to there.
    pub(crate) fn unregister(
        &self,
        endpoint: &Endpoint,
        kind: RegistrationKind,
    ) -> Result<Registration, Error> {
        self.take_out(endpoint, kind, kind == RegistrationKind::Connected)
    }

    /// Takes an endpoint out that the socket is bound to, and leaves the peers that came through it. Those that are not
    /// ready yet are refused until [`withdrawn`](Self::withdrawn).
    pub(crate) fn unregister_with_peers(&self, endpoint: &Endpoint) -> Result<Registration, Error> {
        self.take_out(endpoint, RegistrationKind::Bound, true)
    }

    fn take_out(
        &self,
        endpoint: &Endpoint,
        kind: RegistrationKind,
        leaves: bool,
    ) -> Result<Registration, Error> {
        let (registration, left, dropped, readable) = self.with(|state| {
            let registration = state.endpoints.unregister(endpoint, kind);
            state.endpoints_changed();
            let leaving = registration.as_ref().filter(|_| leaves);
            if let Some(bound) = leaving.filter(|it| it.kind == RegistrationKind::Bound) {
                state.endpoints.leave(bound.id);
            }
            let left = leaving.is_some_and(|it| state.leave(it));
            let dropped = leaving.map_or(0, |it| state.queues.give_up(it.id));
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

    /// No more connections come through an endpoint that was left with its peers.
    pub(crate) fn withdrawn(&self, listener: u64) {
        self.lock().endpoints.forget_left(listener);
    }
}

impl State {
    /// Leaves the peers that this `connect` found or that came through this `bind`, and says whether there were any.
    fn leave(&mut self, endpoint: &Registration) -> bool {
        let left = self.queues.pipes.of_endpoint(endpoint.id);
        let forgets = self.queues.forgets && endpoint.kind == RegistrationKind::Connected;
        for &id in &left {
            if forgets {
                let unread = self.queues.forget(id);
                self.life.count_unread(unread);
            }
            let farewell = self.farewell(id);
            self.queues.leave(id, farewell);
        }
        !left.is_empty()
    }

    /// Whether a connection comes too late: the socket has left its endpoint. One that is being drained has left all
    /// that it connected to, and takes what is on its way.
    pub(super) fn has_left(&self, provenance: &Provenance) -> bool {
        let connector = provenance.connector;
        connector.is_some_and(|it| !self.endpoints.has(it) && !self.life.is_draining())
            || (provenance.listener).is_some_and(|it| self.endpoints.has_left(it))
    }
}
