//! Queues for peers that are not there yet: one for each `connect` from the moment that it returns, where the socket
//! was made so ([`queue_per_endpoint`](crate::SocketBuilder::queue_per_endpoint)) or the application chose a routing id
//! for the peer.
//!
//! ```text
//!   connect ──▶ awaited ── its connection is ready ──▶ a peer ── it is gone ──▶ awaited again
//!                  │
//!                  └── disconnect, or no more attempts ──▶ what waited goes to others, or is counted
//! ```

use std::sync::Weak;

use super::{Registration, State};
use crate::error::Error;
use crate::pattern::Provenance;

impl State {
    /// Makes the queue for the peer of a `connect`, where it has one of its own.
    ///
    /// # Errors
    ///
    /// [`Error::RoutingIdInUse`].
    pub(super) fn await_peer(&mut self, registration: &Registration) -> Result<(), Error> {
        if !registration.queues_at_once() {
            return Ok(());
        }
        let made = self.queues.await_peer(Provenance {
            connector: Some(registration.id),
            listener: None,
            routing_id: registration.routing_id.clone(),
            options: Weak::new(),
            undecided: false,
        });
        match &registration.routing_id {
            Some(routing_id) if made.is_err() => Err(Error::RoutingIdInUse(routing_id.to_vec())),
            // Another peer is the only one that the type may have: this one is turned away when it comes.
            _ => Ok(()),
        }
    }

    /// The same once the peer is gone. An endpoint that is not connected to again is given up after that.
    pub(super) fn await_peer_again(&mut self, connector: Option<u64>) {
        let endpoint = connector.and_then(|connector| self.endpoints.get(connector));
        let Some(endpoint) = endpoint.cloned() else {
            return;
        };
        let again = self.await_peer(&endpoint);
        debug_assert!(again.is_ok(), "a routing id was given away");
    }
}
