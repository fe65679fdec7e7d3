//! The pipes of a socket.
//!
//! ```text
//!   application ── send ──▶ outbound ──▶ link (connection or inproc peer)
//!   application ◀─ receive ─ inbound ◀── link
//! ```
//!
//! Nothing here performs I/O or takes a lock. Calls leave *signals* behind (this link has output,
//! that link may read again), which the socket core delivers after it has released its lock.
//! Dropped frames go the same way ([`Pipes::discard`]): their owner may be foreign code.

mod awaited;
mod discarding;
mod inbound;
#[cfg(unix)]
mod lengths;
mod measured;
mod outbound;
mod renewing;
mod sole;

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use bytes::Bytes;
use sealwire_zmtp::Frames;
use slab::Slab;

#[cfg(unix)]
pub use self::lengths::PeerQueue;
pub(crate) use self::measured::Measurements;
pub(crate) use self::outbound::Taken;
pub(crate) use self::sole::Sole;
use super::credit::Credit;
use super::drops::DropEvents;
use super::framing::FramingBuffer;
use super::high_water_mark::HighWaterMarks;
use super::item::{Item, cost_of};
use super::link::{Dismissal, Link};
pub(crate) use super::pipe::Provenance;
use super::pipe::{Measured, Pipe};
use super::pipe_state::{Carriage, Input, Life, Output};
use super::signals::{LinkSignal, Signals};
use super::waits::{Clock, Waits};
use crate::account::{self, Exceeded, Kind};
use crate::measures::Traffic;
use crate::options::EndpointOptions;
use crate::peer::Peer;

/// Names a pipe within its socket. Reused only after the pipe is gone from every list.
pub(crate) type PipeId = usize;

/// What an ended connection that left something to be read counts for beside its messages, in bytes:
/// its pipe, its peer and its metadata.
const LEFT_BEHIND_OVERHEAD: usize = 2_048;

/// All pipes of one socket.
pub(crate) struct Pipes {
    slab: Slab<Pipe>,
    pub(super) signals: Signals,
    framing: FramingBuffer,
    pub(super) sole: Sole,
    /// Pipes whose peer is gone and that have something left to read.
    left_behind: usize,
    /// Of all peers, also of those that are gone.
    traffic: Traffic,
    /// Messages that peers say they dropped, of all of them.
    missed: u64,
    /// Those that are to be told.
    pub(crate) drop_events: DropEvents,
    waits: Waits,
}

impl Pipes {
    /// With the fast path of this pattern, and the clock by which waiting is measured.
    pub(crate) fn new(sole: Sole, clock: Clock) -> Self {
        Pipes {
            slab: Slab::new(),
            signals: Signals::default(),
            framing: FramingBuffer::default(),
            sole,
            left_behind: 0,
            traffic: Traffic::default(),
            missed: 0,
            drop_events: DropEvents::default(),
            waits: Waits::new(clock),
        }
    }

    pub(crate) fn insert(
        &mut self,
        peer: Arc<Peer>,
        link: Arc<dyn Link>,
        high_water_marks: HighWaterMarks,
        provenance: Provenance,
    ) -> PipeId {
        let life = Life::Live;
        self.add(peer, link, high_water_marks, provenance, life)
    }

    fn add(
        &mut self,
        peer: Arc<Peer>,
        link: Arc<dyn Link>,
        high_water_marks: HighWaterMarks,
        provenance: Provenance,
        life: Life,
    ) -> PipeId {
        let clock = self.waits.clock().clone();
        self.slab.insert(Pipe {
            carriage: Carriage::to(&peer, &*link, high_water_marks),
            peer,
            link,
            high_water_marks,
            provenance,
            inbound: VecDeque::new(),
            senders: VecDeque::new(),
            inbound_bytes: 0,
            outbound: VecDeque::new(),
            changes: None,
            outbound_messages: 0,
            outbound_cost: 0,
            outbound_bytes: 0,
            ranges: 0,
            output: Output::Idle,
            input: Input::Open,
            found_full: false,
            drops: None,
            missed: None,
            subscribed: false,
            life,
            credit: Credit::default(),
            measured: Measured::default(),
            since: clock(),
            clock,
        })
    }

    /// Marks the pipe as ended, so that nothing more is queued for it, and gives back what was
    /// still to be sent, and the number of messages among it that go to many and so to nobody else
    /// now.
    pub(crate) fn end(&mut self, id: PipeId) -> (Vec<Frames>, usize) {
        let Some(pipe) = self.slab.get_mut(id) else {
            return (Vec::new(), 0);
        };
        pipe.note_most_outbound();
        pipe.measured.outbound.cancel();
        pipe.end_losses(&mut self.drop_events, &mut self.signals);
        self.left_behind += usize::from(pipe.life.end());
        pipe.outbound_messages = 0;
        pipe.outbound_cost = 0;
        pipe.outbound_bytes = 0;
        pipe.ranges = 0;
        pipe.changes = None;
        for kind in [Kind::Queued, Kind::SubscriptionChanges, Kind::Subscriptions] {
            pipe.peer.account().set(kind, 0);
        }
        let (mut unsent, mut framed) = (Vec::new(), 0);
        for item in pipe.outbound.drain(..) {
            match item {
                Item::Message(frames) => unsent.push(frames),
                Item::FramedRange(range) => {
                    framed += range.messages().0;
                    self.framing.dropped(range);
                }
                other => self.signals.discard_item(other),
            }
        }
        (unsent, framed)
    }

