//! SUB and XSUB: subscriptions go to every publisher, messages come back in turn (RFC 29).
//!
//! The application's subscriptions are counted. Publishers get the first of a topic and the end of
//! the last, which means the same to those that count and those that do not.
//!
//! Publishers bound the topics of one subscriber. SUB refuses topics over the bound. XSUB may stand
//! for many subscribers: over the bound it subscribes to everything, until its topics are half as
//! many, and filters by itself. Each of the subscribers can cause that with the empty topic anyway.
//!
//! Messages that nobody subscribed to are dropped here too: a publisher may get a cancellation
//! late, or may not filter at all.

use std::collections::BTreeMap;

use bytes::Bytes;
use sealwire_zmtp::{Frame, Frames};

use super::fair_queue::FairQueue;
use super::item::{FromPeer, Item};
use super::pipes::{PipeId, Pipes};
use super::subscriptions::Subscriptions;
use super::{Delivery, Pattern, Received, SendFailure};
use crate::error::{Error, Operation, StateError};
use crate::limits::MAX_TOPIC_BYTES_PER_PEER;
use crate::options::{Behaviour, SocketOptions};

/// Whether the application may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upstream {
    /// SUB.
    Closed,
    /// XSUB: messages starting with `0x01` or `0x00` are subscriptions, others go to all peers.
    Open,
}

/// Bytes of topics that publishers are asked for one by one. A little less than they take, so that
/// all can be taken back at once.
const MAX_BYTES_UPSTREAM: usize = MAX_TOPIC_BYTES_PER_PEER / 16 * 15;

/// The application's subscriptions are held like those of a peer of this number.
const SELF: PipeId = 0;

pub(crate) struct Subscribe {
    upstream: Upstream,
    /// Messages that were subscribed to are dropped, the rest delivered.
    invert: bool,
    as_libzmq: bool,
    /// Publishers hear of every cancellation.
    verbose_unsubscribe: bool,
    /// How often each topic was subscribed to.
    counts: BTreeMap<Vec<u8>, usize>,
    filter: Subscriptions,
    /// The publishers were asked for everything instead of each topic.
    asks_for_everything: bool,
    inbound: FairQueue,
    matching: Vec<PipeId>,
}

/// Whether it takes more topics than its publishers would: those are asked for everything then.
fn is_unlimited(upstream: Upstream, as_libzmq: bool) -> bool {
    as_libzmq || upstream == Upstream::Open
}

impl Subscribe {
    pub(crate) fn new(upstream: Upstream, options: &SocketOptions) -> Self {
        Subscribe {
            upstream,
            invert: options.behaviour.invert_matching,
            as_libzmq: options.as_libzmq,
            verbose_unsubscribe: options.behaviour.xsub_verbose_unsubscribe,
            counts: BTreeMap::new(),
            filter: match is_unlimited(upstream, options.as_libzmq) {
                true => Subscriptions::with_limit(usize::MAX),
                false => Subscriptions::default(),
            },
            asks_for_everything: false,
            inbound: FairQueue::default(),
            matching: Vec::new(),
        }
    }

    /// Whether messages that nobody subscribed to are of use: libzmq's XSUB leaves the filter to publishers.
    fn takes_all(&self) -> bool {
        self.as_libzmq && self.upstream == Upstream::Open && !self.asks_for_everything
    }

    /// Tells publishers of a new or ended topic.
    fn changed(&mut self, pipes: &mut Pipes, topic: &[u8], subscribes: bool) {
        let held = self.filter.bytes_of(SELF);
        let everything = self.asks_for_everything;
        let unlimited = is_unlimited(self.upstream, self.as_libzmq);
        if !everything && unlimited && held > MAX_BYTES_UPSTREAM {
            self.asks_for_everything = true;
            if topic.is_empty() || !self.counts.contains_key(&b""[..]) {
                pipes.change_for_all(b"", true);
            }
            for other in self.filter.topics_of(SELF) {
                if !other.is_empty() && **other != *topic {
                    pipes.change_for_all(other, false);
                }
            }
        } else if everything && held <= MAX_BYTES_UPSTREAM / 2 {
            self.asks_for_everything = false;
            for topic in self.filter.topics_of(SELF) {
                if !topic.is_empty() {
                    pipes.change_for_all(topic, true);
                }
            }
            if !self.counts.contains_key(&b""[..]) {
                pipes.change_for_all(b"", false);
            }
        } else if !everything {
            pipes.change_for_all(topic, subscribes);
        }
    }
}

