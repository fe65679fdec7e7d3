//! What waits for peers: how it is queued, for one or for many, and taken by their links.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use sealwire_zmtp::Frames;

use super::{PipeId, Pipes};
use crate::pattern::framing::{FramedRange, FramingBuffer};
use crate::pattern::high_water_mark::Room;
use crate::pattern::item::Item;
use crate::pattern::link::Link;
use crate::pattern::pipe_state::Carriage;

/// What a link has taken from its queue.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Taken {
    /// Messages of the application.
    pub(crate) messages: usize,
    /// This made half of the queue free.
    pub(crate) half_free: bool,
    /// It made room of which nobody is told yet, as that is less than half of the queue. A link that takes no more
    /// before long tells them, or they would sleep beside room.
    pub(crate) untold: bool,
}

impl Pipes {
    /// Whether one more message may be queued for this peer.
    pub(crate) fn has_room(&self, id: PipeId) -> bool {
        self.slab
            .get(id)
            .is_some_and(|pipe| pipe.life.takes_messages() && pipe.has_room())
    }

    /// Counts a message that found no room, for the peer it was for.
    pub(crate) fn note_full(&mut self, id: PipeId) {
        let pipe = self.slab.get_mut(id);
        if let Some(pipe) = pipe.filter(|pipe| pipe.life.takes_messages()) {
            pipe.note_full();
        }
    }

    /// A message is sent to these peers on [credit](crate::pattern::credit).
    pub(crate) fn spend_credit(&self, ids: &[PipeId]) {
        for pipe in ids.iter().filter_map(|id| self.slab.get(*id)) {
            pipe.credit.spend();
        }
    }

    /// Whether the credit of one of these peers ran out. The sender is told once for all of them.
    pub(crate) fn credit_ran_out(&self, ids: &[PipeId]) -> bool {
        let mut any = false;
        for pipe in ids.iter().filter_map(|id| self.slab.get(*id)) {
            let limit = pipe.high_water_marks.send.messages;
            any |= pipe.credit.ran_out(limit, || (pipe.clock)());
        }
        any
    }

    /// The sender has learned how much room there is.
    pub(crate) fn renew_credit(&self) {
        for (_, pipe) in &self.slab {
            pipe.credit.renew(|| (pipe.clock)());
        }
    }

    /// Queues an item for the peer. The caller has checked [`Pipes::has_room`] where it matters.
    pub(crate) fn push(&mut self, id: PipeId, item: Item) {
        let pipe = self.slab.get_mut(id);
        match pipe.filter(|pipe| pipe.life.takes_messages()) {
            Some(pipe) => pipe.push(item, &mut self.signals),
            None => self.discard_item(item),
        }
    }

    /// Queues a message for all these peers, and says for how many there was no room. What nobody
    /// needs any more is left.
    pub(crate) fn push_to_all(&mut self, ids: &[PipeId], frames: &mut Frames) -> usize {
        if let [id] = *ids {
            let room = self.has_room(id);
            if room {
                self.push(id, Item::Message(mem::take(frames)));
            } else {
                self.note_dropped(id);
            }
            return usize::from(!room);
        }
        let mut framed = None;
        let mut dropped = 0;
        for &id in ids {
            dropped += usize::from(!self.push_copy(id, frames, &mut framed));
        }
        dropped
    }

    /// Queues a message for one of many peers, framed where it gets the same bytes as others.
    /// `false` when there is no room.
    #[inline]
    fn push_copy(&mut self, id: PipeId, frames: &Frames, framed: &mut Option<FramedRange>) -> bool {
        let Some(pipe) = self.slab.get_mut(id).filter(|pipe| pipe.life.is_present()) else {
            return false;
        };
        if !pipe.has_room() {
            pipe.note_dropped(&mut self.drop_events, &mut self.signals);
            return false;
        }
        if pipe.carriage == Carriage::Frames && FramingBuffer::fits(frames) {
            let framed = framed.get_or_insert_with(|| self.framing.frame(frames));
            if pipe.push_framed(*framed, &mut self.framing, &mut self.signals) {
                return true;
            }
        }
        pipe.push(Item::Message(frames.clone()), &mut self.signals);
        true
    }

    /// Moves queued items to the link, into an empty queue, as many as there is room for. Finding
    /// the queue empty ends the signalled state, so that the next push signals again.
    ///
    /// Those who wait for room are told once half of the queue is free, and not for each message.
    pub(crate) fn take_outbound(
        &mut self,
        id: PipeId,
        into: &mut VecDeque<Item>,
        room: Room,
    ) -> Taken {
        let Some(pipe) = self.slab.get_mut(id) else {
            return Taken::default();
        };
        let before = pipe.half_free();
        pipe.note_most_outbound();
        let (messages, bytes) = (pipe.outbound_messages, pipe.outbound_bytes);
        pipe.take_outbound(into, room, &mut self.framing);
        let half_free = pipe.half_free();
        let freed = !before && half_free;
        if freed {
            pipe.found_full = false;
        }
        if half_free && pipe.drops.is_some() {
            pipe.end_drops(&mut self.drop_events, &mut self.signals);
        }
        let messages = messages - pipe.outbound_messages;
        if messages > 0 {
            let bytes = bytes - pipe.outbound_bytes;
            pipe.measured.traffic.note_sent(messages, bytes);
            self.traffic.note_sent(messages, bytes);
            if let Some(since) = pipe.measured.outbound.taken(messages) {
                self.waits.note_outbound(since);
            }
            pipe.measured.outbound.moved();
            if pipe.measured.outbound.is_due() && pipe.outbound_messages > 0 {
                pipe.sample_outbound();
            }
        }
        Taken {
            messages,
            half_free: freed,
            untold: messages > 0 && !half_free,
        }
    }

    /// Links whose queue is full, up to as many as one caller should help.
    pub(crate) fn full_links(&self) -> [Option<Arc<dyn Link>>; 2] {
        let mut full = self
            .slab
            .iter()
            .filter(|(_, pipe)| pipe.life.is_present() && !pipe.has_room())
            .map(|(_, pipe)| pipe.link.clone());
        [full.next(), full.next()]
    }

    /// Messages queued towards peers.
    pub(crate) fn outbound_messages(&self) -> usize {
        self.slab
            .iter()
            .map(|(_, pipe)| pipe.outbound_messages)
            .sum()
    }
}
