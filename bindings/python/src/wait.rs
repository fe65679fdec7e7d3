//! Blocking: a future is driven on the calling thread by [`sealwire::blocking::block_on`], with the GIL
//! released. Python runs signal handlers between two instructions of the main thread, so that thread
//! comes back for them before each sleep, which lasts a second at most, and after each signal.

use std::future::Future;
use std::io;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use sealwire::waits::{self, Polled};

/// Python handles signals on this thread and no other.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_main_thread() -> bool {
    nix::unistd::gettid() == nix::unistd::getpid()
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn is_main_thread() -> bool {
    false
}

/// What a handler of Python's raised, once those of the signals that came have run.
fn raised_by_a_handler() -> Option<PyErr> {
    is_main_thread()
        .then(|| Python::attach(|py| py.check_signals().err()))
        .flatten()
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
    block_until(py, future, deadline(limit))
}

/// The same with the end of the time.
pub(crate) fn block_until<F>(
    py: Python<'_>,
    future: F,
    deadline: Option<Instant>,
) -> PyResult<Option<F::Output>>
where
    F: Future + Send,
    F::Output: Send,
{
    let mut raised = None;
    let ended = py.detach(|| {
        sealwire::blocking::block_on(future, deadline, |_| {
            raised = raised_by_a_handler();
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
    let mut raised = None;
    let found = py.detach(|| {
        let mut polled = Vec::with_capacity(descriptors.len());
        for &(descriptor, events) in &descriptors {
            polled.push(Polled {
                descriptor: crate::buffer::borrow_descriptor(descriptor)?,
                events,
                ready: 0,
            });
        }
        let mut interrupted = |_| {
            raised = raised_by_a_handler();
            raised.is_some()
        };
        let found = waits::poll(&mut polled, deadline, Some(&mut interrupted));
        let ready = polled
            .iter()
            .zip(&descriptors)
            .filter(|(polled, _)| polled.ready != 0);
        let ready = ready.map(|(polled, &(descriptor, _))| (descriptor, polled.ready));
        Ok::<_, io::Error>(found.map(|_| ready.collect()))
    })?;
    match raised {
        Some(raised) => Err(raised),
        None => found.map_err(|error| crate::error::of_socket(py, error)),
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
