//! The endpoints of a socket, and the number of parts of the engine that work for it.

use std::mem;
use std::sync::{Arc, Weak};

use super::FIRST_THREAD;
use crate::endpoint::Endpoint;
use crate::failure::ConnectionFailure;
use crate::limits::MAX_IO_THREADS;
use crate::measures::Traffic;
use crate::monitor::Failures;
use crate::options::{CurrentOptions, EndpointOptions, Withdrawn};
use crate::peer::PeerAddress;
use crate::security::Terms;

/// An endpoint that the socket is bound or connected to.
#[derive(Debug, Clone)]
pub(crate) struct Registration {
    pub(crate) endpoint: Endpoint,
    pub(crate) id: u64,
    pub(crate) kind: RegistrationKind,
    /// The I/O thread that serves it.
    pub(crate) thread: usize,
    /// Where its listener listens.
    pub(crate) local_address: Option<PeerAddress>,
    /// The number of the listener's descriptor.
    pub(crate) descriptor: Option<i32>,
    /// Whether messages wait for its peer.
    waits: bool,
    /// Whether they wait in a queue of its own, in place of one for all endpoints.
    own_queue: bool,
    /// The routing id that the application chose for its peer.
    pub(crate) routing_id: Option<Arc<[u8]>>,
    /// Whether it is connected to again after its peer has gone.
    returns: bool,
    /// Its options, as long as it is served; never those of `inproc` and `udp`. Weak, as what the application gave
    /// may end with them, and this is dropped under a lock.
    current: Weak<CurrentOptions>,
    /// The terms that its connections must have been made under, once others were ended.
    terms: Option<Terms>,
    pub(super) counts: EndpointCounts,
}

/// The numbers of an endpoint.
#[derive(Debug, Clone, Default)]
pub(crate) struct EndpointCounts {
    /// Connections that were of use, with those that are.
    pub(super) connections: u64,
    /// Attempts to connect that followed a failed or ended connection.
    pub(super) reconnects: u64,
    /// Messages and bytes of peers that are gone.
    pub(super) of_gone: Traffic,
    /// Once there was one: there are many causes.
    pub(super) failures: Option<Box<Failures>>,
}

impl Registration {
    pub(crate) fn new(
        endpoint: Endpoint,
        id: u64,
        kind: RegistrationKind,
        options: &EndpointOptions,
    ) -> Self {
        // libzmq has a pipe within the process whether somebody is at its other end or not.
        let within = options.as_libzmq && matches!(endpoint, Endpoint::Inproc(_));
        Registration {
            endpoint,
            id,
            kind,
            thread: FIRST_THREAD,
            local_address: None,
            descriptor: None,
            waits: kind == RegistrationKind::Connected && (within || !options.immediate),
            own_queue: options.queue_per_endpoint,
            routing_id: None,
            returns: !options.reconnect.stop.after_disconnect,
            current: Weak::new(),
            terms: None,
            counts: EndpointCounts::default(),
        }
    }

    /// Served by this I/O thread.
    pub(crate) fn on_thread(self, thread: usize) -> Self {
        Registration { thread, ..self }
    }

    /// With the routing id that the application chose for the peer.
    pub(crate) fn with_routing_id(self, routing_id: Option<Arc<[u8]>>) -> Self {
        Registration { routing_id, ..self }
    }

    /// With options that can be replaced.
    pub(crate) fn with_options(self, current: &Arc<CurrentOptions>) -> Self {
        let current = Arc::downgrade(current);
        Registration { current, ..self }
    }

    /// Its options, which the caller drops without a lock.
    pub(super) fn current(&self) -> Option<Arc<CurrentOptions>> {
        self.current.upgrade()
    }

    /// The terms of its connections, where some were ended.
    pub(super) fn terms(&self) -> Option<&Terms> {
        self.terms.as_ref()
    }

    /// Connections that were made under other terms end, or stay.
    pub(super) fn renew_terms(&mut self, terms: Terms, withdrawn: Withdrawn) {
        match (withdrawn, &mut self.terms) {
            (Withdrawn::End, known) => *known = Some(terms),
            // Those that were ended before have not come back by this.
            (Withdrawn::Stay, Some(known)) => known.extend(terms),
            (Withdrawn::Stay, None) => {}
        }
    }

    /// Whether messages wait for its peer in a queue of its own: that is how a routing id can be used before its peer
    /// is there.
    pub(super) fn queues_at_once(&self) -> bool {
        self.waits && (self.own_queue || self.routing_id.is_some())
    }

