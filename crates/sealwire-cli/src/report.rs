//! A socket's events on standard error, as text or as JSON lines.
//!
//! Where a socket listens and why connections fail is told in any case, one line a second of each
//! cause; all of it, and the rest, with `-v`.

use std::thread::JoinHandle;
use std::time::Duration;

use clap::Args;
use sealwire::blocking::Socket;
use sealwire::{ConnectionFailure, Event, Mechanism, Monitor};
use serde::Serialize;

use crate::exit::{Failure, eprint_json_quietly, eprintln_quietly};
use crate::interrupt;
use crate::line_quota::{LineQuota, with_left_out};
use crate::service::notify;
use crate::threads;

/// The options about reports of connections.
#[derive(Debug, Default, Clone, Copy, Args)]
#[command(next_help_heading = "Reports")]
pub(crate) struct ReportOptions {
    /// Print all that happens to connections on standard error
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// For scripts: JSON lines on standard error, and on standard output unless --output says
    /// otherwise
    #[arg(long)]
    pub(crate) json: bool,
}

impl ReportOptions {
    /// Prints a remark that is not an event of a connection.
    pub(crate) fn warn(self, message: String) {
        if self.json {
            print_json(&Record {
                event: "warning",
                message,
                ..Record::default()
            });
        } else {
            eprintln_quietly(&format!("warning: {message}"));
        }
    }

    /// Prints that keys, lists and certificates were read again.
    pub(crate) fn renewed(self) {
        let message = "keys, lists and certificates were read again".to_owned();
        if self.json {
            print_json(&Record {
                event: "renewed",
                message,
                ..Record::default()
            });
        } else {
            eprintln_quietly(&message);
        }
    }

    /// Prints where metrics are served.
    pub(crate) fn metrics_at(self, url: &str) {
        let message = format!("metrics at {url}");
        if self.json {
            print_json(&Record {
                event: "metrics",
                endpoint: Some(url.to_owned()),
                message,
                ..Record::default()
            });
        } else {
            eprintln_quietly(&message);
        }
    }
}

/// How long the last events of a stopped command may take to be printed.
const LAST_EVENTS: Duration = Duration::from_secs(1);

/// Prints the events of one socket until it is closed.
pub(crate) struct Reporter {
    thread: JoinHandle<Option<ConnectionFailure>>,
}

impl Reporter {
    /// Begins with the events from now on. `name` tells sockets of one program apart.
    pub(crate) fn watch(
        socket: &Socket,
        options: ReportOptions,
        name: Option<&'static str>,
    ) -> Result<Self, Failure> {
        Self::read(socket.monitor(), options, name)
    }

    /// The same for something that has a socket in it.
    pub(crate) fn read(
        monitor: Monitor,
        options: ReportOptions,
        name: Option<&'static str>,
    ) -> Result<Self, Failure> {
        let report = Report {
            options,
            name,
            told: None,
            lines: LineQuota::default(),
        };
        let thread = threads::spawn(move || report.run(&monitor))?;
        Ok(Reporter { thread })
    }

    /// To be called once the socket is closed: waits until all is printed, and returns the last
    /// failed connection unless another one became ready after it.
    pub(crate) fn finish(self) -> Option<ConnectionFailure> {
        self.thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// The same for a command that was told to stop: it waits a second at most, as nobody may read the lines.
    pub(crate) fn finish_stopped(self) {
        interrupt::for_at_most(LAST_EVENTS, move || drop(self.finish()));
    }
}

struct Report {
    options: ReportOptions,
    name: Option<&'static str>,
    /// The failure that was printed last: attempts that fail alike are told once.
    told: Option<String>,
    /// For everything that peers can cause.
    lines: LineQuota,
}

impl Report {
    fn run(mut self, monitor: &Monitor) -> Option<ConnectionFailure> {
        let mut last_failure = None;
        while let Some(event) = monitor.wait_next() {
            if let Some(left_out) = self.wants(&event) {
                self.print(&event, left_out);
            }
            match event {
                Event::Failed(failure) => last_failure = Some(failure),
                Event::Ready { .. } => {
                    last_failure = None;
                    notify::connected();
                }
                _ => {}
            }
        }
        last_failure
    }

