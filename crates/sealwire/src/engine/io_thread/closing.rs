//! Withdrawing endpoints, and closing sockets within their linger time.

use std::sync::Arc;

use super::{EventSource, IoThread};
use crate::core::SocketCore;
use crate::endpoint::Endpoint;
use crate::engine::connector;
use crate::engine::session::{End, Origin, SessionKey};
use crate::engine::timers::Timer;
use crate::failure::{ConnectionFailure, FailureCause};
use crate::guard;
use crate::monitor::Event;
use crate::peer::PeerAddress;

impl IoThread {
    /// Stops a listener or connector. A connection that the connector made ends once it has sent
    /// what is queued.
    pub(super) fn withdraw(&mut self, id: u64) {
        let Some(slot) = self.find(id) else { return };
        if let Some(EventSource::Datagrams(_)) = self.sources.get(slot) {
            return self.finish_datagrams(slot);
        }
        let session = match self.sources.get(slot) {
            Some(EventSource::Connector(connector)) => match connector.state {
                connector::State::Connected(key) => Some(key),
                _ => None,
            },
            _ => None,
        };
        self.remove_source(slot);
        if let Some(key) = session {
            self.with_session(key, |session, now| {
                session.finish(now);
                Ok(())
            });
        }
    }

    /// Ends a session once what is queued for it has been sent, and the connector behind it.
    pub(super) fn finish_session(&mut self, key: SessionKey) {
        let found = match self.sources.get(key.slot) {
            Some(EventSource::Session(session)) if session.key == key => session.with(|session| {
                session.output_ready();
                (session.core.clone(), session.origin)
            }),
            _ => None,
        };
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
        let cause = FailureCause::Internal;
        let accept_failed = |endpoint: &Endpoint| Event::AcceptFailed {
            endpoint: endpoint.clone(),
            reason: FailureCause::Internal.to_string(),
            count: 1,
        };
        let failed = match self.sources.get(slot) {
            Some(EventSource::Session(_)) => return self.end_session(slot, End::Failed(cause)),
            Some(EventSource::Listener(listener)) => (
                listener.core.clone(),
                listener.id,
                accept_failed(&listener.endpoint),
            ),
            Some(EventSource::Datagrams(datagrams)) => (
                datagrams.core.clone(),
                datagrams.id,
                accept_failed(&datagrams.endpoint),
            ),
            Some(EventSource::Connector(connector)) => {
                let failure = ConnectionFailure {
                    connection: None,
                    endpoint: connector.endpoint.clone(),
                    address: PeerAddress::Unknown,
                    was_ready: false,
                    cause,
                };
                (connector.core.clone(), connector.id, Event::Failed(failure))
            }
            None => return,
        };
        let (core, id, event) = failed;
        core.give_up(id);
        core.hub.emit(event);
        guard::contain("removing a source", || self.remove_source(slot));
    }

    /// Removes a source that is not a session.
    pub(super) fn remove_source(&mut self, slot: usize) {
        let number = match self.sources.try_remove(slot) {
            Some(EventSource::Listener(listener)) => {
                self.listeners.retain(|&other| other != slot);
                listener.core.remove_attachment();
                listener.id
            }
            Some(EventSource::Connector(connector)) => {
                connector.core.remove_attachment();
                connector.id
            }
            Some(EventSource::Datagrams(datagrams)) => {
                let id = datagrams.id;
                datagrams.end(self.reactor.world.registry());
                id
            }
            Some(EventSource::Session(_)) | None => return,
        };
        #[cfg(test)]
        assert!(
            !std::mem::take(&mut self.faults.removing_panics),
            "asked for again"
        );
        self.reactor.timers.clear(Timer::Source { slot, number });
    }

    pub(super) fn slots_of(&self, core: &Arc<SocketCore>) -> Vec<usize> {
        let of_core = self.sources.iter().filter(|(_, source)| match source {
            EventSource::Listener(listener) => Arc::ptr_eq(core, &listener.core),
            EventSource::Connector(connector) => Arc::ptr_eq(core, &connector.core),
            EventSource::Datagrams(datagrams) => Arc::ptr_eq(core, &datagrams.core),
            EventSource::Session(session) => session.socket == core.id(),
        });
        of_core.map(|(slot, _)| slot).collect()
    }

    pub(super) fn close_socket(&mut self, core: Arc<SocketCore>) {
        let waiting = core.backlog() > 0;
        for slot in self.slots_of(&core) {
            match self.sources.get_mut(slot) {
                Some(EventSource::Session(session)) => {
                    let now = self.reactor.now();
                    let lingers = session.with(|session| {
                        let lingers = session.is_ready() || waiting;
                        if lingers {
                            session.finish(now);
                        }
                        lingers
                    });
                    // One that is broken ends as it is driven.
                    if lingers != Some(false) {
                        self.drive(slot);
                    } else {
                        self.end_session(slot, End::Clean);
                    }
                }
                Some(EventSource::Datagrams(_)) => self.finish_datagrams(slot),
                Some(EventSource::Connector(_)) if waiting => {}
                Some(EventSource::Connector(_) | EventSource::Listener(_)) => {
                    self.remove_source(slot)
                }
                None => {}
            }
        }
        let until = self.reactor.now().saturating_add(core.options().linger);
        self.lingering.add(&core, until, &mut self.reactor.timers);
        // The counterpart is in `socket/handle.rs`.
        core.remove_attachment();
    }

    /// The linger time of a socket is over.
    pub(super) fn abandon(&mut self, core: &Arc<SocketCore>) {
        core.abandon_backlog();
        self.reactor.inproc.abort(core);
        for slot in self.slots_of(core) {
            match self.sources.get(slot) {
                Some(EventSource::Session(_)) => self.end_session(slot, End::Clean),
                Some(_) => self.remove_source(slot),
                None => {}
            }
        }
    }
}
