//! PUB and XPUB: every message goes to the peers that subscribed to a prefix of its first frame
//! (RFC 29). A subscriber whose queue is full misses messages; it never slows the others down.

use std::sync::Arc;

use sealwire_zmtp::{Frame, Frames};

use super::announcements::{Announcements, Arrival};
use super::item::FromPeer;
use super::pipes::{PipeId, Pipes};
use super::subscriptions::{Added, Subscriptions};
use super::{Delivery, Pattern, Received, SendFailure};
use crate::account::{Exceeded, Kind};
use crate::error::{Error, Operation, StateError};
use crate::options::{Behaviour, SocketOptions};

/// Whether the application sees what subscribers send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upstream {
    /// PUB.
    Hidden,
    /// XPUB: a message of `0x01` or `0x00` and the topic for each new or ended subscription.
    Readable,
}

pub(crate) struct Publish {
    upstream: Upstream,
    as_libzmq: bool,
    options: XpubOptions,
    subscriptions: Subscriptions,
    /// With `manual`: what the peers asked for, whatever was granted.
    requested: Subscriptions,
    /// With `manual`: who sent the last subscription that was read.
    last_reader: Option<PipeId>,
    /// With `last_value`: to whom alone the next message goes.
    next_for: Option<PipeId>,
    /// What XPUB reads.
    announcements: Announcements,
    /// Scratch of [`Subscriptions::matching`], kept for its memory.
    matching: Vec<PipeId>,
}

/// What the options change.
struct XpubOptions {
    manual: bool,
    /// The message after a subscription that was read goes to its sender alone.
    last_value: bool,
    no_drop: bool,
    invert: bool,
}

impl XpubOptions {
    fn of(behaviour: &Behaviour) -> Self {
        XpubOptions {
            manual: behaviour.xpub_manual || behaviour.xpub_manual_last_value,
            last_value: behaviour.xpub_manual_last_value,
            no_drop: behaviour.publish_no_drop,
            invert: behaviour.invert_matching,
        }
    }
}

impl Publish {
    pub(crate) fn new(upstream: Upstream, options: &SocketOptions) -> Self {
        Publish {
            upstream,
            as_libzmq: options.as_libzmq,
            options: XpubOptions::of(&options.behaviour),
            subscriptions: Subscriptions::default(),
            requested: Subscriptions::default(),
            last_reader: None,
            next_for: None,
            announcements: Announcements::new(options),
            matching: Vec::new(),
        }
    }

    /// Takes a subscription or cancellation of a peer.
    fn change(&mut self, pipes: &mut Pipes, id: PipeId, item: FromPeer) -> Delivery {
        let outcome = match &item {
            FromPeer::Subscribe(topic) => match self.ask(id, topic) {
                Ok(added) => Some((true, added.topic, added.first)),
                Err(exceeded) => {
                    pipes.exceeded(id, exceeded);
                    return Delivery::Handled;
                }
            },
            FromPeer::Cancel(topic) => match self.asked().cancel(id, topic) {
                Some((topic, last)) => Some((false, topic, last)),
                None if self.tells_of_idle_cancellations() => {
                    let message = Frames::single(announcement(0, topic));
                    return self.delivered(pipes, id, FromPeer::Message(message));
                }
                None => None,
            },
            FromPeer::Message(_) | FromPeer::Missed(_) => None,
        };
        self.note_held(pipes, id);
        let (Some((subscribes, topic, only)), Some(peer), Upstream::Readable) =
            (outcome, pipes.peer(id), self.upstream)
        else {
            return Delivery::Handled;
        };
        let more = match subscribes {
            true => self.announcements.subscribed(id, peer, topic),
            false => self.announcements.cancelled(id, peer, topic, only),
        };
        match more {
            true => Delivery::Queued,
            false => Delivery::Handled,
        }
    }

    /// Whether the application reads cancellations of topics that the peer does not have, as libzmq's may. As a
    /// peer can cause any number of them, they are messages of its own, with their limits.
    fn tells_of_idle_cancellations(&self) -> bool {
        self.as_libzmq && self.upstream == Upstream::Readable && self.announcements.tell_all()
    }

    fn ask(&mut self, id: PipeId, topic: &[u8]) -> Result<Added, Exceeded> {
        let granted = match self.options.manual {
            true => self.subscriptions.bytes_of(id),
            false => 0,
        };
        self.asked().add_beside(id, topic, granted)
    }

