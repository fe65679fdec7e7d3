//! What a command says about itself to `sealwire top`: one JSON object, whose fields `docs/guide/running.md` has for
//! users.
//!
//! ```text
//! metrics of sealwire ── made ──▶ Snapshot ── JSON over ipc ──▶ Snapshot ──▶ views of top, --json
//! ```
//!
//! A field that is missing is zero or empty, and one that is not known is left out, so programs of different versions
//! understand each other as long as [`VERSION`] is the same.

mod made;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Grows when a field changes its meaning, or goes.
pub(crate) const VERSION: u32 = 1;

/// The request for a snapshot.
pub(crate) const REQUEST: &[u8] = b"snapshot";

/// A command at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Snapshot {
    pub(crate) version: u32,
    /// Why there is nothing else.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) error: String,
    /// The name of the command, as `pull`.
    pub(crate) command: String,
    /// The number of its process.
    pub(crate) process: u32,
    /// Seconds since it began to serve snapshots.
    pub(crate) age: f64,
    /// Of each I/O thread the seconds that it has worked.
    pub(crate) busy: Vec<f64>,
    pub(crate) sockets: Vec<Socket>,
    /// Numbers of the command beside those of its sockets, by their names in Prometheus' text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) numbers: BTreeMap<String, f64>,
}

/// What went through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Traffic {
    pub(crate) messages_sent: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) messages_received: u64,
    pub(crate) bytes_received: u64,
}

/// What waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Queue {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) most_messages: u64,
}

/// A socket.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Socket {
    pub(crate) socket: u64,
    #[serde(rename = "type")]
    pub(crate) socket_type: String,
    pub(crate) traffic: Traffic,
    pub(crate) outbound: Queue,
    pub(crate) inbound: Queue,
    /// Messages that wait for the first peer to come.
    pub(crate) backlog: u64,
    /// By reason, those alone that occurred.
    pub(crate) dropped: BTreeMap<String, u64>,
    pub(crate) handshakes_completed: u64,
    pub(crate) reconnects: u64,
    pub(crate) disconnects: u64,
    pub(crate) failures: Vec<Failures>,
    /// The oldest first.
    pub(crate) recent_failures: Vec<RecentFailure>,
    pub(crate) endpoints: Vec<Endpoint>,
    /// How many are connected; `peers` names a part of them where there are many.
    pub(crate) connected: u64,
    pub(crate) peers: Vec<Peer>,
}

/// How often connections failed for a cause.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Failures {
    /// `handshake`, or `connection` after it.
    pub(crate) stage: String,
    pub(crate) cause: String,
    pub(crate) count: u64,
}

/// One of the last connections that failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RecentFailure {
    /// Seconds since then.
    pub(crate) ago: f64,
    pub(crate) endpoint: String,
    pub(crate) address: String,
    pub(crate) cause: String,
    pub(crate) message: String,
}

/// What a socket is bound or connected to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Endpoint {
    pub(crate) endpoint: String,
    /// `bound` or `connected`.
    pub(crate) role: String,
    pub(crate) peers: u64,
    pub(crate) connections: u64,
    pub(crate) reconnects: u64,
    pub(crate) traffic: Traffic,
    pub(crate) failures: Vec<Failures>,
}

/// A peer that is connected.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Peer {
    pub(crate) connection: u64,
    pub(crate) address: String,
    pub(crate) endpoint: String,
    pub(crate) mechanism: Option<String>,
    /// That it proved.
    pub(crate) public_key: Option<String>,
    /// That this side gave to it.
    pub(crate) user_id: Option<String>,
    /// Its own claim, of which printable characters are as they are.
    pub(crate) routing_id: String,
    /// Seconds since its handshake was completed.
    pub(crate) age: f64,
    pub(crate) traffic: Traffic,
    pub(crate) dropped: u64,
    pub(crate) outbound: Queue,
    pub(crate) inbound: Queue,
    /// The smoothed one of heartbeats, in seconds.
    pub(crate) round_trip: Option<f64>,
}
