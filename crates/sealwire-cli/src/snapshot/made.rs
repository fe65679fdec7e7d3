//! Makes a snapshot of what the library and the command count.

use std::collections::BTreeMap;

use sealwire::metrics::{
    self, ContextMetrics, EndpointMetrics, PeerMetrics, QueueDepth, SocketMetrics,
};

use super::{Endpoint, Failures, Peer, Queue, RecentFailure, Snapshot, Socket, Traffic, VERSION};
use crate::untrusted::printable;

/// Peers that a snapshot names, of all sockets together.
pub(super) const MAX_PEERS: usize = 1_000;

/// Characters of a text that others chose.
const MAX_TEXT: usize = 256;

/// The beginning of a text, of which nobody else limits the length.
fn beginning(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

impl Snapshot {
    /// One that says why there is no other.
    pub(crate) fn refusal(error: impl Into<String>) -> Self {
        Snapshot {
            version: VERSION,
            error: error.into(),
            ..Snapshot::default()
        }
    }

    /// Adds what a context counts.
    pub(crate) fn add_context(&mut self, metrics: &ContextMetrics) {
        let busy = metrics.threads.iter().map(|work| work.busy.as_secs_f64());
        self.busy = busy.collect();
        let mut room = MAX_PEERS;
        for socket in &metrics.sockets {
            let socket = Socket::of(socket, room);
            room -= socket.peers.len();
            self.sockets.push(socket);
        }
    }

    /// Adds numbers that are written as in the text of Prometheus.
    pub(crate) fn add_numbers(&mut self, text: &str) {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let numbers = lines.filter_map(|line| {
            let (name, value) = line.rsplit_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        });
        self.numbers.extend(numbers);
    }
}

impl Socket {
    fn of(metrics: &SocketMetrics, room: usize) -> Self {
        let counters = &metrics.counters;
        let dropped = [
            ("at_send", counters.dropped_at_send),
            ("unsent", counters.dropped_unsent),
            ("unconfirmed", counters.unconfirmed),
            ("unread", counters.dropped_unread),
            ("replaced", counters.replaced),
            ("at_receive", counters.dropped_at_receive),
        ];
        let dropped = dropped.into_iter().filter(|(_, count)| *count > 0);
        let dropped: BTreeMap<_, _> = dropped
            .map(|(reason, count)| (reason.to_owned(), count))
            .collect();
        Socket {
            socket: metrics.id,
            socket_type: metrics.socket_type.name().to_owned(),
            traffic: Traffic {
                messages_sent: counters.messages_sent,
                bytes_sent: counters.bytes_sent,
                messages_received: counters.messages_received,
                bytes_received: counters.bytes_received,
            },
            outbound: metrics.outbound.into(),
            inbound: metrics.inbound.into(),
            backlog: metrics.backlog as u64,
            dropped,
            handshakes_completed: counters.handshakes_completed,
            reconnects: counters.reconnects,
            disconnects: counters.disconnects,
            failures: failures(&metrics.failures),
            recent_failures: metrics.recent_failures.iter().map(Into::into).collect(),
            endpoints: metrics.endpoints.iter().map(Into::into).collect(),
            connected: metrics.peers.len() as u64,
            peers: metrics.peers.iter().take(room).map(Into::into).collect(),
        }
    }
}

/// Those that occurred.
fn failures(counted: &metrics::Failures) -> Vec<Failures> {
    let before = counted.before_ready().map(|it| ("handshake", it));
    let after = counted.after_ready().map(|it| ("connection", it));
    let all = before.chain(after).filter(|(_, (_, count))| *count > 0);
    all.map(|(stage, (cause, count))| Failures {
        stage: stage.to_owned(),
        cause: cause.to_owned(),
        count,
    })
    .collect()
}

impl From<metrics::Traffic> for Traffic {
    fn from(traffic: metrics::Traffic) -> Self {
        Traffic {
            messages_sent: traffic.messages_sent,
            bytes_sent: traffic.bytes_sent,
            messages_received: traffic.messages_received,
            bytes_received: traffic.bytes_received,
        }
    }
}

impl From<QueueDepth> for Queue {
    fn from(depth: QueueDepth) -> Self {
        Queue {
            messages: depth.messages as u64,
            bytes: depth.bytes as u64,
            most_messages: depth.most_messages as u64,
        }
    }
}

impl From<&metrics::RecentFailure> for RecentFailure {
    fn from(recent: &metrics::RecentFailure) -> Self {
        let failure = &recent.failure;
        RecentFailure {
            ago: recent.ago.as_secs_f64(),
            endpoint: failure.endpoint().to_string(),
            address: failure.address().to_string(),
            cause: failure.cause().name().to_owned(),
            message: beginning(&failure.to_string()),
        }
    }
}

impl From<&EndpointMetrics> for Endpoint {
    fn from(metrics: &EndpointMetrics) -> Self {
        let role = if metrics.bound { "bound" } else { "connected" };
        Endpoint {
            endpoint: metrics.endpoint.to_string(),
            role: role.to_owned(),
            peers: metrics.peers as u64,
            connections: metrics.connections,
            reconnects: metrics.reconnects,
            traffic: metrics.traffic.into(),
            failures: failures(&metrics.failures),
        }
    }
}

impl From<&PeerMetrics> for Peer {
    fn from(metrics: &PeerMetrics) -> Self {
        let (peer, numbers) = (&metrics.peer, &metrics.numbers);
        let routing_id = String::from_utf8_lossy(peer.routing_id());
        Peer {
            connection: peer.connection(),
            address: peer.address().to_string(),
            endpoint: peer.endpoint().to_string(),
            mechanism: peer.mechanism().map(|it| it.name().to_owned()),
            public_key: peer.public_key().map(|key| key.to_string()),
            user_id: peer.user_id().map(beginning),
            routing_id: beginning(&printable(&routing_id)),
            age: numbers.age.as_secs_f64(),
            traffic: numbers.traffic.into(),
            dropped: numbers.dropped,
            outbound: numbers.outbound.into(),
            inbound: numbers.inbound.into(),
            round_trip: (numbers.round_trip).map(|it| it.smoothed.as_secs_f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_command_are_read_from_its_text() {
        let mut snapshot = Snapshot::default();
        snapshot.add_numbers(
            "# HELP a_total of 7\n# TYPE a_total counter\na_total{cause=\"a b\"} 7\nb 0.5\n",
        );
        let numbers: Vec<_> = snapshot.numbers.into_iter().collect();
        let expected = [("a_total{cause=\"a b\"}".into(), 7.0), ("b".into(), 0.5)];
        assert_eq!(numbers, expected);
    }

    #[test]
    fn the_peers_of_all_sockets_together_are_bounded() {
        use sealwire::blocking::Socket;
        use sealwire::{Context, SocketType};

        let context = Context::new().unwrap();
        let end = |of| Socket::builder(of).context(&context).build_blocking();
        let pull = end(SocketType::Pull).unwrap();
        let push = end(SocketType::Push).unwrap();
        pull.bind("inproc://here").unwrap();
        push.connect("inproc://here").unwrap();
        push.wait_connected(1).unwrap();
        pull.wait_connected(1).unwrap();
        let mut metrics = context.metrics().unwrap();
        for socket in &mut metrics.sockets {
            socket.peers = vec![socket.peers[0].clone(); MAX_PEERS / 2 + 7];
        }
        let mut snapshot = Snapshot::default();
        snapshot.add_context(&metrics);
        let named: Vec<_> = snapshot.sockets.iter().map(|it| it.peers.len()).collect();
        assert_eq!(named, [MAX_PEERS / 2 + 7, MAX_PEERS / 2 - 7]);
        assert_eq!(snapshot.sockets[1].connected, MAX_PEERS as u64 / 2 + 7);
    }

    #[test]
    fn texts_of_others_are_bounded() {
        assert_eq!(beginning("short"), "short");
        assert_eq!(
            beginning(&"ü".repeat(MAX_TEXT + 1)).chars().count(),
            MAX_TEXT
        );
    }

    #[test]
    fn a_snapshot_of_another_version_may_have_other_fields() {
        let read: Snapshot = serde_json::from_str(r#"{"version":1,"new":[1]}"#).unwrap();
        assert_eq!((read.version, read.sockets.len()), (1, 0));
        let written = serde_json::to_string(&Snapshot::refusal("no")).unwrap();
        let again: Snapshot = serde_json::from_str(&written).unwrap();
        assert_eq!(again.error, "no");
    }

    /// The names of all fields, at any depth.
    fn fields(value: &serde_json::Value, into: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(object) => {
                for (name, value) in object {
                    into.push(name.clone());
                    fields(value, into);
                }
            }
            serde_json::Value::Array(all) => all.iter().for_each(|value| fields(value, into)),
            _ => {}
        }
    }

    #[test]
    fn the_page_has_each_field() {
        const PAGE: &str = include_str!("../../../../docs/guide/running.md");
        let socket = Socket {
            failures: vec![Failures::default()],
            recent_failures: vec![RecentFailure::default()],
            endpoints: vec![Endpoint::default()],
            peers: vec![Peer::default()],
            ..Socket::default()
        };
        let whole = Snapshot {
            error: "no".to_owned(),
            sockets: vec![socket],
            numbers: [("sealwire_work_done_total".to_owned(), 1.0)].into(),
            ..Snapshot::default()
        };
        let mut names = Vec::new();
        fields(&serde_json::to_value(&whole).unwrap(), &mut names);
        assert!(names.len() > 40, "{names:?}");
        for name in names.iter().filter(|name| !name.starts_with("sealwire_")) {
            assert!(PAGE.contains(&format!("`{name}`")), "{name}");
        }
    }
}
