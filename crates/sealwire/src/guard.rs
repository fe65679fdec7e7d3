//! Runs foreign code on threads and in calls of this crate, and contains its panics.
//!
//! | what | where it runs | what a panic does |
//! |---|---|---|
//! | [`Provider`](crate::Provider) primitives, payloads' owners (`Bytes::from_owner`) as they are dropped | while a connection is driven | ends that connection: `FailureCause::Internal` |
//! | authenticators and ZAP handlers | threads for decisions, the I/O thread | refuses that client (`auth`) |
//! | the same and providers, as they are dropped | the I/O thread and threads for decisions, where they let go of a socket, of a question about a client or of a connection | nothing |
//! | wakers of executors | the thread that tells of a change | that task is not woken |
//! | subscribers of `tracing` | the thread that logs | that line is lost |
//!
//! None of it runs under a socket's lock. Patterns borrow the messages that they send, and give back
//! or discard the others ([`Pattern`](crate::pattern::Pattern)); these are dropped once the lock is
//! released. Wakers and subscribers are called without any lock of this crate, primitives under the
//! lock of the connection that is driven.
//!
//! A payload's owner is dropped under that lock too when its bytes were sealed or written: to carry
//! each payload out would cost every large message a move into a list and out of it. Instead a thread
//! that holds such a lock never waits: calls that would wait fail there with `WouldBlock`
//! ([`must_not_wait`]). So a destructor may call any socket.
//!
//! An owner that panics while another panic unwinds through payloads of the same batch ends the process, as
//! in all of Rust: destructors that may panic ask [`std::thread::panicking`] first.

use std::cell::Cell;
use std::sync::LazyLock;

use crate::account::{LogGate, LogGates};
use crate::panics::{self, Panic};

thread_local! {
    static IS_IO_THREAD: Cell<bool> = const { Cell::new(false) };
    static DRIVES_CONNECTION: Cell<bool> = const { Cell::new(false) };
}

/// Notes that this thread does the I/O of a context.
pub(crate) fn mark_io_thread() {
    IS_IO_THREAD.set(true);
}

/// Runs what holds the lock of a connection, on a thread of the application.
#[inline]
pub(crate) fn driving<R>(action: impl FnOnce() -> R) -> R {
    struct Driving(bool);
    impl Drop for Driving {
        fn drop(&mut self) {
            DRIVES_CONNECTION.set(self.0);
        }
    }
    let _driving = Driving(DRIVES_CONNECTION.replace(true));
    action()
}

/// Whether this thread does the I/O of a context or holds the lock of a connection: it must wait for
/// neither. What calls a socket then is foreign code, run by the thread.
pub(crate) fn must_not_wait() -> bool {
    IS_IO_THREAD.get() || DRIVES_CONNECTION.get()
}

/// Runs it. `None` when it panicked, which is logged; what it left half done must not be used.
pub(crate) fn contain<R>(what: &'static str, action: impl FnOnce() -> R) -> Option<R> {
    panics::contain(action)
        .map_err(|panic| report(what, &panic))
        .ok()
}

/// The same where the caller logs more about it.
pub(crate) fn contain_unlogged<R>(action: impl FnOnce() -> R) -> Option<R> {
    panics::contain(action).ok()
}

/// Lets subscribers of `tracing` hear of something.
pub(crate) fn log(emit: impl FnOnce()) {
    let _ = contain_unlogged(emit);
}

/// The same for what peers can repeat: once a second for each gate, with how often it happened.
pub(crate) fn log_seldom(gate: &LogGate, emit: impl FnOnce(u64)) {
    if let Some(times) = gate.pass() {
        log(|| emit(times));
    }
}

#[cold]
fn report(what: &'static str, panic: &Panic) {
    let text = panic.text();
    if let Some(times) = LINES.pass(what) {
        log(|| {
            tracing::error!(target: "sealwire", times, "panic while {what}: {text}");
        });
    }
}

/// For lines about what panics here: there are as many causes as calls in this crate.
static LINES: LazyLock<LogGates<&str>> = LazyLock::new(LogGates::new);

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// Panics again as it is dropped.
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("again");
        }
    }

    #[test]
    fn panics_end_here_whatever_is_thrown() {
        assert_eq!(contain("a test", || 7), Some(7));
        assert_eq!(contain("a test", || panic!("text")), None::<()>);
        assert_eq!(
            contain("a test", || std::panic::panic_any(Bomb)),
            None::<()>
        );
        log(|| panic!("a subscriber"));
    }

    #[test]
    fn a_flood_of_panics_is_one_line_a_second() {
        let began = Instant::now();
        let (mut lines, mut told) = (0, 0);
        for _ in 0..1_000 {
            if let Some(times) = LINES.pass("a flood") {
                lines += 1;
                told += times;
            }
        }
        assert!((1..=1 + began.elapsed().as_secs()).contains(&lines));
        assert!((lines..=1_000).contains(&told));
        // Another cause has lines of its own.
        assert!(LINES.pass("a drop").is_some());
    }
}
