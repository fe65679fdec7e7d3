//! The numbers of peers: messages and bytes, depths of queues, times of waiting.

use std::sync::Arc;

use super::{PipeId, Pipes};
use crate::measures::{Histogram, PeerNumbers, QueueDepth, Traffic};
use crate::peer::Peer;

/// The numbers of one peer.
pub(crate) struct Measurements {
    /// `None` for one that is not there yet.
    pub(crate) peer: Option<Arc<Peer>>,
    /// The number of the `connect` or `bind` that it came from.
    pub(crate) endpoint: Option<u64>,
    pub(crate) numbers: PeerNumbers,
}

impl Pipes {
    /// A message found no room at a peer, and is dropped there.
    #[cold]
    pub(crate) fn note_dropped(&mut self, id: PipeId) {
        if let Some(pipe) = self.slab.get_mut(id) {
            pipe.note_dropped(&mut self.drop_events, &mut self.signals);
        }
    }

    /// A peer says how many messages it has dropped for this socket.
    #[cold]
    pub(crate) fn note_missed(&mut self, id: PipeId, messages: u64) {
        self.missed = self.missed.saturating_add(messages);
        if let Some(pipe) = self.slab.get_mut(id) {
            pipe.note_missed(messages, &mut self.drop_events, &mut self.signals);
        }
    }

    /// Messages that peers say they dropped, also peers that are gone.
    pub(crate) fn missed(&self) -> u64 {
        self.missed
    }

    /// Messages have been added to the inbound queue of a peer.
    #[inline]
    pub(crate) fn note_received(&mut self, id: PipeId, messages: usize, bytes: usize) {
        if messages == 0 {
            return;
        }
        self.traffic.note_received(messages, bytes);
        let Some(pipe) = self.slab.get_mut(id) else {
            return;
        };
        pipe.note_received(messages, bytes);
        pipe.measured.inbound.moved();
        if pipe.measured.inbound.is_due() && !pipe.inbound.is_empty() {
            pipe.sample_inbound();
        }
    }

    /// Messages and bytes of all peers, also of those that are gone.
    pub(crate) fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Those of one peer, and the number of the `connect` or `bind` that it came from.
    pub(crate) fn traffic_of(&self, id: PipeId) -> Option<(u64, Traffic)> {
        let pipe = self.slab.get(id)?;
        let origin = &pipe.provenance;
        let endpoint = origin.connector.or(origin.listener)?;
        Some((endpoint, pipe.measured.traffic))
    }

    /// How long messages waited: for a connection to take them, and for the application.
    pub(crate) fn waits(&self) -> [Histogram; 2] {
        [self.waits.outbound, self.waits.inbound]
    }

