//! A line for each step, on standard output.

use std::fmt;
use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use sealwire::{ConnectionFailure, Endpoint, Peer, PeerAddress, SocketType};
use serde::Serialize;

use super::diagnosis::Diagnosis;
use super::protection;
use crate::exit::{Code, Failure};
use crate::report::ReportOptions;
use crate::untrusted;

/// Steps that have to succeed, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    Name,
    Route,
    Connection,
    Tls,
    WebSocket,
    Greeting,
    Mechanism,
    Key,
    Authorisation,
    SocketTypes,
    /// A PING, once all is agreed upon.
    Answer,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Step::Name => "name",
            Step::Route => "route",
            Step::Connection => "connection",
            Step::Tls => "TLS",
            Step::WebSocket => "WebSocket",
            Step::Greeting => "greeting",
            Step::Mechanism => "mechanism",
            Step::Key => "key",
            Step::Authorisation => "authorisation",
            Step::SocketTypes => "socket types",
            Step::Answer => "answer",
        })
    }
}

#[derive(Serialize)]
struct Record<'a> {
    event: &'static str,
    step: Step,
    ok: bool,
    /// Since the step before.
    ms: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'static str>,
    message: &'a str,
}

/// Prints the steps as they are done.
pub(super) struct Steps {
    report: ReportOptions,
    /// Whether the mechanism has keys.
    has_keys: bool,
    last: Instant,
}

impl Steps {
    pub(super) fn new(report: ReportOptions, has_keys: bool) -> Self {
        Steps {
            report,
            has_keys,
            last: Instant::now(),
        }
    }

    /// The name has an address, which is tried. A name may have several.
    pub(super) fn trying(
        &mut self,
        endpoint: &Endpoint,
        address: &PeerAddress,
    ) -> Result<(), Failure> {
        self.done(Step::Name, &format!("{endpoint} leads to {address}"))
    }

    pub(super) fn connected(
        &mut self,
        address: &PeerAddress,
        local: Option<&PeerAddress>,
    ) -> Result<(), Failure> {
        let accepted = format!("{address} accepted the connection");
        match local {
            Some(local @ PeerAddress::Tcp(_)) => {
                self.done(Step::Route, &format!("it leaves from {local}"))?;
                self.done(Step::Connection, &accepted)
            }
            _ => self.done(Step::Connection, &accepted),
        }
    }

    /// All that the handshake agreed upon.
    pub(super) fn ready(
        &mut self,
        ours: SocketType,
        peer: &Peer,
        endpoint: &Endpoint,
    ) -> Result<(), Failure> {
        match endpoint {
            Endpoint::Wss { .. } => {
                self.done(Step::Tls, "its certificate is trusted")?;
                self.done(Step::WebSocket, "agreed upon")?;
            }
            Endpoint::Ws { .. } => self.done(Step::WebSocket, "agreed upon")?,
            _ => self.done(Step::Greeting, "the peer speaks ZMTP 3")?,
        }
        self.done(Step::Mechanism, &protection(peer.mechanism()))?;
        if let Some(key) = peer.public_key() {
            self.done(Step::Key, &format!("the peer has {key}"))?;
        }
        self.done(Step::Authorisation, "the peer lets us in")?;
        let theirs = peer.socket_type();
        self.done(Step::SocketTypes, &format!("{ours} here, {theirs} there"))
    }

    /// The step that ended it, and how the command ends.
    pub(super) fn failed(
        &mut self,
        diagnosis: &Diagnosis,
        failure: &ConnectionFailure,
    ) -> Result<Failure, Failure> {
        // The handshake came to this step through those before it, which are told if it was completed.
        for step in [Step::Greeting, Step::Mechanism, Step::Key] {
            let is_passed = step < diagnosis.step && !failure.was_ready();
            if is_passed && (step != Step::Key || self.has_keys) {
                self.done(step, "agreed upon")?;
            }
        }
        let cause = failure.cause();
        let name = Some(cause.name());
        self.print(diagnosis.step, false, name, &cause.to_string())?;
        Ok(Failure::new(diagnosis.code, diagnosis.mend.clone()))
    }

    /// The peer ended the connection as soon as there was one.
    pub(super) fn left(&mut self, peer: &Peer) -> Result<Failure, Failure> {
        self.print(
            Step::Answer,
            false,
            None,
            "the peer closed the connection after the handshake",
        )?;
        let address = peer.address();
        Ok(Failure::new(
            Code::Left,
            format!(
                "{address} agreed and closed the connection at once: it has the peers that it may have, or it is ending; \
                 its log has the reason"
            ),
        ))
    }

    pub(super) fn done(&mut self, step: Step, message: &str) -> Result<(), Failure> {
        self.print(step, true, None, message)
    }

    fn print(
        &mut self,
        step: Step,
        ok: bool,
        cause: Option<&'static str>,
        message: &str,
    ) -> Result<(), Failure> {
        let now = Instant::now();
        let took: Duration = now - std::mem::replace(&mut self.last, now);
        let line = if self.report.json {
            untrusted::json_line(&Record {
                event: "step",
                step,
                ok,
                ms: took.as_millis(),
                cause,
                message,
            })
            .unwrap_or_default()
        } else {
            let outcome = if ok { "ok" } else { "FAILED" };
            untrusted::printable(&format!("{step:<14} {outcome:<6}  {message}")).to_string()
        };
        let mut out = io::stdout().lock();
        writeln!(out, "{line}").map_err(|error| Failure::output(&error))
    }
}
