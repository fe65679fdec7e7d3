//! The event sources of the I/O thread: listeners, connectors, sessions and datagrams, in one slab whose
//! slots are the tokens of the poll.
//!
//! A source gets [`SourceEvent`]s. [`IoThread::serve`] gives each to the file of the source's kind, which
//! handles it.

use std::sync::Arc;
use std::time::Duration;

use mio::Registry;
use slab::Slab;

use super::IoThread;
use crate::core::SocketCore;
use crate::engine::connector::Connector;
use crate::engine::datagrams::Datagrams;
use crate::engine::listener::Listener;
use crate::engine::session_key::{Origin, SessionKey};
use crate::engine::shared::SharedSession;
use crate::engine::world::PollEvent;

pub(super) enum EventSource {
    Listener(Box<Listener>),
    Connector(Box<Connector>),
    Session(Arc<SharedSession>),
    Datagrams(Box<Datagrams>),
}

/// Something that happens to a source.
pub(super) enum SourceEvent {
    /// The poll says that its transport has changed.
    Polled(PollEvent),
    /// It asked for more time.
    TimeSlice,
    /// Its timer with this number is due.
    Due(u64),
    /// Its endpoint is withdrawn: what is queued may still go out. Those who came through it stay or are left too.
    Withdrawn { peers_stay: bool },
    /// Its socket is closing, and messages may wait for a first peer.
    SocketClosing { backlog: bool },
    /// Its socket is being drained until this time: what peers have sent is taken.
    Draining { until: Duration },
    /// Its socket has lingered long enough.
    LingerOver,
    /// Something has panicked in it.
    Panicked,
}

impl EventSource {
    /// The number of its endpoint, or of its connection: the one that its timers have.
    fn number(&self) -> u64 {
        match self {
            EventSource::Listener(listener) => listener.id,
            EventSource::Connector(connector) => connector.id,
            EventSource::Datagrams(datagrams) => datagrams.id,
            EventSource::Session(session) => session.key.connection,
        }
    }

    /// The number of its socket.
    fn socket(&self) -> u64 {
        match self {
            EventSource::Listener(listener) => listener.core.id(),
            EventSource::Connector(connector) => connector.core.id(),
            EventSource::Datagrams(datagrams) => datagrams.core.id(),
            EventSource::Session(session) => session.socket,
        }
    }

    /// Ends what works for an endpoint. A session ends in its own way.
    pub(super) fn end(self, registry: &Registry) {
        match self {
            EventSource::Listener(mut listener) => {
                listener.source_mut().deregister(registry);
                listener.core.remove_attachment();
            }
            EventSource::Connector(connector) => connector.core.remove_attachment(),
            EventSource::Datagrams(datagrams) => datagrams.end(registry),
            EventSource::Session(_) => {}
        }
    }

    #[cfg(test)]
    fn endpoint(&self) -> Option<String> {
        match self {
            EventSource::Listener(listener) => Some(listener.endpoint.to_string()),
            EventSource::Connector(connector) => Some(connector.endpoint.to_string()),
            EventSource::Datagrams(datagrams) => Some(datagrams.endpoint.to_string()),
            EventSource::Session(_) => None,
        }
    }
}

#[derive(Default)]
pub(super) struct Sources {
    slab: Slab<EventSource>,
    /// The slots of the listeners, which are few among many.
    listeners: Vec<usize>,
}

impl Sources {
    /// The slot that the next one gets.
    pub(super) fn vacant_slot(&self) -> usize {
        self.slab.vacant_key()
    }

    pub(super) fn insert(&mut self, source: EventSource) -> usize {
        let listens = matches!(source, EventSource::Listener(_));
        let slot = self.slab.insert(source);
        if listens {
            self.listeners.push(slot);
        }
        slot
    }

    pub(super) fn slots(&self) -> Vec<usize> {
        self.slab.iter().map(|(slot, _)| slot).collect()
    }

