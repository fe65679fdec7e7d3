//! Options that the socket commands share.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use sealwire::limits::MAX_GROUP;
use sealwire::{Endpoint, EndpointError, SocketType};

use super::tuning::TuningOptions;
use crate::duration;
use crate::exit::Failure;
use crate::ipc_options::IpcOptions;
use crate::output::Format;
use crate::report::ReportOptions;
use crate::security_options::SecurityOptions;
use crate::service::ServiceOptions;
use crate::service::doors::ListeningOptions;
use crate::service::renewal::RenewalOptions;
use crate::tls_options::TlsOptions;
use crate::web_options::WebOptions;

/// Where and how a socket connects; every socket command has these.
#[derive(Debug, Args)]
pub(crate) struct ConnectionOptions {
    #[command(flatten)]
    pub(crate) endpoints: EndpointOptions,

    #[command(flatten)]
    pub(crate) tuning: TuningOptions,

    #[command(flatten)]
    pub(crate) security: SecurityOptions,

    #[command(flatten)]
    pub(crate) tls: TlsOptions,

    #[command(flatten)]
    pub(crate) web: WebOptions,

    #[command(flatten)]
    pub(crate) ipc: IpcOptions,

    #[command(flatten)]
    pub(crate) listening: ListeningOptions,

    #[command(flatten)]
    pub(crate) service: ServiceOptions,

    #[command(flatten)]
    pub(crate) renewal: RenewalOptions,

    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

impl ConnectionOptions {
    /// Refuses what a socket of this type cannot do, before anything is opened.
    pub(super) fn check(&self, socket_type: SocketType) -> Result<(), Failure> {
        self.endpoints.check(socket_type)?;
        self.tuning.check()?;
        if self.tuning.has_heartbeat() && self.endpoints.are_all_udp() {
            return Err(Failure::usage(
                "nobody answers over udp: --heartbeat is for other endpoints",
            ));
        }
        Ok(())
    }
}

/// At least one endpoint.
#[derive(Debug, Args)]
#[command(next_help_heading = "Connections")]
pub(crate) struct EndpointOptions {
    /// Listen on an endpoint (repeatable): tcp://HOST:PORT, tcp://*:PORT, ipc://PATH, ipc://@NAME,
    /// ws://HOST:PORT/PATH, wss://HOST:PORT/PATH, and for dish and dgram udp://HOST:PORT. Port 0 takes a free one; "listening on ENDPOINT" on standard error says which
    #[cfg_attr(unix, arg(required_unless_present_any = ["connect", "listen_fds"]))]
    #[cfg_attr(not(unix), arg(required_unless_present = "connect"))]
    #[arg(short, long, value_name = "ENDPOINT")]
    pub(crate) bind: Vec<Endpoint>,

    /// Connect to an endpoint (repeatable), again and again until somebody is there
    #[arg(short, long, value_name = "ENDPOINT", value_parser = parse_endpoint)]
    pub(crate) connect: Vec<Endpoint>,

    /// Longest wait for a peer, for each message, for room to send, and without --linger at the end for
    /// everything to be sent: 500ms, 2s, 1m [default: for ever]
    #[arg(short, long, value_name = "TIME", value_parser = duration::parse_positive)]
    pub(crate) timeout: Option<Duration>,

    /// What ROUTER peers are to call this socket (a name, not a proof)
    #[arg(long, value_name = "NAME")]
    pub(crate) routing_id: Option<String>,

    /// Largest message accepted, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = sealwire::options::DEFAULT_MAX_MESSAGE_SIZE)]
    pub(crate) max_size: usize,
}

impl EndpointOptions {
    fn check(&self, socket_type: SocketType) -> Result<(), Failure> {
        let bound = self.bind.iter().map(|endpoint| (endpoint, true));
        let connected = self.connect.iter().map(|endpoint| (endpoint, false));
        for (endpoint, is_bound) in bound.chain(connected) {
            match (endpoint, socket_type, is_bound) {
                (Endpoint::Udp { .. }, SocketType::Dish | SocketType::Dgram, true)
                | (Endpoint::Udp { .. }, SocketType::Radio, false) => {}
                (Endpoint::Udp { .. }, ..) => {
                    return Err(Failure::usage(format!(
                        "over udp a radio connects, and dish and dgram bind: not so at {endpoint}"
                    )));
                }
                (_, SocketType::Dgram, _) => {
                    return Err(Failure::usage(format!(
                        "dgram has plain datagrams and cannot use {endpoint}: bind it to udp://HOST:PORT"
                    )));
                }
                (Endpoint::Ws { .. } | Endpoint::Wss { .. }, SocketType::Stream, _) => {
                    return Err(Failure::usage(format!(
                        "stream has plain TCP connections and cannot use {endpoint}"
                    )));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether no peer can be heard of.
    pub(super) fn are_all_udp(&self) -> bool {
        let mut all = self.bind.iter().chain(&self.connect).peekable();
        all.peek().is_some() && all.all(|endpoint| matches!(endpoint, Endpoint::Udp { .. }))
    }
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

    /// Refuses several frames for a type whose messages have one.
    pub(super) fn check_single_frame(&self, socket_type: SocketType) -> Result<(), Failure> {
        match self.data.len() + self.file.len() {
            0 | 1 => Ok(()),
            frames => Err(Failure::usage(format!(
                "a message of a {socket_type} socket has one frame, and --data and --file give {frames}"
            ))),
        }
    }
}

/// Reads the name of a group, which RADIO and DISH have for topics.
pub(super) fn parse_group(name: &str) -> Result<String, String> {
    match name.len() {
        1..=MAX_GROUP => Ok(name.to_owned()),
        size => Err(format!(
            "the name of a group has 1 to {MAX_GROUP} bytes, not {size}"
        )),
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