    /// Charges a peer with what it asked for and, with `manual`, what it was granted.
    fn note_held(&self, pipes: &Pipes, id: PipeId) {
        let held = self.requested.bytes_of(id) + self.subscriptions.bytes_of(id);
        pipes.note_held(id, Kind::Subscriptions, held);
    }

    /// The table that peers' subscriptions go to.
    fn asked(&mut self) -> &mut Subscriptions {
        if self.options.manual {
            &mut self.requested
        } else {
            &mut self.subscriptions
        }
    }

    /// Whether a sender is told to wait after as many messages as libzmq's.
    fn gives_credit(&self) -> bool {
        self.as_libzmq && self.options.no_drop
    }

    /// Finds who gets a message that begins like this.
    fn match_peers(&mut self, pipes: &Pipes, head: &[u8]) {
        self.subscriptions.matching(head, &mut self.matching);
        if self.options.invert {
            let wanted = std::mem::take(&mut self.matching);
            let others = pipes.live().filter(|id| wanted.binary_search(id).is_err());
            self.matching.extend(others);
        }
    }
}

impl Publish {
    /// Whom a manual subscription is for.
    fn addressee(&self) -> Result<PipeId, Error> {
        if !self.options.manual {
            return Err(Error::Unsupported(Operation::Subscribe));
        }
        self.last_reader.ok_or(StateError::NoSubscriber.into())
    }
}

/// The message form of a subscription (RFC 29): one octet, then the topic.
fn announcement(octet: u8, topic: &[u8]) -> Frame {
    let mut body = Vec::with_capacity(1 + topic.len());
    body.push(octet);
    body.extend_from_slice(topic);
    Frame::from(body)
}

