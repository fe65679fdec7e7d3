//! How much waits in the queues of peers.

use std::sync::Arc;

use super::Pipes;
use crate::endpoint::Endpoint;
use crate::peer::Peer;

/// The queues of one peer.
#[derive(Debug, Clone)]
pub struct PeerQueue {
    /// The peer; `None` for one that is not there yet.
    pub peer: Option<Arc<Peer>>,
    /// The endpoint that was connected to for it, as long as it is; `None` for a peer that was accepted.
    pub endpoint: Option<Endpoint>,
    /// Messages for it that no connection has taken yet.
    pub outbound: usize,
    /// Messages from it that the application has not received yet.
    pub inbound: usize,
}

impl Pipes {
    /// The queues of all peers, those included that are not there yet, each with the number of the `connect` that it
    /// came from.
    pub(crate) fn queues(&self) -> impl Iterator<Item = (PeerQueue, Option<u64>)> + '_ {
        let pipes = self.slab.iter().map(|(_, pipe)| pipe);
        let wanted = pipes.filter(|pipe| pipe.life.is_awaited() || pipe.life.is_present());
        wanted.map(|pipe| {
            let queue = PeerQueue {
                peer: (!pipe.life.is_awaited()).then(|| pipe.peer.clone()),
                endpoint: None,
                outbound: pipe.outbound_messages,
                inbound: pipe.inbound.len(),
            };
            (queue, pipe.provenance.connector)
        })
    }
}
