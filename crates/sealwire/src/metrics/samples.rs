//! Turns snapshots into samples: a metric, labels, and a value.

use std::borrow::Cow;
use std::time::Duration;

use super::table as t;
use super::{
    ContextMetrics, EndpointMetrics, Failures, Histogram, Metric, PeerMetrics, SocketMetrics,
};
use crate::account::{Kind, Side};
use crate::limits::MAX_SAMPLED_PEERS;

/// The value of a label. Only what this process chose or what a peer proved is in one.
pub type Label = Cow<'static, str>;

/// A number with its name and labels.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Sample {
    /// What it is a sample of.
    pub metric: &'static Metric,
    /// The values of the metric's [labels](Metric::labels), in their order.
    pub labels: Vec<Label>,
    /// The number.
    pub value: Value,
}

/// The value of a sample.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A number of things.
    Count(u64),
    /// A time.
    Time(Duration),
    /// Times by range.
    Times(Box<Histogram>),
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Value::Count(count)
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Self {
        Value::Count(count as u64)
    }
}

impl From<Duration> for Value {
    fn from(time: Duration) -> Self {
        Value::Time(time)
    }
}

impl From<Histogram> for Value {
    fn from(times: Histogram) -> Self {
        Value::Times(Box::new(times))
    }
}

const OUT: Label = Cow::Borrowed("out");
const IN: Label = Cow::Borrowed("in");

/// Adds the samples of one thing, whose labels begin alike.
struct Samples<'a> {
    all: &'a mut Vec<Sample>,
    labels: Vec<Label>,
}

impl Samples<'_> {
    fn add<const N: usize>(
        &mut self,
        metric: &'static Metric,
        more: [Label; N],
        value: impl Into<Value>,
    ) {
        let labels: Vec<Label> = self.labels.iter().cloned().chain(more).collect();
        debug_assert_eq!(labels.len(), metric.labels.len(), "{}", metric.name);
        self.all.push(Sample {
            metric,
            labels,
            value: value.into(),
        });
    }

    /// Those that never happened are left out: there are many causes.
    fn add_failures(&mut self, metric: &'static Metric, failures: &Failures) {
        let before = failures.before_ready().map(|it| ("handshake", it));
        let after = failures.after_ready().map(|it| ("connection", it));
        for (stage, (cause, count)) in before.chain(after) {
            if count > 0 {
                self.add(metric, [stage.into(), cause.into()], count);
            }
        }
    }
}

impl ContextMetrics {
    /// Returns all numbers as samples, those of one metric behind each other. At most [`MAX_SAMPLED_PEERS`] peers of each
    /// socket have samples of their own.
    pub fn samples(&self) -> Vec<Sample> {
        let mut all = Vec::new();
        let mut samples = Samples {
            all: &mut all,
            labels: Vec::new(),
        };
        samples.add(&t::AGE, [], self.age);
        for (number, work) in self.threads.iter().enumerate() {
            let thread = || Cow::Owned(number.to_string());
            samples.add(&t::BUSY, [thread()], work.busy);
            samples.add(&t::ITERATIONS, [thread()], work.iterations);
        }
        for socket in &self.sockets {
            socket.add_to(&mut all);
        }
        let place = |sample: &Sample| {
            let mut metrics = t::METRICS.iter();
            metrics.position(|metric| std::ptr::eq(*metric, sample.metric))
        };
        all.sort_by_cached_key(place);
        all
    }
}

