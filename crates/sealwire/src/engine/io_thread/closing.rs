//! Withdrawing endpoints, and closing sockets within their linger time.

use std::sync::Arc;
use std::time::Duration;

use super::IoThread;
use super::sources::SourceEvent;
use crate::core::SocketCore;
use crate::endpoint::Endpoint;
use crate::engine::session::End;
use crate::engine::session_key::{Origin, SessionKey};
use crate::engine::timers::Timer;
use crate::failure::FailureCause;
use crate::guard;
use crate::monitor::Event;

impl IoThread {
    /// Stops a listener or connector. A connection that the connector made ends once it has sent
    /// what is queued.
    pub(super) fn withdraw(&mut self, id: u64) {
        self.withdraw_endpoint(id, true);
    }

    fn withdraw_endpoint(&mut self, id: u64, peers_stay: bool) {
        if let Some(slot) = self.sources.find(id) {
            self.serve(slot, SourceEvent::Withdrawn { peers_stay });
        }
    }

    /// Stops a listener. The connections that came through it end as those of a connector do.
    pub(super) fn withdraw_with_peers(&mut self, core: Arc<SocketCore>, id: u64) {
        self.withdraw_endpoint(id, false);
        core.withdrawn(id);
        self.leave_accepted(core, id);
    }

    /// Ends the connections of this thread that came through a listener.
    pub(super) fn leave_accepted(&mut self, core: Arc<SocketCore>, id: u64) {
        for key in self.sources.accepted_by(&core, id) {
            self.leave_session(key);
        }
        release(core);
    }

    /// Ends a session that the socket has left: once what is queued for it has been sent, or at once where its handshake
    /// is not over.
    pub(super) fn leave_session(&mut self, key: SessionKey) {
        self.with_session_in_reactor(key, |session, reactor| {
            if !session.is_ready() {
                return Err(End::Clean);
            }
            session.finish(reactor.now());
            // Threads of the application read from the socket's peers only.
            session.end_lease(reactor.world.registry())
        });
    }

    /// Ends a session once what is queued for it has been sent, and the connector behind it.
    pub(super) fn finish_session(&mut self, key: SessionKey) {
        let session = self.sources.session_of(key);
        let found = session.and_then(|session| {
            session.with(|session| {
                session.output_ready();
                (session.identity.core.clone(), session.identity.origin)
            })
        });
        match found {
            Some((core, Origin::Connector { id, .. })) => {
                core.give_up(id);
                self.withdraw(id);
            }
            Some((_, Origin::Listener { .. })) => self.with_session(key, |session, now| {
                session.finish(now);
                Ok(())
            }),
            None => {}
        }
    }

    /// Ends a source that something has panicked in, and says so.
    pub(super) fn fail_source(&mut self, slot: usize) {
        #[cfg(test)]
        assert!(
            !std::mem::take(&mut self.faults.ending_panics),
            "asked for again"
        );
        self.serve(slot, SourceEvent::Panicked);
    }

    /// Gives an endpoint up that something has panicked in, and says so.
    pub(super) fn endpoint_panicked(
        &mut self,
        slot: usize,
        core: &Arc<SocketCore>,
        id: u64,
        event: Event,
    ) {
        core.give_up(id);
        core.hub.emit(event);
        guard::contain("removing a source", || self.remove_endpoint(slot));
    }

    /// Removes what works for an endpoint, not its connections.
    pub(super) fn remove_endpoint(&mut self, slot: usize) {
        let Some((number, source)) = self.sources.take_endpoint(slot) else {
            return;
        };
        // What the application gave it to call may end with it.
        let registry = self.reactor.world.registry();
        guard::contain("dropping an endpoint", || source.end(registry));
        #[cfg(test)]
        assert!(
            !std::mem::take(&mut self.faults.removing_panics),
            "asked for again"
        );
        self.reactor
            .timers
            .clear(Timer::EventSource { slot, number });
    }

    pub(super) fn close_socket(&mut self, core: Arc<SocketCore>) {
        let backlog = core.backlog() > 0;
        // First, as the connections that these take at their end hear of it as well.
        for slot in self.sources.listeners_of(&core) {
            self.serve(slot, SourceEvent::SocketClosing { backlog });
        }
        for slot in self.sources.slots_of(&core) {
            self.serve(slot, SourceEvent::SocketClosing { backlog });
        }
        let until = self.reactor.now().saturating_add(core.linger());
        self.lingering.add(&core, until, &mut self.reactor.timers);
        // The counterpart is in `socket/handle.rs`.
        core.remove_attachment();
        release(core);
    }

    /// A socket that is closing has less time for that now. Where the command to close it is still to come, that
    /// brings the shorter time.
    pub(super) fn shorten_linger(&mut self, core: Arc<SocketCore>) {
        let until = self.reactor.now().saturating_add(core.linger());
        (self.lingering).bring_forward(core.id(), until, &mut self.reactor.timers);
        // The counterpart is in `socket/handle.rs`.
        core.remove_attachment();
        release(core);
    }

    /// Takes what the peers of a socket have sent it, for up to `limit`, and lets no others come.
    pub(super) fn drain_socket(&mut self, core: &Arc<SocketCore>, limit: Duration) {
        let until = self.reactor.now().saturating_add(limit);
        for slot in self.sources.slots_of(core) {
            self.serve(slot, SourceEvent::Draining { until });
        }
        // The counterpart is in `socket/handle.rs`.
        core.remove_attachment();
    }

    /// The linger time of a socket is over.
    pub(super) fn abandon(&mut self, core: Arc<SocketCore>) {
        core.abandon_backlog();
        self.reactor.inproc.abort(&core);
        for slot in self.sources.slots_of(&core) {
            self.serve(slot, SourceEvent::LingerOver);
        }
        release(core);
    }
}

/// Lets go of a socket. What the application gave it to call may end with this handle, and panic as it does.
pub(super) fn release(core: Arc<SocketCore>) {
    guard::contain("dropping a socket", || drop(core));
}

/// What the socket of a listener is told that something has panicked in.
pub(super) fn accept_panicked(endpoint: &Endpoint) -> Event {
    Event::AcceptFailed {
        endpoint: endpoint.clone(),
        reason: FailureCause::Internal.to_string(),
        os_error: None,
        count: 1,
    }
}
