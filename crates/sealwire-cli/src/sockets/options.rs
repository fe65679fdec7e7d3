//! Options that the socket commands share.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use sealwire::{Endpoint, EndpointError};

use crate::duration;
use crate::ipc_options::IpcOptions;
use crate::output::Format;
use crate::report::ReportOptions;
use crate::security_options::SecurityOptions;
use crate::tls_options::TlsOptions;
use crate::web_options::WebOptions;

/// Where and how a socket connects; every socket command has these.
#[derive(Debug, Args)]
pub(crate) struct ConnectionOptions {
    #[command(flatten)]
    pub(crate) endpoints: EndpointOptions,

    #[command(flatten)]
    pub(crate) security: SecurityOptions,

    #[command(flatten)]
    pub(crate) tls: TlsOptions,

    #[command(flatten)]
    pub(crate) web: WebOptions,

    #[command(flatten)]
    pub(crate) ipc: IpcOptions,

    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

/// At least one endpoint.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connections")]
pub(crate) struct EndpointOptions {
    /// Listen on an endpoint (repeatable): tcp://HOST:PORT, tcp://*:PORT, ipc://PATH, ipc://@NAME,
    /// ws://HOST:PORT/PATH, wss://HOST:PORT/PATH. Port 0 takes a free one; "listening on ENDPOINT" on standard error says which
    #[arg(
        short,
        long,
        value_name = "ENDPOINT",
        required_unless_present = "connect"
    )]
    pub(crate) bind: Vec<Endpoint>,

    /// Connect to an endpoint (repeatable), again and again until somebody is there
    #[arg(short, long, value_name = "ENDPOINT", value_parser = parse_endpoint)]
    pub(crate) connect: Vec<Endpoint>,

    /// Longest wait for a peer, for each message, for room to send, and at the end for everything
    /// to be sent: 500ms, 2s, 1m [default: for ever]
    #[arg(short, long, value_name = "TIME", value_parser = duration::parse_positive)]
    pub(crate) timeout: Option<Duration>,

    /// What ROUTER peers are to call this socket (a name, not a proof)
    #[arg(long, value_name = "NAME")]
    pub(crate) routing_id: Option<String>,

    /// Largest message accepted, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = sealwire::options::DEFAULT_MAX_MESSAGE_SIZE)]
    pub(crate) max_size: usize,
}

/// Reads an endpoint that another process can reach.
pub(crate) fn parse_endpoint(text: &str) -> Result<Endpoint, String> {
    match text.parse() {
        Ok(Endpoint::Inproc(_)) => {
            Err("inproc stays within one process: use tcp or ipc".to_owned())
        }
        Ok(endpoint) => Ok(endpoint),
        Err(error) => Err(EndpointError::to_string(&error)),
    }
}

/// Where messages to send come from.
#[derive(Debug, Args)]
#[command(next_help_heading = "What to send")]
pub(crate) struct InputOptions {
    /// A frame of the message; given several times, the frames of one multipart message. Without
    /// --data and --file each line of standard input is a message
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) data: Vec<String>,

    /// A file as a frame, behind those of --data (repeatable)
    #[arg(short, long, value_name = "PATH")]
    pub(crate) file: Vec<PathBuf>,

    /// All of standard input is one message
    #[arg(long, conflicts_with_all = ["data", "file"])]
    pub(crate) raw: bool,

    /// Pause between messages: 500ms, 2s
    #[arg(short, long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) interval: Option<Duration>,
}

impl InputOptions {
    /// Whether what is sent stands on the command line.
    pub(crate) fn is_given(&self) -> bool {
        !self.data.is_empty() || !self.file.is_empty()
    }
}

/// How received messages are printed.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is received")]
pub(crate) struct OutputOptions {
    /// Form of received messages on standard output [default: text, with --json jsonl]
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    output: Option<Format>,
}

impl OutputOptions {
    pub(crate) fn format(&self, report: ReportOptions) -> Format {
        match self.output {
            Some(format) => format,
            None if report.json => Format::Jsonl,
            None => Format::Text,
        }
    }
}