impl Pattern for Subscribe {
    fn attached(&mut self, pipes: &mut Pipes, id: PipeId) -> Result<(), &'static str> {
        if self.asks_for_everything {
            pipes.change(id, &Bytes::new(), true);
            return Ok(());
        }
        for topic in self.counts.keys() {
            pipes.change(id, &Bytes::copy_from_slice(topic), true);
        }
        Ok(())
    }

    fn detached(&mut self, _pipes: &mut Pipes, _id: PipeId, _unsent: &mut Vec<Frames>) {}

    fn delivered(&mut self, pipes: &mut Pipes, id: PipeId, item: FromPeer) -> Delivery {
        let frames = match item {
            FromPeer::Message(frames) => frames,
            other => return Delivery::Ignored(other),
        };
        let head = frames.frames().first().map_or(&[][..], Frame::as_slice);
        self.filter.matching(head, &mut self.matching);
        if self.matching.is_empty() != self.invert && !self.takes_all() {
            return Delivery::Ignored(FromPeer::Message(frames));
        }
        self.inbound.push(pipes, id, frames);
        Delivery::Queued
    }

    fn queue_of_all(&mut self) -> Option<&mut FairQueue> {
        let wants_all = self.filter.wants_everything() && !self.invert || self.takes_all();
        wants_all.then_some(&mut self.inbound)
    }

    fn send(&mut self, pipes: &mut Pipes, frames: &mut Frames) -> Result<usize, SendFailure> {
        if self.upstream == Upstream::Closed {
            return Err(Error::Unsupported(Operation::Send).into());
        }
        let subscription = match frames.frames() {
            [frame] => frame.split_first(),
            _ => None,
        };
        let outcome = match subscription {
            Some((1, topic)) => self.subscribe(pipes, topic),
            Some((0, topic)) => match self.unsubscribe(pipes, topic) {
                Err(Error::State(StateError::NotSubscribed)) if self.as_libzmq => Ok(()),
                outcome => outcome,
            },
            _ => {
                let (ready, full): (Vec<_>, Vec<_>) =
                    pipes.live().partition(|&id| pipes.has_room(id));
                for id in ready {
                    pipes.push(id, Item::Message(frames.clone()));
                }
                full.iter().for_each(|&id| pipes.note_dropped(id));
                return Ok(full.len());
            }
        };
        Ok(outcome.map(|()| 0)?)
    }

    fn receive(&mut self, pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        Ok(self
            .inbound
            .pop(pipes)
            .map(|(_, frames, peer)| (frames, peer)))
    }

    fn receives_unchanged(&self) -> bool {
        true
    }

    fn configure(&mut self, _pipes: &Pipes, behaviour: &Behaviour) {
        self.invert = behaviour.invert_matching;
        self.verbose_unsubscribe = behaviour.xsub_verbose_unsubscribe;
    }

    fn takes(&self, _pipes: &Pipes, _head: &[u8]) -> Result<bool, Error> {
        match self.upstream {
            Upstream::Closed => Err(Error::Unsupported(Operation::Send)),
            Upstream::Open => Ok(true),
        }
    }

    fn writable(&self, _pipes: &Pipes) -> bool {
        self.upstream == Upstream::Open
    }

    fn readable(&self) -> bool {
        !self.inbound.is_empty()
    }

    fn subscribe(&mut self, pipes: &mut Pipes, topic: &[u8]) -> Result<(), Error> {
        if let Some(count) = self.counts.get_mut(topic) {
            *count += 1;
            if self.as_libzmq && !self.asks_for_everything {
                pipes.change_for_all(topic, true);
            }
            return Ok(());
        }
        self.filter
            .add(SELF, topic)
            .map_err(|_| Error::Limit("16 MiB of topics on one socket"))?;
        self.counts.insert(topic.to_vec(), 1);
        self.changed(pipes, topic, true);
        Ok(())
    }

    fn unsubscribe(&mut self, pipes: &mut Pipes, topic: &[u8]) -> Result<(), Error> {
        let passes = self.verbose_unsubscribe && !self.asks_for_everything;
        let Some(count) = self.counts.get_mut(topic) else {
            if !passes {
                return Err(StateError::NotSubscribed.into());
            }
            pipes.change_for_all(topic, false);
            return Ok(());
        };
        *count -= 1;
        if *count == 0 {
            self.counts.remove(topic);
            self.filter.cancel(SELF, topic);
            self.changed(pipes, topic, false);
        } else if passes {
            pipes.change_for_all(topic, false);
        }
        Ok(())
    }

    fn topics(&self) -> Result<usize, Error> {
        Ok(self.counts.len())
    }
}

#[cfg(test)]
mod tests {
    use sealwire_zmtp::SocketType;

    use super::super::item::cost_of_topic;
    use super::super::silent::Scene;
    use super::*;
    use crate::account::Kind;

    fn socket(socket_type: SocketType) -> (Scene, Subscribe) {
        made_with(SocketOptions::new(socket_type))
    }

