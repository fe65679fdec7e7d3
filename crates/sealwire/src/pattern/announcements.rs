//! Messages that an XPUB's application can read: those of subscribers, and new and ended
//! subscriptions.
//!
//! Not every change of subscriptions waits, only the difference between what the application was
//! told and the present state. So a subscription that ends before it was read leaves nothing
//! behind, however often a subscriber comes back. The topics that subscribers have now, and had
//! when the application last read, bound what waits. No cancellation is left out, whatever the
//! high-water mark.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem;
use std::num::NonZeroU64;
use std::sync::Arc;

use super::pipes::PipeId;
use super::subscriptions::Topic;
use crate::options::{Behaviour, SocketOptions};
use crate::peer::Peer;

/// Which subscriptions and cancellations the application reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// The first subscription to a topic, the last cancellation.
    Ends,
    /// Every subscription, the last cancellation (`xpub_verbose`).
    Subscriptions,
    /// All (`xpub_verboser`, `xpub_manual`, `xpub_manual_last_value`).
    All,
}

impl Told {
    fn by(behaviour: &Behaviour) -> Self {
        match () {
            () if behaviour.xpub_verboser => Told::All,
            () if behaviour.xpub_manual || behaviour.xpub_manual_last_value => Told::All,
            () if behaviour.xpub_verbose => Told::Subscriptions,
            () => Told::Ends,
        }
    }
}

/// Something for the application to read.
pub(super) enum Arrival {
    /// The next message in this peer's queue.
    From(PipeId),
    Change(Change),
}

/// A subscription or cancellation.
pub(super) struct Change {
    pub(super) subscribes: bool,
    pub(super) topic: Topic,
    pub(super) pipe: PipeId,
    pub(super) peer: Arc<Peer>,
}

/// The connection whose topic it is, where peers are told apart.
type Scope = Option<u64>;

/// Where a change stands among what waits. Never zero, so that having none takes no memory.
type Place = NonZeroU64;

/// What the application knows of a topic, and what it is to read of it, by place.
#[derive(Default)]
struct State {
    told: bool,
    subscription: Option<Place>,
    cancellation: Option<Place>,
}

pub(super) struct Announcements {
    mode: Told,
    waiting: BTreeMap<Place, Arrival>,
    next_place: Place,
    states: HashMap<(Scope, Topic), State>,
}

impl Announcements {
    pub(super) fn new(options: &SocketOptions) -> Self {
        Announcements {
            mode: Told::by(&options.behaviour),
            waiting: BTreeMap::new(),
            next_place: Place::MIN,
            states: HashMap::new(),
        }
    }

