//! What the links of a socket ask of it: attaching, delivering, taking.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use sealwire_zmtp::Frames;

use super::{Phase, SocketCore, State};
use crate::account::{Exceeded, Kind};
use crate::monitor::{Event, add};
use crate::options::SocketOptions;
use crate::pattern::{
    Arrivals, Delivered, Delivery, Dismissal, HighWaterMarks, Item, Link, PipeId, Received, Room,
};
use crate::peer::Peer;

impl SocketCore {
    /// A peer is ready. The error is for both sides to read.
    /// `connector` is the number of the `connect` that led to it, if one did.
    pub(crate) fn attach(
        &self,
        peer: Arc<Peer>,
        link: Arc<dyn Link>,
        connector: Option<u64>,
    ) -> Result<PipeId, Dismissal> {
        if link.keeps_output_back() {
            self.has_had_peers_in_process.store(true, Ordering::Relaxed);
        }
        peer.account().belongs_to(&self.counters.excesses);
        let attached = self.with(|state| {
            let welcome = match state.phase {
                Phase::Open => true,
                Phase::Closing => state.pattern.backlog() > 0,
                Phase::Ended => false,
            };
            if !welcome {
                return Err(Dismissal::Because("the socket is closing"));
            }
            self.admits_beside_what_is_left(state, &peer)?;
            let marks = HighWaterMarks::of(&self.options);
            let id = state.pipes.insert(peer, link, marks, connector);
            for frames in self.options.behaviour.greetings() {
                state.pipes.push(id, Item::OwnMessage(frames));
            }
            match state.pattern.attached(&mut state.pipes, id) {
                Ok(()) => Ok((id, state.pattern.readable())),
                Err(reason) => {
                    state.pipes.remove(id);
                    Err(Dismissal::Because(reason))
                }
            }
        });
        self.notify_writable();
        let (id, readable) = attached?;
        if readable {
            self.notify_readable(1);
        }
        Ok(id)
    }

    /// Refuses a peer while earlier connections of its address hold more than one connection may:
    /// messages outlive their connection, and a peer that connects again and again while nobody
    /// reads would have a new queue each time.
    fn admits_beside_what_is_left(&self, state: &State, peer: &Peer) -> Result<(), Dismissal> {
        let limit = self.options.receive_byte_budget;
        let Some(source) = peer.source().filter(|_| limit > 0) else {
            return Ok(());
        };
        if state.pipes.left_behind_by(source) <= limit {
            return Ok(());
        }
        let kind = Kind::LeftBehind;
        peer.account().note_excess(kind);
        Err(Dismissal::Exceeded(Exceeded { kind, limit }))
    }

    /// A peer is gone.
    pub(crate) fn detach(&self, id: PipeId) {
        let (dropped, readable) = self.with(|state| {
            if let Some(frames) = state.farewell(id, &self.options) {
                let item = Item::Message(frames);
                if let Delivery::Ignored(item) = state.pattern.delivered(&mut state.pipes, id, item)
                {
                    state.pipes.discard_item(item);
                }
            }
            let (mut unsent, framed) = state.pipes.end(id);
            state.pattern.detached(&mut state.pipes, id, &mut unsent);
            let mut dropped = framed + unsent.len();
            state.pipes.discard_all(unsent);
            state.pipes.release(id);
            if state.phase != Phase::Open && state.attachments <= 1 {
                dropped += state.drop_backlog();
            }
            state.unsent += dropped;
            (dropped, state.pattern.readable())
        });
        add(&self.counters.dropped_unsent, dropped);
        // A thread that reads from this peer directly has to read elsewhere.
        self.readable.wake_direct_reader();
        if readable {
            self.notify_readable(1);
        }
        self.notify_writable();
    }

    /// Messages that a connection had taken and could not send.
    pub(crate) fn count_unsent(&self, messages: usize) {
        if messages > 0 {
            self.lock().unsent += messages;
            add(&self.counters.dropped_unsent, messages);
        }
    }

    /// Takes items from a link until there are no more or the pipe is full: then the link stops
    /// reading until it is told that input is wanted. The source is asked under the lock.
    pub(crate) fn deliver(&self, id: PipeId, source: &mut dyn Arrivals) -> Delivered {
        let (delivered, subscriber) = self.with(|state| {
            let delivered = state.pattern.deliver_all(&mut state.pipes, id, source);
            let subscriber = match delivered.changed {
                true => state.pipes.newly_subscribed(id),
                false => None,
            };
            (delivered, subscriber)
        });
        self.count_delivered(&delivered);
        if delivered.changed {
            self.writable.notify(usize::MAX);
        }
        if let Some(peer) = subscriber {
            self.hub.emit(Event::Subscribed { peer });
        }
        delivered
    }

    /// The same for datagrams, each with its sender.
    pub(crate) fn deliver_datagrams(
        &self,
        id: PipeId,
        next: &mut dyn FnMut() -> Option<Received>,
    ) -> Delivered {
        let delivered =
            self.with(|state| state.pattern.deliver_datagrams(&mut state.pipes, id, next));
        self.count_delivered(&delivered);
        delivered
    }

    fn count_delivered(&self, delivered: &Delivered) {
        add(&self.counters.messages_received, delivered.queued);
        add(&self.counters.bytes_received, delivered.bytes);
        add(&self.counters.dropped_at_receive, delivered.ignored);
        if delivered.queued > 0 {
            self.notify_readable_more(delivered.queued);
        }
    }

    /// What a link may deliver now; `None` when that is nothing: then it is told once there is
    /// room.
    pub(crate) fn input_room(&self, id: PipeId) -> Option<Room> {
        self.lock().pipes.input_room(id)
    }

    /// Moves queued items to a link, as many as there is room for, and says how many messages of the
    /// application these are.
    pub(crate) fn take_outbound(&self, id: PipeId, into: &mut VecDeque<Item>, room: Room) -> usize {
        let half_free = self.with(|state| {
            let half_free = state.pipes.take_outbound(id, into, room);
            if !into.is_empty() {
                state.pattern.room_freed(&mut state.pipes);
            }
            half_free
        });
        let (mut messages, mut bytes) = (0, 0);
        for item in into.iter() {
            let (count, size) = item.messages();
            messages += count;
            bytes += size;
        }
        if messages > 0 {
            add(&self.counters.messages_sent, messages);
            add(&self.counters.bytes_sent, bytes);
        }
        if half_free {
            self.notify_writable();
        }
        messages
    }
}

impl State {
    /// What the application is to read about a peer that is gone.
    fn farewell(&self, id: PipeId, options: &SocketOptions) -> Option<Frames> {
        let again = !options.reconnect.stop.after_disconnect
            && self
                .pipes
                .connector(id)
                .is_some_and(|connector| self.endpoints.iter().any(|entry| entry.id == connector));
        let behaviour = &options.behaviour;
        let message = if again {
            &behaviour.hiccup_message
        } else {
            &behaviour.disconnect_message
        };
        message.clone().filter(|_| self.phase == Phase::Open)
    }
}
