//! `sealwire bench throughput`, `latency` and `handshake`: options, and those of the two processes.

use std::io;
use std::process::Command;
use std::time::Duration;

use clap::Args;
use sealwire::{Endpoint, PublicKey};
use sealwire_bench_processes::sockets::{self, Kind, Load, Pattern, Server, Side};
use sealwire_bench_processes::{Error, this_program};

use super::record::print_record;
use crate::duration;
use crate::exit::{Code, Failure};
use crate::security_options::Mechanism;

/// Longest warm-up; shorter runs warm up for half their time.
const MAX_WARM_UP: Duration = Duration::from_secs(1);

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
    pub(super) json: bool,
}

/// Options of one of the two processes.
#[derive(Debug, Args)]
pub(crate) struct SideOptions {
    #[arg(value_enum)]
    kind: Kind,
    #[arg(long, value_enum)]
    mechanism: Mechanism,
    #[arg(long, value_enum)]
    pattern: Pattern,
    #[arg(long)]
    size: usize,
    #[arg(long, value_parser = duration::parse)]
    time: Duration,
    #[arg(long, value_parser = duration::parse)]
    warm_up: Duration,
    #[arg(long)]
    core: Option<usize>,
    /// Client: the server's endpoint.
    #[arg(long, requires = "server_key")]
    connect: Option<Endpoint>,
    /// Client: the server's key.
    #[arg(long, requires = "connect")]
    server_key: Option<PublicKey>,
}

/// Starts both processes and prints what one of them measured.
pub(super) fn run(kind: Kind, options: &BenchOptions) -> Result<(), Failure> {
    let load = Load {
        kind,
        pattern: pattern(kind, options.pattern)?,
        mechanism: options.mechanism.into(),
        size: options.size,
        time: options.seconds,
        warm_up: (options.seconds / 2).min(MAX_WARM_UP),
    };
    let record = sockets::measure(&load, |side| command(side, options.mechanism))?;
    print_record(&record, options.json)
}

fn pattern(kind: Kind, chosen: Option<Pattern>) -> Result<Pattern, Failure> {
    match (kind, chosen) {
        (Kind::Throughput, pattern) => Ok(pattern.unwrap_or(Pattern::PushPull)),
        (_, None | Some(Pattern::ReqRep)) => Ok(Pattern::ReqRep),
        (Kind::Handshake, Some(pattern)) => Ok(pattern),
        (Kind::Latency, Some(pattern)) => Err(Failure::usage(format!(
            "latency is that of a round trip, and {} goes one way: use --pattern req-rep",
            pattern.name()
        ))),
    }
}

/// This program as one of the two processes, with the options that [`SideOptions`] reads.
fn command(side: &Side, mechanism: Mechanism) -> io::Result<Command> {
    let load = &side.load;
    let mut command = Command::new(this_program()?);
    command
        .args(["bench-side", load.kind.name()])
        .arg(format!("--mechanism={}", mechanism.name()))
        .arg(format!("--pattern={}", load.pattern.name()))
        .arg(format!("--size={}", load.size))
        .arg(format!("--time={}us", load.time.as_micros()))
        .arg(format!("--warm-up={}us", load.warm_up.as_micros()))
        .args(side.core.map(|core| format!("--core={core}")));
    if let Some(server) = &side.server {
        command
            .arg(format!("--connect={}", server.endpoint))
            .arg(format!("--server-key={}", server.key.to_z85()));
    }
    Ok(command)
}

/// Does what one side does, until it has measured or is told to end.
pub(crate) fn run_side(options: &SideOptions) -> Result<(), Failure> {
    let server = options.connect.clone().zip(options.server_key);
    let side = Side {
        load: Load {
            kind: options.kind,
            pattern: options.pattern,
            mechanism: options.mechanism.into(),
            size: options.size,
            time: options.time,
            warm_up: options.warm_up,
        },
        core: options.core,
        server: server.map(|(endpoint, key)| Server { endpoint, key }),
    };
    match sockets::run_side(&side)? {}
}

impl From<Mechanism> for sockets::Mechanism {
    fn from(mechanism: Mechanism) -> Self {
        match mechanism {
            Mechanism::Null => sockets::Mechanism::Null,
            Mechanism::Blake3 => sockets::Mechanism::Blake3,
            Mechanism::Curve => sockets::Mechanism::Curve,
            Mechanism::Plain => sockets::Mechanism::Plain,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Socket(error) => error.into(),
            Error::Call(error) => crate::rpc::failed(&error),
            Error::Output(error) => Failure::output(&error),
            Error::TimedOut(message) => Failure::new(Code::TimedOut, message),
            error => Failure::new(Code::Failed, error.to_string()),
        }
    }
}
