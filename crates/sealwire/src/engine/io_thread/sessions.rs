//! The I/O thread's sessions: making them, serving them, ending them.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::IoThread;
use super::sources::{EventSource, SourceEvent};
use crate::core::SocketCore;
use crate::engine::mailbox::Command;
use crate::engine::reactor::Reactor;
use crate::engine::session::{End, Identity, Parting, Progress, Session};
use crate::engine::session_key::{Origin, SessionKey};
use crate::engine::shared::SharedSession;
use crate::engine::world::PollEvent;
use crate::failure::FailureCause;
use crate::guard;
use crate::options::EndpointOptions;
use crate::peer::Ends;
use crate::transport::Stream;
#[cfg(feature = "ws")]
use crate::transport::{Role, Terms};

/// What a peer over WebSocket has to agree with. No socket that leaves it a choice comes here.
#[cfg(feature = "ws")]
fn terms(options: &EndpointOptions) -> Terms {
    Terms {
        mechanism: options.security.first_mechanism(),
        as_server: options.protocol().mechanism.as_server(),
        max_message_size: options.max_message_size,
        bounds_parts: options.as_libzmq,
        access: options.web_access.clone(),
    }
}

impl IoThread {
    pub(super) fn serve_session(&mut self, slot: usize, event: SourceEvent) {
        match event {
            SourceEvent::Polled(ready) => self.session_ready(slot, ready),
            SourceEvent::TimeSlice => self.drive(slot),
            SourceEvent::Due(_) => self.session_due(slot),
            // Endpoints are withdrawn, not connections.
            SourceEvent::Withdrawn { .. } => {}
            SourceEvent::SocketClosing { backlog } => self.close_session(slot, backlog),
            SourceEvent::Draining { until } => self.drain_session(slot, until),
            SourceEvent::LingerOver => self.end_session(slot, End::Clean),
            SourceEvent::Panicked => self.end_session(slot, End::Failed(FailureCause::Internal)),
        }
    }

    fn session_ready(&mut self, slot: usize, ready: PollEvent) {
        let Some(session) = self.sources.session(slot) else {
            return;
        };
        let is_ready = session.with(|session| {
            session.transport_event(ready.readable, ready.writable, ready.hung_up);
            session.is_ready()
        });
        match is_ready {
            Some(true) => self.drive(slot),
            Some(false) => self.handshakes.push(slot),
            // It has ended, or is about to.
            None => self.drive(slot),
        }
    }

    fn session_due(&mut self, slot: usize) {
        let Some(key) = self.sources.session(slot).map(|session| session.key) else {
            return;
        };
        let now = self.reactor.now();
        self.with_session_in_reactor(key, |session, reactor| {
            session.check_lease(reactor.world.registry(), now)?;
            session.timer_due(now)
        });
    }

    /// Its socket is closing: sends the rest first, or what waits for a peer that is not ready yet.
    fn close_session(&mut self, slot: usize, backlog: bool) {
        let Some(session) = self.sources.session(slot) else {
            return;
        };
        let now = self.reactor.now();
        let lingers = session.with(|session| {
            let lingers = session.is_ready() || backlog;
            if lingers {
                session.finish(now);
            }
            lingers
        });
        // One that is broken ends as it is driven.
        match lingers {
            Some(false) => self.end_session(slot, End::Clean),
            Some(true) | None => self.drive(slot),
        }
    }

    /// Its socket is being drained: takes what its peer has sent. One that has not finished its handshake may be
    /// behind its peer, whose messages are on their way then.
    fn drain_session(&mut self, slot: usize, until: Duration) {
        if let Some(session) = self.sources.session(slot) {
            session.with(|session| session.drain(until));
            self.drive(slot);
        }
    }

    pub(super) fn add_session(
        &mut self,
        core: Arc<SocketCore>,
        options: Arc<EndpointOptions>,
        origin: Origin,
        ends: Ends,
        stream: Stream,
    ) -> (SessionKey, io::Result<()>) {
        let slot = self.sources.vacant_slot();
        let key = SessionKey {
            slot,
            connection: core.context().next_number(),
        };
        #[cfg(feature = "ws")]
        let stream = {
            let role = match origin {
                Origin::Listener { .. } => Role::Server,
                Origin::Connector { .. } => Role::Client,
            };
            stream.layered(&ends.endpoint, role, terms(&options), &options)
        };
        let Reactor { mailbox, world, .. } = &self.reactor;
        let identity = Identity {
            core,
            options,
            key,
            origin,
            ends: Arc::new(ends),
            home: None,
            _share: mailbox.load().share(),
        };
        let mut session = Session::new(identity, stream, &**world);
        let registered = session.register(world.registry());
        let shared = SharedSession::new(session, mailbox.clone(), world.clone());
        self.sources.insert(EventSource::Session(shared));
        (key, registered)
    }

