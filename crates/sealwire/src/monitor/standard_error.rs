//! The first failed handshake of a socket, on standard error, where the process has no log.
//!
//! A handshake that fails, for want of the right key for example, fails no call. A program that neither
//! has a log nor reads events would wait for ever, and nobody would know why.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tracing::dispatcher;

use super::Event;
use crate::limits::MAX_SOCKETS_ON_STANDARD_ERROR;
use crate::standard_error::print;
use crate::text::printable;

/// What one socket has to say there.
#[derive(Default)]
pub(super) struct StandardError {
    told: AtomicBool,
}

impl StandardError {
    /// Writes a line if this is the first failed handshake and there is no log. Never waits.
    pub(super) fn write(&self, event: &Event) {
        // `tracing` asks the same before it passes a line to the crate `log`, in macros that others compile.
        if is_failed_handshake(event) && !dispatcher::has_been_set() && self.is_first() {
            drop(print(line(event)));
        }
    }

    fn is_first(&self) -> bool {
        /// Sockets of this process that had their line.
        static SOCKETS: AtomicUsize = AtomicUsize::new(0);
        !self.told.swap(true, Ordering::Relaxed)
            && SOCKETS.fetch_add(1, Ordering::Relaxed) < MAX_SOCKETS_ON_STANDARD_ERROR
    }
}

fn is_failed_handshake(event: &Event) -> bool {
    matches!(event, Event::Failed(failure) if failure.is_handshake_failure())
}

fn line(event: &Event) -> String {
    format!(
        "sealwire: {} (told once for a socket, {MAX_SOCKETS_ON_STANDARD_ERROR} sockets at most; \
         set a log to hear more: a subscriber of `tracing`, sealwire_log in C, SEALWIRE_LOG=info with libzmq's \
         functions)\n",
        printable(&event.to_string())
    )
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use super::*;
    use crate::failure::{ConnectionFailure, FailureCause};
    use crate::peer::Ends;

    fn failed(cause: FailureCause) -> Event {
        Event::Failed(ConnectionFailure {
            connection: None,
            ends: Arc::new(Ends::within_the_process("anywhere", false)),
            peer: None,
            cause,
        })
    }

    #[test]
    fn what_others_chose_commands_no_terminal() {
        let line = line(&failed(FailureCause::RefusedByZap {
            status: 400,
            text: "\u{1b}[2Jno\nyes\u{202e}".into(),
            fault: None,
        }));
        let text = line.strip_suffix('\n').unwrap();
        assert_eq!(printable(text), text);
        assert!(
            text.contains(r"400 \u{1b}[2Jno\nyes\u{202e} (told once"),
            "{text}"
        );
    }

    #[test]
    fn a_peer_that_is_not_there_yet_is_no_failed_handshake() {
        let broken = || Arc::new(io::Error::other("nobody listens"));
        for cause in [
            FailureCause::Connect(broken()),
            FailureCause::Resolve(broken()),
            FailureCause::Transport(broken()),
        ] {
            assert!(!is_failed_handshake(&failed(cause)));
        }
        assert!(is_failed_handshake(&failed(FailureCause::Rejected("no"))));
    }
}
