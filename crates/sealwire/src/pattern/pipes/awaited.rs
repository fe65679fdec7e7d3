//! Pipes to peers that are not there yet: messages are queued for the peer of a `connect` before its connection
//! stands.
//!
//! ```text
//!   connect ── await_peer ──▶ awaited ── arrived ──▶ live
//!                                │
//!                                └── end ──▶ ended       nobody connects there any more
//! ```

use std::sync::Arc;

use sealwire_zmtp::{Frames, SocketType};

use super::{HighWaterMarks, Item, Life, Link, Output, PipeId, Pipes, Provenance};
use crate::endpoint::Endpoint;
use crate::options::EndpointOptions;
use crate::pattern::link::Dismissal;
use crate::pattern::pipe_state::Carriage;
use crate::peer::{Peer, PeerAddress};

/// Stands for the connection: there is nobody to be told.
struct Nobody;

impl Link for Nobody {
    fn output_ready(&self, _alone: bool) {}
    fn input_wanted(&self) {}
    fn disconnect(&self, _reason: Dismissal) {}
    fn finish(&self) {}
}

impl Pipes {
    /// Makes a pipe for the peer that a `connect` is to find.
    pub(crate) fn await_peer(
        &mut self,
        high_water_marks: HighWaterMarks,
        provenance: Provenance,
    ) -> PipeId {
        // Nothing comes from it, so nobody sees this.
        let address = PeerAddress::Inproc("".into());
        let peer = Arc::new(Peer::datagram(
            Endpoint::Inproc(String::new()),
            address,
            0,
            SocketType::Pair,
        ));
        let link = Arc::new(Nobody);
        self.add(peer, link, high_water_marks, provenance, Life::Awaited)
    }

    /// The pipe in which messages wait for the peer of this `connect`.
    pub(crate) fn awaited(&self, connector: u64) -> Option<PipeId> {
        let mut pipes = self.slab.iter();
        let of = Some(connector);
        let found = pipes
            .find(|(_, pipe)| pipe.life.is_awaited() && pipe.provenance.connector == of)?
            .0;
        Some(found)
    }

    /// The routing id that the application chose for the peer of this pipe.
    pub(crate) fn chosen_routing_id(&self, id: PipeId) -> Option<Arc<[u8]>> {
        self.slab.get(id)?.provenance.routing_id.clone()
    }

    pub(crate) fn is_awaited(&self, id: PipeId) -> bool {
        self.slab.get(id).is_some_and(|pipe| pipe.life.is_awaited())
    }

    /// The peer is there. It gets `greetings` first, which the socket makes itself, and then what waits.
    pub(crate) fn arrived(
        &mut self,
        id: PipeId,
        peer: Arc<Peer>,
        link: Arc<dyn Link>,
        options: std::sync::Weak<EndpointOptions>,
        greetings: impl Iterator<Item = Frames>,
    ) {
        let Some(pipe) = self.slab.get_mut(id) else {
            return;
        };
        pipe.carriage = Carriage::to(&peer, &*link, pipe.high_water_marks);
        pipe.peer = peer;
        pipe.link = link;
        pipe.provenance.options = options;
        pipe.life.arrive();
        pipe.since = (pipe.clock)();
        let waiting = pipe.outbound.len();
        for greeting in greetings.map(Item::OwnMessage) {
            pipe.outbound_cost += greeting.cost();
            pipe.outbound.push_back(greeting);
        }
        pipe.outbound.rotate_left(waiting);
        // Until now nobody was told of it.
        pipe.output = Output::Idle;
        if !pipe.outbound.is_empty() {
            pipe.tell_of_output(&mut self.signals);
        }
    }

    /// Messages that wait for peers which are not there yet.
    pub(crate) fn awaiting_messages(&self) -> usize {
        let awaited = self.slab.iter().filter(|(_, pipe)| pipe.life.is_awaited());
        awaited.map(|(_, pipe)| pipe.outbound_messages).sum()
    }

