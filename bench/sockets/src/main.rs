//! Sealwire's sockets and those of its peers, in turn, on the same two cores.
//!
//! ```text
//!   run ──starts──▶ server side (core 1): binds, says where and with which key
//!    │  ──starts──▶ client side (core 0): connects
//!    ◀── one figure from the side that measures
//! ```
//!
//! Each cell of a table is measured in rounds; in each round every contender has its turn, so that
//! what disturbs the machine disturbs them alike. The median of the rounds counts.

mod cells;
mod contender;
mod control;
mod hex;
mod installed;
mod libraries;
mod machine;
mod render;
mod results;
mod run;
mod side;
mod svg;
mod targets;
mod task;
mod throughput;
mod work;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What any step may fail with; the program prints it and ends.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure, print and keep the figures
    Run(run::Options),
    /// Write the kept figures into a document, as tables and plots
    Render {
        /// The figures that `run --out` kept
        figures: PathBuf,
        /// The document with the markers
        document: PathBuf,
    },
    /// Send or receive as libzmq's remote_thr and local_thr do, natively, with BLAKE3
    Throughput(throughput::Program),
    /// One of the two processes
    #[command(hide = true)]
    Side(task::Task),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Run(options) => run::run(&options),
        Command::Render { figures, document } => render::render(&figures, &document),
        Command::Throughput(program) => throughput::run(&program),
        Command::Side(task) => side::run(&task),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
