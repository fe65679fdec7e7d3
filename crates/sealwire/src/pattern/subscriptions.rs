//! Which peers want which topics: prefix matching by the distinct lengths of the prefixes.
//!
//! A message is looked up once for each prefix length in use, however many peers and topics there
//! are. A peer either has a topic or not, as with libzmq's publishers: its subscribers send every
//! SUBSCRIBE and only the last CANCEL. Peers' subscriptions are bounded by
//! [`MAX_TOPIC_BYTES_PER_PEER`].

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::item::cost_of_topic;
use super::pipes::PipeId;
use crate::account::{Exceeded, Kind};
use crate::limits::MAX_TOPIC_BYTES_PER_PEER;

/// A topic, shared by the tables that hold it.
pub(crate) type Topic = Arc<[u8]>;

#[derive(Clone)]
pub(crate) struct Subscriptions {
    /// Peers with the empty topic, which everything begins with.
    everything: Wanting,
    /// Peers of all other topics.
    topics: HashMap<Topic, Wanting>,
    /// How many topics have each length.
    lengths: BTreeMap<usize, usize>,
    by_peer: HashMap<PipeId, PeerTopics>,
    /// Bytes for each peer.
    limit: usize,
}

/// The peers that want a topic, in order: one after the other, as each message copies them.
#[derive(Clone, Default)]
struct Wanting(Vec<PipeId>);

impl Wanting {
    fn insert(&mut self, id: PipeId) {
        if let Err(at) = self.0.binary_search(&id) {
            self.0.insert(at, id);
        }
    }

