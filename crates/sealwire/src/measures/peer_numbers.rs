//! The numbers of one peer.

use std::time::Duration;

use super::{QueueDepth, RoundTrip, Traffic};

/// The numbers of a peer, since its handshake was completed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerNumbers {
    /// Time since the handshake was completed.
    pub age: Duration,
    /// Messages and bytes.
    pub traffic: Traffic,
    /// Copies for it that were dropped because its queue was full (PUB, XPUB, XSUB, RADIO, ROUTER, REP).
    pub dropped: u64,
    /// Messages that wait for it.
    pub outbound: QueueDepth,
    /// Messages from it that the application has not read.
    pub inbound: QueueDepth,
    /// How long it takes to answer heartbeats; `None` without heartbeats of ZMTP, and before the second of them is due.
    pub round_trip: Option<RoundTrip>,
}
