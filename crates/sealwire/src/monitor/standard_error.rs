//! The first failed handshake of a socket, on standard error, where the process has no log.
//!
//! A handshake that fails, for want of the right key for example, fails no call. A program that neither
//! has a log nor reads events would wait for ever, and nobody would know why.
//!
//! Standard error belongs to the program. So a thread of its own writes there: it waits where
//! nobody reads, and a broken pipe raises `SIGPIPE` on it, which it holds back until it ends.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use tracing::dispatcher;

use super::Event;
use crate::limits::MAX_SOCKETS_ON_STANDARD_ERROR;
use crate::signals;
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

/// Where no thread can be started the line is lost.
pub(crate) fn print(line: String) -> io::Result<JoinHandle<()>> {
    signals::held_back(|| {
        thread::Builder::new()
            .name("sealwire-stderr".into())
            .spawn(move || write(line.as_bytes()))
    })
}

/// Waits where nobody reads, and takes no lock, which a child of `fork` would find taken.
#[cfg(unix)]
pub(crate) fn write(mut line: &[u8]) {
    let to = io::stderr();
    if !takes_text(&to) {
        return;
    }
    while let Ok(written @ 1..) = rustix::io::write(&to, line) {
        line = &line[written..];
    }
}

#[cfg(not(unix))]
pub(crate) fn write(line: &[u8]) {
    use io::Write as _;
    let _ = io::stderr().write_all(line);
}

/// Where a program has closed standard error, another descriptor has its number: a connection, for example.
#[cfg(unix)]
fn takes_text(to: &io::Stderr) -> bool {
    use rustix::fs::{FileType, fstat};
    use rustix::net::{AddressFamily, getsockname};

    let kind = fstat(to).map(|found| FileType::from_raw_mode(found.st_mode));
    match kind {
        Ok(FileType::CharacterDevice | FileType::Fifo | FileType::RegularFile) => true,
        // Of a service manager.
        Ok(FileType::Socket) => {
            getsockname(to).is_ok_and(|name| name.address_family() == AddressFamily::UNIX)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
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