impl SocketMetrics {
    fn add_to(&self, all: &mut Vec<Sample>) {
        let labels = vec![
            Cow::Owned(self.id.to_string()),
            Cow::Borrowed(self.socket_type.name()),
        ];
        let mut samples = Samples {
            all,
            labels: labels.clone(),
        };
        let counters = &self.counters;
        for (direction, messages, bytes, queue, times) in [
            (
                OUT,
                counters.messages_sent,
                counters.bytes_sent,
                self.outbound,
                self.time_to_send,
            ),
            (
                IN,
                counters.messages_received,
                counters.bytes_received,
                self.inbound,
                self.time_to_receive,
            ),
        ] {
            let direction = || [direction.clone()];
            samples.add(&t::MESSAGES, direction(), messages);
            samples.add(&t::BYTES, direction(), bytes);
            samples.add(&t::QUEUED, direction(), queue.messages);
            samples.add(&t::QUEUED_BYTES, direction(), queue.bytes);
            samples.add(&t::MOST_QUEUED, direction(), queue.most_messages);
            samples.add(&t::WAITED, direction(), times);
        }
        for (reason, dropped) in [
            ("at_send", counters.dropped_at_send),
            ("unsent", counters.dropped_unsent),
            ("unconfirmed", counters.unconfirmed),
            ("unread", counters.dropped_unread),
            ("replaced", counters.replaced),
            ("at_receive", counters.dropped_at_receive),
        ] {
            samples.add(&t::DROPPED, [reason.into()], dropped);
        }
        samples.add(&t::MISSED, [], counters.missed);
        samples.add(&t::BACKLOG, [], self.backlog);
        samples.add(&t::HANDSHAKES, [], counters.handshakes_completed);
        samples.add_failures(&t::FAILURES, &self.failures);
        samples.add(&t::DISCONNECTS, [], counters.disconnects);
        samples.add(&t::RECONNECTS, [], counters.reconnects);
        for kind in Kind::ALL {
            let label = || [Cow::Borrowed(kind.label())];
            samples.add(&t::LIMITED, label(), counters.exceeded(kind));
            if kind.side() != Side::Count {
                samples.add(&t::HELD, label(), self.held(kind));
            }
        }
        samples.add(&t::PEERS, [], self.peers.len());
        for endpoint in self.distinct_endpoints() {
            endpoint.add_to(all, labels.clone());
        }
        for peer in self.peers.iter().take(MAX_SAMPLED_PEERS) {
            peer.add_to(all, labels.clone());
        }
    }
}

impl SocketMetrics {
    /// Those that are bound or connected to several times together: they have the same labels.
    fn distinct_endpoints(&self) -> Vec<EndpointMetrics> {
        let mut distinct: Vec<EndpointMetrics> = Vec::new();
        for endpoint in &self.endpoints {
            let same = |other: &&mut EndpointMetrics| {
                other.bound == endpoint.bound && other.endpoint == endpoint.endpoint
            };
            match distinct.iter_mut().find(same) {
                Some(same) => same.add(endpoint),
                None => distinct.push(endpoint.clone()),
            }
        }
        distinct
    }
}

impl EndpointMetrics {
    fn add(&mut self, other: &EndpointMetrics) {
        self.peers += other.peers;
        self.connections += other.connections;
        self.reconnects += other.reconnects;
        self.traffic.add(other.traffic);
        self.failures.add(&other.failures);
    }

    fn add_to(&self, all: &mut Vec<Sample>, mut labels: Vec<Label>) {
        let role = if self.bound { "bound" } else { "connected" };
        labels.extend([role.into(), Cow::Owned(self.endpoint.to_string())]);
        let mut samples = Samples { all, labels };
        samples.add(&t::ENDPOINT_PEERS, [], self.peers);
        samples.add(&t::ENDPOINT_CONNECTIONS, [], self.connections);
        samples.add(&t::ENDPOINT_RECONNECTS, [], self.reconnects);
        samples.add(&t::ENDPOINT_MESSAGES, [OUT], self.traffic.messages_sent);
        samples.add(&t::ENDPOINT_MESSAGES, [IN], self.traffic.messages_received);
        samples.add(&t::ENDPOINT_BYTES, [OUT], self.traffic.bytes_sent);
        samples.add(&t::ENDPOINT_BYTES, [IN], self.traffic.bytes_received);
        samples.add_failures(&t::ENDPOINT_FAILURES, &self.failures);
    }
}

