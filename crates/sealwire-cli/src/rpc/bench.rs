//! `rpc bench`: this process calls, another one of this program answers. The measuring is in
//! `bench/processes`.

use std::io;
use std::process::Command;
use std::time::Duration;

use clap::Args;
use sealwire_bench_processes::calls::{self, Options, Side};
use sealwire_bench_processes::this_program;

use crate::bench::print_record;
use crate::duration;
use crate::exit::Failure;

/// Options of rpc bench.
#[derive(Debug, Args)]
pub(crate) struct BenchOptions {
    /// Body of a call, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 64)]
    size: usize,

    /// Body of a one-way message, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1_400)]
    one_way_size: usize,

    /// Calls in flight (repeatable)
    #[arg(long, value_name = "N", default_values_t = [1, 64, 1_024])]
    in_flight: Vec<usize>,

    /// How long to measure each, after a warm-up of half that
    #[arg(long, value_name = "N", default_value = "2", value_parser = duration::parse_positive)]
    seconds: Duration,

    /// Print one JSON object per line
    #[arg(long)]
    pub(super) json: bool,
}

/// Options of the answering process.
#[derive(Debug, Args)]
pub(crate) struct SideOptions {
    #[arg(long)]
    core: Option<usize>,
    /// Bytes of the bare TCP exchange.
    #[arg(long)]
    size: usize,
}

pub(super) fn run(options: &BenchOptions) -> Result<(), Failure> {
    let measured = Options {
        size: options.size,
        one_way_size: options.one_way_size,
        in_flight: options.in_flight.clone(),
        time: options.seconds,
    };
    calls::measure(&measured, command, |record| {
        print_record(record, options.json)
    })
}

/// This program as the answering process, with the options that [`SideOptions`] reads.
fn command(side: &Side) -> io::Result<Command> {
    let mut command = Command::new(this_program()?);
    command
        .args(["rpc", "bench-side"])
        .arg(format!("--size={}", side.size))
        .args(side.core.map(|core| format!("--core={core}")));
    Ok(command)
}

pub(super) fn run_side(options: &SideOptions) -> Result<(), Failure> {
    Ok(calls::run_side(&Side {
        core: options.core,
        size: options.size,
    })?)
}
