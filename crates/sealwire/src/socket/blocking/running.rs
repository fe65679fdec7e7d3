//! Futures on a thread that blocks.

use std::future::Future;
use std::time::Instant;

use crate::error::Error;
use crate::guard;
use crate::waiting::{self, Unfinished};

/// Runs any future to its end on this thread: an async call of a socket, a
/// [`Monitor`](crate::Monitor), an RPC client. `None` when the deadline came before. The thread sleeps in
/// between, and a signal handler may end that.
///
/// Calls `interrupted` before each sleep, with `false`, and after each signal handler that ran while the thread
/// slept, with `true`. No sleep lasts longer than a second. Once it returns `true` the future is dropped. So
/// `|handler_ran| handler_ran` ends at any handler, and `|_| false` at none.
///
/// No signal is lost in between: the thread holds signals back from the call with `false` on, and the
/// system lets them in as the thread falls asleep. So what a handler notes before that is seen
/// by that call, and one that runs later ends the sleep. A handler may also run on another thread: what it notes is
/// seen by the next call, within a second. Without `ppoll` (macOS, NetBSD, OpenBSD) a signal that comes in just that
/// moment ends the next sleep instead. `interrupted` should be short, and threads that it starts would take no
/// signals.
///
/// Calls inside of each other are fine. A waiting call holds a descriptor (two where there is no
/// `eventfd`), which its thread keeps for the next one.
///
/// # Errors
///
/// [`Error::Interrupted`]; [`Error::System`] when the process has no descriptors left;
/// [`Error::WouldBlock`] where this thread must not wait, as it runs the owner of a payload while a connection
/// is driven.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use std::time::{Duration, Instant};
///
/// use sealwire::{Error, Socket, SocketType, blocking::block_on};
///
/// // Set by a signal handler.
/// static STOP: AtomicBool = AtomicBool::new(false);
///
/// let pull = Socket::new(SocketType::Pull)?;
/// let deadline = Instant::now() + Duration::from_millis(10);
/// let received = block_on(pull.recv(), Some(deadline), |_| STOP.load(Ordering::Relaxed))?;
/// assert!(received.is_none(), "nobody sends");
///
/// STOP.store(true, Ordering::Relaxed);
/// let stopped = block_on(pull.recv(), None, |_| STOP.load(Ordering::Relaxed));
/// assert!(matches!(stopped, Err(Error::Interrupted)));
/// # Ok::<(), Error>(())
/// ```
pub fn block_on<F: Future>(
    future: F,
    deadline: Option<Instant>,
    interrupted: impl FnMut(bool) -> bool,
) -> Result<Option<F::Output>, Error> {
    // A thread that must not wait polls once.
    let must_not_wait = guard::must_not_wait();
    let deadline = match must_not_wait {
        true => Some(Instant::now()),
        false => deadline,
    };
    match waiting::block_on(future, None, deadline, interrupted) {
        Ok(output) => Ok(Some(output)),
        Err(Unfinished::TimedOut) if must_not_wait => Err(Error::WouldBlock),
        Err(Unfinished::TimedOut) => Ok(None),
        Err(Unfinished::Interrupted) => Err(Error::Interrupted),
        Err(Unfinished::Refused(error)) => Err(Error::System(error)),
    }
}
