//! Two processes, each on a core of its own where there are two, over TCP on the loopback interface.
//!
//! ```text
//!   measure ──starts──▶ server side: binds, says where and with which key
//!      │    ──starts──▶ client side: connects
//!      ◀── one line of JSON from the side that measures
//! ```
//!
//! | what | measured by | how |
//! |---|---|---|
//! | throughput | server side | messages between the first and the last batch after the warm-up |
//! | latency | client side | each round trip of a request and its answer |
//! | handshake | client side | connections that became ready, eight under way at a time |

mod handshake;
mod latency;
mod record;
mod side;
mod throughput;

use std::io;
use std::process::Command;
use std::time::Duration;

use clap::ValueEnum;
use sealwire::{Endpoint, PublicKey, SocketType};
use sealwire_bench_measure::cores;

use crate::Error;

pub use record::Record;
pub use side::run_side;

/// How long processes wait for each other.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A kind of measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Messages a second.
    Throughput,
    /// Round trips.
    Latency,
    /// New connections a second.
    Handshake,
}

impl Kind {
    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Throughput => "throughput",
            Kind::Latency => "latency",
            Kind::Handshake => "handshake",
        }
    }
}

/// Which sockets talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Pattern {
    /// One way, nothing is lost.
    PushPull,
    /// There and back, one request at a time.
    ReqRep,
    /// One way; what the subscriber is too slow for is dropped.
    PubSub,
}

impl Pattern {
    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::PushPull => "push-pull",
            Pattern::ReqRep => "req-rep",
            Pattern::PubSub => "pub-sub",
        }
    }

    fn server_type(self) -> SocketType {
        match self {
            Pattern::PushPull => SocketType::Pull,
            Pattern::ReqRep => SocketType::Rep,
            Pattern::PubSub => SocketType::Sub,
        }
    }

    fn client_type(self) -> SocketType {
        match self {
            Pattern::PushPull => SocketType::Push,
            Pattern::ReqRep => SocketType::Req,
            Pattern::PubSub => SocketType::Pub,
        }
    }
}

/// How connections are protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    /// Not at all.
    Null,
    /// BLAKE3ZMQ.
    Blake3,
    /// CURVE.
    Curve,
    /// A username and a password.
    Plain,
}

impl Mechanism {
    fn name(self) -> &'static str {
        match self {
            Mechanism::Null => "null",
            Mechanism::Blake3 => "blake3",
            Mechanism::Curve => "curve",
            Mechanism::Plain => "plain",
        }
    }
}

/// What both processes are to do.
#[derive(Debug, Clone)]
pub struct Load {
    /// The kind of measurement.
    pub kind: Kind,
    /// Which sockets talk.
    pub pattern: Pattern,
    /// How connections are protected.
    pub mechanism: Mechanism,
    /// Payload of a message, in bytes.
    pub size: usize,
    /// How long to measure.
    pub time: Duration,
    /// How long to wait before.
    pub warm_up: Duration,
}

/// One of the two processes.
#[derive(Debug, Clone)]
pub struct Side {
    /// What both do.
    pub load: Load,
    /// The core it stays on; `None` where there are not two.
    pub core: Option<usize>,
    /// The server that a client connects to; `None` for the server itself.
    pub server: Option<Server>,
}

/// Where the server is.
#[derive(Debug, Clone)]
pub struct Server {
    /// Its endpoint.
    pub endpoint: Endpoint,
    /// Its public key.
    pub key: PublicKey,
}

/// Starts both processes and returns what one of them measured. `command` makes a command that
/// calls [`run_side`] with this side.
///
/// # Errors
///
/// A process could not be started or failed.
pub fn measure(
    load: &Load,
    command: impl Fn(&Side) -> io::Result<Command>,
) -> Result<Record, Error> {
    let cores = cores::two_apart();
    let measured = side::run_both(load, cores, command)?;
    Ok(Record::new(load, cores, &measured))
}
