//! Messages that peers have sent and the application has not read, and when links may read more.

use std::sync::Arc;

use sealwire_zmtp::Frames;

use super::{PipeId, Pipes};
use crate::pattern::Arrivals;
use crate::pattern::high_water_mark::Room;
use crate::peer::Peer;

impl Pipes {
    /// Whether one more received message fits; when not, the link is remembered as paused and
    /// gets a signal once there is room again.
    pub(crate) fn accepts_input(&mut self, id: PipeId) -> bool {
        let Some(pipe) = self.slab.get_mut(id) else {
            return true;
        };
        let (messages, bytes) = (pipe.inbound.len(), pipe.inbound_bytes);
        let fits =
            pipe.high_water_marks.conflate || pipe.high_water_marks.receive.admits(messages, bytes);
        if !fits {
            pipe.pause_input();
        }
        fits
    }

    /// What the peer's inbound queue has room for; `None` when that is nothing: then the link is
    /// told once there is room again. What a peer sends that was left is dropped, so there is room for it.
    pub(crate) fn input_room(&mut self, id: PipeId) -> Option<Room> {
        if self.was_left(id) {
            return Some(Room::of_bytes(usize::MAX));
        }
        let fits = self.accepts_input(id);
        let limited = self
            .slab
            .get(id)
            .filter(|pipe| !pipe.high_water_marks.conflate);
        fits.then(|| match limited {
            Some(pipe) => pipe
                .high_water_marks
                .receive
                .room(pipe.inbound.len(), pipe.inbound_bytes),
            None => Room::of_bytes(usize::MAX),
        })
    }

    pub(crate) fn push_inbound(&mut self, id: PipeId, frames: Frames) {
        let Some(pipe) = self.slab.get_mut(id) else {
            return self.discard(frames);
        };
        if pipe.high_water_marks.conflate {
            pipe.replace_received(&mut self.signals);
        }
        pipe.inbound_bytes += frames.size();
        pipe.inbound.push_back(frames);
    }

    /// Moves messages from a source into the peer's queue, as many as it has room for. Returns
    /// their number and bytes.
    pub(crate) fn fill_inbound(&mut self, id: PipeId, source: &mut dyn Arrivals) -> (usize, usize) {
        let Some(pipe) = self
            .slab
            .get_mut(id)
            .filter(|pipe| !pipe.high_water_marks.conflate)
        else {
            return (0, 0);
        };
        let before = pipe.inbound.len();
        let room = pipe
            .high_water_marks
            .receive
            .room(before, pipe.inbound_bytes);
        let bytes = source.take_messages(&mut pipe.inbound, room);
        pipe.inbound_bytes += bytes;
        (pipe.inbound.len() - before, bytes)
    }

    /// Names the sender of the message that was queued last.
    pub(crate) fn sent_by(&mut self, id: PipeId, sender: Arc<Peer>) {
        if let Some(pipe) = self.slab.get_mut(id) {
            pipe.senders.push_back(sender);
        }
    }

    /// Takes the oldest received message of this peer.
    #[inline]
    pub(crate) fn pop_inbound(&mut self, id: PipeId) -> Option<(Frames, Arc<Peer>)> {
        let pipe = self.slab.get_mut(id)?;
        let frames = pipe.inbound.pop_front()?;
        let sender = pipe.senders.pop_front();
        let peer = sender.unwrap_or_else(|| pipe.peer.clone());
        pipe.inbound_bytes -= frames.size();
        if let Some(since) = pipe.measured.inbound.taken(1) {
            self.waits.note_inbound(since);
        }
        pipe.taken_inbound(&mut self.signals);
        if pipe.life.has_ended() {
            self.release(id);
        }
        Some((frames, peer))
    }

    /// Discards what nobody will read any more, with the pipes that were kept for it: a link of theirs may
    /// hold the socket. Returns how many messages it was.
    pub(crate) fn discard_unread(&mut self) -> usize {
        let mut unread = 0;
        let mut ended = Vec::new();
        for (id, pipe) in &mut self.slab {
            ended.extend(pipe.life.has_ended().then_some(id));
            unread += pipe.discard_unread(&mut self.signals);
        }
        for id in ended {
            self.release(id);
        }
        unread
    }

    /// The same for one peer, that the socket has.
    pub(crate) fn discard_unread_of(&mut self, id: PipeId) -> usize {
        let pipe = self.slab.get_mut(id);
        pipe.map_or(0, |pipe| pipe.discard_unread(&mut self.signals))
    }

    pub(crate) fn has_inbound(&self, id: PipeId) -> bool {
        self.slab
            .get(id)
            .is_some_and(|pipe| !pipe.inbound.is_empty())
    }
}