    /// Whether it was there.
    fn remove(&mut self, id: PipeId) -> bool {
        let at = self.0.binary_search(&id);
        at.is_ok_and(|at| self.0.remove(at) == id)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[derive(Clone, Default)]
struct PeerTopics {
    topics: HashSet<Topic>,
    bytes: usize,
}

/// A subscription that was taken.
pub(crate) struct Added {
    pub(crate) topic: Topic,
    /// No peer had this topic before.
    pub(crate) first: bool,
}

impl Default for Subscriptions {
    fn default() -> Self {
        Self::with_limit(MAX_TOPIC_BYTES_PER_PEER)
    }
}

impl Subscriptions {
    /// Allows each peer `limit` bytes of topics.
    pub(crate) fn with_limit(limit: usize) -> Self {
        Subscriptions {
            everything: Wanting::default(),
            topics: HashMap::new(),
            lengths: BTreeMap::new(),
            by_peer: HashMap::new(),
            limit,
        }
    }

    /// Adds a subscription; one that the peer has already changes nothing.
    pub(crate) fn add(&mut self, id: PipeId, topic: &[u8]) -> Result<Added, Exceeded> {
        self.add_beside(id, topic, 0)
    }

    /// The same for a peer that holds `elsewhere` bytes of topics in another table.
    pub(crate) fn add_beside(
        &mut self,
        id: PipeId,
        topic: &[u8],
        elsewhere: usize,
    ) -> Result<Added, Exceeded> {
        let peer = self.by_peer.entry(id).or_default();
        if let Some(topic) = peer.topics.get(topic) {
            return Ok(Added {
                topic: topic.clone(),
                first: false,
            });
        }
        let bytes = peer.bytes.saturating_add(cost_of_topic(topic));
        if bytes.saturating_add(elsewhere) > self.limit {
            return Err(Exceeded {
                kind: Kind::Subscriptions,
                limit: self.limit,
            });
        }
        let shared = match self.topics.get_key_value(topic) {
            Some((shared, _)) => shared.clone(),
            None => Topic::from(topic),
        };
        peer.bytes = bytes;
        peer.topics.insert(shared.clone());
        let peers = match topic {
            [] => &mut self.everything,
            _ => self.topics.entry(shared.clone()).or_default(),
        };
        let first = peers.is_empty();
        peers.insert(id);
        if first && !topic.is_empty() {
            *self.lengths.entry(topic.len()).or_default() += 1;
        }
        Ok(Added {
            topic: shared,
            first,
        })
    }

    /// Removes a subscription that the peer has, with whether nobody wants the topic any more.
    pub(crate) fn cancel(&mut self, id: PipeId, topic: &[u8]) -> Option<(Topic, bool)> {
        let peer = self.by_peer.get_mut(&id)?;
        let topic = peer.topics.take(topic)?;
        peer.bytes -= cost_of_topic(&topic);
        let last = self.unlink(id, &topic);
        Some((topic, last))
    }

    /// Removes a peer and returns its topics, each with whether nobody wants it any more.
    pub(crate) fn remove_peer(&mut self, id: PipeId) -> Vec<(Topic, bool)> {
        let Some(peer) = self.by_peer.remove(&id) else {
            return Vec::new();
        };
        peer.topics
            .into_iter()
            .map(|topic| {
                let last = self.unlink(id, &topic);
                (topic, last)
            })
            .collect()
    }

    /// What the peer's topics cost, in bytes.
    pub(crate) fn bytes_of(&self, id: PipeId) -> usize {
        self.by_peer.get(&id).map_or(0, |peer| peer.bytes)
    }

    /// How many different topics there are.
    pub(crate) fn topics(&self) -> usize {
        self.topics.len() + usize::from(!self.everything.is_empty())
    }

    /// All topics of a peer.
    pub(crate) fn topics_of(&self, id: PipeId) -> impl Iterator<Item = &Topic> {
        self.by_peer
            .get(&id)
            .into_iter()
            .flat_map(|peer| &peer.topics)
    }

    /// The peers that want a message starting with `head`, in order, without repeats.
    pub(crate) fn matching(&self, head: &[u8], into: &mut Vec<PipeId>) {
        into.clear();
        into.extend_from_slice(&self.everything.0);
        for &length in self.lengths.keys() {
            let Some(prefix) = head.get(..length) else {
                break;
            };
            if let Some(peers) = self.topics.get(prefix) {
                into.extend_from_slice(&peers.0);
            }
        }
        if self.lengths.len() + usize::from(!self.everything.is_empty()) > 1 {
            into.sort_unstable();
            into.dedup();
        }
    }

    /// The peers that want exactly this, in order.
    pub(crate) fn exactly(&self, topic: &[u8], into: &mut Vec<PipeId>) {
        into.clear();
        match topic {
            [] => into.extend_from_slice(&self.everything.0),
            topic => {
                let wanting = self.topics.get(topic);
                into.extend_from_slice(wanting.map_or(&[], |it| &it.0));
            }
        }
    }

    /// Whether somebody wants every message.
    pub(crate) fn wants_everything(&self) -> bool {
        !self.everything.is_empty()
    }

    fn unlink(&mut self, id: PipeId, topic: &[u8]) -> bool {
        if topic.is_empty() {
            return self.everything.remove(id) && self.everything.is_empty();
        }
        let Some(peers) = self.topics.get_mut(topic) else {
            return false;
        };
        peers.remove(id);
        if !peers.is_empty() {
            return false;
        }
        self.topics.remove(topic);
        if let Some(count) = self.lengths.get_mut(&topic.len()) {
            *count -= 1;
            if *count == 0 {
                self.lengths.remove(&topic.len());
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matching(subscriptions: &Subscriptions, head: &[u8]) -> Vec<PipeId> {
        let mut into = vec![99];
        subscriptions.matching(head, &mut into);
        into
    }

    fn first(subscriptions: &mut Subscriptions, id: PipeId, topic: &[u8]) -> bool {
        subscriptions.add(id, topic).unwrap().first
    }

    /// Whether that was the last one.
    fn last(subscriptions: &mut Subscriptions, id: PipeId, topic: &[u8]) -> bool {
        subscriptions
            .cancel(id, topic)
            .is_some_and(|(_, last)| last)
    }

    #[test]
    fn prefixes_of_any_length_match_once_per_peer() {
        let mut subscriptions = Subscriptions::default();
        assert!(first(&mut subscriptions, 1, b""));
        assert!(first(&mut subscriptions, 2, b"weather"));
        assert!(first(&mut subscriptions, 1, b"we"));
        assert!(!first(&mut subscriptions, 3, b"we"));
        assert_eq!(matching(&subscriptions, b"weather today"), [1, 2, 3]);
        assert_eq!(matching(&subscriptions, b"we"), [1, 3]);
        assert_eq!(matching(&subscriptions, b"w"), [1]);
    }

    /// libzmq's SUB sends each SUBSCRIBE and only one CANCEL.
    #[test]
    fn a_topic_ends_with_its_first_cancellation() {
        let mut subscriptions = Subscriptions::default();
        assert!(first(&mut subscriptions, 1, b"a"));
        assert!(!first(&mut subscriptions, 1, b"a"));
        assert_eq!(matching(&subscriptions, b"abc"), [1]);
        assert!(last(&mut subscriptions, 1, b"a"));
        assert!(matching(&subscriptions, b"abc").is_empty());
        assert!(subscriptions.cancel(1, b"a").is_none(), "it has gone");
        assert_eq!(subscriptions.bytes_of(1), 0);
    }

    #[test]
    fn the_empty_topic_ends_with_the_last_peer_that_has_it() {
        let mut subscriptions = Subscriptions::default();
        assert!(!subscriptions.wants_everything());
        assert!(first(&mut subscriptions, 1, b""));
        assert!(!first(&mut subscriptions, 2, b""));
        assert!(!first(&mut subscriptions, 1, b""));
        assert_eq!(matching(&subscriptions, b"abc"), [1, 2]);
        assert_eq!(matching(&subscriptions, b""), [1, 2]);
        let mut exactly = Vec::new();
        subscriptions.exactly(b"", &mut exactly);
        assert_eq!(exactly, [1, 2]);
        assert!(!last(&mut subscriptions, 1, b""), "another has it");
        assert!(subscriptions.wants_everything());
        assert_eq!(subscriptions.remove_peer(2), [(Topic::from(&[][..]), true)]);
        assert!(!subscriptions.wants_everything());
        assert!(matching(&subscriptions, b"abc").is_empty());
    }

    #[test]
    fn a_peer_that_leaves_takes_its_topics_along() {
        let mut subscriptions = Subscriptions::default();
        for (id, topic) in [(1, b"a"), (1, b"b"), (2, b"b")] {
            subscriptions.add(id, topic).unwrap();
        }
        let mut left = subscriptions.remove_peer(1);
        left.sort();
        let topic = |name: &[u8]| Topic::from(name);
        assert_eq!(left, [(topic(b"a"), true), (topic(b"b"), false)]);
        assert_eq!(matching(&subscriptions, b"b"), [2]);
        assert!(subscriptions.lengths.values().eq([&1]));
    }

    #[test]
    fn topics_of_one_peer_are_bounded() {
        let mut subscriptions = Subscriptions::default();
        let megabyte = vec![7; 1 << 20];
        for first in 0..15_u8 {
            let mut topic = megabyte.clone();
            topic[0] = first;
            subscriptions.add(1, &topic).unwrap();
        }
        let mut topic = megabyte;
        topic[0] = 200;
        let exceeded = subscriptions.add(1, &topic).err().unwrap();
        assert_eq!(exceeded.kind, Kind::Subscriptions);
        assert_eq!(exceeded.limit, MAX_TOPIC_BYTES_PER_PEER);
        assert!(
            subscriptions.add(2, &topic).is_ok(),
            "the bound is per peer"
        );
    }
}
