//! `sealwire rpc`: requests to a program, requests from the shell, and what both can do.

mod bench;
mod call;
mod serve;

use clap::{Args, Subcommand};
use sealwire::Endpoint;
use sealwire_rpc::Error;

use crate::exit::{Code, Failure};
use crate::help;

/// What to do
#[derive(Debug, Subcommand)]
#[command(after_help = help::RPC)]
pub(crate) enum RpcCommand {
    /// Answer each call with the output of a program, which reads the call from standard input
    #[command(after_help = help::RPC_SERVE)]
    Serve(serve::ServeOptions),
    /// Call a server and print its answer
    #[command(after_help = help::RPC_CALL)]
    Call(call::CallOptions),
    /// Measure calls and one-way messages between two processes, each on a core of its own
    #[command(after_help = help::RPC_BENCH)]
    Bench(bench::BenchOptions),
    /// The answering process of the benchmark
    #[command(hide = true)]
    BenchSide(bench::SideOptions),
}

impl RpcCommand {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match self {
            RpcCommand::Serve(options) => serve::run(options),
            RpcCommand::Call(options) => call::run(options),
            RpcCommand::Bench(options) => bench::run(options),
            RpcCommand::BenchSide(options) => bench::run_side(options),
        }
    }

    pub(crate) fn json(&self) -> bool {
        match self {
            RpcCommand::Serve(options) => options.report.json,
            RpcCommand::Bench(options) => options.json,
            RpcCommand::Call(_) | RpcCommand::BenchSide(_) => false,
        }
    }
}

/// Reads an endpoint that another process can reach; suits clap's `value_parser`.
fn parse_endpoint(text: &str) -> Result<Endpoint, String> {
    crate::sockets::options::parse_endpoint(text)
}

/// The largest body.
#[derive(Debug, Args)]
struct SizeOptions {
    /// Largest body of a call or an answer, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = sealwire_rpc::Limits::default().max_body)]
    max_size: u32,
}

/// Failures of a call as exit codes.
pub(crate) fn failed(error: &Error) -> Failure {
    let code = match error {
        Error::DeadlineExceeded { .. } | Error::Congested(_) | Error::TimedOut(_) => Code::TimedOut,
        Error::ConnectionLost { .. } => Code::Lost,
        Error::Connect(_) => Code::Unreachable,
        _ => Code::Failed,
    };
    Failure::new(code, error.to_string())
}
