//! Which events of a socket go to the log, and how often.
//!
//! Peers can make connections fail at any rate, so there is one line a second for each cause.
//! Monitors get all events, and so does the log at level `debug`: connections that are ready or have ended under a target
//! of their own, [`CONNECTIONS`], so that a log can have these without the others. Where there is no log, standard error
//! gets the first failed handshake.

use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use sealwire_zmtp::connection::Warning;

use super::Event;
use super::standard_error::StandardError;
use crate::account::{Excesses, Kind, LogGates};
use crate::failure::FailureCause;
use crate::guard;

/// The target of connections that are ready, and of those that ended as they should.
pub const CONNECTIONS: &str = "sealwire::connections";

/// The log of one socket.
pub(super) struct Log {
    lines: LogGates<Cause>,
    excesses: Arc<Excesses>,
    standard_error: StandardError,
}

/// What lines are counted by. Their number is bounded.
#[derive(PartialEq, Eq, Hash)]
enum Cause {
    Failure(
        Discriminant<FailureCause>,
        Option<Discriminant<sealwire_zmtp::Error>>,
    ),
    Warning(Discriminant<Warning>),
    /// Messages are dropped for peers here, or there for this socket: one line a second for each.
    Drops(Discriminant<Event>),
    /// Events that come once a second at most, or with a call of the application.
    Seldom,
}

impl Cause {
    /// `None` for what is not a warning.
    fn of(event: &Event) -> Option<Self> {
        Some(match event {
            Event::Failed(failure) => {
                let cause = failure.cause();
                let fault = match cause {
                    FailureCause::Protocol(fault) => Some(discriminant(fault)),
                    _ => None,
                };
                Cause::Failure(discriminant(cause), fault)
            }
            Event::Warning { warning, .. } => Cause::Warning(discriminant(warning)),
            Event::DropsBegan { .. } | Event::DropsEnded { .. } | Event::MessagesMissed { .. } => {
                Cause::Drops(discriminant(event))
            }
            Event::AcceptFailed { .. }
            | Event::DatagramsDropped { .. }
            | Event::AnyoneAllowed { .. }
            | Event::NobodyAllowed { .. } => Cause::Seldom,
            _ => return None,
        })
    }
}

impl Log {
    pub(super) fn new(excesses: Arc<Excesses>) -> Self {
        Log {
            lines: LogGates::new(),
            excesses,
            standard_error: StandardError::default(),
        }
    }

    /// Writes a line about the event, as a warning if it is one and the last of its kind is a
    /// second ago.
    pub(super) fn write(&self, event: &Event) {
        self.standard_error.write(event);
        let count = match Cause::of(event) {
            None => None,
            Some(Cause::Seldom) => Some(1),
            Some(cause) => {
                let count = self.lines.pass(cause);
                if count.is_none() {
                    self.excesses.note(Kind::LogLines);
                }
                count
            }
        };
        let cause = match event {
            Event::Failed(failure) => Some(failure.cause().name()),
            _ => None,
        };
        let is_connection = matches!(event, Event::Ready { .. } | Event::Disconnected { .. });
        guard::log(|| match count {
            None if is_connection => tracing::debug!(target: CONNECTIONS, "{event}"),
            None => tracing::debug!(target: "sealwire", cause, "{event}"),
            Some(1) => tracing::warn!(target: "sealwire", cause, "{event}"),
            Some(count) => {
                tracing::warn!(target: "sealwire", cause, "{event} (and {} like it)", count - 1);
            }
        });
    }
}
