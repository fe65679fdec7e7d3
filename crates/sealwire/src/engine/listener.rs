//! Accepting connections, with bounds on how many there are and how many are in their handshake.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::admission::Admission;
use super::session::SessionKey;
use crate::endpoint::Endpoint;
use crate::monitor::{Event, FailureCause};
use crate::peer::PeerAddress;
use crate::socket::SocketCore;
use crate::transport::{BoundListener, Stream};

/// Connections accepted in a row before other sources get their turn.
pub(super) const ACCEPTS_PER_TURN: usize = 16;

/// Wait after the system refused to accept, for want of file descriptors for example.
pub(super) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

pub(super) struct Listener {
    pub(super) core: Arc<SocketCore>,
    pub(super) id: u64,
    pub(super) endpoint: Endpoint,
    listener: BoundListener,
    /// Connections in their handshake, oldest first, with their slots.
    handshaking: BTreeMap<u64, usize>,
    /// All connections that came through here and stand.
    connections: usize,
    admission: Box<Admission>,
}

/// What an attempt to accept led to.
pub(super) enum Accepted {
    Connection(Stream, PeerAddress),
    /// As many as allowed are there: this one was closed.
    TurnedAway(PeerAddress, FailureCause),
    /// Nobody is waiting.
    Nothing,
    /// The system refused; try again after [`ACCEPT_PAUSE`].
    Pause,
}

impl Listener {
    pub(super) fn new(
        core: Arc<SocketCore>,
        listener: BoundListener,
        endpoint: Endpoint,
        id: u64,
    ) -> Self {
        Listener {
            core,
            id,
            endpoint,
            listener,
            handshaking: BTreeMap::new(),
            connections: 0,
            admission: Box::default(),
        }
    }

    pub(super) fn source_mut(&mut self) -> &mut BoundListener {
        &mut self.listener
    }

    pub(super) fn accept(&mut self, now: Duration) -> Accepted {
        match self.listener.accept() {
            Ok((stream, address)) => {
                if self.connections >= self.core.options().max_connections {
                    drop(stream);
                    return Accepted::TurnedAway(address, FailureCause::TooManyConnections);
                }
                let limits = &self.core.options().address_limits;
                if let Err(limit) = self.admission.check(limits, &address, now) {
                    drop(stream);
                    return Accepted::TurnedAway(address, FailureCause::AddressLimit(limit));
                }
                Accepted::Connection(stream, address)
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => Accepted::Nothing,
                // The peer was gone again before it was accepted.
                io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted => self.accept(now),
                _ => {
                    let (endpoint, reason) = (self.endpoint.clone(), error.to_string());
                    self.core.hub.emit(Event::AcceptFailed { endpoint, reason });
                    Accepted::Pause
                }
            },
        }
    }

    /// Notes a new connection, and names the oldest handshake if there are too many now.
    pub(super) fn began(
        &mut self,
        session: SessionKey,
        address: &PeerAddress,
    ) -> Option<SessionKey> {
        self.connections += 1;
        let limits = &self.core.options().address_limits;
        self.admission.began(limits, session.connection, address);
        self.handshaking.insert(session.connection, session.slot);
        if self.handshaking.len() <= self.core.options().max_handshakes {
            return None;
        }
        self.handshaking
            .pop_first()
            .map(|(connection, slot)| SessionKey { slot, connection })
    }

    pub(super) fn became_ready(&mut self, session: SessionKey) {
        self.handshaking.remove(&session.connection);
        self.admission.became_ready(session.connection);
    }

    pub(super) fn ended(&mut self, session: SessionKey) {
        self.handshaking.remove(&session.connection);
        let limits = &self.core.options().address_limits;
        self.admission.ended(limits, session.connection);
        self.connections -= 1;
    }
}
