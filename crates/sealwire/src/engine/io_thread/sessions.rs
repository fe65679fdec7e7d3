//! The I/O thread's sessions: making them, serving them, ending them.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mio::Token;

use super::{EventSource, IoThread, Reactor};
use crate::core::SocketCore;
use crate::endpoint::Endpoint;
use crate::engine::listener::Listener;
use crate::engine::session::{End, Origin, Progress, Session, SessionKey};
use crate::engine::shared::SharedSession;
use crate::guard;
use crate::peer::PeerAddress;
use crate::transport::Stream;
#[cfg(feature = "ws")]
use crate::transport::{Role, Terms};

/// What a peer over WebSocket has to agree with. No socket that leaves it a choice comes here.
#[cfg(feature = "ws")]
fn terms(core: &SocketCore) -> Terms {
    Terms {
        mechanism: core.options().security.first_mechanism(),
        as_server: core.protocol().mechanism.as_server(),
        max_message_size: core.options().max_message_size,
        access: core.options().web_access.clone(),
    }
}

impl IoThread {
    /// `None` when making it panicked.
    pub(super) fn add_session(
        &mut self,
        core: Arc<SocketCore>,
        origin: Origin,
        endpoint: Endpoint,
        address: PeerAddress,
        stream: Stream,
    ) -> Option<(SessionKey, io::Result<()>)> {
        let entry = self.sources.vacant_entry();
        let slot = entry.key();
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
            stream.layered(&endpoint, role, terms(&core), core.options())
        };
        let Reactor { mailbox, world, .. } = &self.reactor;
        let made = || Session::new(core, key, origin, endpoint, address, stream, &**world);
        let mut session = guard::contain("making a connection", made)?;
        let registry = world.registry();
        let registered = match origin {
            Origin::Listener { .. } => session.stream_mut().register(registry, Token(slot)),
            Origin::Connector { .. } => session.stream_mut().reregister(registry, Token(slot)),
        };
        let shared = SharedSession::new(session, mailbox.clone(), world.clone());
        entry.insert(EventSource::Session(shared));
        Some((key, registered))
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
        match self.sources.get(key.slot) {
            Some(EventSource::Session(session)) if session.key == key => {
                match session.advance(|session| event(session, reactor)) {
                    Some(Ok(())) => self.drive(key.slot),
                    Some(Err(end)) => self.end_session(key.slot, end),
                    None => {}
                }
            }
            _ => {}
        }
    }

    pub(super) fn drive(&mut self, slot: usize) {
        let Some(EventSource::Session(session)) = self.sources.get(slot) else {
            return;
        };
        let driven = session.advance(|session| {
            let outcome = session.drive(&mut self.reactor);
            session.set_timer(&mut self.reactor.timers);
            outcome.map(|progress| (progress, session.is_ready()))
        });
        let Some(outcome) = driven else { return };
        for (origin, key) in std::mem::take(&mut self.reactor.became_ready) {
            if let Some(listener) = self.listener_of(origin) {
                listener.became_ready(key);
            }
        }
        match outcome {
            Ok((Progress::Idle, _)) => {}
            Ok((Progress::Again, true)) => self.time_slices.ask(slot),
            Ok((Progress::Again, false)) => self.handshakes.push(slot),
            Err(end) => self.end_session(slot, end),
        }
    }

    pub(super) fn listener_of(&mut self, origin: Origin) -> Option<&mut Listener> {
        let Origin::Listener { slot, id } = origin else {
            return None;
        };
        match self.sources.get_mut(slot) {
            Some(EventSource::Listener(listener)) if listener.id == id => Some(listener),
            _ => None,
        }
    }

    pub(super) fn end_session(&mut self, slot: usize, end: End) {
        let Some(EventSource::Session(session)) = self.sources.try_remove(slot) else {
            return;
        };
        let Some(mut session) = session.take() else {
            return;
        };
        let now = self.reactor.now();
        let (origin, key, ready_for) = (session.origin, session.key, session.ready_for(now));
        session
            .stream_mut()
            .deregister(self.reactor.world.registry());
        session.cancel_timer(&mut self.reactor.timers);
        guard::contain("ending a connection", || session.ended(end));
        match origin {
            Origin::Listener { .. } => {
                if let Some(listener) = self.listener_of(origin) {
                    listener.ended(key);
                }
            }
            Origin::Connector { slot, id } => {
                let Some(EventSource::Connector(connector)) = self.sources.get_mut(slot) else {
                    return;
                };
                if connector.id == id {
                    let at = connector.ended(ready_for, now, &*self.reactor.world);
                    self.wait_to_retry(slot, at);
                }
            }
        }
    }
}
