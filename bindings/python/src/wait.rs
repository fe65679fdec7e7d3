//! Blocking: a future is driven on the calling thread by [`sealwire::blocking::block_on`], with the GIL
//! released. Python runs signal handlers between two instructions of the main thread, so that thread
//! comes back for them before each sleep and after each signal.

use std::future::Future;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::sys::signal::{SigSet, SigmaskHow};
use pyo3::prelude::*;

/// A descriptor that becomes readable when a future should be looked at again.
pub(crate) struct Wakeup {
    write: UnixStream,
    read: UnixStream,
    /// A byte is in it, or about to be.
    notified: AtomicBool,
}

impl Wakeup {
    pub(crate) fn new() -> io::Result<Self> {
        let (write, read) = UnixStream::pair()?;
        write.set_nonblocking(true)?;
        read.set_nonblocking(true)?;
        Ok(Wakeup {
            write,
            read,
            notified: AtomicBool::new(false),
        })
    }

    pub(crate) fn notify(&self) {
        if !self.notified.swap(true, Ordering::SeqCst) {
            // It can be full only of such bytes, and one is enough.
            while let Err(error) = (&self.write).write(&[1])
                && error.kind() == ErrorKind::Interrupted
            {}
        }
    }

    /// Takes out what is in it. To be called before looking.
    pub(crate) fn clear(&self) {
        if !self.notified.load(Ordering::SeqCst) {
            return;
        }
        let mut bytes = [0; 8];
        loop {
            match (&self.read).read(&mut bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The byte is still about to be: it stays announced, or nobody would take it out.
                Err(_) => return,
                Ok(_) => break,
            }
        }
        self.notified.store(false, Ordering::SeqCst);
    }
}

impl AsFd for Wakeup {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.read.as_fd()
    }
}

/// For descriptors that Python names: while it lives no signal reaches this thread, except in
/// [`Held::sleep`].
struct Held {
    before: Option<SigSet>,
}

impl Held {
    fn hold() -> Self {
        let before = is_main_thread()
            .then(|| SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK))
            .and_then(Result::ok);
        Held { before }
    }

    /// Sleeps until one of them is readable, a signal comes, or the time is over.
    fn sleep(&self, polled: &mut [PollFd<'_>], deadline: Option<Instant>) -> Slept {
        let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
        match self.poll(polled, left) {
            Err(Errno::EINTR) => Slept::Interrupted,
            // Whatever is readable: who is woken all the time has an end too.
            _ if deadline.is_some_and(|at| at <= Instant::now()) => Slept::TimedOut,
            // Errors of a descriptor show when it is used; a wait of more than a day goes on.
            Ok(_) | Err(_) => Slept::Woken,
        }
    }

    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    fn poll(&self, polled: &mut [PollFd<'_>], left: Option<Duration>) -> nix::Result<i32> {
        let left = left.map(|left| left.min(Duration::from_secs(86_400)).into());
        nix::poll::ppoll(polled, left, self.before)
    }

    /// Without `ppoll` a signal that comes between the look and the sleep ends the next sleep.
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
    fn poll(&self, polled: &mut [PollFd<'_>], left: Option<Duration>) -> nix::Result<i32> {
        use nix::poll::PollTimeout;
        let left = left.map_or(PollTimeout::NONE, |left| {
            // Rounded up, or the last millisecond would be spent awake.
            let milliseconds = left.as_millis() + u128::from(left.subsec_nanos() % 1_000_000 != 0);
            PollTimeout::try_from(milliseconds).unwrap_or(PollTimeout::MAX)
        });
        nix::poll::poll(polled, left)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // It was a valid mask a moment ago.
            let _ = before.thread_set_mask();
        }
    }
}

enum Slept {
    Woken,
    Interrupted,
    TimedOut,
}

/// Python handles signals on this thread and no other.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_main_thread() -> bool {
    nix::unistd::gettid() == nix::unistd::getpid()
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn is_main_thread() -> bool {
    false
}

/// So much later, or never when that is beyond all clocks.
pub(crate) fn deadline(limit: Option<Duration>) -> Option<Instant> {
    limit.and_then(|limit| Instant::now().checked_add(limit))
}

/// Runs a future to its end on this thread; `None` when the time is over before.
///
/// # Errors
///
/// What a signal handler raised, `KeyboardInterrupt` for one: then the future is dropped.
pub(crate) fn block_on<F>(
    py: Python<'_>,
    future: F,
    limit: Option<Duration>,
) -> PyResult<Option<F::Output>>
where
    F: Future + Send,
    F::Output: Send,
{
    let deadline = deadline(limit);
    let mut raised = None;
    let ended = py.detach(|| {
        sealwire::blocking::block_on(future, deadline, |_| {
            raised = is_main_thread()
                .then(|| Python::attach(|py| py.check_signals().err()))
                .flatten();
            raised.is_some()
        })
    });
    match raised {
        Some(raised) => Err(raised),
        None => ended.map_err(|error| crate::error::of_socket(py, error)),
    }
}

/// Sleeps until one of the descriptors has what it is asked for (`POLLIN`, `POLLOUT` of the
/// system), a signal was handled, or `timeout` milliseconds are over (negative: no limit).
/// Gives what `poll` gives: the descriptors with something, each with its events.
#[pyfunction]
pub(crate) fn poll_descriptors(
    py: Python<'_>,
    descriptors: Vec<(RawFd, i16)>,
    timeout_ms: f64,
) -> PyResult<Vec<(RawFd, i16)>> {
    let deadline = deadline(milliseconds(timeout_ms));
    loop {
        let held = Held::hold();
        py.check_signals()?;
        let ended = py.detach(|| {
            let mut polled = Vec::with_capacity(descriptors.len());
            for (descriptor, events) in &descriptors {
                let descriptor = crate::buffer::borrow_descriptor(*descriptor)?;
                polled.push(PollFd::new(
                    descriptor,
                    PollFlags::from_bits_truncate(*events),
                ));
            }
            Ok::<_, io::Error>(match held.sleep(&mut polled, deadline) {
                Slept::Interrupted => None,
                Slept::Woken | Slept::TimedOut => Some(
                    polled
                        .iter()
                        .zip(&descriptors)
                        .filter_map(|(polled, (descriptor, _))| {
                            let events = polled.revents()?.bits();
                            (events != 0).then_some((*descriptor, events))
                        })
                        .collect(),
                ),
            })
        })?;
        drop(held);
        if let Some(ended) = ended {
            return Ok(ended);
        }
    }
}

/// A time limit as pyzmq writes it: milliseconds, negative for none.
pub(crate) fn milliseconds(value: f64) -> Option<Duration> {
    if value < 0.0 {
        None
    } else {
        Some(Duration::try_from_secs_f64(value / 1_000.0).unwrap_or(Duration::MAX))
    }
}

/// A time limit as Python's own modules write it: seconds, `None` for none.
pub(crate) fn seconds(value: Option<f64>) -> PyResult<Option<Duration>> {
    value
        .map(|value| {
            Duration::try_from_secs_f64(value).map_err(|_| {
                pyo3::exceptions::PyValueError::new_err(format!(
                    "a time limit is a number of seconds from 0 on, not {value}"
                ))
            })
        })
        .transpose()
}