    /// The numbers of all peers that are there or awaited. What others left to be read is in `of_gone`.
    pub(crate) fn measurements(&self, of_gone: &mut QueueDepth) -> Vec<Measurements> {
        let mut all = Vec::new();
        for (_, pipe) in &self.slab {
            if pipe.life.has_ended() {
                of_gone.add(pipe.inbound_depth());
                continue;
            }
            pipe.settle_account();
            let origin = &pipe.provenance;
            all.push(Measurements {
                peer: (!pipe.life.is_awaited()).then(|| pipe.peer.clone()),
                endpoint: origin.connector.or(origin.listener),
                numbers: pipe.numbers(),
            });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::atomic::Ordering;

    use sealwire_zmtp::{Frames, SocketType};

    use super::*;
    use crate::options::SocketOptions;
    use crate::pattern::silent::{End, Scene};
    use crate::pattern::{Delivery, DropEvent, FromPeer, Item, Pattern, Room, pattern};

    struct Socket {
        pattern: Box<dyn Pattern>,
        scene: Scene,
        peer: End,
    }

    impl Socket {
        fn new(options: SocketOptions) -> Self {
            let mut pattern = pattern(&options, |_| {}).unwrap();
            let mut scene = Scene::new(options);
            let peer = scene.attach(&mut *pattern, "203.0.113.5:4711");
            Socket {
                pattern,
                scene,
                peer,
            }
        }

        /// With room for two messages for each subscriber.
        fn publisher() -> Self {
            Socket::new(SocketOptions {
                send_high_water_mark: 2,
                ..SocketOptions::new(SocketType::Pub)
            })
        }

        /// A peer of this publisher wants everything.
        fn subscribes(&mut self, id: PipeId) {
            let everything = FromPeer::Subscribe(bytes::Bytes::new());
            let heard = (self.pattern).delivered(&mut self.scene.pipes, id, everything);
            assert!(!matches!(heard, Delivery::Ignored(_)));
        }

        fn at(&self, seconds: u64) {
            self.scene.now.store(seconds, Ordering::Relaxed);
        }

        fn send(&mut self, messages: usize) -> usize {
            let send = |_| {
                let sent = self.pattern.send(&mut self.scene.pipes, &mut "four".into());
                sent.unwrap_or_default()
            };
            (0..messages).map(send).sum()
        }

        /// As a connection does that has room for this number.
        fn take(&mut self, messages: usize) -> usize {
            let room = Room {
                messages,
                bytes: usize::MAX,
            };
            let mut items = VecDeque::new();
            let pipes = &mut self.scene.pipes;
            pipes.take_outbound(self.peer.id, &mut items, room).messages
        }

        fn deliver(&mut self, messages: usize) {
            let messages = (0..messages).map(|_| Item::Message(Frames::from("four")));
            let mut source: VecDeque<Item> = messages.collect();
            let pipes = &mut self.scene.pipes;
            let delivered = self.pattern.deliver_all(pipes, self.peer.id, &mut source);
            pipes.note_received(self.peer.id, delivered.queued, delivered.bytes);
        }

        fn receive(&mut self, messages: usize) {
            for _ in 0..messages {
                let received = self.pattern.receive(&mut self.scene.pipes);
                assert!(received.unwrap().is_some());
            }
        }

        fn measured(&self) -> PeerNumbers {
            let mut all = (self.scene.pipes).measurements(&mut QueueDepth::default());
            all.pop().unwrap().numbers
        }

        /// The times for which sampled messages waited, in seconds, as a number of them and their sum.
        fn waited(&self) -> [(u64, u64); 2] {
            let waits = self.scene.pipes.waits();
            waits.map(|times| (times.count(), times.sum().as_secs()))
        }
    }

    #[test]
    fn what_goes_through_a_peer_is_counted_with_the_most_that_waited() {
        let mut socket = Socket::new(SocketOptions::new(SocketType::Pair));
        socket.send(5);
        assert_eq!(socket.take(3), 3);
        socket.send(1);
        socket.deliver(4);
        socket.receive(3);
        socket.deliver(1);
        let measured = socket.measured();
        let expected = Traffic {
            messages_sent: 3,
            bytes_sent: 12,
            messages_received: 5,
            bytes_received: 20,
        };
        assert_eq!(measured.traffic, expected);
        assert_eq!(socket.scene.pipes.traffic(), expected);
        let depth = |messages, most_messages| QueueDepth {
            messages,
            bytes: 4 * messages,
            most_messages,
        };
        assert_eq!(measured.outbound, depth(3, 5));
        assert_eq!(measured.inbound, depth(2, 4));
    }

    #[test]
    fn the_time_of_the_first_message_is_taken_and_then_of_one_in_many_batches() {
        let mut socket = Socket::new(SocketOptions::new(SocketType::Pair));
        socket.at(10);
        socket.send(1);
        socket.deliver(3);
        socket.at(12);
        socket.send(1);
        socket.receive(2);
        // The last of the three that came is still there.
        assert_eq!(socket.waited(), [(0, 0); 2]);
        assert_eq!(socket.take(9), 2);
        socket.at(17);
        socket.receive(1);
        assert_eq!(socket.waited(), [(1, 2), (1, 7)]);
        // Each batch waits for a second.
        for second in 100..200 {
            socket.at(second);
            socket.send(1);
            socket.deliver(1);
            socket.at(second + 1);
            // Until nothing is left, as a connection does: then the next message is told of.
            while socket.take(9) > 0 {}
            socket.receive(1);
        }
        assert_eq!(socket.waited(), [(2, 3), (2, 8)]);
    }

    #[test]
    fn a_queue_that_is_never_empty_is_sampled_by_its_last_message() {
        let mut socket = Socket::new(SocketOptions::new(SocketType::Pair));
        socket.send(400);
        // The first is sampled; 64 batches later the last of those that are left.
        for _ in 0..80 {
            assert_eq!(socket.take(1), 1);
        }
        assert_eq!(socket.waited()[0], (1, 0));
        socket.at(30);
        socket.take(319);
        assert_eq!(socket.waited()[0].0, 1, "the last one is there");
        socket.take(1);
        assert_eq!(socket.waited()[0], (2, 30));
    }

    #[test]
    fn what_a_newer_message_replaces_is_not_sampled() {
        let mut options = SocketOptions::new(SocketType::Pair);
        options.behaviour.conflate = true;
        let mut socket = Socket::new(options);
        socket.send(1);
        socket.deliver(1);
        socket.at(5);
        socket.send(1);
        socket.deliver(1);
        let one = QueueDepth {
            messages: 1,
            bytes: 4,
            most_messages: 1,
        };
        let measured = socket.measured();
        assert_eq!([measured.outbound, measured.inbound], [one; 2]);
        socket.take(9);
        socket.receive(1);
        assert_eq!(socket.waited(), [(0, 0), (0, 0)]);
        let measured = socket.measured();
        assert_eq!(
            (measured.traffic.messages_sent, measured.traffic.bytes_sent),
            (1, 4)
        );
        let none = QueueDepth {
            messages: 0,
            bytes: 0,
            ..one
        };
        assert_eq!([measured.outbound, measured.inbound], [none; 2]);
    }

    #[test]
    fn a_peer_is_as_old_as_its_connection() {
        let mut socket = Socket::new(SocketOptions::new(SocketType::Dealer));
        socket.at(10);
        socket
            .scene
            .attach(&mut *socket.pattern, "203.0.113.6:4711");
        socket.at(15);
        let all = (socket.scene.pipes).measurements(&mut QueueDepth::default());
        let mut ages: Vec<u64> = all.iter().map(|it| it.numbers.age.as_secs()).collect();
        ages.sort();
        assert_eq!(ages, [5, 15]);
    }

    #[test]
    fn what_is_discarded_is_not_there_and_what_a_peer_left_counts_without_it() {
        let mut socket = Socket::new(SocketOptions::new(SocketType::Pair));
        let depth = |messages, most_messages| QueueDepth {
            messages,
            bytes: 4 * messages,
            most_messages,
        };
        socket.deliver(3);
        assert_eq!(socket.scene.pipes.discard_unread_of(socket.peer.id), 3);
        assert_eq!(socket.measured().inbound, depth(0, 3));
        socket.deliver(2);
        // Its own numbers are as they were when they were asked for.
        socket.measured();
        assert_eq!(socket.peer.peer.numbers().inbound, depth(2, 3));
        let _ = socket.scene.pipes.end(socket.peer.id);
        let mut of_gone = depth(1, 1);
        assert!(socket.scene.pipes.measurements(&mut of_gone).is_empty());
        assert_eq!(of_gone, depth(3, 3));
    }

    #[test]
    fn what_finds_no_room_at_the_only_subscriber_is_counted_for_it() {
        let mut socket = Socket::publisher();
        socket.subscribes(socket.peer.id);
        assert_eq!(socket.send(5), 3);
        assert_eq!(socket.measured().dropped, 3);
        assert_eq!(socket.measured().outbound.messages, 2);
    }

    #[test]
    fn what_was_not_told_of_drops_is_told_as_the_peer_ends() {
        let mut socket = Socket::publisher();
        socket.subscribes(socket.peer.id);
        assert_eq!(socket.send(5), 3);
        let pipes = &mut socket.scene.pipes;
        pipes.note_missed(socket.peer.id, 7);
        pipes.note_missed(socket.peer.id, 8);
        let _ = pipes.end(socket.peer.id);
        let mut telling = false;
        let told = std::iter::from_fn(|| pipes.drop_events.next(&mut telling));
        let told: Vec<_> = told
            .map(|event| match event {
                DropEvent::Began(_) => ("began", 0),
                DropEvent::Ended(_, count) => ("ended", count),
                DropEvent::Missed(_, count) => ("missed", count),
            })
            .collect();
        assert_eq!(
            told,
            [("began", 0), ("missed", 7), ("ended", 3), ("missed", 8)]
        );
        assert!(pipes.take_signals().is_some_and(|signals| signals.tells));
    }

    #[test]
    fn a_copy_that_finds_no_room_is_counted_for_its_peer() {
        let mut socket = Socket::publisher();
        let other = socket
            .scene
            .attach(&mut *socket.pattern, "203.0.113.6:4711");
        for id in [socket.peer.id, other.id] {
            socket.subscribes(id);
        }
        assert_eq!(socket.send(2), 0);
        socket.take(9);
        assert_eq!(socket.send(1), 1);
        let mut all = (socket.scene.pipes).measurements(&mut QueueDepth::default());
        all.sort_by_key(|it| it.numbers.dropped);
        let dropped: Vec<u64> = all.iter().map(|it| it.numbers.dropped).collect();
        assert_eq!(dropped, [0, 1]);
        assert_eq!(all[1].numbers.outbound.messages, 2);
    }
}
