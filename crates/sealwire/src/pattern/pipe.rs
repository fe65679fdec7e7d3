//! A pipe: the two queues between a socket and one peer.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use sealwire_simd::prefetch::ask_to_write;
use sealwire_zmtp::Frames;

use super::changes::Changes;
use super::credit::Credit;
use super::drops::{DropEvent, DropEvents, Drops, Missed};
use super::framing::{FramedRange, FramingBuffer};
use super::high_water_mark::{HighWaterMarks, Room};
use super::item::{Group, Item, cost_of};
use super::link::Link;
use super::pipe_state::{Carriage, Input, Life, Output};
use super::signals::{LinkSignal, Signals};
use super::waits::Clock;
use crate::account::{Exceeded, Kind};
use crate::limits::MAX_FRAMED_RANGES;
use crate::measures::{PeerNumbers, Probe, QueueDepth, Traffic};
use crate::options::EndpointOptions;
use crate::peer::Peer;

/// How many messages before its time a place in the queue is asked for: the core of the I/O thread had it last (decision 31).
const ASKED_AHEAD: usize = 4;

/// What a pipe came of.
#[derive(Default)]
pub(crate) struct Provenance {
    /// The number of the `connect`, if it was one.
    pub(crate) connector: Option<u64>,
    /// The routing id that the application chose for its peer.
    pub(crate) routing_id: Option<Arc<[u8]>>,
    /// The number of the `bind` that it came through, if it did.
    pub(crate) listener: Option<u64>,
    /// Those of the endpoint, as long as that or the connection has them.
    pub(crate) options: Weak<EndpointOptions>,
    /// The authenticator of these has not decided about the peer yet, which another one let in.
    pub(crate) undecided: bool,
}

/// The queues, and what is known of them.
pub(super) struct Pipe {
    pub(super) peer: Arc<Peer>,
    pub(super) link: Arc<dyn Link>,
    pub(super) carriage: Carriage,
    pub(super) high_water_marks: HighWaterMarks,
    pub(super) provenance: Provenance,
    pub(super) inbound: VecDeque<Frames>,
    /// The sender of each of these, if the pipe has several (datagrams).
    pub(super) senders: VecDeque<Arc<Peer>>,
    pub(super) inbound_bytes: usize,
    pub(super) outbound: VecDeque<Item>,
    /// Subscriptions and cancellations in `outbound`, once there was one.
    pub(super) changes: Option<Box<Changes>>,
    /// Messages in `outbound`; subscriptions do not count against the high-water mark.
    pub(super) outbound_messages: usize,
    /// What `outbound` costs of a budget.
    pub(super) outbound_cost: usize,
    pub(super) outbound_bytes: usize,
    /// Ranges of framed messages in `outbound`.
    pub(super) ranges: usize,
    pub(super) output: Output,
    pub(super) input: Input,
    /// A message found no room since half of the outbound queue was last free.
    pub(super) found_full: bool,
    /// Messages dropped for the peer, once there was one.
    pub(super) drops: Option<Box<Drops>>,
    /// Messages that the peer dropped, once it said so.
    pub(super) missed: Option<Box<Missed>>,
    /// It was told that the peer has subscribed.
    pub(super) subscribed: bool,
    pub(super) life: Life,
    pub(super) credit: Credit,
    pub(super) measured: Measured,
    pub(super) clock: Clock,
    /// When the peer came, by that clock.
    pub(super) since: Duration,
}

/// The numbers of one peer.
#[derive(Default)]
pub(super) struct Measured {
    pub(super) traffic: Traffic,
    /// Messages for it that found no room and were dropped.
    pub(super) dropped: u64,
    most_outbound: usize,
    most_inbound: usize,
    pub(super) outbound: Probe,
    pub(super) inbound: Probe,
}

impl Pipe {
    /// What waits for the peer.
    pub(super) fn outbound_depth(&self) -> QueueDepth {
        QueueDepth {
            messages: self.outbound_messages,
            bytes: self.outbound_bytes,
            most_messages: self.measured.most_outbound.max(self.outbound_messages),
        }
    }