impl PeerMetrics {
    fn add_to(&self, all: &mut Vec<Sample>, mut labels: Vec<Label>) {
        let key = self.peer.public_key().map(|key| key.to_string());
        labels.extend([
            Cow::Owned(self.peer.endpoint().to_string()),
            Cow::Owned(self.peer.connection().to_string()),
            Cow::Owned(key.unwrap_or_default()),
        ]);
        let numbers = &self.numbers;
        let mut samples = Samples { all, labels };
        samples.add(&t::PEER_MESSAGES, [OUT], numbers.traffic.messages_sent);
        samples.add(&t::PEER_MESSAGES, [IN], numbers.traffic.messages_received);
        samples.add(&t::PEER_BYTES, [OUT], numbers.traffic.bytes_sent);
        samples.add(&t::PEER_BYTES, [IN], numbers.traffic.bytes_received);
        samples.add(&t::PEER_DROPPED, [], numbers.dropped);
        samples.add(&t::PEER_QUEUED, [OUT], numbers.outbound.messages);
        samples.add(&t::PEER_QUEUED, [IN], numbers.inbound.messages);
        if let Some(round_trip) = numbers.round_trip {
            let times = [round_trip.last, round_trip.min, round_trip.smoothed];
            for (statistic, time) in ["last", "min", "smoothed"].into_iter().zip(times) {
                samples.add(&t::PEER_ROUND_TRIP, [statistic.into()], time);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sealwire_zmtp::SocketType;

    use super::*;
    use crate::failure::{ConnectionFailure, FailureCause};
    use crate::measures::{PeerNumbers, QueueDepth, RoundTrip, Traffic};
    use crate::peer::{Ends, Peer, PeerAddress};
    use crate::routing_ids::RoutingId;

    #[test]
    fn each_number_of_a_peer_is_in_the_sample_of_its_name_and_direction() {
        let seconds = Duration::from_secs;
        let depth = |messages| QueueDepth {
            messages,
            ..QueueDepth::default()
        };
        let numbers = PeerNumbers {
            traffic: Traffic {
                messages_sent: 1,
                messages_received: 2,
                bytes_sent: 3,
                bytes_received: 4,
            },
            dropped: 5,
            outbound: depth(6),
            inbound: depth(7),
            round_trip: Some(RoundTrip {
                last: seconds(8),
                min: seconds(9),
                smoothed: seconds(10),
            }),
            ..PeerNumbers::default()
        };
        let (of, id) = (SocketType::Push, RoutingId::none());
        let peer = Arc::new(Peer::inproc("name", 99, true, id, of, Vec::new()));
        let mut all = Vec::new();
        let socket = ["0".into(), "PULL".into()];
        PeerMetrics { peer, numbers }.add_to(&mut all, socket.to_vec());
        let told: Vec<(&str, Vec<Label>, f64)> = all
            .into_iter()
            .map(|it| {
                let value = it.numbers()[0].amount.as_f64();
                (it.metric.name, it.labels, value)
            })
            .collect();
        let expected = [
            ("sealwire_peer_messages_total", Some("out")),
            ("sealwire_peer_messages_total", Some("in")),
            ("sealwire_peer_bytes_total", Some("out")),
            ("sealwire_peer_bytes_total", Some("in")),
            ("sealwire_peer_dropped_messages_total", None),
            ("sealwire_peer_queue_messages", Some("out")),
            ("sealwire_peer_queue_messages", Some("in")),
            ("sealwire_peer_round_trip_seconds", Some("last")),
            ("sealwire_peer_round_trip_seconds", Some("min")),
            ("sealwire_peer_round_trip_seconds", Some("smoothed")),
        ];
        let peer = ["0", "PULL", "inproc://name", "99", ""];
        let expected = expected.iter().zip((1..).map(f64::from));
        let expected = expected.map(|((name, last), value)| {
            let labels = peer.into_iter().chain(*last).map(Label::Borrowed);
            (*name, labels.collect(), value)
        });
        assert_eq!(told, expected.collect::<Vec<_>>());
    }

    #[test]
    fn endpoints_with_the_same_labels_have_one_sample_with_their_sum() {
        let endpoint: crate::Endpoint = "tcp://127.0.0.1:7".parse().unwrap();
        let failure = ConnectionFailure {
            connection: None,
            ends: Arc::new(Ends::outward(endpoint.clone(), PeerAddress::Unknown)),
            peer: None,
            cause: FailureCause::HandshakeEvicted,
        };
        let of = |bound, failed| {
            let mut failures = Failures::default();
            (0..failed).for_each(|_| failures.note(&failure));
            EndpointMetrics {
                endpoint: endpoint.clone(),
                bound,
                peers: 0,
                connections: 0,
                reconnects: 0,
                traffic: Traffic::default(),
                failures,
            }
        };
        let (mut sum, bound) = (of(false, 1), of(true, 8));
        sum.add(&of(false, 2));
        let mut all = Vec::new();
        let socket = ["0".into(), "PUSH".into()];
        sum.add_to(&mut all, socket.to_vec());
        bound.add_to(&mut all, socket.to_vec());
        let failures = all
            .iter()
            .filter(|it| it.metric.name == t::ENDPOINT_FAILURES.name);
        let failures = failures.map(|it| (&*it.labels[2], it.numbers()[0].amount.as_f64()));
        let expected = [("connected", 3.0), ("bound", 8.0)];
        assert_eq!(failures.collect::<Vec<_>>(), expected);
    }
}
