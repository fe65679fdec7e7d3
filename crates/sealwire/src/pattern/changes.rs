//! Subscriptions and cancellations that a peer has not read yet: the difference between what it was
//! told and what it should know. A subscription and its cancellation cancel out.
//!
//! They keep their place among messages: those between two messages are one *group*, and one item
//! of the queue.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;

use super::item::{Group, Item, cost_of_topic};
use crate::account::{Exceeded, Kind};
use crate::limits::MAX_SUBSCRIPTION_CHANGES;

/// The group of a change, and its place among all.
type Place = (Group, u64);

#[derive(Default)]
pub(super) struct Changes {
    waiting: BTreeMap<Place, Change>,
    by_topic: HashMap<Bytes, Place>,
    bytes: usize,
    next_place: u64,
    next_group: Group,
    /// Groups in the queue.
    groups: usize,
    /// There were too many: the peer is to go and hears no more.
    given_up: bool,
}

struct Change {
    topic: Bytes,
    subscribes: bool,
}

impl Changes {
    /// Whether the queue has a group.
    pub(super) fn in_queue(&self) -> bool {
        self.groups > 0
    }

    /// What they cost, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a change to the group at the end of the queue, if there is one; else to the group that
    /// is returned and to be queued.
    ///
    /// # Errors
    ///
    /// When there are too many: then none is left.
    pub(super) fn add(
        &mut self,
        topic: &Bytes,
        subscribes: bool,
        last: Option<Group>,
    ) -> Result<Option<Group>, Exceeded> {
        if self.given_up {
            return Ok(None);
        }
        if let Some(&place) = self.by_topic.get(topic) {
            let opposite = self
                .waiting
                .get(&place)
                .is_some_and(|change| change.subscribes != subscribes);
            if opposite {
                self.take(place);
            }
            return Ok(None);
        }
        self.bytes += cost_of_topic(topic);
        if self.bytes > MAX_SUBSCRIPTION_CHANGES {
            *self = Changes {
                given_up: true,
                groups: self.groups,
                ..Changes::default()
            };
            return Err(Exceeded {
                kind: Kind::SubscriptionChanges,
                limit: MAX_SUBSCRIPTION_CHANGES,
            });
        }
        let group = last.unwrap_or(self.next_group);
        let place = (group, self.next_place);
        self.next_place += 1;
        self.by_topic.insert(topic.clone(), place);
        let topic = topic.clone();
        self.waiting.insert(place, Change { topic, subscribes });
        if last.is_some() {
            return Ok(None);
        }
        self.next_group += 1;
        self.groups += 1;
        Ok(Some(group))
    }

    /// Takes the oldest change of a group, the first in the queue; `None` when the group is empty
    /// and to be taken off the queue.
    pub(super) fn next_of(&mut self, group: Group) -> Option<Item> {
        let first = self.waiting.first_key_value().map(|(&place, _)| place);
        let Some(place) = first.filter(|&(of, _)| of <= group) else {
            self.groups -= 1;
            return None;
        };
        let Change { topic, subscribes } = self.take(place)?;
        Some(match subscribes {
            true => Item::Subscribe(topic),
            false => Item::Cancel(topic),
        })
    }

    fn take(&mut self, place: Place) -> Option<Change> {
        let change = self.waiting.remove(&place)?;
        self.by_topic.remove(&change.topic);
        self.bytes -= cost_of_topic(&change.topic);
        Some(change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(name: &str) -> Bytes {
        Bytes::copy_from_slice(name.as_bytes())
    }

    #[test]
    fn a_subscription_and_its_cancellation_annihilate_each_other() {
        let mut changes = Changes::default();
        let group = changes.add(&topic("a"), true, None).unwrap().unwrap();
        for _ in 0..3_000 {
            assert!(
                changes
                    .add(&topic("a"), false, Some(group))
                    .unwrap()
                    .is_none()
            );
            assert_eq!(changes.bytes(), 0);
            changes.add(&topic("a"), true, Some(group)).unwrap();
            changes.add(&topic("a"), true, Some(group)).unwrap();
            assert_eq!(changes.bytes(), cost_of_topic(b"a"));
        }
        assert!(matches!(changes.next_of(group), Some(Item::Subscribe(_))));
        assert!(changes.next_of(group).is_none());
        assert!(!changes.in_queue());
        assert!(changes.by_topic.is_empty() && changes.waiting.is_empty());
    }

    #[test]
    fn groups_come_one_after_the_other() {
        let mut changes = Changes::default();
        let first = changes.add(&topic("a"), true, None).unwrap().unwrap();
        changes.add(&topic("b"), true, Some(first)).unwrap();
        let second = changes.add(&topic("c"), true, None).unwrap().unwrap();
        // In a later group, and still it takes back what was asked for in the first.
        changes.add(&topic("b"), false, Some(second)).unwrap();
        let name = |item| match item {
            Some(Item::Subscribe(topic)) => topic,
            other => panic!("{other:?}"),
        };
        assert_eq!(name(changes.next_of(first)), topic("a"));
        assert!(changes.next_of(first).is_none());
        assert!(changes.in_queue());
        assert_eq!(name(changes.next_of(second)), topic("c"));
        assert!(changes.next_of(second).is_none());
        assert!(!changes.in_queue());
    }

    #[test]
    fn too_many_are_refused_and_none_is_kept() {
        let mut changes = Changes::default();
        let large = |number: u64| {
            let mut topic = vec![0; 1 << 20];
            topic[..8].copy_from_slice(&number.to_be_bytes());
            Bytes::from(topic)
        };
        let group = changes.add(&large(0), true, None).unwrap();
        let refused = (1..20).find_map(|number| changes.add(&large(number), true, group).err());
        let refused = refused.unwrap();
        assert_eq!(refused.kind, Kind::SubscriptionChanges);
        assert_eq!(changes.bytes(), 0);
        changes.add(&topic("more"), true, group).unwrap();
        assert_eq!(changes.bytes(), 0, "the peer is to go");
        assert!(changes.next_of(group.unwrap()).is_none());
    }
}
