//! Numbers that show what a context, its sockets, endpoints and peers do: plain snapshots, and [samples](Sample) of
//! them with names and labels for monitoring systems.
//!
//! ```
//! # fn main() -> Result<(), sealwire::Error> {
//! use sealwire::{Context, SocketType, blocking::Socket};
//!
//! let context = Context::new()?;
//! let socket = Socket::builder(SocketType::Push).context(&context).build()?;
//! assert_eq!(socket.metrics()?.outbound.messages, 0);
//! for sample in context.metrics()?.samples() {
//!     println!("{} {:?}", sample.metric.name, sample.value);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Nothing is counted that costs a message anything to speak of: queues and traffic are counted for each batch, under
//! the socket's lock, and the time of one message in many is taken.
//!
//! The entry of a peer lives as long as its connection. What it had sent and received stays in the numbers of the
//! endpoint, as long as that is bound or connected to, and in those of the socket.

#[cfg(feature = "metrics")]
mod facade;
mod numbers;
mod samples;
mod table;
mod text;

use std::sync::Arc;
use std::time::Duration;

use sealwire_zmtp::SocketType;

pub use self::numbers::{Amount, Number};
pub use self::samples::{Label, Sample, Value};
pub use self::table::{METRICS, Metric, MetricKind};
pub use crate::limits::{MAX_SAMPLED_PEERS, RECENT_FAILURES};
pub use crate::measures::{Histogram, PeerNumbers, QueueDepth, RoundTrip, Traffic, Work};
pub use crate::monitor::{Failures, RecentFailure};

use crate::account::Kind;
use crate::endpoint::Endpoint;
use crate::monitor::Counters;
use crate::peer::Peer;

/// The numbers of a context.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ContextMetrics {
    /// Time since the context began, by the clock of its first thread.
    pub age: Duration,
    /// What each I/O thread has done, in the order of their numbers. The busy share of a thread is the growth of
    /// [`Work::busy`] between two snapshots divided by that of `age`.
    pub threads: Vec<Work>,
    /// Its sockets, without those that have ended.
    pub sockets: Vec<SocketMetrics>,
}

/// The numbers of a socket.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SocketMetrics {
    /// The number of the socket in its context.
    pub id: u64,
    /// Its type.
    pub socket_type: SocketType,
    /// The same as [`Socket::counters`](crate::Socket::counters).
    pub counters: Counters,
    /// Failed connections by cause.
    pub failures: Failures,
    /// The last connections that failed, the oldest first: up to [`RECENT_FAILURES`].
    pub recent_failures: Vec<RecentFailure>,
    /// Messages that wait for peers, those included that are not there yet.
    pub outbound: QueueDepth,
    /// Messages that the application has not read, also of peers that are gone.
    pub inbound: QueueDepth,
    /// Messages that wait for the first peer to come, some of them in `outbound` too.
    pub backlog: usize,
    /// How long sampled messages waited for a connection to take them.
    pub time_to_send: Histogram,
    /// How long sampled messages waited for the application to read them.
    pub time_to_receive: Histogram,
    /// Bytes or items held for its peers together, by the number of the kind.
    pub(crate) held: [usize; Kind::ALL.len()],
    /// What it is bound and connected to.
    pub endpoints: Vec<EndpointMetrics>,
    /// The peers that are connected.
    pub peers: Vec<PeerMetrics>,
}

impl SocketMetrics {
    /// Returns the bytes or items of this kind that are held for all peers together.
    pub fn held(&self, kind: Kind) -> usize {
        self.held[kind as usize]
    }
}

/// The numbers of an endpoint, since it was bound or connected to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EndpointMetrics {
    /// Which.
    pub endpoint: Endpoint,
    /// Whether the socket is bound to it; `false` where it connects.
    pub bound: bool,
    /// Peers that are connected through it.
    pub peers: usize,
    /// Connections that were of use, with those that are.
    pub connections: u64,
    /// Attempts to connect that followed a failed or ended connection.
    pub reconnects: u64,
    /// Messages and bytes through all of its connections.
    pub traffic: Traffic,
    /// Failed connections and attempts by cause, as long as it is bound or connected to. Where a socket is connected to
    /// the same endpoint several times, the first of these has them.
    pub failures: Failures,
}

/// A peer and its numbers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PeerMetrics {
    /// Who. Its [account](Peer::account) has the memory that is held for it.
    pub peer: Arc<Peer>,
    /// What it sent and received, what waits, and since when.
    pub numbers: PeerNumbers,
}
