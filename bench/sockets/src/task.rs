//! What one process has to do.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::contender::{Library, Mechanism};

/// Which sockets talk, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum)]
pub(crate) enum Work {
    /// PUSH to PULL, one way.
    PushPull,
    /// REQ to REP and back, one at a time.
    ReqRep,
    /// PUB to a number of SUB sockets. Messages wait for the subscribers, so that
    /// nothing is dropped.
    PubSub,
    /// A number of DEALER sockets to one ROUTER and back, one message each under way.
    DealerRouter,
    /// Connect, handshake, one request and its answer, close; one after the other.
    Handshake,
    /// Connections that are there and do nothing.
    Idle,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    Server,
    Client,
    /// Both in one process, a thread each.
    Both,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct Task {
    #[arg(value_enum)]
    pub(crate) work: Work,
    #[arg(value_enum)]
    pub(crate) role: Role,
    #[arg(long, value_enum)]
    pub(crate) library: Library,
    #[arg(long, value_enum)]
    pub(crate) mechanism: Mechanism,
    /// Payload of a message, in bytes.
    #[arg(long)]
    pub(crate) size: usize,
    /// Sockets on the side that has several.
    #[arg(long)]
    pub(crate) peers: usize,
    #[arg(long)]
    pub(crate) warm_up_ms: u64,
    #[arg(long)]
    pub(crate) time_ms: u64,
    #[arg(long)]
    pub(crate) core: Option<usize>,
    #[arg(long)]
    pub(crate) endpoint: String,
    /// Client: the server's public key.
    #[arg(long, default_value = "")]
    pub(crate) key: String,
    /// Client: where the server's process takes acknowledgements.
    #[arg(long, default_value = "")]
    pub(crate) control: String,
}

impl Task {
    pub(crate) fn warm_up(&self) -> Duration {
        Duration::from_millis(self.warm_up_ms)
    }

    pub(crate) fn time(&self) -> Duration {
        Duration::from_millis(self.time_ms)
    }

    /// Messages that a queue holds: large messages get shorter queues.
    pub(crate) fn queue(&self) -> usize {
        const QUEUE_BYTES: usize = 64 << 20;
        (QUEUE_BYTES / self.size.max(1) / self.peers.max(1)).clamp(8, 1_000)
    }
}
