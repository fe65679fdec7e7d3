//! How a thread waits: it attempts what it wants, spins for a moment where that has paid lately, and
//! sleeps until a signal, up to a deadline.

use std::hint;
#[cfg(unix)]
use std::io;
use std::time::Instant;

use event_listener::{Listener as _, listener};

use super::{Interrupt, Signal, Spinning};
use crate::guard;

/// Pauses between two attempts of a spin, each of which takes a lock that others want too.
const PAUSES: u32 = 32;

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

impl Signal {
    /// Attempts it until it is done, on each signal and, with `spinning`, for a moment before it sleeps.
    /// The inner error says why it was not done.
    ///
    /// # Errors
    ///
    /// Those of `attempt`, which end the wait.
    pub(crate) fn wait<T, E>(
        &self,
        spinning: Option<&Spinning>,
        until: Until<'_>,
        mut attempt: impl FnMut(Next) -> Result<Option<T>, E>,
    ) -> Result<Result<T, Unfinished>, E> {
        let deadline = until.deadline;
        if guard::must_not_wait() {
            return attempt(Next::Attempt).map(or_timed_out);
        }
        if let Some(spinning) = spinning {
            let pause = || (0..PAUSES).for_each(|_| hint::spin_loop());
            let spun = spinning.spin(deadline, pause, || attempt(Next::Attempt).transpose());
            if let Some(done) = spun {
                return done.map(Ok);
            }
        }
        #[cfg(unix)]
        if let Some(interrupt) = until.interrupt {
            return self.wait_interruptibly(spinning, deadline, interrupt, &mut attempt);
        }
        loop {
            // Listening comes before the attempt that decides, or a signal could slip through. On the
            // stack: a thread that waits often allocates nothing for it.
            listener!(self.threads => listener);
            if let Some(done) = attempt(Next::Sleep)? {
                return Ok(Ok(done));
            }
            let sleep = || match deadline {
                None => {
                    listener.wait();
                    true
                }
                Some(deadline) => listener.wait_deadline(deadline).is_some(),
            };
            let woken = match spinning {
                Some(spinning) => spinning.sleep(sleep),
                None => sleep(),
            };
            if !woken {
                return attempt(Next::Attempt).map(or_timed_out);
            }
        }
    }
}
