//! Other options for an endpoint that is used, and what they mean for its connections.
//!
//! The terms of the endpoint are renewed under the lock, and each connection reads them once after it was attached. So
//! it is found by those who tell the connections of new terms, or finds these itself.

use std::sync::Arc;

use super::present::made;
use super::{RegistrationKind, SocketCore};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::options::{EndpointOptions, SocketOptions, Withdrawn};
use crate::pattern::PipeId;
use crate::peer::Peer;
use crate::security::{Outcome, Security};

impl SocketCore {
    /// What the socket did there, each time.
    pub(crate) fn kinds_of(&self, endpoint: &Endpoint) -> Result<Vec<RegistrationKind>, Error> {
        let state = self.lock();
        state.life.open()?;
        let kinds: Vec<_> = state.endpoints.at(endpoint).map(|it| it.kind).collect();
        match kinds.is_empty() {
            true => Err(Error::UnknownEndpoint(endpoint.clone())),
            false => Ok(kinds),
        }
    }

    /// The options that an endpoint has now; `None` where they cannot be replaced.
    pub(crate) fn options_of(
        &self,
        endpoint: &Endpoint,
    ) -> Result<Option<Arc<EndpointOptions>>, Error> {
        let current = {
            let state = self.lock();
            state.life.open()?;
            let registration = state.endpoints.at(endpoint).next();
            registration
                .ok_or_else(|| Error::UnknownEndpoint(endpoint.clone()))?
                .current()
        };
        Ok(current.map(|current| current.get()))
    }

    /// Gives an endpoint other options, which have been found to fit it. Returns them, and the numbers of those that
    /// have them.
    pub(crate) fn renew(
        self: &Arc<Self>,
        endpoint: &Endpoint,
        options: SocketOptions,
        withdrawn: Withdrawn,
    ) -> Result<(Arc<EndpointOptions>, Vec<u64>), Error> {
        let made = made(self.context.engine(), options);
        let terms = made.security.terms();
        let (renewed, before) = self.with(|state| {
            state.life.open()?;
            let (mut renewed, mut before) = (Vec::new(), Vec::new());
            for registration in state.endpoints.at_mut(endpoint) {
                if let Some(current) = registration.current() {
                    registration.renew_terms(terms.clone(), withdrawn);
                    renewed.push(registration.id);
                    before.push((current.replace(made.clone()), current));
                }
            }
            Ok::<_, Error>((renewed, before))
        })?;
        if renewed.is_empty() {
            // It was unbound or given up meanwhile.
            return Err(Error::UnknownEndpoint(endpoint.clone()));
        }
        self.present.note(&made);
        drop(before);
        self.watch_revisions();
        Ok((made, renewed))
    }

    /// What the terms of an endpoint mean for a connection that was made under `earlier`.
    pub(crate) fn outcome(&self, endpoint: u64, earlier: &Security, peer: &Peer) -> Outcome {
        let state = self.lock();
        let registration = state.endpoints.get(endpoint);
        let terms = registration.and_then(|registration| registration.terms());
        terms.map_or(Outcome::Stands, |terms| terms.outcome(earlier, peer))
    }

    /// Has the endpoint's present authenticator decide about a peer. Returns the options that the connection has from
    /// now on.
    pub(crate) fn ask_again(
        self: &Arc<Self>,
        endpoint: u64,
        id: PipeId,
        peer: &Arc<Peer>,
    ) -> Option<Arc<EndpointOptions>> {
        let current = self.lock().endpoints.get(endpoint)?.current()?;
        let options = current.get();
        let weak = Arc::downgrade(&options);
        self.with(|state| state.queues.pipes.ask_again(id, peer, weak));
        // A thread that decides about the clients sees the pipe, or does so once more.
        self.clients.revising.ask_again();
        self.have_revisions();
        Some(options)
    }

    /// Messages that are queued for this peer and can go to no other.
    pub(crate) fn owed(&self, id: PipeId) -> usize {
        let queues = &mut self.lock().queues;
        match queues.pattern.round_robin() {
            Some(_) => 0,
            None => queues.pipes.outbound_messages_of(id),
        }
    }

    /// The authenticator of these options has let a peer stay.
    pub(super) fn decided(&self, id: PipeId, peer: &Arc<Peer>, by: &Arc<EndpointOptions>) {
        self.with(|state| state.queues.pipes.decided(id, peer, by));
    }
}
