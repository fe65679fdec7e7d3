//! `sealwire work`: tasks from a shell that are handed out until they are done, and programs that do them.

mod numbers;
mod outcomes;
mod serve;
mod take;

use clap::{Args, Subcommand};
use sealwire::Endpoint;
use sealwire_rpc::work::Error;

use crate::exit::{Code, Failure};
use crate::help;
use crate::interrupt;

/// What to do
#[derive(Debug, Subcommand)]
#[command(after_help = help::WORK)]
pub(crate) enum WorkCommand {
    /// Hand out the lines of standard input as tasks, each until a worker says that it is done
    #[command(after_help = help::WORK_SERVE)]
    Serve(Box<serve::ServeOptions>),
    /// Take tasks and run a program for each, or print them
    #[command(after_help = help::WORK_TAKE)]
    Take(Box<take::TakeOptions>),
}

impl WorkCommand {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match self {
            WorkCommand::Serve(options) => serve::run(options),
            WorkCommand::Take(options) => take::run(options),
        }
    }

    pub(crate) fn json(&self) -> bool {
        match self {
            WorkCommand::Serve(options) => options.report.json,
            WorkCommand::Take(options) => options.report.json,
        }
    }
}

/// Reads an endpoint that another process can reach; suits clap's `value_parser`.
fn parse_endpoint(text: &str) -> Result<Endpoint, String> {
    crate::sockets::options::parse_endpoint(text)
}

/// The largest task.
#[derive(Debug, Args)]
struct SizeOptions {
    /// Largest task, in bytes: a worker's has to be as large as its distributor's
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 20)]
    max_size: u32,
}

/// Failures as exit codes.
fn failed(error: Error) -> Failure {
    match error {
        Error::ShutDown if interrupt::requested() => Failure::stopped(),
        Error::Socket(error) => error.into(),
        error => Failure::new(Code::Failed, error.to_string()),
    }
}