    /// What came from the peer and was not read.
    pub(super) fn inbound_depth(&self) -> QueueDepth {
        QueueDepth {
            messages: self.inbound.len(),
            bytes: self.inbound_bytes,
            most_messages: self.measured.most_inbound.max(self.inbound.len()),
        }
    }

    /// Notes how much is queued for the peer before some of it goes: until then it only grows.
    #[inline]
    pub(super) fn note_most_outbound(&mut self) {
        let most = &mut self.measured.most_outbound;
        *most = (*most).max(self.outbound_messages);
    }

    /// Messages were added to the inbound queue, which has grown until now.
    #[inline]
    pub(super) fn note_received(&mut self, messages: usize, bytes: usize) {
        self.measured.traffic.note_received(messages, bytes);
        let most = &mut self.measured.most_inbound;
        *most = (*most).max(self.inbound.len());
    }

    /// The numbers of the peer until now.
    pub(super) fn numbers(&self) -> PeerNumbers {
        PeerNumbers {
            age: (self.clock)().saturating_sub(self.since),
            traffic: self.measured.traffic,
            dropped: self.measured.dropped,
            outbound: self.outbound_depth(),
            inbound: self.inbound_depth(),
            round_trip: self.peer.round_trip().snapshot(),
        }
    }

    /// Brings the peer's account and numbers up to date with what lies here.
    pub(super) fn settle_account(&self) {
        self.peer.note_numbers(self.numbers());
        let account = self.peer.account();
        let received = cost_of(self.inbound.len(), self.inbound_bytes);
        account.set(Kind::Received, received);
        let queued = cost_of(self.outbound_messages, self.outbound_bytes);
        account.set(Kind::Queued, queued);
    }

    /// Counts that the inbound queue is full, once until half of it is free again.
    #[cold]
    pub(super) fn pause_input(&mut self) {
        if self.input.pause() {
            self.peer.account().note_excess(Kind::Received);
        }
    }

    /// Counts that a message found no room, once until half of the queue is free again.
    #[cold]
    pub(super) fn note_full(&mut self) {
        if !mem::replace(&mut self.found_full, true) {
            self.peer.account().note_excess(Kind::Queued);
        }
    }

    pub(super) fn has_room(&self) -> bool {
        let (messages, bytes) = (self.outbound_messages, self.outbound_bytes);
        self.high_water_marks.conflate || self.high_water_marks.send.admits(messages, bytes)
    }

    /// Whether the last message made the outbound queue half full, or left no room. Half, so that
    /// it can be moved on before another thread finds no room.
    pub(super) fn fills_up(&self) -> bool {
        self.outbound_messages == self.high_water_marks.send.messages.div_ceil(2)
            || !self.has_room()
    }

    /// Queues an item, and has the link told where it has to be.
    #[inline]
    pub(super) fn push(&mut self, item: Item, signals: &mut Signals) {
        let (messages, bytes) = item.messages();
        if messages > 0 {
            if self.high_water_marks.conflate {
                self.replace_queued(signals);
                (self.outbound_messages, self.outbound_bytes) = (0, 0);
                self.outbound_cost = self.outbound.iter().map(Item::cost).sum();
                self.measured.outbound.cancel();
            }
            self.outbound_messages += messages;
            self.outbound_bytes += bytes;
            self.outbound_cost += cost_of(messages, bytes);
        } else {
            self.outbound_cost += item.cost();
        }
        self.outbound.push_back(item);
        if let Some(last) = self.outbound.back() {
            ask_to_write(last, ASKED_AHEAD);
        }
        self.tell_of_output(signals);
    }

    /// Takes the messages out of the outbound queue, for a newer one.
    fn replace_queued(&mut self, signals: &mut Signals) {
        self.outbound.retain_mut(|queued| match queued {
            Item::Message(frames) => {
                signals.replaced += 1;
                signals.discard(mem::take(frames));
                false
            }
            _ => true,
        });
    }

    /// Takes the messages out of the inbound queue, for a newer one.
    pub(super) fn replace_received(&mut self, signals: &mut Signals) {
        for frames in self.inbound.drain(..) {
            signals.replaced += 1;
            signals.discard(frames);
        }
        self.inbound_bytes = 0;
        self.measured.inbound.cancel();
    }