    /// Changes what is told from now on. `holders` are all that have a topic now. What waits to be read stays,
    /// but for what is told once instead of for each peer.
    pub(super) fn configure<'a>(
        &mut self,
        behaviour: &Behaviour,
        holders: impl Iterator<Item = (&'a Arc<Peer>, &'a Topic)>,
    ) {
        let mode = Told::by(behaviour);
        if mode == self.mode {
            return;
        }
        self.mode = mode;
        let before = mem::take(&mut self.states);
        let told = before.into_iter().filter(|(_, state)| state.told);
        let told: HashSet<Topic> = told.map(|((_, topic), _)| topic).collect();
        // A topic that the application knows, it knows of all that have it.
        for (peer, topic) in holders.filter(|(_, topic)| told.contains(*topic)) {
            let end = (self.scope_of_end(peer), topic.clone());
            self.states.entry(end).or_default().told = true;
        }
        for (place, arrival) in mem::take(&mut self.waiting) {
            if let Arrival::Change(change) = &arrival {
                let (peer, topic) = (&change.peer, change.topic.clone());
                let waits = if change.subscribes {
                    let state = self.states.entry((self.scope(peer), topic));
                    &mut state.or_default().subscription
                } else {
                    let state = self.states.entry((self.scope_of_end(peer), topic));
                    let state = state.or_default();
                    state.told = true;
                    &mut state.cancellation
                };
                if waits.is_some() {
                    continue;
                }
                *waits = Some(place);
            }
            self.waiting.insert(place, arrival);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether the application reads every subscription and cancellation.
    pub(super) fn tell_all(&self) -> bool {
        self.mode == Told::All
    }

    /// A message lies in this peer's queue.
    pub(super) fn message(&mut self, id: PipeId) {
        self.wait(Arrival::From(id));
    }

    /// A peer asked for a topic. Whether there is more to read than before.
    pub(super) fn subscribed(&mut self, id: PipeId, peer: &Arc<Peer>, topic: Topic) -> bool {
        let place = self.next_place;
        let state = self.states.entry((self.scope(peer), topic.clone()));
        let state = state.or_default();
        if self.mode == Told::Ends {
            if let Some(place) = state.cancellation.take() {
                self.waiting.remove(&place);
                return false;
            }
            if state.told {
                return false;
            }
        }
        if state.subscription.is_some() {
            return false;
        }
        state.subscription = Some(place);
        self.wait(Arrival::Change(Change {
            subscribes: true,
            topic,
            pipe: id,
            peer: peer.clone(),
        }));
        true
    }

    /// A peer has a topic no more, and with `last` nobody has. Whether there is more to read than
    /// before.
    pub(super) fn cancelled(
        &mut self,
        id: PipeId,
        peer: &Arc<Peer>,
        topic: Topic,
        last: bool,
    ) -> bool {
        if self.mode != Told::Ends || last {
            self.withdraw((self.scope(peer), topic.clone()));
        }
        if self.mode != Told::All && !last {
            return false;
        }
        let place = self.next_place;
        let known = self
            .states
            .get_mut(&(self.scope_of_end(peer), topic.clone()));
        let Some(state) = known.filter(|state| state.told && state.cancellation.is_none()) else {
            return false;
        };
        state.cancellation = Some(place);
        self.wait(Arrival::Change(Change {
            subscribes: false,
            topic,
            pipe: id,
            peer: peer.clone(),
        }));
        true
    }

    /// The next arrival.
    pub(super) fn next(&mut self) -> Option<Arrival> {
        let (_, arrival) = self.waiting.pop_first()?;
        if let Arrival::Change(change) = &arrival {
            let end = (self.scope_of_end(&change.peer), change.topic.clone());
            if change.subscribes {
                let key = (self.scope(&change.peer), change.topic.clone());
                if let Some(state) = self.states.get_mut(&key) {
                    state.subscription = None;
                }
                self.states.entry(end.clone()).or_default().told = true;
                if key != end {
                    self.forget_unused(&key);
                }
            } else if let Some(state) = self.states.get_mut(&end) {
                state.cancellation = None;
                state.told = false;
                self.forget_unused(&end);
            }
        }
        Some(arrival)
    }

    /// Whose a subscription is.
    fn scope(&self, peer: &Peer) -> Scope {
        (self.mode != Told::Ends).then(|| peer.connection())
    }

    /// Whose a cancellation is.
    fn scope_of_end(&self, peer: &Peer) -> Scope {
        (self.mode == Told::All).then(|| peer.connection())
    }

    fn wait(&mut self, arrival: Arrival) {
        self.waiting.insert(self.next_place, arrival);
        self.next_place = self.next_place.saturating_add(1);
    }

    /// Takes a subscription back that was not read.
    fn withdraw(&mut self, key: (Scope, Topic)) {
        let state = self.states.get_mut(&key);
        if let Some(place) = state.and_then(|state| state.subscription.take()) {
            self.waiting.remove(&place);
            self.forget_unused(&key);
        }
    }

    fn forget_unused(&mut self, key: &(Scope, Topic)) {
        let unused = |state: &State| {
            !state.told && state.subscription.is_none() && state.cancellation.is_none()
        };
        if self.states.get(key).is_some_and(unused) {
            self.states.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use sealwire_zmtp::SocketType;

    use super::*;
    use crate::routing_ids::RoutingId;

    fn announcements(mode: Told) -> Announcements {
        Announcements {
            mode,
            ..Announcements::new(&SocketOptions::new(SocketType::XPub))
        }
    }

    fn peer(connection: u64) -> Arc<Peer> {
        Arc::new(Peer::inproc(
            "peer",
            connection,
            true,
            RoutingId::none(),
            SocketType::Sub,
            Vec::new(),
        ))
    }

    fn topic(name: &str) -> Topic {
        Topic::from(name.as_bytes())
    }

    fn read(announcements: &mut Announcements) -> Vec<String> {
        let next = || announcements.next();
        std::iter::from_fn(next)
            .map(|arrival| match arrival {
                Arrival::From(id) => format!("message of {id}"),
                Arrival::Change(change) => format!(
                    "{}{} by {}",
                    if change.subscribes { '+' } else { '-' },
                    String::from_utf8_lossy(&change.topic),
                    change.peer.connection(),
                ),
            })
            .collect()
    }

    #[test]
    fn what_ends_before_it_was_read_leaves_nothing_behind() {
        for mode in [Told::Ends, Told::Subscriptions, Told::All] {
            let mut all = announcements(mode);
            for connection in 0..1_000 {
                assert!(all.subscribed(1, &peer(connection), topic("t")));
                assert!(!all.cancelled(1, &peer(connection), topic("t"), true));
                assert!(all.is_empty() && all.states.is_empty(), "{mode:?}");
            }
        }
    }

    #[test]
    fn every_subscription_that_was_read_is_cancelled() {
        for mode in [Told::Ends, Told::Subscriptions, Told::All] {
            let mut all = announcements(mode);
            let names: Vec<_> = (0..3_000)
                .map(|number| topic(&number.to_string()))
                .collect();
            for name in &names {
                all.subscribed(1, &peer(7), name.clone());
            }
            assert_eq!(read(&mut all).len(), 3_000);
            for name in &names {
                all.cancelled(1, &peer(7), name.clone(), true);
            }
            // Another comes and goes meanwhile.
            for name in &names {
                all.subscribed(1, &peer(8), name.clone());
                all.cancelled(1, &peer(8), name.clone(), true);
            }
            let read = read(&mut all);
            assert_eq!(read.len(), 3_000, "{mode:?}");
            assert!(read.iter().all(|line| line.starts_with('-')));
            assert!(all.states.is_empty());
        }
    }

    #[test]
    fn peers_that_share_a_topic_are_told_apart_as_far_as_the_options_say() {
        let expected = |mode| match mode {
            Told::Ends => vec!["+t by 1", "message of 1"],
            Told::Subscriptions => vec!["+t by 1", "message of 1", "+t by 2"],
            Told::All => vec!["+t by 1", "message of 1", "+t by 2"],
        };
        for mode in [Told::Ends, Told::Subscriptions, Told::All] {
            let mut all = announcements(mode);
            let (one, two) = (peer(1), peer(2));
            all.subscribed(1, &one, topic("t"));
            all.message(1);
            all.subscribed(2, &two, topic("t"));
            assert_eq!(read(&mut all), expected(mode), "{mode:?}");
            all.cancelled(1, &one, topic("t"), false);
            all.subscribed(1, &one, topic("t"));
            all.cancelled(1, &one, topic("t"), false);
            all.cancelled(2, &two, topic("t"), true);
            let ends: &[&str] = match mode {
                Told::All => &["-t by 1", "-t by 2"],
                _ => &["-t by 2"],
            };
            assert_eq!(read(&mut all), ends, "{mode:?}");
            assert!(all.states.is_empty(), "{mode:?}");
        }
    }

    #[test]
    fn who_reads_every_subscription_reads_a_repeated_one_too() {
        for (mode, repeated) in [
            (Told::Ends, &[][..]),
            (Told::Subscriptions, &["+t by 1"]),
            (Told::All, &["+t by 1"]),
        ] {
            let mut all = announcements(mode);
            all.subscribed(1, &peer(1), topic("t"));
            read(&mut all);
            for _ in 0..1_000 {
                all.subscribed(1, &peer(1), topic("t"));
            }
            assert_eq!(read(&mut all), repeated, "{mode:?}");
        }
    }

    #[test]
    fn what_is_taken_back_before_the_end_was_read_is_no_change() {
        let mut all = announcements(Told::Ends);
        all.subscribed(1, &peer(1), topic("t"));
        read(&mut all);
        assert!(all.cancelled(1, &peer(1), topic("t"), true));
        assert!(!all.subscribed(2, &peer(2), topic("t")));
        assert!(read(&mut all).is_empty());
        assert!(all.cancelled(2, &peer(2), topic("t"), true));
        assert_eq!(read(&mut all), ["-t by 2"]);
    }
}
