//! What happens to connections, on standard error, as text or as JSON lines, and in [numbers](Numbers).

use std::net::SocketAddr;

use sealwire_tunnel::PublicKey;
use serde::Serialize;

use super::failure::{Failed, hex};
use super::numbers::Numbers;
use crate::exit::{eprint_json_quietly, eprintln_quietly};
use crate::line_quota::{LineQuota, with_left_out};
use crate::report::ReportOptions;

/// Prints events. Where it listens and failures, one a second of each cause, are told in any case, all
/// and the rest with `-v`.
#[derive(Debug)]
pub(super) struct Events {
    /// All that happens is counted too.
    pub(super) numbers: Numbers,
    options: ReportOptions,
    #[cfg(test)]
    is_silent: bool,
    /// The failure that was printed last: those that are alike are told once.
    told: Option<String>,
    lines: LineQuota,
}

/// One event as JSON; what does not apply is left out.
#[derive(Debug, Default, Serialize)]
struct Record<'a> {
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    connection: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    endpoint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<SocketAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sent: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    received: Option<u64>,
    message: String,
}

impl Events {
    pub(super) fn new(options: ReportOptions) -> Self {
        Events {
            numbers: Numbers::default(),
            options,
            #[cfg(test)]
            is_silent: false,
            told: None,
            lines: LineQuota::default(),
        }
    }

    /// Reports nothing, where thousands of connections fail on purpose.
    #[cfg(test)]
    pub(super) fn silent() -> Self {
        Events {
            is_silent: true,
            ..Events::new(ReportOptions {
                verbose: false,
                json: false,
            })
        }
    }

    pub(super) fn listening(&self, endpoint: &str) {
        self.print(&Record {
            event: "listening",
            endpoint: Some(endpoint),
            message: format!("listening on {endpoint}"),
            ..Record::default()
        });
    }

    pub(super) fn warning(&mut self, message: String) {
        if self.told.replace(message.clone()) != Some(message.clone()) {
            self.options.warn(message);
        }
    }

    /// Tells once a second that nobody can be accepted.
    pub(super) fn cannot_accept(&mut self, error: &std::io::Error) {
        #[cfg(test)]
        if self.is_silent {
            return;
        }
        if let Some(left_out) = self.lines.pass("accept_failed") {
            let message = format!("cannot accept a connection: {error}");
            self.options.warn(with_left_out(message, left_out));
        }
    }

    pub(super) fn ready(&mut self, connection: u64, address: SocketAddr, peer: &PublicKey) {
        self.numbers.ready();
        self.told = None;
        if self.options.verbose {
            let key = hex(peer);
            self.print(&Record {
                event: "ready",
                connection: Some(connection),
                address: Some(address),
                message: format!("{address}: connected with {key}"),
                public_key: Some(key),
                ..Record::default()
            });
        }
    }

    pub(super) fn ended(&self, connection: u64, address: SocketAddr, (sent, received): (u64, u64)) {
        self.numbers.ended();
        if self.options.verbose {
            self.print(&Record {
                event: "disconnected",
                connection: Some(connection),
                address: Some(address),
                sent: Some(sent),
                received: Some(received),
                message: format!("{address}: ended: {sent} bytes sent, {received} received"),
                ..Record::default()
            });
        }
    }

    pub(super) fn failed(
        &mut self,
        connection: u64,
        address: SocketAddr,
        peer: Option<&PublicKey>,
        failed: &Failed,
    ) {
        self.numbers.failed(failed.cause());
        // Ports change with each attempt of the same peer.
        let alike = format!("{} {failed}", address.ip());
        let is_news = !failed.is_ordinary() && self.told.as_ref() != Some(&alike);
        let due = match (self.options.verbose, is_news) {
            (true, _) => Some(0),
            // Anybody can cause as many of a kind as they like.
            (false, true) => self.lines.pass(failed.cause()),
            (false, false) => None,
        };
        if let Some(left_out) = due {
            self.told = Some(alike);
            self.print(&Record {
                event: "failed",
                connection: Some(connection),
                address: Some(address),
                public_key: peer.map(hex),
                cause: Some(failed.cause()),
                message: with_left_out(format!("{address}: {failed}"), left_out),
                ..Record::default()
            });
        }
    }

    fn print(&self, record: &Record<'_>) {
        #[cfg(test)]
        if self.is_silent {
            return;
        }
        if self.options.json {
            eprint_json_quietly(record);
        } else {
            eprintln_quietly(&record.message);
        }
    }
}
