//! How a thread waits: it tries, spins for a moment if that has paid lately, and sleeps until a
//! signal or a deadline.

use std::{hint, thread};

use event_listener::{Listener as _, listener};

use super::until::{Next, Unfinished, Until, or_timed_out};
use super::{Signal, Spinning};
use crate::guard;

/// Pauses between two attempts of a spin, each of which takes a lock that others want too.
const PAUSES: u32 = 32;

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
            let pause = |is_far| match is_far {
                false => (0..PAUSES).for_each(|_| hint::spin_loop()),
                // The other end may need this core.
                true => thread::yield_now(),
            };
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