    /// Takes the messages away that wait for peers which are not there yet.
    #[must_use]
    pub(crate) fn take_awaiting(&mut self) -> Vec<Frames> {
        let awaited = self.slab.iter().filter(|(_, pipe)| pipe.life.is_awaited());
        let awaited: Vec<PipeId> = awaited.map(|(id, _)| id).collect();
        let taken = awaited.into_iter().flat_map(|id| self.take_awaiting_of(id));
        taken.collect()
    }

    /// The same for one of these.
    #[must_use]
    pub(crate) fn take_awaiting_of(&mut self, id: PipeId) -> Vec<Frames> {
        let Some(pipe) = self.slab.get_mut(id).filter(|pipe| pipe.life.is_awaited()) else {
            return Vec::new();
        };
        (pipe.outbound_messages, pipe.outbound_bytes) = (0, 0);
        pipe.outbound_cost = 0;
        let messages = pipe.outbound.drain(..).filter_map(|item| match item {
            Item::Message(frames) => Some(frames),
            _ => None,
        });
        messages.collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Weak};

    use sealwire_zmtp::Config;

    use super::*;
    use crate::options::SocketOptions;
    use crate::pattern::pattern;
    use crate::pattern::pipes::Sole;

    /// How often it was told of output.
    #[derive(Default)]
    struct KeepsBack(AtomicUsize);

    impl Link for KeepsBack {
        fn output_ready(&self, _alone: bool) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        fn input_wanted(&self) {}
        fn disconnect(&self, _reason: Dismissal) {}
        fn finish(&self) {}

        fn keeps_output_back(&self) -> bool {
            true
        }
    }

    fn pipes() -> (Pipes, SocketOptions) {
        let options = SocketOptions::new(SocketType::Push);
        let pattern = pattern(&options, |_| {}).unwrap();
        let clock = Arc::new(|| std::time::Duration::ZERO);
        (Pipes::new(Sole::past(&*pattern), clock), options)
    }

    fn arrive(pipes: &mut Pipes, id: PipeId, options: Weak<EndpointOptions>) -> Arc<KeepsBack> {
        let link = Arc::new(KeepsBack::default());
        let endpoint = Endpoint::Inproc("peer".into());
        let address = PeerAddress::Inproc("peer".into());
        let peer = Arc::new(Peer::datagram(endpoint, address, 1, SocketType::Pull));
        pipes.arrived(id, peer, link.clone(), options, [].into_iter());
        if let Some(signals) = pipes.take_signals() {
            signals.deliver();
        }
        link
    }

    #[test]
    fn the_link_is_told_of_what_waits_and_of_nothing_where_nothing_waits() {
        for waiting in [0, 1, 3] {
            let (mut pipes, options) = pipes();
            let marks = HighWaterMarks::of(&options);
            let id = pipes.await_peer(marks, Provenance::default());
            for _ in 0..waiting {
                pipes.push(id, Item::Message(Frames::from("waits")));
            }
            let link = arrive(&mut pipes, id, Weak::new());
            assert_eq!(link.0.load(Ordering::Relaxed), waiting.min(1));
        }
    }

    #[test]
    fn the_pipe_is_that_of_the_connection_from_then_on() {
        let (mut pipes, options) = pipes();
        let marks = HighWaterMarks::of(&options);
        let id = pipes.await_peer(marks, Provenance::default());
        assert!(pipes.options(id).is_none());
        assert_eq!(pipes.slab[id].carriage, Carriage::Single);
        let protocol = Config::new(SocketType::Push);
        let endpoint = Arc::new(EndpointOptions::new(options, protocol));
        arrive(&mut pipes, id, Arc::downgrade(&endpoint));
        assert!(Arc::ptr_eq(&pipes.options(id).unwrap(), &endpoint));
        assert_eq!(pipes.slab[id].carriage, Carriage::KeptBack);
    }
}