    /// With where its listener listens, and the number of the descriptor.
    pub(crate) fn listening_at(
        self,
        local_address: Option<PeerAddress>,
        descriptor: Option<i32>,
    ) -> Self {
        Registration {
            local_address,
            descriptor,
            ..self
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegistrationKind {
    Bound,
    Connected,
}

#[derive(Default)]
pub(super) struct Endpoints {
    entries: Vec<Registration>,
    /// The numbers of those that the socket was bound to and left with their peers, until no more can come.
    left: Vec<u64>,
    /// Listeners, connectors and connections that work for this socket, and calls that are closing it.
    attachments: usize,
    /// A bit for each I/O thread that has served one, beside the first.
    threads: u64,
}

impl Endpoints {
    /// Adds an endpoint that something is about to work for.
    pub(super) fn register(&mut self, registration: Registration) {
        self.threads |= 1 << registration.thread;
        self.entries.push(registration);
        self.attachments += 1;
    }

    /// The I/O threads that may serve something of the socket.
    pub(super) fn threads(&self) -> Vec<usize> {
        (0..MAX_IO_THREADS)
            .filter(|thread| self.is_served_by(*thread))
            .collect()
    }

    /// Counts a thread among them.
    pub(super) fn spread_to(&mut self, thread: usize) {
        self.threads |= 1 << thread;
    }

    /// Whether this thread has served something of the socket.
    pub(super) fn is_served_by(&self, thread: usize) -> bool {
        thread == FIRST_THREAD || self.threads & (1 << thread) != 0
    }

    /// Takes an endpoint out. What works for it goes on until it is released.
    pub(super) fn unregister(
        &mut self,
        endpoint: &Endpoint,
        kind: RegistrationKind,
    ) -> Option<Registration> {
        let mut entries = self.entries.iter();
        let position =
            entries.position(|entry| entry.kind == kind && entry.endpoint == *endpoint)?;
        Some(self.entries.remove(position))
    }

    /// Takes all endpoints out. What works for them goes on until it is released.
    pub(super) fn withdraw_all(&mut self) -> Vec<Registration> {
        mem::take(&mut self.entries)
    }

    /// Forgets an endpoint that is given up.
    pub(super) fn forget(&mut self, id: u64) {
        self.entries.retain(|entry| entry.id != id);
    }

    /// Lets no more peers come through an endpoint that was taken out.
    pub(super) fn leave(&mut self, listener: u64) {
        self.left.push(listener);
    }

    pub(super) fn has_left(&self, listener: u64) -> bool {
        self.left.contains(&listener)
    }

    /// Forgets an endpoint through which no more can come.
    pub(super) fn forget_left(&mut self, listener: u64) {
        self.left.retain(|left| *left != listener);
    }

    pub(super) fn has(&self, id: u64) -> bool {
        self.entries.iter().any(|entry| entry.id == id)
    }

    /// The endpoint with this number, as long as it is wanted.
    pub(super) fn get(&self, id: u64) -> Option<&Registration> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    /// Whether an endpoint is still wanted and is connected to again.
    pub(super) fn returns(&self, id: u64) -> bool {
        self.get(id).is_some_and(|entry| entry.returns)
    }

    /// Those with this endpoint.
    pub(super) fn at(&self, endpoint: &Endpoint) -> impl Iterator<Item = &Registration> {
        let entries = self.entries.iter();
        entries.filter(move |entry| entry.endpoint == *endpoint)
    }

    /// The same, to be changed.
    pub(super) fn at_mut(
        &mut self,
        endpoint: &Endpoint,
    ) -> impl Iterator<Item = &mut Registration> {
        let entries = self.entries.iter_mut();
        entries.filter(move |entry| entry.endpoint == *endpoint)
    }

    pub(super) fn all(&self) -> &[Registration] {
        &self.entries
    }

    fn counts(&mut self, id: u64) -> Option<&mut EndpointCounts> {
        let mut entries = self.entries.iter_mut();
        Some(&mut entries.find(|entry| entry.id == id)?.counts)
    }

    /// A connection of this endpoint is of use now.
    pub(super) fn note_connection(&mut self, id: u64) {
        if let Some(counts) = self.counts(id) {
            counts.connections += 1;
        }
    }

    /// Another attempt to connect there begins.
    pub(super) fn note_reconnect(&mut self, id: u64) {
        if let Some(counts) = self.counts(id) {
            counts.reconnects += 1;
        }
    }

    /// A peer that came from this endpoint is gone.
    pub(super) fn note_gone(&mut self, id: u64, traffic: Traffic) {
        if let Some(counts) = self.counts(id) {
            counts.of_gone.add(traffic);
        }
    }

    /// A connection through this endpoint failed, or an attempt to connect to it.
    pub(super) fn note_failure(&mut self, failure: &ConnectionFailure) {
        let kind = match failure.is_accepted() {
            true => RegistrationKind::Bound,
            false => RegistrationKind::Connected,
        };
        if let Some(entry) = self
            .at_mut(failure.endpoint())
            .find(|entry| entry.kind == kind)
        {
            let failures = entry.counts.failures.get_or_insert_default();
            failures.note(failure);
        }
    }

    pub(super) fn of_kind(&self, kind: RegistrationKind) -> impl Iterator<Item = &Registration> {
        self.entries.iter().filter(move |entry| entry.kind == kind)
    }

    /// Whether an endpoint is being connected to for whose peer messages are to wait.
    pub(super) fn expects_peers(&self) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|entry| entry.waits)
    }

    /// Counts one more that works for the socket.
    pub(super) fn attach(&mut self) {
        self.attachments += 1;
    }

    /// The counterpart of [`attach`](Self::attach) and [`register`](Self::register).
    pub(super) fn release(&mut self) {
        self.attachments -= 1;
    }

    /// Whether nothing works for the socket.
    pub(super) fn is_idle(&self) -> bool {
        self.attachments == 0
    }

    /// Whether nothing will work for the socket once the one that asks is released.
    pub(super) fn is_last(&self) -> bool {
        self.attachments <= 1
    }

    /// Connections that are neither listeners or connectors nor among those with a peer.
    pub(super) fn under_way(&self, connected: usize) -> usize {
        self.attachments
            .saturating_sub(self.entries.len() + connected)
    }
}

#[cfg(test)]
mod tests {
    use sealwire_zmtp::{Config, SocketType};

