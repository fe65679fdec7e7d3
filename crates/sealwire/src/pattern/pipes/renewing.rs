//! Pipes whose endpoint has other options by now.

use std::ptr;
use std::sync::{Arc, Weak};

use super::{PipeId, Pipes};
use crate::options::EndpointOptions;
use crate::peer::Peer;

impl Pipes {
    /// Whether the authenticator of these options has not decided about the peer, which another one let in.
    pub(crate) fn is_undecided(&self, id: PipeId) -> bool {
        let pipe = self.slab.get(id);
        pipe.is_some_and(|pipe| pipe.provenance.undecided)
    }

    /// Gives the connection of this peer the options that its endpoint has now, whose authenticator has to decide
    /// about it.
    pub(crate) fn ask_again(
        &mut self,
        id: PipeId,
        peer: &Arc<Peer>,
        options: Weak<EndpointOptions>,
    ) {
        if let Some(pipe) = self.slab.get_mut(id)
            && Arc::ptr_eq(&pipe.peer, peer)
        {
            pipe.provenance.options = options;
            pipe.provenance.undecided = true;
        }
    }

    /// The authenticator of these options has let the peer stay.
    pub(crate) fn decided(&mut self, id: PipeId, peer: &Arc<Peer>, by: &Arc<EndpointOptions>) {
        if let Some(pipe) = self.slab.get_mut(id)
            && Arc::ptr_eq(&pipe.peer, peer)
            && ptr::eq(pipe.provenance.options.as_ptr(), Arc::as_ptr(by))
        {
            pipe.provenance.undecided = false;
        }
    }

    /// Messages queued towards this peer.
    pub(crate) fn outbound_messages_of(&self, id: PipeId) -> usize {
        let pipe = self.slab.get(id);
        pipe.map_or(0, |pipe| pipe.outbound_messages)
    }
}