    /// Lets something happen to a session that is still there, then lets it act on it.
    pub(super) fn with_session(
        &mut self,
        key: SessionKey,
        event: impl FnOnce(&mut Session, Duration) -> Result<(), End>,
    ) {
        self.with_session_in_reactor(key, |session, reactor| event(session, reactor.now()));
    }

    /// The same, for what needs more than the time.
    pub(super) fn with_session_in_reactor(
        &mut self,
        key: SessionKey,
        event: impl FnOnce(&mut Session, &mut Reactor) -> Result<(), End>,
    ) {
        let reactor = &mut self.reactor;
        let Some(session) = self.sources.session_of(key) else {
            return;
        };
        match session.advance(|session| event(session, reactor)) {
            Some(Ok(())) => self.drive(key.slot),
            Some(Err(end)) => self.end_session(key.slot, end),
            None => {}
        }
    }

    pub(super) fn drive(&mut self, slot: usize) {
        let Some(session) = self.sources.session(slot) else {
            return;
        };
        let driven = session.advance(|session| {
            let outcome = session.drive(&mut self.reactor);
            session.set_timer(&mut self.reactor.timers);
            outcome.map(|progress| {
                let parting = session.part(&self.reactor);
                (progress, session.is_ready(), parting, session.destination())
            })
        });
        let Some(outcome) = driven else { return };
        for (origin, key) in std::mem::take(&mut self.reactor.became_ready) {
            if let Some(listener) = self.sources.listener_of(origin) {
                listener.became_ready(key);
            }
        }
        let (progress, is_ready, parting, destination) = match outcome {
            Ok(driven) => driven,
            Err(end) => return self.end_session(slot, end),
        };
        if let Some(thread) = destination {
            return self.hand_over(slot, thread);
        }
        match (progress, is_ready) {
            (Progress::Idle, _) => {}
            (Progress::Again, true) => self.time_slices.ask(slot),
            (Progress::Again, false) => self.handshakes.push(slot),
        }
        if let Some(parting) = parting {
            self.part(parting);
        }
    }

    /// The peer of a session has ended its half. The session sends the rest by itself.
    fn part(&mut self, parting: Parting) {
        let Parting {
            origin,
            key,
            ready_for,
            ..
        } = parting;
        parting.tell();
        let connector = self.sources.connector_of(origin);
        if connector.is_some_and(|connector| connector.left(key)) {
            self.connection_ended(origin, Some(ready_for), false);
        }
    }

    pub(super) fn end_session(&mut self, slot: usize, end: End) {
        let session = self.sources.take_session(slot);
        let Some(mut session) = session.and_then(|session| session.take()) else {
            return;
        };
        let now = self.reactor.now();
        let (origin, key) = (session.identity.origin, session.identity.key);
        let home = session.identity.home.take();
        let Reactor {
            world,
            timers,
            inproc,
            ..
        } = &mut self.reactor;
        let ready_for = session.withdraw(world.registry(), timers, now);
        let by_the_protocol = end.is_by_the_protocol();
        guard::contain("ending a connection", || {
            let core = session.identity.core.clone();
            session.ended(end);
            // What waited for a first peer may have gone this way.
            inproc.settle(&core);
        });
        match origin {
            Origin::Listener { .. } => match home {
                Some(home) => home.post(Command::AdoptedEnded { origin, key }),
                None => self.accepted_ended(origin, key),
            },
            Origin::Connector { .. } => {
                let connector = self.sources.connector_of(origin);
                if !connector.is_some_and(|connector| connector.forget(key)) {
                    self.connection_ended(origin, ready_for, by_the_protocol);
                }
            }
        }
    }

    /// The peer of a connector's session is gone: it tries again. `ready_for` is how long the connection was of use, if
    /// it was.
    fn connection_ended(
        &mut self,
        origin: Origin,
        ready_for: Option<Duration>,
        by_the_protocol: bool,
    ) {
        let now = self.reactor.now();
        if let Origin::Connector { slot, .. } = origin
            && let Some(connector) = self.sources.connector_of(origin)
        {
            if connector.is_done() {
                self.remove_endpoint(slot);
                return;
            }
            let at = connector.ended(ready_for, by_the_protocol, now, &*self.reactor.world);
            self.wait_to_retry(slot, at);
        }
    }
}
