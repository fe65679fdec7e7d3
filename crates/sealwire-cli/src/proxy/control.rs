//! `proxy-control`: one command to a proxy that was started with `--control`, and its answer in words.

use std::io::{self, Write as _};
use std::time::Duration;

use clap::{Args, ValueEnum};
use sealwire::blocking::Socket;
use sealwire::{Endpoint, Error, Message, SocketType};
use serde::Serialize;

use crate::duration;
use crate::exit::{Code, Failure};
use crate::report::ReportOptions;
use crate::security_options::{SecurityOptions, warn_of_plain_text};
use crate::sockets::options::parse_endpoint;
use crate::tls_options::TlsOptions;
use crate::untrusted;

/// Largest answer, in bytes: far more than a proxy has to say, and no more than a line of an error may have.
const MAX_ANSWER: usize = 512;

/// Options of proxy-control.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ControlOptions {
    /// Where the proxy takes commands: its --control
    #[arg(value_name = "ENDPOINT", value_parser = parse_endpoint)]
    endpoint: Endpoint,

    #[arg(value_enum)]
    command: Command,

    /// Longest wait for the proxy, and for its answer
    #[arg(short, long, value_name = "TIME", default_value = "5s", value_parser = duration::parse_positive)]
    timeout: Duration,

    #[command(flatten)]
    security: SecurityOptions,

    #[command(flatten)]
    tls: TlsOptions,

    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

/// What a proxy can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Command {
    /// Take no more messages; those taken still go out
    Pause,
    /// Go on
    Resume,
    /// End
    Terminate,
    /// Say how many messages and bytes passed
    Statistics,
}

const EXAMPLES: &str = "\
Examples:
  sealwire proxy-control ipc:///run/control.sock statistics
  sealwire proxy-control tcp://proxy.example:5560 pause --server-key proxy.pub --secret-key-file operator.key

A proxy of libzmq 4.3.4 and older (zmq_proxy_steerable) on a machine of the same byte order understands it too.";

impl Command {
    const fn on_the_wire(self) -> &'static str {
        match self {
            Command::Pause => "PAUSE",
            Command::Resume => "RESUME",
            Command::Terminate => "TERMINATE",
            Command::Statistics => "STATISTICS",
        }
    }

    const fn done(self) -> &'static str {
        match self {
            Command::Pause => "paused",
            Command::Resume => "resumed",
            Command::Terminate => "terminated",
            Command::Statistics => "",
        }
    }
}

/// What passed on both sides of a proxy.
#[derive(Debug, PartialEq, Serialize)]
struct Statistics {
    frontend: SideStatistics,
    backend: SideStatistics,
}

#[derive(Debug, PartialEq, Serialize)]
struct SideStatistics {
    messages_received: u64,
    bytes_received: u64,
    messages_sent: u64,
    bytes_sent: u64,
}

#[derive(Serialize)]
struct Done {
    event: &'static str,
    message: &'static str,
}

pub(crate) fn run(options: &ControlOptions) -> Result<(), Failure> {
    let endpoints = std::slice::from_ref(&options.endpoint);
    let security = options.security.choice().security(endpoints)?;
    warn_of_plain_text(options.report, &security, endpoints);
    let builder = Socket::builder(SocketType::Req)
        .security(security)
        .max_message_size(MAX_ANSWER)
        .send_timeout(options.timeout)
        .receive_timeout(options.timeout)
        .linger(options.timeout);
    let socket = options
        .tls
        .apply(builder, &[], endpoints)?
        .build_blocking()?;
    socket.connect(options.endpoint.clone())?;
    // A request that waits for a proxy to come could reach it at any time.
    socket.wait_connected_timeout(1, options.timeout)?;
    socket
        .send(options.command.on_the_wire())
        .map_err(Error::from)?;
    let answer = socket.recv()?;
    let text = in_words(options, &answer)?;
    let mut out = io::stdout().lock();
    text.lines()
        .try_for_each(|line| writeln!(out, "{}", untrusted::printable(line)))
        .map_err(|error| Failure::output(&error))
}

fn in_words(options: &ControlOptions, answer: &Message) -> Result<String, Failure> {
    let (command, json) = (options.command, options.report.json);
    if command == Command::Statistics
        && let Some(statistics) = parse(answer)
    {
        return Ok(match json {
            true => untrusted::json_line(&statistics).unwrap_or_default(),
            false => statistics.to_string(),
        });
    }
    if command != Command::Statistics && answer.len() == 1 && answer.as_bytes().is_empty() {
        let record = Done {
            event: command.done(),
            message: command.done(),
        };
        return Ok(match json {
            true => untrusted::json_line(&record).unwrap_or_default(),
            false => command.done().to_owned(),
        });
    }
    let said = String::from_utf8_lossy(answer.as_bytes()).into_owned();
    Err(Failure::new(
        Code::Failed,
        format!(
            "{} did not answer as a proxy does, but with {} frames, the first {said:?}: is it the --control of one?",
            options.endpoint,
            answer.len(),
        ),
    ))
}

/// Eight frames of eight bytes, in the machine's byte order.
fn parse(answer: &Message) -> Option<Statistics> {
    let counts: Option<Vec<u64>> = answer
        .frames()
        .iter()
        .map(|frame| Some(u64::from_ne_bytes((**frame).try_into().ok()?)))
        .collect();
    let counts: [u64; 8] = counts?.try_into().ok()?;
    let side = |first: usize| SideStatistics {
        messages_received: counts[first],
        bytes_received: counts[first + 1],
        messages_sent: counts[first + 2],
        bytes_sent: counts[first + 3],
    };
    Some(Statistics {
        frontend: side(0),
        backend: side(4),
    })
}

impl std::fmt::Display for Statistics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let line = |side: &SideStatistics| {
            format!(
                "{} messages ({} bytes) received, {} messages ({} bytes) sent",
                side.messages_received, side.bytes_received, side.messages_sent, side.bytes_sent
            )
        };
        write!(
            f,
            "frontend: {}\nbackend:  {}",
            line(&self.frontend),
            line(&self.backend)
        )
    }
}

#[cfg(test)]
mod tests {
    use sealwire::Frame;

    use super::*;

    fn answer(counts: &[u64]) -> Message {
        let frames = counts
            .iter()
            .map(|count| Frame::copy_from_slice(&count.to_ne_bytes()));
        Message::multipart(frames)
    }

    #[test]
    fn eight_numbers_are_statistics() {
        let statistics = parse(&answer(&[1, 2, 3, 4, 5, 6, 7, 8])).unwrap();
        let numbers = |side: &SideStatistics| {
            [
                side.messages_received,
                side.bytes_received,
                side.messages_sent,
                side.bytes_sent,
            ]
        };
        assert_eq!(numbers(&statistics.frontend), [1, 2, 3, 4]);
        assert_eq!(numbers(&statistics.backend), [5, 6, 7, 8]);
        assert_eq!(parse(&answer(&[1; 7])), None);
        assert_eq!(parse(&answer(&[1; 9])), None);
        assert_eq!(
            parse(&Message::multipart(vec![
                Frame::copy_from_slice(b"seven..");
                8
            ])),
            None
        );
        assert_eq!(parse(&Message::from("ERROR: no")), None);
    }
}
