//! Which peers want which topics: prefix matching by the distinct lengths of the prefixes.
//!
//! A message is looked up once for each prefix length in use, however many peers and topics there
//! are. Peers' subscriptions are bounded by [`MAX_TOPIC_BYTES_PER_PEER`].

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::pipes::PipeId;

/// Bytes of topics one peer may hold, each topic counted with [`TOPIC_OVERHEAD`].
pub(crate) const MAX_TOPIC_BYTES_PER_PEER: usize = 16 << 20;

/// What the tables need for a topic beside its bytes: both keep it, and with it the peers that
/// want it. Measured with a flood of short topics.
const TOPIC_OVERHEAD: usize = 256;

/// A peer subscribed to more than it may.
#[derive(Debug)]
pub(crate) struct TooManyTopics;

#[derive(Default)]
pub(crate) struct Subscriptions {
    /// Peers with the empty topic, which everything begins with.
    everything: BTreeSet<PipeId>,
    /// Peers of all other topics.
    topics: HashMap<Vec<u8>, BTreeSet<PipeId>>,
    /// How many topics have each length.
    lengths: BTreeMap<usize, usize>,
    by_peer: HashMap<PipeId, PeerTopics>,
}

#[derive(Default)]
struct PeerTopics {
    /// With how often each was subscribed: every one needs its own cancellation (RFC 29).
    counts: HashMap<Vec<u8>, usize>,
    bytes: usize,
}

impl Subscriptions {
    /// Adds a subscription; `true` when no peer had this topic before.
    pub(crate) fn add(&mut self, id: PipeId, topic: &[u8]) -> Result<bool, TooManyTopics> {
        let peer = self.by_peer.entry(id).or_default();
        if let Some(count) = peer.counts.get_mut(topic) {
            *count += 1;
            return Ok(false);
        }
        let bytes = peer.bytes + topic.len() + TOPIC_OVERHEAD;
        if bytes > MAX_TOPIC_BYTES_PER_PEER {
            return Err(TooManyTopics);
        }
        peer.bytes = bytes;
        peer.counts.insert(topic.to_vec(), 1);
        let peers = match topic {
            [] => &mut self.everything,
            topic => self.topics.entry(topic.to_vec()).or_default(),
        };
        let first = peers.is_empty();
        peers.insert(id);
        if first && !topic.is_empty() {
            *self.lengths.entry(topic.len()).or_default() += 1;
        }
        Ok(first)
    }

    /// Removes one subscription; `true` when that was the last of any peer for the topic.
    pub(crate) fn cancel(&mut self, id: PipeId, topic: &[u8]) -> bool {
        let Some(peer) = self.by_peer.get_mut(&id) else {
            return false;
        };
        let Some(count) = peer.counts.get_mut(topic) else {
            return false;
        };
        *count -= 1;
        if *count > 0 {
            return false;
        }
        peer.counts.remove(topic);
        peer.bytes -= topic.len() + TOPIC_OVERHEAD;
        self.unlink(id, topic)
    }

    /// Removes a peer and returns its topics, each with whether nobody wants it any more.
    pub(crate) fn remove_peer(&mut self, id: PipeId) -> Vec<(Vec<u8>, bool)> {
        let Some(peer) = self.by_peer.remove(&id) else {
            return Vec::new();
        };
        peer.counts
            .into_keys()
            .map(|topic| {
                let last = self.unlink(id, &topic);
                (topic, last)
            })
            .collect()
    }

    /// The peers that want a message starting with `head`, in order, without repeats.
    pub(crate) fn matching(&self, head: &[u8], into: &mut Vec<PipeId>) {
        into.clear();
        into.extend(&self.everything);
        for &length in self.lengths.keys() {
            let Some(prefix) = head.get(..length) else {
                break;
            };
            if let Some(peers) = self.topics.get(prefix) {
                into.extend(peers);
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
            [] => into.extend(&self.everything),
            topic => into.extend(self.topics.get(topic).into_iter().flatten()),
        }
    }

    /// Whether somebody wants every message.
    pub(crate) fn wants_everything(&self) -> bool {
        !self.everything.is_empty()
    }

    fn unlink(&mut self, id: PipeId, topic: &[u8]) -> bool {
        if topic.is_empty() {
            return self.everything.remove(&id) && self.everything.is_empty();
        }
        let Some(peers) = self.topics.get_mut(topic) else {
            return false;
        };
        peers.remove(&id);
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

    #[test]
    fn prefixes_of_any_length_match_once_per_peer() {
        let mut subscriptions = Subscriptions::default();
        assert!(subscriptions.add(1, b"").unwrap());
        assert!(subscriptions.add(2, b"weather").unwrap());
        assert!(subscriptions.add(1, b"we").unwrap());
        assert!(!subscriptions.add(3, b"we").unwrap());
        assert_eq!(matching(&subscriptions, b"weather today"), [1, 2, 3]);
        assert_eq!(matching(&subscriptions, b"we"), [1, 3]);
        assert_eq!(matching(&subscriptions, b"w"), [1]);
    }

    #[test]
    fn a_topic_ends_with_its_last_cancellation() {
        let mut subscriptions = Subscriptions::default();
        subscriptions.add(1, b"a").unwrap();
        assert!(!subscriptions.add(1, b"a").unwrap());
        assert!(!subscriptions.cancel(1, b"a"));
        assert_eq!(matching(&subscriptions, b"abc"), [1]);
        assert!(subscriptions.cancel(1, b"a"));
        assert!(matching(&subscriptions, b"abc").is_empty());
        assert!(
            !subscriptions.cancel(1, b"a"),
            "cancelling twice changes nothing"
        );
    }

    #[test]
    fn the_empty_topic_ends_with_the_last_peer_that_has_it() {
        let mut subscriptions = Subscriptions::default();
        assert!(!subscriptions.wants_everything());
        assert!(subscriptions.add(1, b"").unwrap());
        assert!(!subscriptions.add(2, b"").unwrap());
        assert!(!subscriptions.add(1, b"").unwrap());
        assert_eq!(matching(&subscriptions, b"abc"), [1, 2]);
        assert_eq!(matching(&subscriptions, b""), [1, 2]);
        let mut exactly = Vec::new();
        subscriptions.exactly(b"", &mut exactly);
        assert_eq!(exactly, [1, 2]);
        assert!(!subscriptions.cancel(1, b""), "it was added twice");
        assert!(!subscriptions.cancel(1, b""), "another has it");
        assert!(!subscriptions.cancel(1, b""), "there is no more of it");
        assert!(subscriptions.wants_everything());
        assert_eq!(subscriptions.remove_peer(2), [(Vec::new(), true)]);
        assert!(!subscriptions.wants_everything());
        assert!(matching(&subscriptions, b"abc").is_empty());
    }

    #[test]
    fn a_peer_that_leaves_takes_its_topics_along() {
        let mut subscriptions = Subscriptions::default();
        subscriptions.add(1, b"a").unwrap();
        subscriptions.add(1, b"b").unwrap();
        subscriptions.add(2, b"b").unwrap();
        let mut left = subscriptions.remove_peer(1);
        left.sort();
        assert_eq!(left, [(b"a".to_vec(), true), (b"b".to_vec(), false)]);
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
        assert!(subscriptions.add(1, &topic).is_err());
        assert!(
            subscriptions.add(2, &topic).is_ok(),
            "the bound is per peer"
        );
    }
}
