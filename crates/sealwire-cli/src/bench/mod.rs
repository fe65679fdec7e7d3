//! `sealwire bench`: two processes of this program, each on a core of its own where there are
//! two, over TCP on the loopback interface.
//!
//! ```text
//!   sealwire bench ──starts──▶ server side: binds, says where and with which key
//!        │         ──starts──▶ client side: connects
//!        ◀── one line of JSON from the side that measures
//! ```
//!
//! | what | measured by | how |
//! |---|---|---|
//! | throughput | server side | messages between the first and the last batch after the warm-up |
//! | latency | client side | each round trip of a request and its answer |
//! | handshake | client side | connections that became ready, eight under way at a time |
//!
//! `sealwire bench aead` and `sealwire bench box` measure cryptography alone, `sealwire bench
//! mechanism` the protocol without sockets; they need no second process, and the measuring is in
//! `bench/cryptography`.

mod aead;
mod handshake;
mod latency;
mod mechanism;
mod nacl;
mod result;
mod side;
mod throughput;

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use sealwire::SocketType;
use sealwire_bench_measure::cores;

use crate::duration;
use crate::exit::Failure;
use crate::security_options::Mechanism;

pub(crate) use side::{SideOptions, run_side};

/// How long processes wait for each other.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longest warm-up; shorter runs warm up for half their time.
const MAX_WARM_UP: Duration = Duration::from_secs(1);

/// What to measure
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum BenchCommand {
    /// Messages and megabytes (10^6 bytes of payload) per second
    Throughput(BenchOptions),
    /// Round trips of a request and its answer: median and 99th percentile
    Latency(BenchOptions),
    /// New connections per second, each with its handshake
    Handshake(BenchOptions),
    /// The cipher alone, by message size: nanoseconds a message and GB/s (10^9 bytes)
    #[command(after_help = aead::EXAMPLES)]
    Aead(aead::AeadOptions),
    /// NaCl's box, which CURVE is made of: operations per second in one step and in two
    #[command(after_help = nacl::EXAMPLES)]
    Box(nacl::BoxOptions),
    /// BLAKE3ZMQ and CURVE without sockets: handshakes, sealing and opening, and a Unix socket
    #[command(after_help = mechanism::EXAMPLES)]
    Mechanism(mechanism::MechanismOptions),
}

const EXAMPLES: &str = "\
Examples:
  sealwire bench throughput --mechanism blake3 --size 1024 --seconds 5
  sealwire bench latency --mechanism null --json
  sealwire bench handshake --json
  sealwire bench aead --size 64 --size 4096
  sealwire bench box --size 1024
  sealwire bench mechanism";

/// Options of the benchmarks between two processes.
#[derive(Debug, Clone, Args)]
pub(crate) struct BenchOptions {
    /// How connections are protected
    #[arg(long, value_enum, default_value = "blake3")]
    mechanism: Mechanism,

    /// Socket types [default: push-pull for throughput, else req-rep]
    #[arg(long, value_enum)]
    pattern: Option<Pattern>,

    /// Payload of a message, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 256)]
    size: usize,

    /// How long to measure, after a warm-up
    #[arg(long, value_name = "N", default_value = "3", value_parser = duration::parse_positive)]
    seconds: Duration,

    /// Print one JSON object on one line
    #[arg(long)]
    json: bool,
}

impl BenchOptions {
    fn warm_up(&self) -> Duration {
        (self.seconds / 2).min(MAX_WARM_UP)
    }
}

/// Which sockets talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Pattern {
    /// One way, nothing is lost.
    PushPull,
    /// There and back, one request at a time.
    ReqRep,
    /// One way; what the subscriber is too slow for is dropped.
    PubSub,
}

impl Pattern {
    fn name(self) -> &'static str {
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

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Throughput,
    Latency,
    Handshake,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Throughput => "throughput",
            Kind::Latency => "latency",
            Kind::Handshake => "handshake",
        }
    }
}

impl Kind {
    fn pattern(self, chosen: Option<Pattern>) -> Result<Pattern, Failure> {
        match (self, chosen) {
            (Kind::Throughput, pattern) => Ok(pattern.unwrap_or(Pattern::PushPull)),
            (_, None | Some(Pattern::ReqRep)) => Ok(Pattern::ReqRep),
            (Kind::Handshake, Some(pattern)) => Ok(pattern),
            (Kind::Latency, Some(pattern)) => Err(Failure::usage(format!(
                "latency is that of a round trip, and {} goes one way: use --pattern req-rep",
                pattern.name()
            ))),
        }
    }
}

impl BenchCommand {
    pub(crate) fn json(&self) -> bool {
        match self {
            BenchCommand::Throughput(options)
            | BenchCommand::Latency(options)
            | BenchCommand::Handshake(options) => options.json,
            BenchCommand::Aead(options) => options.json,
            BenchCommand::Box(options) => options.json,
            BenchCommand::Mechanism(options) => options.json,
        }
    }
}

/// Measures and prints.
pub(crate) fn run(command: &BenchCommand) -> Result<(), Failure> {
    match command {
        BenchCommand::Throughput(options) => between_processes(Kind::Throughput, options),
        BenchCommand::Latency(options) => between_processes(Kind::Latency, options),
        BenchCommand::Handshake(options) => between_processes(Kind::Handshake, options),
        BenchCommand::Aead(options) => aead::run(options),
        BenchCommand::Box(options) => nacl::run(options),
        BenchCommand::Mechanism(options) => mechanism::run(options),
    }
}

/// Starts both processes and prints what one of them measured.
fn between_processes(kind: Kind, options: &BenchOptions) -> Result<(), Failure> {
    let pattern = kind.pattern(options.pattern)?;
    let cores = cores::two_apart();
    let measured = side::run_both(kind, pattern, options, cores)?;
    result::print(kind, pattern, options, cores, &measured)
}
