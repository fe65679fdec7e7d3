//! How long a wait may last, and why it ended early.

#[cfg(unix)]
use std::sync::Arc;
use std::time::Instant;
#[cfg(unix)]
use std::{fmt, io};

/// How long a thread waits.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Until<'a> {
    /// For ever where there is none.
    pub(crate) deadline: Option<Instant>,
    /// Whether signal handlers end it before.
    pub(crate) interrupt: Option<&'a Interrupt>,
}

/// Why a wait has ended although it was not done.
#[derive(Debug)]
pub(crate) enum Unfinished {
    /// The deadline, or this thread must not wait.
    TimedOut,
    /// A signal handler ran, and the wait was to end for that.
    #[cfg(unix)]
    Interrupted,
    /// The system has no descriptor for a sleep that a handler can end.
    #[cfg(unix)]
    Refused(io::Error),
}

pub(super) fn or_timed_out<T>(done: Option<T>) -> Result<T, Unfinished> {
    done.ok_or(Unfinished::TimedOut)
}

/// What the thread does where an attempt fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Attempts it again at once.
    Attempt,
    /// Sleeps until a signal: nothing may be left undone that this waits for.
    Sleep,
}

/// When a wait of a socket's ends although nothing has come.
#[cfg(unix)]
#[derive(Clone)]
pub(crate) enum Interrupt {
    /// When a signal handler has run on the thread while it slept.
    AnyHandler,
    /// When this holds: it is asked before each sleep, each second, and after each handler.
    When(Arc<dyn Fn() -> bool + Send + Sync>),
}

#[cfg(unix)]
impl Interrupt {
    /// Whether both ask the same.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Interrupt::AnyHandler, Interrupt::AnyHandler) => true,
            (Interrupt::When(ours), Interrupt::When(theirs)) => Arc::ptr_eq(ours, theirs),
            _ => false,
        }
    }

    pub(super) fn is_due(&self, handler_ran: bool) -> bool {
        match self {
            Interrupt::AnyHandler => handler_ran,
            Interrupt::When(condition) => condition(),
        }
    }
}

#[cfg(unix)]
impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Interrupt::AnyHandler => "AnyHandler",
            Interrupt::When(_) => "When(..)",
        })
    }
}

/// There are no signal handlers.
#[cfg(not(unix))]
#[derive(Debug, Clone)]
pub(crate) enum Interrupt {}

#[cfg(not(unix))]
impl Interrupt {
    /// There are none.
    pub(crate) fn is(&self, _other: &Self) -> bool {
        match *self {}
    }
}
