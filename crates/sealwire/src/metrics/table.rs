//! The metrics by name. `docs/guide/metrics.md` has the same table for users.

/// Whether a metric grows only, goes up and down, or counts times by range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MetricKind {
    /// Grows, until its socket, endpoint or peer is gone.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts times by range.
    Histogram,
}

impl MetricKind {
    /// Returns its name in the text format of Prometheus.
    pub const fn name(self) -> &'static str {
        match self {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        }
    }
}

/// A metric: what its samples have in common.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metric {
    /// Begins with `sealwire_`, and ends with the unit and `_total` where it has such.
    pub name: &'static str,
    /// What kind of number it is.
    pub kind: MetricKind,
    /// The names of the labels of its samples.
    pub labels: &'static [&'static str],
    /// What it counts, in one sentence.
    pub help: &'static str,
}

macro_rules! metrics {
    ($($constant:ident $name:literal $kind:ident $labels:tt $help:literal;)*) => {
        $(pub(super) static $constant: Metric = Metric {
            name: $name,
            kind: MetricKind::$kind,
            labels: &$labels,
            help: $help,
        };)*

        /// All metrics, in the order in which samples come.
        pub static METRICS: &[&Metric] = &[$(&$constant),*];
    };
}

impl Metric {
    /// Returns whether its samples are of single peers: a connection has labels of its own.
    pub fn is_of_peers(&self) -> bool {
        self.labels.contains(&"connection")
    }
}

metrics! {
    AGE "sealwire_context_age_seconds" Gauge []
        "Time since the context began.";
    BUSY "sealwire_io_thread_busy_seconds_total" Counter ["thread"]
        "Time that an I/O thread has worked.";
    ITERATIONS "sealwire_io_thread_iterations_total" Counter ["thread"]
        "Iterations of an I/O thread's loop.";
    MESSAGES "sealwire_messages_total" Counter ["socket", "type", "direction"]
        "Messages handed to connections, and messages that arrived for the application.";
    BYTES "sealwire_bytes_total" Counter ["socket", "type", "direction"]
        "Payload bytes of these.";
    DROPPED "sealwire_dropped_messages_total" Counter ["socket", "type", "reason"]
        "Messages that were dropped, and those that may be lost (unconfirmed).";
    MISSED "sealwire_missed_messages_total" Counter ["socket", "type"]
        "Messages that publishers of Sealwire dropped for this socket, as they say.";
    QUEUED "sealwire_queue_messages" Gauge ["socket", "type", "direction"]
        "Messages that wait in the queues of all peers.";
    QUEUED_BYTES "sealwire_queue_bytes" Gauge ["socket", "type", "direction"]
        "Payload bytes of these.";
    MOST_QUEUED "sealwire_queue_most_messages" Gauge ["socket", "type", "direction"]
        "The most messages that have waited in the queue of one peer that is connected.";
    BACKLOG "sealwire_backlog_messages" Gauge ["socket", "type"]
        "Messages that wait for the first peer to come.";
    WAITED "sealwire_time_in_queue_seconds" Histogram ["socket", "type", "direction"]
        "Time that sampled messages waited for a connection, or for the application.";
    HANDSHAKES "sealwire_handshakes_completed_total" Counter ["socket", "type"]
        "Handshakes that were completed.";
    FAILURES "sealwire_connection_failures_total" Counter ["socket", "type", "stage", "cause"]
        "Connections that failed, before their handshake was completed and after.";
    DISCONNECTS "sealwire_disconnects_total" Counter ["socket", "type"]
        "Connections that ended after their handshake.";
    RECONNECTS "sealwire_reconnects_total" Counter ["socket", "type"]
        "Attempts to connect that followed a failed or ended connection.";
    LIMITED "sealwire_limit_reached_total" Counter ["socket", "type", "kind"]
        "How often peers reached the limit of a kind.";
    HELD "sealwire_held_bytes" Gauge ["socket", "type", "kind"]
        "Bytes held for all peers together.";
    PEERS "sealwire_peers" Gauge ["socket", "type"]
        "Peers that are connected.";
    ENDPOINT_PEERS "sealwire_endpoint_peers" Gauge ["socket", "type", "role", "endpoint"]
        "Peers that are connected through an endpoint.";
    ENDPOINT_CONNECTIONS "sealwire_endpoint_connections_total" Counter ["socket", "type", "role", "endpoint"]
        "Connections of an endpoint that were of use, with those that are.";
    ENDPOINT_RECONNECTS "sealwire_endpoint_reconnects_total" Counter ["socket", "type", "role", "endpoint"]
        "Attempts to connect to an endpoint again.";
    ENDPOINT_MESSAGES "sealwire_endpoint_messages_total" Counter ["socket", "type", "role", "endpoint", "direction"]
        "Messages through an endpoint.";
    ENDPOINT_BYTES "sealwire_endpoint_bytes_total" Counter ["socket", "type", "role", "endpoint", "direction"]
        "Payload bytes of these.";
    ENDPOINT_FAILURES "sealwire_endpoint_failures_total" Counter ["socket", "type", "role", "endpoint", "stage", "cause"]
        "Connections through an endpoint that failed, and attempts to connect to it.";
    PEER_MESSAGES "sealwire_peer_messages_total" Counter ["socket", "type", "endpoint", "connection", "key", "direction"]
        "Messages to and from a peer.";
    PEER_BYTES "sealwire_peer_bytes_total" Counter ["socket", "type", "endpoint", "connection", "key", "direction"]
        "Payload bytes of these.";
    PEER_DROPPED "sealwire_peer_dropped_messages_total" Counter ["socket", "type", "endpoint", "connection", "key"]
        "Copies for a peer that were dropped at its full queue.";
    PEER_QUEUED "sealwire_peer_queue_messages" Gauge ["socket", "type", "endpoint", "connection", "key", "direction"]
        "Messages that wait for a peer, and messages from it that were not read.";
    PEER_ROUND_TRIP "sealwire_peer_round_trip_seconds" Gauge ["socket", "type", "endpoint", "connection", "key", "statistic"]
        "Round trip of heartbeats: the last, the shortest, and the smoothed one.";
}