    /// Takes out what was received and nobody will read. Returns how many messages it was.
    pub(super) fn discard_unread(&mut self, signals: &mut Signals) -> usize {
        let unread = self.inbound.len();
        self.inbound_bytes = 0;
        self.measured.inbound.cancel();
        self.senders.clear();
        for frames in self.inbound.drain(..) {
            signals.discard(frames);
        }
        unread
    }

    /// Queues a subscription or a cancellation.
    pub(super) fn push_change(
        &mut self,
        topic: &Bytes,
        subscribes: bool,
        signals: &mut Signals,
    ) -> Result<(), Exceeded> {
        let changes = self.changes.get_or_insert_default();
        let last = match self.outbound.back() {
            Some(&Item::Changes(group)) => Some(group),
            _ => None,
        };
        let added = changes.add(topic, subscribes, last);
        let account = self.peer.account();
        account.set(Kind::SubscriptionChanges, changes.bytes());
        match added {
            Ok(Some(group)) => self.push(Item::Changes(group), signals),
            Ok(None) => {}
            Err(exceeded) => {
                account.note_excess(Kind::SubscriptionChanges);
                return Err(exceeded);
            }
        }
        Ok(())
    }

    /// The next change of a group that was taken from the front of the outbound queue. The group
    /// goes back there for the others.
    #[cold]
    fn next_change(&mut self, group: Group) -> Option<Item> {
        let change = self.changes.get_or_insert_default().next_of(group)?;
        self.outbound.push_front(Item::Changes(group));
        Some(change)
    }

    /// Queues a message that was framed for many. `false` where it has to be queued by itself.
    #[inline]
    pub(super) fn push_framed(
        &mut self,
        message: FramedRange,
        framing: &mut FramingBuffer,
        signals: &mut Signals,
    ) -> bool {
        if let Some(Item::FramedRange(last)) = self.outbound.back_mut()
            && last.extend(&message)
        {
            let (messages, bytes) = message.messages();
            self.outbound_messages += messages;
            self.outbound_bytes += bytes;
            self.outbound_cost += cost_of(messages, bytes);
            self.tell_of_output(signals);
            return true;
        }
        if self.ranges == MAX_FRAMED_RANGES {
            return false;
        }
        self.ranges += 1;
        framing.queued(message);
        self.push(Item::FramedRange(message), signals);
        true
    }

    #[inline]
    pub(super) fn tell_of_output(&mut self, signals: &mut Signals) {
        let first = self.output.signal();
        if first && self.measured.outbound.is_due() {
            self.sample_outbound();
        }
        if first || (self.carriage == Carriage::KeptBack && self.fills_up()) {
            signals.push(LinkSignal::OutputReady(self.link.clone()));
        }
    }

    /// Takes the time of the last message in the outbound queue.
    #[cold]
    pub(super) fn sample_outbound(&mut self) {
        let now = (self.clock)();
        self.measured.outbound.begin(self.outbound_messages, now);
    }

    /// The same for the inbound queue.
    #[cold]
    pub(super) fn sample_inbound(&mut self) {
        let now = (self.clock)();
        self.measured.inbound.begin(self.inbound.len(), now);
    }

    /// Has the link told that more is wanted, once messages were taken from the inbound queue:
    /// when half of a full queue is free, once per half a queue and not per message, or where the
    /// link keeps messages back and the queue is empty.
    #[inline]
    pub(super) fn taken_inbound(&mut self, signals: &mut Signals) {
        let (messages, bytes) = (self.inbound.len(), self.inbound_bytes);
        let resumes =
            self.input.is_paused() && self.high_water_marks.receive.half_free(messages, bytes);
        if resumes || (self.carriage == Carriage::KeptBack && messages == 0) {
            self.input = Input::Open;
            signals.push(LinkSignal::InputWanted(self.link.clone()));
        }
    }

    pub(super) fn half_free(&self) -> bool {
        let (messages, bytes) = (self.outbound_messages, self.outbound_bytes);
        self.high_water_marks.send.half_free(messages, bytes)
    }

