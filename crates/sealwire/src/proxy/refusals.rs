//! Messages that a side of a proxy refuses.

use crate::account::LogGate;
use crate::error::Error;
use crate::guard;
use crate::socket::blocking::Socket;

/// Those of one direction.
#[derive(Default)]
pub(super) struct Refusals(LogGate);

impl Refusals {
    /// Counts a message that is dropped, and has the log say why.
    pub(super) fn note(&self, socket: &Socket, error: &Error) {
        socket.count_dropped_at_send(1);
        guard::log_seldom(&self.0, |times| {
            tracing::warn!(
                target: "sealwire",
                "the {} side of a proxy did not take {times} messages: {error}",
                socket.socket_type(),
            );
        });
    }
}