    /// The listeners of this socket.
    pub(super) fn listeners_of(&self, core: &SocketCore) -> Vec<usize> {
        let mut slots = self.slots_of(core);
        slots.retain(|slot| self.listeners.contains(slot));
        slots
    }

    /// Those that work for this socket.
    pub(super) fn slots_of(&self, core: &SocketCore) -> Vec<usize> {
        let of_core = self.slab.iter();
        let of_core = of_core.filter(|(_, source)| source.socket() == core.id());
        of_core.map(|(slot, _)| slot).collect()
    }

    /// The sessions of this socket that came through the listener with this number.
    pub(super) fn accepted_by(&self, core: &SocketCore, id: u64) -> Vec<SessionKey> {
        self.sessions_of(core, |origin| origin.listener() == Some(id))
    }

    /// The sessions of this socket that came from the endpoint with this number.
    pub(super) fn of_endpoint(&self, core: &SocketCore, id: u64) -> Vec<SessionKey> {
        self.sessions_of(core, |origin| origin.endpoint() == id)
    }

    fn sessions_of(&self, core: &SocketCore, wanted: impl Fn(Origin) -> bool) -> Vec<SessionKey> {
        let sessions = self.slab.iter().filter_map(|(_, source)| match source {
            EventSource::Session(session) if session.socket == core.id() => Some(session),
            _ => None,
        });
        let found = sessions.filter(|session| {
            let origin = session.with(|session| session.identity.origin);
            origin.is_some_and(&wanted)
        });
        found.map(|session| session.key).collect()
    }

    /// What works for the endpoint with this number.
    pub(super) fn find(&self, id: u64) -> Option<usize> {
        // The numbers of connections are others.
        let mut sources = self.slab.iter();
        let found = sources.find(|(_, source)| source.number() == id);
        found.map(|(slot, _)| slot)
    }

    #[cfg(test)]
    pub(super) fn find_endpoint(&self, text: &str) -> Option<usize> {
        let mut sources = self.slab.iter();
        let found = sources.find(|(_, source)| source.endpoint().as_deref() == Some(text));
        found.map(|(slot, _)| slot)
    }

    pub(super) fn listeners(&self) -> impl Iterator<Item = &Listener> {
        let slots = self.listeners.iter();
        slots.filter_map(|slot| match self.slab.get(*slot) {
            Some(EventSource::Listener(listener)) => Some(&**listener),
            _ => None,
        })
    }

    pub(super) fn listener(&mut self, slot: usize) -> Option<&mut Listener> {
        match self.slab.get_mut(slot) {
            Some(EventSource::Listener(listener)) => Some(listener),
            _ => None,
        }
    }

    /// The listener that accepted a connection, if it is still there.
    pub(super) fn listener_of(&mut self, origin: Origin) -> Option<&mut Listener> {
        let Origin::Listener { slot, id } = origin else {
            return None;
        };
        self.listener(slot).filter(|listener| listener.id == id)
    }

    pub(super) fn connector(&mut self, slot: usize) -> Option<&mut Connector> {
        match self.slab.get_mut(slot) {
            Some(EventSource::Connector(connector)) => Some(connector),
            _ => None,
        }
    }

    /// The connector that made a connection, if it is still there.
    pub(super) fn connector_of(&mut self, origin: Origin) -> Option<&mut Connector> {
        let Origin::Connector { slot, id } = origin else {
            return None;
        };
        self.connector(slot).filter(|connector| connector.id == id)
    }

    pub(super) fn datagrams(&mut self, slot: usize) -> Option<&mut Datagrams> {
        match self.slab.get_mut(slot) {
            Some(EventSource::Datagrams(datagrams)) => Some(datagrams),
            _ => None,
        }
    }

    pub(super) fn session(&self, slot: usize) -> Option<&Arc<SharedSession>> {
        match self.slab.get(slot) {
            Some(EventSource::Session(session)) => Some(session),
            _ => None,
        }
    }