    pub(super) fn take_outbound(
        &mut self,
        into: &mut VecDeque<Item>,
        room: Room,
        framing: &mut FramingBuffer,
    ) {
        if self.ranges == 0 {
            return self.move_outbound(into, room);
        }
        framing.close();
        self.move_outbound(into, room);
        for item in into {
            if let Item::FramedRange(range) = item {
                *item = Item::Framed(framing.take(*range));
            }
        }
    }

    fn move_outbound(&mut self, into: &mut VecDeque<Item>, room: Room) {
        let all_fit = self.outbound_cost <= room.bytes && self.outbound_messages <= room.messages;
        let changes = self
            .changes
            .as_ref()
            .is_some_and(|changes| changes.in_queue());
        if all_fit && into.is_empty() && !changes {
            // All of it, whatever it is, without touching a message.
            mem::swap(&mut self.outbound, into);
            self.outbound_messages = 0;
            self.outbound_bytes = 0;
            self.outbound_cost = 0;
            self.ranges = 0;
            self.output.was_taken(!into.is_empty());
            return;
        }
        let (mut messages, mut taken) = (0, 0);
        while messages < room.messages && taken < room.bytes {
            let Some(item) = self.outbound.pop_front() else {
                break;
            };
            let cost = item.cost();
            self.outbound_cost -= cost;
            taken += cost;
            if let Item::Changes(group) = item {
                if let Some(change) = self.next_change(group) {
                    taken += change.cost();
                    into.push_back(change);
                }
                continue;
            }
            let (count, bytes) = item.messages();
            messages += count;
            self.outbound_messages -= count;
            self.outbound_bytes -= bytes;
            self.ranges -= usize::from(matches!(item, Item::FramedRange(_)));
            into.push_back(item);
        }
        self.output.was_taken(!into.is_empty());
        if let Some(changes) = &self.changes {
            let account = self.peer.account();
            account.set(Kind::SubscriptionChanges, changes.bytes());
        }
    }
}

/// Messages that are lost at a full queue, here or at the peer.
impl Pipe {
    /// A message for the peer found no room, and is dropped.
    #[cold]
    pub(super) fn note_dropped(&mut self, drop_events: &mut DropEvents, signals: &mut Signals) {
        self.measured.dropped += 1;
        self.note_full();
        let clock = &self.clock;
        let drops = self.drops.get_or_insert_default();
        if drops.note(|| clock()) {
            drop_events.add(DropEvent::Began(self.peer.clone()), signals);
        }
    }

    /// Half of the queue is free. The peer is told how many messages it misses, behind those that are queued.
    #[cold]
    pub(super) fn end_drops(&mut self, drop_events: &mut DropEvents, signals: &mut Signals) {
        let Some((messages, told)) = self.drops.as_mut().and_then(|drops| drops.end()) else {
            return;
        };
        if let Some(count) = told {
            drop_events.add(DropEvent::Ended(self.peer.clone(), count), signals);
        }
        if self.life.takes_messages() && self.peer.asks_for_missed() {
            self.push(Item::Missed(messages), signals);
        }
    }

    /// The peer says how many messages it has dropped.
    pub(super) fn note_missed(
        &mut self,
        messages: u64,
        drop_events: &mut DropEvents,
        signals: &mut Signals,
    ) {
        let clock = &self.clock;
        let missed = self.missed.get_or_insert_default();
        if let Some(count) = missed.note(messages, || clock()) {
            drop_events.add(DropEvent::Missed(self.peer.clone(), count), signals);
        }
    }

    /// The peer is gone: tells what was not told yet.
    pub(super) fn end_losses(&mut self, drop_events: &mut DropEvents, signals: &mut Signals) {
        if let Some((_, Some(count))) = self.drops.as_mut().and_then(|drops| drops.end()) {
            drop_events.add(DropEvent::Ended(self.peer.clone(), count), signals);
        }
        if let Some(count) = self.missed.as_mut().and_then(|missed| missed.end()) {
            drop_events.add(DropEvent::Missed(self.peer.clone(), count), signals);
        }
    }
}
