//! Signals of the system: which threads run handlers, and when.
//!
//! The threads of this library block signals: a handler that ran there would end no wait of the
//! program. A crate above this one starts its threads in [`held_back`] too.
//!
//! ```
//! use sealwire::signals::held_back;
//!
//! let thread = held_back(|| std::thread::spawn(|| "runs no handler"));
//! assert_eq!(thread.join().unwrap(), "runs no handler");
//! ```

#[cfg(unix)]
use unix::Held;
#[cfg(unix)]
pub(crate) use unix::poll;

/// Runs it while no signal reaches this thread, nor the threads that it starts, for good. Those that a
/// fault of the thread itself raises (`SIGSEGV` and its like), `SIGABRT` and `SIGPROF` do. No effect
/// where there are no such signals.
pub fn held_back<R>(action: impl FnOnce() -> R) -> R {
    #[cfg(unix)]
    let _held = Held::hold();
    action()
}

#[cfg(unix)]
mod unix {
    use std::time::{Duration, Instant};

    use nix::errno::Errno;
    use nix::poll::PollFd;
    use nix::sys::signal::{SigSet, SigmaskHow, Signal};

    /// A wait is cut here and goes on, so that no system finds it too long.
    const LONGEST_SLEEP: Duration = Duration::from_secs(86_400);

    /// A sleep that may be interrupted is cut here. A signal to the process that comes while this thread holds
    /// signals back goes to another thread, if one lets it in; its handler wakes nobody here.
    const ASKED_AGAIN: Duration = Duration::from_secs(1);

    /// Raised by a fault of the thread itself, which cannot go on, or wanted at that very place.
    const NEVER_HELD: [Signal; 8] = [
        Signal::SIGSEGV,
        Signal::SIGBUS,
        Signal::SIGILL,
        Signal::SIGFPE,
        Signal::SIGTRAP,
        Signal::SIGSYS,
        Signal::SIGABRT,
        Signal::SIGPROF,
    ];

    /// While it lives no signal reaches this thread, except in [`Held::poll`].
    pub(super) struct Held {
        /// `None` where the system refused: then nothing is held.
        before: Option<SigSet>,
    }

    /// Sleeps until one of them has what it is asked for, or the deadline. `interrupted`, where there is one, is
    /// asked before each sleep, which is a second at most, and after each signal handler, which it is told of, and
    /// may end the sleep. Returns how many have something, 0 at the deadline; `None` where it was interrupted.
    ///
    /// # Errors
    ///
    /// Those of poll(2).
    pub(crate) fn poll(
        polled: &mut [PollFd<'_>],
        deadline: Option<Instant>,
        mut interrupted: Option<&mut dyn FnMut(bool) -> bool>,
    ) -> nix::Result<Option<usize>> {
        loop {
            let (held, longest) = match interrupted {
                Some(_) => (Held::hold(), ASKED_AGAIN),
                None => (Held { before: None }, LONGEST_SLEEP),
            };
            let is_over = |asked: &mut Option<&mut dyn FnMut(bool) -> bool>, handler_ran| {
                asked.as_mut().is_some_and(|asked| asked(handler_ran))
            };
            if is_over(&mut interrupted, false) {
                return Ok(None);
            }
            let left = deadline.map_or(longest, |at| at.saturating_duration_since(Instant::now()));
            let found = held.poll(polled, left.min(longest));
            drop(held);
            match found {
                Ok(0) if deadline.is_none_or(|at| at > Instant::now()) => {}
                Ok(found) => return Ok(Some(found.unsigned_abs() as usize)),
                Err(Errno::EINTR) if is_over(&mut interrupted, true) => return Ok(None),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error),
            }
        }
    }

    impl Held {
        pub(super) fn hold() -> Self {
            let mut held = SigSet::all();
            NEVER_HELD.iter().for_each(|&signal| held.remove(signal));
            Held {
                before: held.thread_swap_mask(SigmaskHow::SIG_BLOCK).ok(),
            }
        }

        /// Lets signals in as it falls asleep, in one step.
        #[cfg(any(
            target_os = "linux",
            target_os = "android",
            target_os = "freebsd",
            target_os = "dragonfly"
        ))]
        fn poll(&self, polled: &mut [PollFd<'_>], left: Duration) -> nix::Result<i32> {
            nix::poll::ppoll(polled, Some(left.into()), self.before)
        }

        /// Lets signals in before it falls asleep: one that comes between is handled and ends nothing.
        #[cfg(not(any(
            target_os = "linux",
            target_os = "android",
            target_os = "freebsd",
            target_os = "dragonfly"
        )))]
        fn poll(&self, polled: &mut [PollFd<'_>], left: Duration) -> nix::Result<i32> {
            use nix::poll::PollTimeout;
            // Rounded up, or the last millisecond would be spent awake.
            let milliseconds = left.as_nanos().div_ceil(1_000_000);
            let left = PollTimeout::try_from(milliseconds).unwrap_or(PollTimeout::MAX);
            self.let_in();
            nix::poll::poll(polled, left)
        }

        fn let_in(&self) {
            if let Some(before) = &self.before {
                // It was a valid mask a moment ago.
                let _ = before.thread_set_mask();
            }
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            self.let_in();
        }
    }
}