    fn made_with(options: SocketOptions) -> (Scene, Subscribe) {
        let socket_type = options.socket_type;
        let upstream = match socket_type {
            SocketType::XSub => Upstream::Open,
            _ => Upstream::Closed,
        };
        let subscribe = Subscribe::new(upstream, &options);
        (Scene::new(options), subscribe)
    }

    #[test]
    fn publishers_hear_of_the_first_subscription_and_the_last_cancellation() {
        let (mut scene, mut sub) = socket(SocketType::Sub);
        let publisher = scene.attach(&mut sub, "192.0.2.1:1");
        for _ in 0..2 {
            sub.subscribe(&mut scene.pipes, b"a").unwrap();
        }
        assert_eq!(scene.take(&publisher), ["+a"]);
        sub.unsubscribe(&mut scene.pipes, b"a").unwrap();
        assert!(scene.take(&publisher).is_empty());
        sub.unsubscribe(&mut scene.pipes, b"a").unwrap();
        assert_eq!(scene.take(&publisher), ["-a"]);
        assert!(sub.unsubscribe(&mut scene.pipes, b"a").is_err());
    }

    #[test]
    fn toggles_that_a_publisher_does_not_read_are_one_topic() {
        let (mut scene, mut sub) = socket(SocketType::Sub);
        let publisher = scene.attach(&mut sub, "192.0.2.1:1");
        let topic = vec![b't'; 60_000];
        for _ in 0..3_000 {
            sub.subscribe(&mut scene.pipes, &topic).unwrap();
            let held = publisher.held(Kind::SubscriptionChanges);
            assert_eq!(held, cost_of_topic(&topic));
            sub.unsubscribe(&mut scene.pipes, &topic).unwrap();
            assert_eq!(publisher.held(Kind::SubscriptionChanges), 0);
        }
        assert!(scene.take(&publisher).is_empty());
    }

    #[test]
    fn as_libzmq_publishers_hear_of_every_subscription_and_an_xsub_filters_nothing() {
        let as_libzmq = |socket_type| SocketOptions {
            as_libzmq: true,
            ..SocketOptions::new(socket_type)
        };
        let (mut scene, mut sub) = made_with(as_libzmq(SocketType::Sub));
        let publisher = scene.attach(&mut sub, "192.0.2.1:1");
        for _ in 0..2 {
            sub.subscribe(&mut scene.pipes, b"a").unwrap();
            assert_eq!(scene.take(&publisher), ["+a"]);
        }
        sub.unsubscribe(&mut scene.pipes, b"a").unwrap();
        assert!(scene.take(&publisher).is_empty());
        sub.unsubscribe(&mut scene.pipes, b"a").unwrap();
        assert_eq!(scene.take(&publisher), ["-a"]);

        let unwanted = || FromPeer::Message(Frames::from("unwanted"));
        let ignored = sub.delivered(&mut scene.pipes, publisher.id, unwanted());
        assert!(matches!(ignored, Delivery::Ignored(_)));
        for (options, taken) in [
            (as_libzmq(SocketType::XSub), true),
            (SocketOptions::new(SocketType::XSub), false),
        ] {
            let (mut scene, mut xsub) = made_with(options);
            let publisher = scene.attach(&mut xsub, "192.0.2.1:1");
            let delivered = xsub.delivered(&mut scene.pipes, publisher.id, unwanted());
            assert_eq!(matches!(delivered, Delivery::Queued), taken);
            // A cancellation of what it does not have goes nowhere.
            let mut cancellation = Frames::from("\0a");
            let sent = xsub.send(&mut scene.pipes, &mut cancellation);
            assert_eq!(sent.is_ok(), taken);
            assert!(scene.take(&publisher).is_empty());
        }
    }

    #[test]
    fn subscriptions_keep_their_place_among_messages() {
        let (mut scene, mut xsub) = socket(SocketType::XSub);
        let publisher = scene.attach(&mut xsub, "192.0.2.1:1");
        for text in ["one", "\u{1}a", "\u{1}b", "two", "\u{1}c", "\u{0}b"] {
            let mut frames = Frames::single(Frame::copy_from_slice(text.as_bytes()));
            xsub.send(&mut scene.pipes, &mut frames).unwrap();
        }
        let all = ["1 message", "+a", "1 message", "+c"];
        assert_eq!(scene.take(&publisher), all);
        assert_eq!(publisher.held(Kind::SubscriptionChanges), 0);
    }