    use super::*;
    use crate::options::SocketOptions;

    fn registration(name: &str, id: u64, kind: RegistrationKind) -> Registration {
        let endpoint = Endpoint::Inproc(name.into());
        Registration::new(endpoint, id, kind, &options(false))
    }

    fn options(immediate: bool) -> EndpointOptions {
        let mut options = SocketOptions::new(SocketType::Push);
        options.immediate = immediate;
        EndpointOptions::new(options, Config::new(SocketType::Push))
    }

    #[test]
    fn an_endpoint_is_found_by_what_it_is_for_and_forgotten_by_its_id() {
        use RegistrationKind::{Bound, Connected};
        let mut endpoints = Endpoints::default();
        endpoints.register(registration("a", 1, Bound));
        assert!(!endpoints.expects_peers());
        endpoints.register(registration("a", 2, Connected));
        endpoints.register(registration("a", 3, Connected));
        assert!(endpoints.expects_peers());
        let of = Endpoint::Inproc("a".into());
        assert_eq!(endpoints.unregister(&of, Connected).unwrap().id, 2);
        for kind in [Bound, Connected] {
            let of_kind: Vec<_> = endpoints.of_kind(kind).map(|it| &it.endpoint).collect();
            assert_eq!(of_kind, [&of]);
        }
        endpoints.forget(3);
        assert!(!endpoints.has(3) && endpoints.has(1));
        assert!(endpoints.unregister(&of, Connected).is_none());
        assert!(!endpoints.expects_peers());
    }

    #[test]
    fn messages_wait_for_no_peer_that_is_to_be_there_first() {
        let mut endpoints = Endpoints::default();
        let (a, kind) = (Endpoint::Inproc("a".into()), RegistrationKind::Connected);
        endpoints.register(Registration::new(a, 1, kind, &options(true)));
        assert!(!endpoints.expects_peers());
        endpoints.register(registration("b", 2, RegistrationKind::Connected));
        assert!(endpoints.expects_peers());
        endpoints.forget(2);
        assert!(!endpoints.expects_peers());
    }

    #[test]
    fn what_works_outlives_its_endpoint() {
        let mut endpoints = Endpoints::default();
        assert!(endpoints.is_idle());
        endpoints.register(registration("a", 1, RegistrationKind::Connected));
        endpoints.attach();
        // One connector; one connection, which may have a peer.
        assert_eq!((endpoints.under_way(0), endpoints.under_way(1)), (1, 0));
        endpoints.forget(1);
        endpoints.release();
        assert!(endpoints.is_last() && !endpoints.is_idle());
        endpoints.release();
        assert!(endpoints.is_idle());
    }
}
