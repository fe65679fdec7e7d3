//! `rpc call`: one call from the shell.

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use sealwire::{Endpoint, Event, FailureCause, Monitor, ProtocolError};
use sealwire_rpc::{CallOptions as Within, Client, Conn, Error, Limits};

use super::{SizeOptions, failed};
use crate::duration;
use crate::exit::{Code, Failure, code_of, eprintln_quietly};
use crate::report::ReportOptions;
use crate::security_options::{SecurityOptions, warn_of_plain_text};
use crate::untrusted;

/// Options of rpc call.
#[derive(Debug, Args)]
pub(crate) struct CallOptions {
    /// The server
    #[arg(short, long, value_name = "ENDPOINT", value_parser = super::parse_endpoint)]
    connect: Endpoint,

    #[command(flatten)]
    security: SecurityOptions,

    /// What to send [default: all of standard input]
    #[arg(short, long, value_name = "TEXT")]
    data: Option<String>,

    /// Send it as a message that nobody answers
    #[arg(long)]
    one_way: bool,

    /// How long to wait for the connection and the answer, or for a one-way message to be read
    #[arg(short, long, value_name = "TIME", default_value = "30s", value_parser = duration::parse_positive)]
    timeout: Duration,

    #[command(flatten)]
    size: SizeOptions,
}

pub(super) fn run(options: &CallOptions) -> Result<(), Failure> {
    let security = options.security.choice().security([&options.connect])?;
    warn_of_plain_text(ReportOptions::default(), &security, [&options.connect]);
    let body = match &options.data {
        Some(data) => data.clone().into_bytes(),
        None => {
            let mut body = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut body);
            read.map_err(|error| {
                Failure::new(Code::Failed, format!("cannot read standard input: {error}"))
            })?;
            body
        }
    };
    let mut limits = Limits::default();
    limits.max_body = options.size.max_size;
    limits.write = options.timeout;
    limits.linger = options.timeout;
    let client = Client::builder(security)
        .limits(limits)
        .dial_limit(options.timeout)
        .handshake_limit(options.timeout)
        .build(options.connect.clone())
        .map_err(|error| failed(&error))?;
    let monitor = client.monitor();
    let mut attempts = Attempts::new(&monitor, options.timeout);
    if options.one_way {
        return send(&client, &body, &mut attempts, &options.connect);
    }
    let client = client.blocking();
    let answer =
        attempts.until_connected(|left| client.request_with(&body, Within::within(left)))?;
    let mut out = std::io::stdout().lock();
    let to_terminal = out.is_terminal();
    untrusted::write_message(&mut out, &answer, to_terminal)
        .and_then(|()| out.flush())
        .map_err(|error| Failure::output(&error))
}

/// Sends a message that nobody answers, and waits until the server has read it.
fn send(
    client: &Client,
    body: &[u8],
    attempts: &mut Attempts<'_>,
    server: &Endpoint,
) -> Result<(), Failure> {
    let blocking = client.blocking();
    attempts.until_connected(|left| blocking.send_timeout(body, left))?;
    // None when it is lost already.
    let connections = client.connections();
    blocking.shutdown(attempts.left());
    if connections.iter().any(Conn::has_read_all) {
        return Ok(());
    }
    let what = format!("the message of {} bytes", body.len());
    let why = if attempts.left().is_zero() {
        format!("{server} did not read {what} within --timeout")
    } else {
        format!("{server} left before it had read {what}")
    };
    Err(Failure::new(Code::Lost, why))
}

/// The first pause between two attempts to connect; each one after it is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Attempts to connect, as many as there is time for.
struct Attempts<'a> {
    monitor: &'a Monitor,
    deadline: Instant,
    pause: Duration,
    /// Why there was no connection the last time.
    failed_attempt: Option<Failure>,
}

impl<'a> Attempts<'a> {
    fn new(monitor: &'a Monitor, limit: Duration) -> Self {
        Attempts {
            monitor,
            deadline: Instant::now() + limit,
            pause: FIRST_PAUSE,
            failed_attempt: None,
        }
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Calls until there is a connection, the server refuses, or time is up. A call that may have been
    /// carried out is not made again.
    fn until_connected<T>(
        &mut self,
        call: impl Fn(Duration) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        loop {
            let error = match call(self.left()) {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let not_connected = matches!(error, Error::Connect(_));
            let timed_out = matches!(
                error,
                Error::DeadlineExceeded {
                    may_have_run: false
                }
            );
            if timed_out && let Some(failed_attempt) = self.failed_attempt.take() {
                // It says more than that time is up.
                return Err(failed_attempt);
            }
            if !not_connected {
                return Err(failed(&error));
            }
            let (code, is_final) = self.why_not_connected();
            let failure = Failure::new(code, error.to_string());
            if is_final || self.left() <= self.pause {
                return Err(failure);
            }
            if self.failed_attempt.replace(failure).is_none() {
                eprintln_quietly(&format!("{error}; trying again until --timeout is over"));
            }
            thread::sleep(self.pause);
            self.pause = (2 * self.pause).min(LONGEST_PAUSE);
        }
    }

    /// The exit code for a call without a connection, and whether another attempt would end the same.
    /// The events of the connections tell a server that refused from one that was not reached.
    fn why_not_connected(&self) -> (Code, bool) {
        let mut why = (Code::TimedOut, false);
        while let Some(event) = self.monitor.try_next() {
            match event {
                // After the handshake the server ends a connection for which it has no place or no use.
                Event::Failed(failure) => {
                    let code = code_of(&failure).unwrap_or(Code::Handshake);
                    why = (code, is_final(failure.cause()));
                }
                Event::Disconnected { .. } => why = (Code::Handshake, false),
                _ => {}
            }
        }
        why
    }
}

/// Whether the server, or our own side, has said no for good.
fn is_final(cause: &FailureCause) -> bool {
    match cause {
        // 300 is a refusal for now.
        FailureCause::Protocol(ProtocolError::PeerRefused { reason, .. }) => reason != "300",
        FailureCause::Protocol(error) => !matches!(
            error,
            ProtocolError::Closed(_) | ProtocolError::HandshakeTimeout { .. }
        ),
        _ => false,
    }
}