    #[test]
    fn a_publisher_that_reads_no_changes_is_disconnected_and_told_again() {
        let (mut scene, mut sub) = socket(SocketType::Sub);
        let publisher = scene.attach(&mut sub, "192.0.2.1:1");
        let topic = |number: u8| vec![number; 1 << 20];
        for number in 0..14 {
            sub.subscribe(&mut scene.pipes, &topic(number)).unwrap();
        }
        assert_eq!(scene.take(&publisher).len(), 14);
        // It takes no more: 14 MiB to cancel, and as many to subscribe to.
        for number in 0..14 {
            sub.unsubscribe(&mut scene.pipes, &topic(number)).unwrap();
            sub.subscribe(&mut scene.pipes, &topic(100 + number))
                .unwrap();
        }
        let reason = "subscriptions and cancellations for a publisher exceed the limit";
        let dismissed = publisher.dismissed(&mut scene);
        assert!(
            dismissed.len() == 1 && dismissed[0].starts_with(reason),
            "{dismissed:?}"
        );
        assert_eq!(publisher.account().exceeded(Kind::SubscriptionChanges), 1);
        assert_eq!(publisher.held(Kind::SubscriptionChanges), 0);
        scene.detach(&mut sub, &publisher);
        let again = scene.attach(&mut sub, "192.0.2.1:2");
        assert_eq!(scene.take(&again).len(), 14);
        assert!(again.dismissed(&mut scene).is_empty());
    }

    #[test]
    fn many_topics_of_many_subscribers_become_one() {
        let (mut scene, mut xsub) = socket(SocketType::XSub);
        let publisher = scene.attach(&mut xsub, "192.0.2.1:1");
        let topic = |number: u8| vec![number; 1 << 20];
        for number in 0..40 {
            xsub.subscribe(&mut scene.pipes, &topic(number)).unwrap();
        }
        assert_eq!(scene.take(&publisher), ["+"]);
        let late = scene.attach(&mut xsub, "192.0.2.1:2");
        assert_eq!(scene.take(&late), ["+"]);
        // What nobody asked for is dropped here.
        let message = |head: &[u8]| FromPeer::Message(Frames::single(Frame::copy_from_slice(head)));
        let id = publisher.id;
        let unwanted = xsub.delivered(&mut scene.pipes, id, message(b"unwanted"));
        assert!(matches!(unwanted, Delivery::Ignored(_)));
        let wanted = xsub.delivered(&mut scene.pipes, id, message(&topic(39)));
        assert!(matches!(wanted, Delivery::Queued));

        for number in 7..40 {
            xsub.unsubscribe(&mut scene.pipes, &topic(number)).unwrap();
        }
        for end in [&publisher, &late] {
            let told = scene.take(end);
            assert_eq!(told.len(), 8);
            assert_eq!(told.iter().filter(|told| *told == "-").count(), 1);
            assert!(end.dismissed(&mut scene).is_empty());
        }
    }

    #[test]
    fn all_that_was_asked_for_can_be_taken_back_at_once() {
        let (mut scene, mut xsub) = socket(SocketType::XSub);
        let publisher = scene.attach(&mut xsub, "192.0.2.1:1");
        let number = |number: u32| number.to_be_bytes();
        let mut last = 0;
        while !xsub.asks_for_everything {
            if last == MAX_BYTES_UPSTREAM as u32 / cost_of_topic(&[0; 4]) as u32 - 1 {
                scene.take(&publisher);
            }
            xsub.subscribe(&mut scene.pipes, &number(last)).unwrap();
            last += 1;
        }
        assert!(publisher.held(Kind::SubscriptionChanges) > MAX_BYTES_UPSTREAM - 1_000);
        assert!(publisher.dismissed(&mut scene).is_empty());
    }

    #[test]
    fn a_verbose_xsub_passes_every_cancellation() {
        let (mut scene, mut xsub) = socket(SocketType::XSub);
        let publisher = scene.attach(&mut xsub, "192.0.2.1:1");
        assert!(xsub.unsubscribe(&mut scene.pipes, b"a").is_err());
        let behaviour = Behaviour {
            xsub_verbose_unsubscribe: true,
            ..Behaviour::default()
        };
        xsub.configure(&scene.pipes, &behaviour);
        for topic in [&b"a"[..], b"b"] {
            xsub.subscribe(&mut scene.pipes, topic).unwrap();
            xsub.subscribe(&mut scene.pipes, topic).unwrap();
        }
        assert_eq!(xsub.topics().unwrap(), 2);
        assert_eq!(scene.take(&publisher), ["+a", "+b"]);
        for expected in ["-a", "-a", "-a"] {
            xsub.unsubscribe(&mut scene.pipes, b"a").unwrap();
            assert_eq!(scene.take(&publisher), [expected]);
        }
        assert_eq!(xsub.topics().unwrap(), 1);
        // Those that wait are one, as they mean the same.
        for _ in 0..1_000 {
            xsub.unsubscribe(&mut scene.pipes, b"c").unwrap();
        }
        assert!(scene.take(&publisher).len() <= 1);
    }
}
