//! Fair queueing: takes messages in turn from the peers that have some, one each (RFC 28, 30 and
//! 31: "SHALL receive incoming messages from its peers using a fair-queuing strategy").

use std::collections::VecDeque;
use std::sync::Arc;

use sealwire_zmtp::Frames;

use super::pipes::{PipeId, Pipes};
use super::{Arrivals, Delivered, Received};
use crate::peer::Peer;

/// The order of the pipes that have something to read.
#[derive(Default)]
pub(crate) struct FairQueue {
    order: VecDeque<PipeId>,
}

impl FairQueue {
    /// Queues a received message and puts its pipe in the order if it was not.
    pub(crate) fn push(&mut self, pipes: &mut Pipes, id: PipeId, frames: Frames) {
        let waiting = pipes.has_inbound(id);
        pipes.push_inbound(id, frames);
        if !waiting {
            self.order.push_back(id);
            pipes.sole.note_readable(&self.order);
        }
    }

    /// Queues received messages as long as there is room. Returns their number and bytes.
    pub(crate) fn fill(
        &mut self,
        pipes: &mut Pipes,
        id: PipeId,
        source: &mut dyn Arrivals,
    ) -> (usize, usize) {
        let waiting = pipes.has_inbound(id);
        let filled = pipes.fill_inbound(id, source);
        if !waiting && filled.0 > 0 {
            self.order.push_back(id);
            pipes.sole.note_readable(&self.order);
        }
        filled
    }

    /// The same for a pipe that several share, one of whom sent this.
    fn push_from(&mut self, pipes: &mut Pipes, id: PipeId, frames: Frames, sender: Arc<Peer>) {
        self.push(pipes, id, frames);
        pipes.sent_by(id, sender);
    }

    /// Queues datagrams as long as there is room, without those that are not `wanted`.
    pub(crate) fn push_datagrams(
        &mut self,
        pipes: &mut Pipes,
        id: PipeId,
        next: &mut dyn FnMut() -> Option<Received>,
        wanted: impl Fn(&Frames) -> bool,
    ) -> Delivered {
        let mut delivered = Delivered::default();
        while pipes.accepts_input(id) {
            let Some((frames, sender)) = next() else {
                return delivered;
            };
            if !wanted(&frames) {
                delivered.ignored += 1;
                pipes.discard(frames);
                continue;
            }
            delivered.queued += 1;
            delivered.bytes += frames.size();
            self.push_from(pipes, id, frames, sender);
        }
        delivered.full = true;
        delivered
    }

    /// The next message in turn, with the pipe it came through.
    pub(crate) fn pop(&mut self, pipes: &mut Pipes) -> Option<(PipeId, Frames, Arc<Peer>)> {
        while let Some(&id) = self.order.front() {
            let popped = pipes.pop_inbound(id);
            if !pipes.has_inbound(id) {
                self.order.pop_front();
            } else if self.order.len() > 1 {
                self.order.rotate_left(1);
            }
            pipes.sole.note_readable(&self.order);
            if let Some((frames, peer)) = popped {
                return Some((id, frames, peer));
            }
        }
        None
    }

    /// Discards what came from a peer and was not read. Returns how many messages it was.
    pub(crate) fn forget(&mut self, pipes: &mut Pipes, id: PipeId) -> usize {
        self.order.retain(|other| *other != id);
        pipes.sole.note_readable(&self.order);
        pipes.discard_unread_of(id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}
