//! `sealwire bench`: commands over the measuring in `bench/`. Those between two processes of this
//! program are in `bench/processes`. `sealwire bench aead` and `sealwire bench box` measure cryptography
//! alone, `sealwire bench mechanism` the protocol without sockets: these are in `bench/cryptography`.

mod aead;
mod mechanism;
mod nacl;
mod processes;
mod record;

use clap::Subcommand;
use sealwire_bench_processes::sockets::Kind;

use crate::exit::Failure;

use processes::BenchOptions;
pub(crate) use processes::{SideOptions, run_side};
pub(crate) use record::print_record;

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
        BenchCommand::Throughput(options) => processes::run(Kind::Throughput, options),
        BenchCommand::Latency(options) => processes::run(Kind::Latency, options),
        BenchCommand::Handshake(options) => processes::run(Kind::Handshake, options),
        BenchCommand::Aead(options) => aead::run(options),
        BenchCommand::Box(options) => nacl::run(options),
        BenchCommand::Mechanism(options) => mechanism::run(options),
    }
}
