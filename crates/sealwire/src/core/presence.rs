//! Which peers are there: how many are connected, and how many asked for a topic.

use super::{Phase, SocketCore, State};
use crate::error::{Error, Operation, Presence};
use crate::peer::PeerAddress;

impl SocketCore {
    /// Whether at least `peers` peers are connected: `Some` once that is so.
    pub(crate) fn connected(&self, peers: usize) -> Result<Option<()>, Error> {
        let state = self.lock();
        state.open()?;
        Ok((state.connected_peers() >= peers).then_some(()))
    }

    /// Whether a message that begins with this topic, or to this group, would go to at least `peers` peers:
    /// `Some` once that is so.
    pub(crate) fn subscribed(&self, topic: &[u8], peers: usize) -> Result<Option<()>, Error> {
        self.with(|state| {
            state.open()?;
            let subscribers = state.pattern.subscribers(&state.pipes, topic);
            let subscribers = subscribers.ok_or(Error::Unsupported(Operation::AwaitSubscribers))?;
            Ok((subscribers >= peers).then_some(()))
        })
    }

    pub(crate) fn presence(&self) -> Presence {
        let state = self.lock();
        let connected = state.pipes.live().count();
        let under_way = state
            .attachments
            .saturating_sub(state.endpoints.len() + connected);
        match (connected, under_way) {
            (0, 0) => Presence::Nobody,
            (0, connections) => Presence::Handshaking { connections },
            (peers, _) => Presence::Connected { peers },
        }
    }
}

impl State {
    fn open(&self) -> Result<(), Error> {
        match self.phase {
            Phase::Open => Ok(()),
            Phase::Closing | Phase::Ended => Err(self.closed()),
        }
    }

    /// Nobody is known to be behind a `udp` endpoint.
    fn connected_peers(&self) -> usize {
        let peers = self.pipes.live().filter_map(|id| self.pipes.peer(id));
        peers
            .filter(|peer| !matches!(peer.address(), PeerAddress::Udp(_)))
            .count()
    }
}