    /// The session of this name, if it is still there.
    pub(super) fn session_of(&self, key: SessionKey) -> Option<&Arc<SharedSession>> {
        self.session(key.slot).filter(|session| session.key == key)
    }

    pub(super) fn take_session(&mut self, slot: usize) -> Option<Arc<SharedSession>> {
        self.session(slot)?;
        match self.slab.remove(slot) {
            EventSource::Session(session) => Some(session),
            _ => None,
        }
    }

    /// Takes out what works for an endpoint, with its number.
    pub(super) fn take_endpoint(&mut self, slot: usize) -> Option<(u64, EventSource)> {
        match self.slab.get(slot)? {
            EventSource::Session(_) => None,
            source => {
                let number = source.number();
                self.listeners.retain(|&other| other != slot);
                Some((number, self.slab.remove(slot)))
            }
        }
    }
}

impl IoThread {
    /// Lets something happen to the source in this slot, if there is one.
    pub(super) fn serve(&mut self, slot: usize, event: SourceEvent) {
        let Some(source) = self.sources.slab.get(slot) else {
            return;
        };
        match (source, &event) {
            // Of the source that had the slot before.
            (source, SourceEvent::Due(number)) if source.number() != *number => {}
            (EventSource::Session(_), _) => self.serve_session(slot, event),
            (EventSource::Connector(_), _) => self.serve_connector(slot, event),
            (EventSource::Listener(_), _) => self.serve_listener(slot, event),
            (EventSource::Datagrams(_), _) => self.serve_datagrams(slot, event),
        }
    }
}

#[cfg(test)]
mod tests {
    use sealwire_zmtp::SocketType;

    use super::*;
    use crate::endpoint::Endpoint;
    use crate::engine::load::Load;
    use crate::options::CurrentOptions;
    use crate::socket::Socket;

    fn connector(socket: &Socket, id: u64) -> EventSource {
        let endpoint = Endpoint::Inproc(format!("endpoint-{id}"));
        let core = socket.core().unwrap().clone();
        EventSource::Connector(Box::new(Connector::new(
            core.clone(),
            CurrentOptions::new(core.options()),
            endpoint,
            id,
            Load::default().share(),
        )))
    }

    #[test]
    fn sources_are_found_by_id_by_socket_and_by_kind() {
        let [one, other] = [SocketType::Push, SocketType::Pull].map(|it| Socket::new(it).unwrap());
        let mut sources = Sources::default();
        let slots = [(&one, 71), (&other, 72), (&one, 73)]
            .map(|(socket, id)| sources.insert(connector(socket, id)));
        assert_eq!(sources.find(72), Some(slots[1]));
        assert_eq!(sources.slots_of(one.core().unwrap()), [slots[0], slots[2]]);
        assert_eq!(sources.connector(slots[2]).unwrap().id, 73);
        assert!(sources.listener(slots[2]).is_none() && sources.datagrams(slots[2]).is_none());
        assert!(sources.session(slots[2]).is_none() && sources.take_session(slots[2]).is_none());
        assert_eq!(sources.listeners().count(), 0);
    }

    #[test]
    fn a_slot_is_used_again_and_the_name_says_by_whom() {
        let socket = Socket::new(SocketType::Push).unwrap();
        let mut sources = Sources::default();
        let slot = sources.insert(connector(&socket, 71));
        let (id, _) = sources.take_endpoint(slot).unwrap();
        assert_eq!(id, 71);
        assert!(sources.take_endpoint(slot).is_none());
        assert_eq!(sources.insert(connector(&socket, 72)), slot);
        assert_eq!(sources.find(71), None);
        let origin = Origin::Listener { slot, id: 72 };
        assert!(sources.listener_of(origin).is_none());
        let key = SessionKey {
            slot,
            connection: 72,
        };
        assert!(sources.session_of(key).is_none());
    }
}
