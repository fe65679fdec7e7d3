//! The endpoints of a socket, and the number of parts of the engine that work for it.

use std::mem;

use crate::endpoint::Endpoint;
use crate::options::EndpointOptions;

/// An endpoint that the socket is bound or connected to.
#[derive(Debug, Clone)]
pub(crate) struct Registration {
    pub(crate) endpoint: Endpoint,
    pub(crate) id: u64,
    pub(crate) kind: RegistrationKind,
    /// Whether messages wait for its peer.
    waits: bool,
    /// Whether it is connected to again after its peer has gone.
    returns: bool,
}

impl Registration {
    pub(crate) fn new(
        endpoint: Endpoint,
        id: u64,
        kind: RegistrationKind,
        options: &EndpointOptions,
    ) -> Self {
        Registration {
            endpoint,
            id,
            kind,
            waits: kind == RegistrationKind::Connected && !options.immediate,
            returns: !options.reconnect.stop.after_disconnect,
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
}

impl Endpoints {
    /// Adds an endpoint that something is about to work for.
    pub(super) fn register(&mut self, registration: Registration) {
        self.entries.push(registration);
        self.attachments += 1;
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

    /// Whether an endpoint is still wanted and is connected to again.
    pub(super) fn returns(&self, id: u64) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|entry| entry.id == id && entry.returns)
    }

    pub(super) fn of_kind(&self, kind: RegistrationKind) -> Vec<Endpoint> {
        let of_kind = self.entries.iter().filter(|entry| entry.kind == kind);
        of_kind.map(|entry| entry.endpoint.clone()).collect()
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
            assert_eq!(endpoints.of_kind(kind), std::slice::from_ref(&of));
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
