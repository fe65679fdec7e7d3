//! The I/O thread's connectors: one attempt after the other.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mio::Token;

use super::IoThread;
use super::sources::SourceEvent;
use crate::engine::connector;
use crate::engine::connector::ConnectError;
use crate::engine::reactor::Reactor;
use crate::engine::session::End;
use crate::engine::session_key::Origin;
use crate::engine::timers::Timer;
use crate::failure::{ConnectionFailure, FailureCause};
use crate::monitor::Event;
use crate::peer::{Ends, PeerAddress};
use crate::transport::Target;

impl IoThread {
    pub(super) fn serve_connector(&mut self, slot: usize, event: SourceEvent) {
        match event {
            SourceEvent::Polled(_) => self.advance_connecting(slot),
            SourceEvent::Due(_) => self.connector_due(slot, self.reactor.now()),
            // It never asks for more time, and a backlog needs its peer.
            SourceEvent::TimeSlice | SourceEvent::SocketClosing { backlog: true } => {}
            SourceEvent::SocketClosing { backlog: false } if self.is_connected(slot) => {
                // Its connection may end before everything is sent.
            }
            SourceEvent::Withdrawn { .. } => self.withdraw_connector(slot),
            // Its connection is drained by itself.
            SourceEvent::SocketClosing { backlog: false }
            | SourceEvent::Draining { .. }
            | SourceEvent::LingerOver => {
                self.remove_endpoint(slot);
            }
            SourceEvent::Panicked => {
                if let Some(connector) = self.sources.connector(slot) {
                    let (core, id) = (connector.core.clone(), connector.id);
                    let endpoint = connector.endpoint.clone();
                    let failure = ConnectionFailure {
                        connection: None,
                        ends: Arc::new(Ends::outward(endpoint, PeerAddress::Unknown)),
                        peer: None,
                        cause: FailureCause::Internal,
                    };
                    self.endpoint_panicked(slot, &core, id, Event::Failed(failure));
                }
            }
        }
    }

    fn is_connected(&mut self, slot: usize) -> bool {
        let connector = self.sources.connector(slot);
        connector.is_some_and(|it| matches!(it.state, connector::State::Connected(_)))
    }

    /// Makes no more attempts. A connection that it made ends once it has sent what is queued; a handshake ends at
    /// once.
    fn withdraw_connector(&mut self, slot: usize) {
        let state = self.sources.connector(slot).map(|it| &it.state);
        let session = match state {
            Some(connector::State::Connected(key)) => Some(*key),
            _ => None,
        };
        self.remove_endpoint(slot);
        if let Some(key) = session {
            self.leave_session(key);
        }
    }

    pub(super) fn start_attempt(&mut self, slot: usize) {
        let Some(connector) = self.sources.connector(slot) else {
            return;
        };
        connector.renew();
        let Reactor { mailbox, world, .. } = &self.reactor;
        if let Some(targets) = connector.resolve(mailbox, world) {
            self.resolved(slot, Ok(targets));
        }
    }

    pub(super) fn resolved(&mut self, slot: usize, targets: io::Result<Vec<Target>>) {
        match targets {
            Ok(targets) => self.connect(slot, targets),
            Err(error) => {
                let cause = FailureCause::Resolve(Arc::new(error));
                self.attempt_failed(slot, connector::End::nowhere(cause));
            }
        }
    }

    pub(super) fn connect(&mut self, slot: usize, targets: Vec<Target>) {
        let now = self.reactor.now();
        let world = &self.reactor.world;
        let Some(connector) = self.sources.connector(slot) else {
            return;
        };
        let begun =
            connector
                .connect(targets, now, &**world)
                .and_then(|()| match &mut connector.state {
                    connector::State::Connecting {
                        stream,
                        target,
                        deadline,
                        ..
                    } => {
                        let registered = stream.register(world.registry(), Token(slot));
                        let (address, descriptor) = (target.address(), stream.descriptor());
                        match registered {
                            Ok(()) => {
                                connector.core.hub.emit(Event::Connecting {
                                    endpoint: connector.endpoint.clone(),
                                    address,
                                    descriptor,
                                });
                                Ok(*deadline)
                            }
                            Err(error) => Err(connector::End {
                                cause: FailureCause::Connect(Arc::new(error)),
                                address,
                                descriptor,
                            }),
                        }
                    }
                    _ => Ok(now),
                });
        match begun {
            Ok(deadline) => {
                let number = connector.id;
                self.reactor
                    .timers
                    .set(deadline, Timer::EventSource { slot, number });
            }
            Err(end) => self.attempt_failed(slot, end),
        }
    }

