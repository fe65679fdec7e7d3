//! Operations of handles on the peers of a socket.

use std::sync::Arc;

use super::SocketCore;
use crate::error::{Error, Operation, Presence};
#[cfg(unix)]
use crate::pattern::PeerQueue;
use crate::pattern::PipeId;
use crate::peer::{Peer, PeerAddress};

impl SocketCore {
    pub(crate) fn peers(&self) -> Vec<Arc<Peer>> {
        let pipes = &self.lock().queues.pipes;
        pipes.settle_accounts();
        let peers = pipes.live().filter_map(|id| pipes.peer(id));
        peers.filter(is_connected).cloned().collect()
    }

    pub(crate) fn accounts(&self) -> Vec<Arc<Peer>> {
        self.lock().queues.pipes.settle_accounts()
    }

    /// Whether there is room for a message to the peer of a ROUTER that has this routing id.
    #[cfg(unix)]
    pub(crate) fn has_room_for(&self, routing_id: &[u8]) -> Result<bool, Error> {
        let state = self.lock();
        state.life.open()?;
        let queues = &state.queues;
        queues.pattern.has_room_for(&queues.pipes, routing_id)
    }

    /// How many messages wait for each peer, and from each, those included that are not there yet.
    #[cfg(unix)]
    pub(crate) fn queues_of_peers(&self) -> Result<Vec<PeerQueue>, Error> {
        let state = self.lock();
        state.life.open()?;
        let endpoint = |connector| Some(state.endpoints.get(connector?)?.endpoint.clone());
        let queues = state
            .queues
            .pipes
            .queues()
            .map(|(queue, connector)| PeerQueue {
                endpoint: endpoint(connector),
                ..queue
            });
        Ok(queues.collect())
    }

    /// The routing id of the connection that the connector with this id made; `None` while there
    /// is none.
    pub(crate) fn routing_id_of_connector(&self, connector: u64) -> Result<Option<u32>, Error> {
        let state = self.lock();
        state.life.open()?;
        let pipes = &state.queues.pipes;
        let led_there = |id: &PipeId| pipes.connector(*id) == Some(connector);
        let awaited = || pipes.awaited(connector);
        if let Some(id) = pipes.live().find(led_there).or_else(awaited) {
            return Ok(Some(state.queues.pattern.routing_id(pipes, id)));
        }
        match state.endpoints.has(connector) {
            true => Ok(None),
            false => Err(Error::GaveUp),
        }
    }

    pub(crate) fn disconnect_peer(
        &self,
        routing_id: u32,
        reason: &'static str,
    ) -> Result<(), Error> {
        self.with(|state| {
            let queues = &mut state.queues;
            (queues.pattern).disconnect(&mut queues.pipes, routing_id, reason)
        })
    }

    /// Whether at least `peers` peers are connected: `Some` once that is so.
    pub(crate) fn connected(&self, peers: usize) -> Result<Option<()>, Error> {
        let state = self.lock();
        state.life.open()?;
        let pipes = &state.queues.pipes;
        let live = pipes.live().filter_map(|id| pipes.peer(id));
        if live.filter(is_connected).count() >= peers {
            return Ok(Some(()));
        }
        // No more will come.
        state.life.takes_endpoints().map(|()| None)
    }

    /// Whether a message that begins with this topic, or to this group, would go to at least
    /// `peers` peers: `Some` once that is so.
    pub(crate) fn subscribed(&self, topic: &[u8], peers: usize) -> Result<Option<()>, Error> {
        self.with(|state| {
            state.life.open()?;
            let queues = &mut state.queues;
            let subscribers = queues.pattern.subscribers(&queues.pipes, topic);
            let subscribers = subscribers.ok_or(Error::Unsupported(Operation::AwaitSubscribers))?;
            Ok((subscribers >= peers).then_some(()))
        })
    }

    pub(crate) fn presence(&self) -> Presence {
        let state = self.lock();
        let pipes = &state.queues.pipes;
        let connected = pipes.connected().count();
        match (pipes.live().count(), state.endpoints.under_way(connected)) {
            (0, 0) => Presence::Nobody,
            (0, connections) => Presence::Handshaking { connections },
            (peers, _) => Presence::Connected { peers },
        }
    }
}

/// Nobody is known to be behind a `udp` endpoint.
fn is_connected(peer: &&Arc<Peer>) -> bool {
    !matches!(peer.address(), PeerAddress::Udp(_))
}
