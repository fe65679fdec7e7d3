//! How a thread waits: it attempts what it wants, spins for a moment where that has paid lately, and
//! sleeps until a signal, up to a deadline.

use std::hint;
use std::time::Instant;

use event_listener::{Listener as _, listener};

use super::{Signal, Spinning};
use crate::guard;

/// Pauses between two attempts of a spin, each of which takes a lock that others want too.
const PAUSES: u32 = 32;

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
    /// `None` when it was not done by the deadline, or where this thread must not wait.
    ///
    /// # Errors
    ///
    /// Those of `attempt`, which end the wait.
    pub(crate) fn wait<T, E>(
        &self,
        spinning: Option<&Spinning>,
        deadline: Option<Instant>,
        mut attempt: impl FnMut(Next) -> Result<Option<T>, E>,
    ) -> Result<Option<T>, E> {
        if guard::must_not_wait() {
            return attempt(Next::Attempt);
        }
        if let Some(spinning) = spinning {
            let pause = || (0..PAUSES).for_each(|_| hint::spin_loop());
            let spun = spinning.spin(deadline, pause, || attempt(Next::Attempt).transpose());
            if let Some(done) = spun {
                return done.map(Some);
            }
        }
        loop {
            // Listening comes before the attempt that decides, or a signal could slip through. On the
            // stack: a thread that waits often allocates nothing for it.
            listener!(self.threads => listener);
            if let Some(done) = attempt(Next::Sleep)? {
                return Ok(Some(done));
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
                return attempt(Next::Attempt);
            }
        }
    }
}