    /// The socket leaves the peer: nothing more is queued for it, and what it sends is dropped. The rest of its
    /// queue goes out, and received messages stay to be read. `false` when it was not a peer any more.
    pub(crate) fn leave(&mut self, id: PipeId) -> bool {
        let Some(pipe) = self.slab.get_mut(id).filter(|pipe| pipe.life.is_present()) else {
            return false;
        };
        if pipe.input.is_paused() {
            // It may have to be read from to take what is queued for it.
            pipe.input = Input::Open;
            self.signals
                .push(LinkSignal::InputWanted(pipe.link.clone()));
        }
        pipe.life.leave()
    }

    /// Whether the socket has left the peer of this pipe, whose connection has not ended.
    #[inline]
    pub(crate) fn was_left(&self, id: PipeId) -> bool {
        self.slab.get(id).is_some_and(|pipe| pipe.life.was_left())
    }

    /// Removes a pipe that the pattern turned away.
    pub(crate) fn remove(&mut self, id: PipeId) {
        if let Some(pipe) = self.slab.try_remove(id) {
            self.signals.discard_pipe(Box::new(pipe));
        }
    }

    /// Removes an ended pipe unless something is left to read; then it goes with its last message.
    pub(crate) fn release(&mut self, id: PipeId) {
        if self
            .slab
            .get(id)
            .is_some_and(|pipe| pipe.life.has_ended() && pipe.inbound.is_empty())
        {
            let pipe = self.slab.remove(id);
            self.left_behind -= 1;
            pipe.peer.account().set(Kind::Received, 0);
            self.signals.discard_pipe(Box::new(pipe));
        }
    }

    /// Bytes that ended connections from there left to be read, each connection counted with
    /// [`LEFT_BEHIND_OVERHEAD`] more.
    pub(crate) fn left_behind_by(&self, source: account::Source) -> usize {
        if self.left_behind == 0 {
            return 0;
        }
        let pipes = self.slab.iter().map(|(_, pipe)| pipe);
        pipes
            .filter(|pipe| pipe.life.has_ended() && pipe.peer.source() == Some(source))
            .map(|pipe| LEFT_BEHIND_OVERHEAD + cost_of(pipe.inbound.len(), pipe.inbound_bytes))
            .sum()
    }

    pub(crate) fn peer(&self, id: PipeId) -> Option<&Arc<Peer>> {
        self.slab.get(id).map(|pipe| &pipe.peer)
    }

    /// Number of the `connect` that the pipe came from.
    pub(crate) fn connector(&self, id: PipeId) -> Option<u64> {
        self.slab.get(id).and_then(|pipe| pipe.provenance.connector)
    }

    /// The options of the endpoint that a pipe came through.
    pub(crate) fn options(&self, id: PipeId) -> Option<Arc<EndpointOptions>> {
        self.slab.get(id)?.provenance.options.upgrade()
    }

    /// Changes the limits of the queues. Messages above a lower limit stay, and whether a queue holds the latest
    /// message only.
    pub(crate) fn limit(&mut self, marks: HighWaterMarks) {
        for (_, pipe) in &mut self.slab {
            let conflate = pipe.high_water_marks.conflate;
            pipe.high_water_marks = HighWaterMarks { conflate, ..marks };
            pipe.taken_inbound(&mut self.signals);
        }
    }