    /// Whether an event is printed, and how many like it were left out before.
    fn wants(&mut self, event: &Event) -> Option<u64> {
        if self.options.verbose {
            return Some(0);
        }
        match event {
            Event::Failed(failure) => {
                // Ports change with each attempt of the same peer.
                let alike = format!("{} {}", failure.endpoint(), failure.cause());
                if self.told.as_ref() == Some(&alike) {
                    return None;
                }
                let left_out = self.lines.pass(failure.cause().name())?;
                self.told = Some(alike);
                Some(left_out)
            }
            Event::Ready { .. } => {
                self.told = None;
                None
            }
            Event::Listening { .. } | Event::NobodyAllowed { .. } => Some(0),
            Event::AcceptFailed { .. } => self.lines.pass("accept_failed"),
            Event::Warning { .. } => self.lines.pass("warning"),
            Event::DropsBegan { .. } => self.lines.pass("drops_began"),
            Event::DropsEnded { .. } => self.lines.pass("drops_ended"),
            Event::MessagesMissed { .. } => self.lines.pass("messages_missed"),
            _ => None,
        }
    }

    fn print(&self, event: &Event, left_out: u64) {
        if self.options.json {
            print_json(&Record {
                socket: self.name,
                left_out: (left_out > 0).then_some(left_out),
                ..Record::from(event)
            });
        } else {
            let name = self
                .name
                .map(|name| format!("{name}: "))
                .unwrap_or_default();
            eprintln_quietly(&with_left_out(format!("{name}{event}"), left_out));
        }
    }
}

fn print_json(record: &Record) {
    eprint_json_quietly(record);
}

/// An event as JSON; what does not apply is left out.
#[derive(Debug, Default, Serialize)]
struct Record {
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    socket: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connection: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    socket_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mechanism: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    was_ready: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_ms: Option<u128>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<u64>,
    message: String,
}

impl From<&Event> for Record {
    fn from(event: &Event) -> Self {
        let name = match event {
            Event::Listening { .. } => "listening",
            Event::Accepted { .. } => "accepted",
            Event::AcceptFailed { .. } => "accept_failed",
            Event::Connecting { .. } => "connecting",
            Event::Connected { .. } => "connected",
            Event::Ready { .. } => "ready",
            Event::Subscribed { .. } => "subscribed",
            Event::DropsBegan { .. } => "drops_began",
            Event::DropsEnded { .. } => "drops_ended",
            Event::MessagesMissed { .. } => "messages_missed",
            Event::Failed(_) => "failed",
            Event::Disconnected { .. } => "disconnected",
            Event::Retrying { .. } => "retrying",
            Event::GaveUp { .. } => "gave_up",
            Event::Warning { .. } => "warning",
            Event::DatagramsDropped { .. } => "datagrams_dropped",
            Event::AnyoneAllowed { .. } => "anyone_allowed",
            Event::NobodyAllowed { .. } => "nobody_allowed",
            Event::Unbound { .. } => "unbound",
            _ => "other",
        };
        let peer = event.peer();
        let record = Record {
            event: name,
            connection: event.connection(),
            endpoint: event.endpoint().map(ToString::to_string),
            address: event.address().map(ToString::to_string),
            socket_type: peer.map(|peer| peer.socket_type().name()),
            mechanism: peer.and_then(|peer| peer.mechanism()).map(Mechanism::name),
            public_key: peer
                .and_then(|peer| peer.public_key())
                .map(|key| key.to_string()),
            user_id: peer.and_then(|peer| peer.user_id()).map(str::to_owned),
            message: event.to_string(),
            ..Record::default()
        };
        match event {
            Event::Failed(failure) => Record {
                cause: Some(failure.cause().name()),
                was_ready: Some(failure.was_ready()),
                ..record
            },
            Event::DropsEnded { count, .. } | Event::MessagesMissed { count, .. } => Record {
                count: Some(*count),
                ..record
            },
            Event::Retrying { attempt, delay, .. } => Record {
                attempt: Some(*attempt),
                delay_ms: Some(delay.as_millis()),
                ..record
            },
            _ => record,
        }
    }
}
