//! Messages that a side of a proxy does not take.

use std::time::{Duration, Instant};

use crate::blocking::Socket;
use crate::error::Error;

/// Peers cause these lines of the log, so there is one in this time at most.
const LOG_INTERVAL: Duration = Duration::from_secs(1);

/// Those of one direction.
#[derive(Default)]
pub(super) struct Refusals {
    /// Since the last line of the log.
    unlogged: u64,
    logged_at: Option<Instant>,
}

impl Refusals {
    /// Counts a message that is dropped, and has the log say why.
    pub(super) fn note(&mut self, socket: &Socket, error: &Error) {
        socket.count_dropped_at_send();
        self.unlogged += 1;
        let now = Instant::now();
        if self.logged_at.is_some_and(|at| now < at + LOG_INTERVAL) {
            return;
        }
        tracing::warn!(
            target: "sealwire",
            "the {} side of a proxy did not take {} messages: {error}",
            socket.socket_type(),
            self.unlogged,
        );
        (self.unlogged, self.logged_at) = (0, Some(now));
    }
}
