//! What a tunnel counts, for `--metrics`. `docs/guide/metrics.md` has the names for users.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::service::metrics::Text;

/// The counts of one end, shared with who reads them.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    under_way: usize,
    ready: u64,
    ended: u64,
    sent: u64,
    received: u64,
    /// By the name of the cause, of which there are few.
    failed: BTreeMap<&'static str, u64>,
}

impl Numbers {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes how many connections there are, handshakes and those that are told why they end included.
    pub(super) fn under_way(&self, connections: usize) {
        self.counts().under_way = connections;
    }

    pub(super) fn ready(&self) {
        self.counts().ready += 1;
    }

    pub(super) fn ended(&self) {
        self.counts().ended += 1;
    }

    pub(super) fn failed(&self, cause: &'static str) {
        *self.counts().failed.entry(cause).or_default() += 1;
    }

    /// Adds plaintext bytes.
    pub(super) fn moved(&self, sent: u64, received: u64) {
        let mut counts = self.counts();
        counts.sent += sent;
        counts.received += received;
    }

    /// Writes all in the text format of Prometheus.
    pub(super) fn prometheus(&self) -> String {
        let counts = self.counts();
        let mut text = Text::default();
        text.metric(
            "sealwire_tunnel_connections",
            "gauge",
            "Connections under way, with their handshakes.",
            [("".into(), counts.under_way as u64)],
        );
        text.metric(
            "sealwire_tunnel_ready_total",
            "counter",
            "Connections whose handshake was completed.",
            [("".into(), counts.ready)],
        );
        text.metric(
            "sealwire_tunnel_ended_total",
            "counter",
            "Connections that ended in order.",
            [("".into(), counts.ended)],
        );
        text.metric(
            "sealwire_tunnel_failures_total",
            "counter",
            "Connections that failed.",
            (counts.failed.iter()).map(|(cause, count)| (format!("{{cause=\"{cause}\"}}"), *count)),
        );
        text.metric(
            "sealwire_tunnel_bytes_total",
            "counter",
            "Plaintext bytes that were passed on.",
            [("out", counts.sent), ("in", counts.received)]
                .map(|(direction, bytes)| (format!("{{direction=\"{direction}\"}}"), bytes)),
        );
        text.into_string()
    }
}
