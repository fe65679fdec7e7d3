//! The numbers of a socket, as those ask for them who watch it.

use super::{SocketCore, State};
use crate::account::Kind;
use crate::failure::ConnectionFailure;
use crate::measures::{QueueDepth, Traffic};
use crate::metrics::{EndpointMetrics, PeerMetrics, SocketMetrics};
use crate::monitor::add;
use crate::pattern::{Measurements, PipeId};

use super::endpoints::RegistrationKind;

impl SocketCore {
    /// Another attempt to connect to the endpoint with this number begins.
    pub(crate) fn note_reconnect(&self, endpoint: u64) {
        add(&self.counters.reconnects, 1);
        self.lock().endpoints.note_reconnect(endpoint);
    }

    /// Counts a failed connection at its endpoint, and lets the monitors know.
    pub(crate) fn tell_failure(&self, failure: ConnectionFailure) {
        self.lock().endpoints.note_failure(&failure);
        self.hub.fail(failure, self.context.engine().now());
    }

    pub(crate) fn metrics(&self) -> SocketMetrics {
        let counters = self.counters();
        let failures = self.hub.failures();
        let recent_failures = self.hub.recent_failures(self.context.engine().now());
        let mut state = self.lock();
        let mut inbound = QueueDepth::default();
        let all = state.queues.pipes.measurements(&mut inbound);
        let mut outbound = QueueDepth::default();
        for of in &all {
            outbound.add(of.numbers.outbound);
            inbound.add(of.numbers.inbound);
        }
        let backlog = state.queues.backlog();
        let [time_to_send, time_to_receive] = state.queues.pipes.waits();
        let endpoints = state.endpoint_metrics(&all);
        drop(state);
        let peers: Vec<PeerMetrics> = all.into_iter().filter_map(peer_metrics).collect();
        let held = |kind: Kind| peers.iter().map(|it| it.peer.account().held(kind)).sum();
        SocketMetrics {
            id: self.id,
            socket_type: self.socket_type,
            counters,
            failures,
            recent_failures,
            outbound,
            inbound,
            backlog,
            time_to_send,
            time_to_receive,
            held: Kind::ALL.map(held),
            endpoints,
            peers,
        }
    }
}

impl State {
    /// Keeps the numbers of a peer that goes with its endpoint.
    pub(super) fn note_gone(&mut self, id: PipeId) {
        if let Some((endpoint, traffic)) = self.queues.pipes.traffic_of(id) {
            self.endpoints.note_gone(endpoint, traffic);
        }
    }

    fn endpoint_metrics(&self, peers: &[Measurements]) -> Vec<EndpointMetrics> {
        let endpoints = self.endpoints.all().iter().map(|entry| {
            let of_it = |peer: &&Measurements| peer.endpoint == Some(entry.id);
            let of_it = peers.iter().filter(of_it);
            let mut traffic: Traffic = entry.counts.of_gone;
            of_it
                .clone()
                .for_each(|peer| traffic.add(peer.numbers.traffic));
            EndpointMetrics {
                endpoint: entry.endpoint.clone(),
                bound: entry.kind == RegistrationKind::Bound,
                peers: of_it.filter(|peer| peer.peer.is_some()).count(),
                connections: entry.counts.connections,
                reconnects: entry.counts.reconnects,
                traffic,
                failures: entry
                    .counts
                    .failures
                    .as_deref()
                    .copied()
                    .unwrap_or_default(),
            }
        });
        endpoints.collect()
    }
}

/// `None` for a peer that is not there yet.
fn peer_metrics(of: Measurements) -> Option<PeerMetrics> {
    Some(PeerMetrics {
        peer: of.peer?,
        numbers: of.numbers,
    })
}