impl Pattern for Publish {
    fn attached(&mut self, _pipes: &mut Pipes, _id: PipeId) -> Result<(), &'static str> {
        Ok(())
    }

    fn detached(&mut self, pipes: &mut Pipes, id: PipeId, _unsent: &mut Vec<Frames>) {
        let ended = self.asked().remove_peer(id);
        if self.options.manual {
            self.subscriptions.remove_peer(id);
            if self.last_reader == Some(id) {
                self.last_reader = None;
            }
            if self.next_for == Some(id) {
                self.next_for = None;
            }
        }
        if let (Upstream::Readable, Some(peer)) = (self.upstream, pipes.peer(id)) {
            for (topic, last) in ended {
                self.announcements.cancelled(id, peer, topic, last);
            }
        }
    }

    fn delivered(&mut self, pipes: &mut Pipes, id: PipeId, item: FromPeer) -> Delivery {
        match item {
            FromPeer::Subscribe(_) | FromPeer::Cancel(_) => self.change(pipes, id, item),
            FromPeer::Message(frames) if self.upstream == Upstream::Readable => {
                pipes.push_inbound(id, frames);
                self.announcements.message(id);
                Delivery::Queued
            }
            FromPeer::Message(_) | FromPeer::Missed(_) => Delivery::Ignored(item),
        }
    }

    fn send(&mut self, pipes: &mut Pipes, frames: &mut Frames) -> Result<usize, SendFailure> {
        let head = frames.frames().first().map_or(&[][..], Frame::as_slice);
        self.match_peers(pipes, head);
        if let Some(only) = self.next_for {
            self.matching.retain(|id| *id == only);
        }
        if self.options.no_drop
            && let Some(&full) = self.matching.iter().find(|&&id| !pipes.has_room(id))
        {
            pipes.note_full(full);
            return Err(SendFailure::WouldBlock);
        }
        if self.gives_credit() {
            if pipes.credit_ran_out(&self.matching) {
                return Err(SendFailure::WouldBlock);
            }
            pipes.spend_credit(&self.matching);
        }
        self.next_for = None;
        Ok(pipes.push_to_all(&self.matching, frames))
    }

    fn receive(&mut self, pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        if self.upstream == Upstream::Hidden {
            return Err(Error::Unsupported(Operation::Receive));
        }
        let next = self.announcements.next();
        let changes = matches!(next, Some(Arrival::Change(_)));
        let (id, received) = match next {
            None => return Ok(None),
            Some(Arrival::From(id)) => (id, pipes.pop_inbound(id)),
            Some(Arrival::Change(change)) => {
                let frame = announcement(u8::from(change.subscribes), &change.topic);
                let received = (Frames::single(frame), change.peer);
                (change.pipe, Some(received))
            }
        };
        // Another peer may have the number of a pipe that is gone.
        let reader = received.as_ref().is_some_and(|(_, peer)| {
            let there = pipes.peer(id).filter(|_| pipes.is_live(id));
            there.is_some_and(|now| Arc::ptr_eq(now, peer))
        });
        self.last_reader = reader.then_some(id);
        if self.options.last_value && changes {
            self.next_for = self.last_reader;
        }
        Ok(received)
    }

    fn configure(&mut self, pipes: &Pipes, behaviour: &Behaviour) {
        let options = XpubOptions::of(behaviour);
        if options.manual != self.options.manual {
            // Subscribers keep what they have; from now on the application grants.
            self.requested = match options.manual {
                true => self.subscriptions.clone(),
                false => Subscriptions::default(),
            };
            for id in pipes.live() {
                self.note_held(pipes, id);
            }
        }
        if !options.last_value {
            self.next_for = None;
        }
        self.options = options;
        let asked = match self.options.manual {
            true => &self.requested,
            false => &self.subscriptions,
        };
        let holders = pipes.live().flat_map(|id| {
            let topics = asked.topics_of(id);
            let peer = pipes.peer(id);
            topics.filter_map(move |topic| Some((peer?, topic)))
        });
        self.announcements.configure(behaviour, holders);
    }

    fn writable(&self, pipes: &Pipes) -> bool {
        if self.gives_credit() {
            pipes.renew_credit();
        }
        !self.options.no_drop || pipes.live().all(|id| pipes.has_room(id))
    }

    fn readable(&self) -> bool {
        !self.announcements.is_empty()
    }

    fn topics(&self) -> Result<usize, Error> {
        Ok(self.subscriptions.topics())
    }

    fn subscribers(&mut self, pipes: &Pipes, topic: &[u8]) -> Option<usize> {
        self.match_peers(pipes, topic);
        Some(self.matching.len())
    }

    fn subscribe(&mut self, pipes: &mut Pipes, topic: &[u8]) -> Result<(), Error> {
        let id = self.addressee()?;
        let requested = self.requested.bytes_of(id);
        self.subscriptions
            .add_beside(id, topic, requested)
            .map_err(|_| Error::Limit("16 MiB of topics for one subscriber"))?;
        self.note_held(pipes, id);
        Ok(())
    }

    fn unsubscribe(&mut self, pipes: &mut Pipes, topic: &[u8]) -> Result<(), Error> {
        let id = self.addressee()?;
        self.subscriptions.cancel(id, topic);
        self.note_held(pipes, id);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use bytes::Bytes;
    use sealwire_zmtp::SocketType;

    use super::super::item::{Item, cost_of_topic};
    use super::super::silent::{End, Scene};
    use super::*;
    use crate::limits::MAX_TOPIC_BYTES_PER_PEER;

    fn xpub() -> (Scene, Publish) {
        let options = SocketOptions::new(SocketType::XPub);
        let publish = Publish::new(Upstream::Readable, &options);
        (Scene::new(options), publish)
    }

    fn read(scene: &mut Scene, xpub: &mut Publish) -> Vec<Vec<u8>> {
        let next = || xpub.receive(&mut scene.pipes).unwrap();
        std::iter::from_fn(next)
            .map(|(frames, _)| frames.frames()[0].as_slice().to_vec())
            .collect()
    }

    fn subscribe(scene: &mut Scene, xpub: &mut Publish, end: &End, topics: std::ops::Range<u32>) {
        for topic in topics {
            let item = FromPeer::Subscribe(Bytes::copy_from_slice(&topic.to_be_bytes()));
            let _ = xpub.delivered(&mut scene.pipes, end.id, item);
        }
    }

    #[test]
    fn one_cancellation_ends_what_was_asked_for_twice() {
        let (mut scene, mut xpub) = xpub();
        let end = scene.attach(&mut xpub, "192.0.2.1:1");
        let topic = Bytes::from_static(b"A");
        for _ in 0..2 {
            let _ = xpub.delivered(&mut scene.pipes, end.id, FromPeer::Subscribe(topic.clone()));
        }
        assert_eq!(read(&mut scene, &mut xpub), [b"\x01A"]);
        assert_eq!(end.held(Kind::Subscriptions), cost_of_topic(b"A"));
        let _ = xpub.delivered(&mut scene.pipes, end.id, FromPeer::Cancel(topic));
        assert_eq!(read(&mut scene, &mut xpub), [b"\x00A"]);
        assert_eq!(end.held(Kind::Subscriptions), 0);
    }

    #[test]
    fn as_libzmq_cancellations_of_topics_that_a_peer_does_not_have_are_messages_of_that_peer() {
        for (as_libzmq, verboser, manual, told) in [
            (true, true, false, true),
            (true, false, true, true),
            (true, false, false, false),
            (false, true, true, false),
        ] {
            let mut options = SocketOptions::new(SocketType::XPub);
            options.as_libzmq = as_libzmq;
            options.behaviour.xpub_verboser = verboser;
            options.behaviour.xpub_manual = manual;
            options.receive_high_water_mark = 3;
            let mut xpub = Publish::new(Upstream::Readable, &options);
            let mut scene = Scene::new(options);
            let end = scene.attach(&mut xpub, "192.0.2.1:1");
            let cancel = |_| Item::Cancel(Bytes::from_static(b"A"));
            let mut cancellations: VecDeque<_> = (0..10).map(cancel).collect();
            let delivered = xpub.deliver_all(&mut scene.pipes, end.id, &mut cancellations);
            let count = if told { 3 } else { 0 };
            assert_eq!((delivered.queued, delivered.full), (count, told));
            assert_eq!(end.account().exceeded(Kind::Received) > 0, told);
            assert_eq!(read(&mut scene, &mut xpub), vec![b"\0A"; count]);
            assert_eq!(cancellations.len(), if told { 7 } else { 0 });
            // A topic that it has is told of once.
            subscribe(&mut scene, &mut xpub, &end, 0..1);
            assert_eq!(read(&mut scene, &mut xpub).len(), 1);
            for more in [true, told] {
                let cancel = FromPeer::Cancel(Bytes::from_static(&[0; 4]));
                let _ = xpub.delivered(&mut scene.pipes, end.id, cancel);
                assert_eq!(!read(&mut scene, &mut xpub).is_empty(), more);
            }
        }
    }

    #[test]
    fn cancellations_of_a_peer_that_leaves_are_complete() {
        let (mut scene, mut xpub) = xpub();
        let end = scene.attach(&mut xpub, "192.0.2.1:1");
        subscribe(&mut scene, &mut xpub, &end, 0..5_000);
        assert_eq!(read(&mut scene, &mut xpub).len(), 5_000);
        scene.detach(&mut xpub, &end);
        // It comes back again and again while nobody reads.
        for _ in 0..6 {
            let end = scene.attach(&mut xpub, "192.0.2.1:1");
            subscribe(&mut scene, &mut xpub, &end, 0..7_000);
            scene.detach(&mut xpub, &end);
        }
        let read = read(&mut scene, &mut xpub);
        assert_eq!(read.len(), 5_000);
        assert!(read.iter().all(|message| message[0] == 0));
    }

    /// One whose application grants topics, and a peer that has asked for one.
    fn manual_xpub() -> (Scene, Publish, End) {
        let options = SocketOptions {
            behaviour: Behaviour {
                xpub_manual: true,
                ..Behaviour::default()
            },
            ..SocketOptions::new(SocketType::XPub)
        };
        let mut xpub = Publish::new(Upstream::Readable, &options);
        let mut scene = Scene::new(options);
        let end = scene.attach(&mut xpub, "192.0.2.1:1");
        subscribe(&mut scene, &mut xpub, &end, 0..1);
        assert_eq!(read(&mut scene, &mut xpub).len(), 1);
        (scene, xpub, end)
    }

    #[test]
    fn what_is_granted_by_hand_is_charged_to_the_subscriber() {
        let (mut scene, mut xpub, end) = manual_xpub();
        xpub.subscribe(&mut scene.pipes, b"granted").unwrap();
        let asked = cost_of_topic(&[0; 4]);
        let both = asked + cost_of_topic(b"granted");
        assert_eq!(end.held(Kind::Subscriptions), both);
        // Both together are bounded.
        let large = vec![7; MAX_TOPIC_BYTES_PER_PEER - cost_of_topic(&[]) - both];
        xpub.subscribe(&mut scene.pipes, &large).unwrap();
        assert!(xpub.subscribe(&mut scene.pipes, b"more").is_err());
        assert_eq!(end.held(Kind::Subscriptions), MAX_TOPIC_BYTES_PER_PEER);
        xpub.unsubscribe(&mut scene.pipes, &large).unwrap();
        xpub.unsubscribe(&mut scene.pipes, b"granted").unwrap();
        assert_eq!(end.held(Kind::Subscriptions), asked);
    }

    #[test]
    fn what_is_granted_by_hand_leaves_less_to_ask_for() {
        let (mut scene, mut xpub, end) = manual_xpub();
        let left = MAX_TOPIC_BYTES_PER_PEER - cost_of_topic(&[0; 4]);
        let large = vec![7; left - cost_of_topic(&[])];
        xpub.subscribe(&mut scene.pipes, &large).unwrap();
        assert!(end.dismissed(&mut scene).is_empty());
        subscribe(&mut scene, &mut xpub, &end, 1..2);
        assert_eq!(end.dismissed(&mut scene).len(), 1);
    }

    #[test]
    fn a_subscriber_with_too_many_topics_is_disconnected_and_counted() {
        let (mut scene, mut xpub) = xpub();
        let end = scene.attach(&mut xpub, "192.0.2.1:1");
        subscribe(&mut scene, &mut xpub, &end, 0..70_000);
        let dismissed = end.dismissed(&mut scene);
        assert!(
            dismissed.len() == 1 && dismissed[0].starts_with("topics and groups"),
            "once, with the cause: {dismissed:?}"
        );
        assert!(end.account().exceeded(Kind::Subscriptions) > 0);
        let held = end.held(Kind::Subscriptions);
        assert!(held <= MAX_TOPIC_BYTES_PER_PEER && held > MAX_TOPIC_BYTES_PER_PEER - 1_000);
    }

    #[test]
    fn a_last_value_goes_to_the_subscriber_that_was_read_last_and_the_next_message_to_all() {
        let options = SocketOptions {
            behaviour: Behaviour {
                xpub_manual_last_value: true,
                ..Behaviour::default()
            },
            ..SocketOptions::new(SocketType::XPub)
        };
        let mut xpub = Publish::new(Upstream::Readable, &options);
        let mut scene = Scene::new(options);
        let ends = ["192.0.2.1:1", "192.0.2.1:2"].map(|at| scene.attach(&mut xpub, at));
        let send = |scene: &mut Scene, xpub: &mut Publish| {
            let mut frames = Frames::single(Frame::copy_from_slice(&0_u32.to_be_bytes()));
            xpub.send(&mut scene.pipes, &mut frames).unwrap();
            [0, 1].map(|number: usize| scene.take(&ends[number]).len())
        };
        for (number, end) in ends.iter().enumerate() {
            subscribe(&mut scene, &mut xpub, end, 0..1);
            assert_eq!(read(&mut scene, &mut xpub).len(), 1);
            // A wish is granted by hand.
            let granted = xpub.subscribe(&mut scene.pipes, &0_u32.to_be_bytes());
            granted.unwrap();
            let mut alone = [0, 0];
            alone[number] = 1;
            assert_eq!(send(&mut scene, &mut xpub), alone);
        }
        assert_eq!(send(&mut scene, &mut xpub), [1, 1]);
        // One that goes before its value was sent is nobody.
        subscribe(&mut scene, &mut xpub, &ends[1], 1..2);
        assert_eq!(read(&mut scene, &mut xpub).len(), 1);
        scene.detach(&mut xpub, &ends[1]);
        assert_eq!(send(&mut scene, &mut xpub), [1, 0]);
        assert_eq!(xpub.topics().unwrap(), 1);
    }

    #[test]
    fn topics_are_counted_once_for_all_who_have_them() {
        let (mut scene, mut xpub) = xpub();
        let ends = ["192.0.2.1:1", "192.0.2.1:2"].map(|at| scene.attach(&mut xpub, at));
        for end in &ends {
            subscribe(&mut scene, &mut xpub, end, 0..3);
        }
        let all = FromPeer::Subscribe(Bytes::new());
        let _ = xpub.delivered(&mut scene.pipes, ends[0].id, all);
        assert_eq!(xpub.topics().unwrap(), 4);
        scene.detach(&mut xpub, &ends[0]);
        assert_eq!(xpub.topics().unwrap(), 3);
        scene.detach(&mut xpub, &ends[1]);
        assert_eq!(xpub.topics().unwrap(), 0);
    }
}