    /// Pipes of the socket's peers.
    pub(crate) fn live(&self) -> impl Iterator<Item = PipeId> + '_ {
        self.slab
            .iter()
            .filter(|(_, pipe)| pipe.life.is_present())
            .map(|(id, _)| id)
    }

    pub(crate) fn is_live(&self, id: PipeId) -> bool {
        self.slab.get(id).is_some_and(|pipe| pipe.life.is_present())
    }

    /// Pipes that have a connection: those of the socket's peers, and of peers that it has left.
    pub(crate) fn connected(&self) -> impl Iterator<Item = PipeId> + '_ {
        self.slab
            .iter()
            .filter(|(_, pipe)| pipe.life.is_connected())
            .map(|(id, _)| id)
    }

    /// Pipes that this `connect` made or that came through this `bind`, of peers that the socket has not left.
    pub(crate) fn of_endpoint(&self, endpoint: u64) -> Vec<PipeId> {
        let is_of_endpoint = |id: &PipeId| {
            self.slab.get(*id).is_some_and(|pipe| {
                let Provenance {
                    connector,
                    listener,
                    ..
                } = &pipe.provenance;
                // Each has a number of its own.
                connector.or(*listener) == Some(endpoint)
            })
        };
        self.live().filter(is_of_endpoint).collect()
    }

    /// Brings the accounts of all peers up to date, also of those that have left something to
    /// read, and names them.
    pub(crate) fn settle_accounts(&self) -> Vec<Arc<Peer>> {
        let pipes = self.slab.iter().map(|(_, pipe)| pipe);
        pipes
            .filter(|pipe| !pipe.life.is_awaited())
            .inspect(|pipe| pipe.settle_account())
            .map(|pipe| pipe.peer.clone())
            .collect()
    }

    /// Queues a subscription or a cancellation for all peers. One for whom too many wait is
    /// disconnected, and told of all that is wanted when it is back.
    pub(crate) fn change_for_all(&mut self, topic: &[u8], subscribes: bool) {
        let topic = Bytes::copy_from_slice(topic);
        for id in self.live().collect::<Vec<_>>() {
            self.change(id, &topic, subscribes);
        }
    }

    /// The same for one peer.
    pub(crate) fn change(&mut self, id: PipeId, topic: &Bytes, subscribes: bool) {
        let pipe = self.slab.get_mut(id).filter(|pipe| pipe.life.is_present());
        let changed = pipe.map(|pipe| pipe.push_change(topic, subscribes, &mut self.signals));
        if let Some(Err(exceeded)) = changed {
            self.dismiss(id, Dismissal::Exceeded(exceeded));
        }
    }

    /// Notes how much is held for a peer.
    pub(crate) fn note_held(&self, id: PipeId, kind: Kind, bytes: usize) {
        if let Some(peer) = self.peer(id) {
            peer.account().set(kind, bytes);
        }
    }

    /// The peer, the first time that it is subscribed to something.
    pub(crate) fn newly_subscribed(&mut self, id: PipeId) -> Option<Arc<Peer>> {
        let pipe = self.slab.get_mut(id)?;
        let subscribed = pipe.peer.account().held(Kind::Subscriptions) > 0;
        let newly = subscribed && !mem::replace(&mut pipe.subscribed, true);
        newly.then(|| pipe.peer.clone())
    }

    /// Disconnects a peer that asked for more than it may, and counts that.
    pub(crate) fn exceeded(&mut self, id: PipeId, exceeded: Exceeded) {
        if let Some(peer) = self.peer(id) {
            peer.account().note_excess(exceeded.kind);
        }
        self.dismiss(id, Dismissal::Exceeded(exceeded));
    }

    /// Asks the link to end the connection.
    pub(crate) fn disconnect(&mut self, id: PipeId, reason: &'static str) {
        self.dismiss(id, Dismissal::Because(reason));
    }

    fn dismiss(&mut self, id: PipeId, reason: Dismissal) {
        if let Some(pipe) = self.slab.get_mut(id)
            && pipe.life.dismiss()
        {
            self.signals
                .push(LinkSignal::Disconnect(pipe.link.clone(), reason));
        }
    }

    /// Asks the link to end the connection once what is queued for it has been sent.
    pub(crate) fn finish(&mut self, id: PipeId) {
        if let Some(pipe) = self.slab.get(id) {
            self.signals.push(LinkSignal::Finish(pipe.link.clone()));
        }
    }

    /// Links that leave messages with their senders.
    #[cfg(unix)]
    pub(crate) fn links_that_keep_back(&self) -> Vec<Arc<dyn Link>> {
        let pipes = self.slab.iter();
        let keeping = pipes.filter(|(_, pipe)| pipe.carriage == Carriage::KeptBack);
        keeping.map(|(_, pipe)| pipe.link.clone()).collect()
    }

    /// Links of all connections.
    #[cfg(unix)]
    pub(crate) fn links(&self) -> Vec<Arc<dyn Link>> {
        let pipes = self
            .slab
            .iter()
            .filter(|(_, pipe)| pipe.life.is_connected());
        pipes.map(|(_, pipe)| pipe.link.clone()).collect()
    }

    /// Messages that newer ones replaced, since the socket was made.
    pub(crate) fn replaced(&self) -> u64 {
        self.signals.replaced
    }

    /// Counts messages that a newer one replaces, and drops them.
    pub(crate) fn replace_all(&mut self, messages: Vec<Frames>) {
        self.signals.replaced += messages.len() as u64;
        self.discard_all(messages);
    }

    /// Whether nothing was left behind to be carried out.
    pub(crate) fn is_settled(&self) -> bool {
        self.signals.is_empty()
    }

    pub(crate) fn take_signals(&mut self) -> Option<Signals> {
        self.signals.take()
    }

    /// Takes back the memory of signals that were delivered.
    pub(crate) fn reuse_signals(&mut self, delivered: Signals) {
        self.signals.reuse(delivered);
    }
}