    /// The transport of a connecting stream has something to say.
    pub(super) fn advance_connecting(&mut self, slot: usize) {
        let Some(connector) = self.sources.connector(slot) else {
            return;
        };
        match connector.advance() {
            Ok(false) => {}
            Ok(true) => self.connected(slot),
            Err(error) => self.try_next_address(slot, error),
        }
    }

    pub(super) fn connected(&mut self, slot: usize) {
        let Some(connector) = self.sources.connector(slot) else {
            return;
        };
        let waiting = connector::State::Waiting(Duration::MAX);
        let connector::State::Connecting { stream, target, .. } =
            std::mem::replace(&mut connector.state, waiting)
        else {
            return;
        };
        let (core, options, endpoint, id) = (
            connector.core.clone(),
            connector.options.clone(),
            connector.endpoint.clone(),
            connector.id,
        );
        let (origin, address) = (Origin::Connector { slot, id }, target.address());
        let (local_address, descriptor) = (stream.local_address(), stream.descriptor());
        let ends = Ends {
            endpoint: endpoint.clone(),
            accepted: false,
            local: local_address.clone(),
            remote: address.clone(),
            descriptor,
        };
        let (key, registered) = self.add_session(core.clone(), options, origin, ends, stream);
        if let Some(connector) = self.sources.connector(slot) {
            connector.state = connector::State::Connected(key);
        }
        core.hub.emit(Event::Connected {
            connection: key.connection,
            endpoint,
            address,
            local_address,
            descriptor,
        });
        match registered {
            Ok(()) => self.drive(key.slot),
            Err(error) => {
                let cause = FailureCause::Transport(Arc::new(error));
                self.end_session(key.slot, End::Failed(cause));
            }
        }
    }

    /// An address or the proxy behind it has failed: the next address, or the end of the attempt.
    fn try_next_address(&mut self, slot: usize, error: ConnectError) {
        let Some(connector) = self.sources.connector(slot) else {
            return;
        };
        let waiting = connector::State::Waiting(Duration::MAX);
        let connector::State::Connecting {
            stream,
            target,
            others,
            ..
        } = std::mem::replace(&mut connector.state, waiting)
        else {
            return;
        };
        let (address, descriptor) = (target.address(), stream.descriptor());
        drop(stream);
        let cause = match error {
            ConnectError::Address(_) if !others.is_empty() => return self.connect(slot, others),
            ConnectError::Address(error) => connector.not_connected(error),
            ConnectError::Proxy(error) => error.into(),
        };
        let end = connector::End {
            cause,
            address,
            descriptor,
        };
        self.attempt_failed(slot, end);
    }

    pub(super) fn attempt_failed(&mut self, slot: usize, end: connector::End) {
        let world = self.reactor.world.clone();
        let Some(connector) = self.sources.connector(slot) else {
            return;
        };
        let at = connector.failed(end, world.now(), &*world);
        self.wait_to_retry(slot, at);
    }

    /// `None` when the endpoint is given up.
    pub(super) fn wait_to_retry(&mut self, slot: usize, at: Option<Duration>) {
        let Some(connector) = self.sources.connector(slot) else {
            return;
        };
        let Some(at) = at else {
            self.remove_endpoint(slot);
            return;
        };
        if connector.is_done() {
            self.remove_endpoint(slot);
            return;
        }
        let number = connector.id;
        self.reactor
            .timers
            .set(at, Timer::EventSource { slot, number });
    }

    pub(super) fn connector_due(&mut self, slot: usize, now: Duration) {
        let Some(connector) = self.sources.connector(slot) else {
            return;
        };
        match &connector.state {
            connector::State::Waiting(at) if *at <= now => {
                connector.core.note_reconnect(connector.id);
                self.start_attempt(slot);
            }
            connector::State::Connecting { deadline, .. } if *deadline <= now => {
                let error = connector.overdue();
                self.try_next_address(slot, error);
            }
            _ => {}
        }
    }
}
