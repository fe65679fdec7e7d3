//! The end of the interpreter, and `fork`.
//!
//! Rust threads call Python for authenticators and `admit` only, and each such call passes here. When
//! the interpreter is about to end, sockets are closed first, which may need those still; then
//! no further call is let in and those under way are waited for, so that no thread of ours touches
//! an interpreter that is going.
//!
//! After `fork` the child has no I/O thread, and locks may be held by threads it does not have. What
//! the parent made is not touched there: using it is an error, and it is not freed.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use event_listener::Event;
use pyo3::prelude::*;

static OVER: AtomicBool = AtomicBool::new(false);
static CALLS: AtomicUsize = AtomicUsize::new(0);
static CALL_ENDED: Event = Event::new();
static FORKS: AtomicU32 = AtomicU32::new(0);

/// A call under way, in this process.
struct Call {
    generation: u32,
}

impl Drop for Call {
    fn drop(&mut self) {
        if self.generation == generation() {
            CALLS.fetch_sub(1, Ordering::SeqCst);
            CALL_ENDED.notify(usize::MAX);
        }
    }
}

/// Calls Python from a thread of Rust; `None` when the interpreter is about to end.
pub(crate) fn call_python<R>(call: impl FnOnce(Python<'_>) -> R) -> Option<R> {
    CALLS.fetch_add(1, Ordering::SeqCst);
    let _call = Call {
        generation: generation(),
    };
    if OVER.load(Ordering::SeqCst) {
        return None;
    }
    Python::try_attach(call)
}

/// For `atexit`: closes what is open, with its linger time, and ends the calls into Python.
#[pyfunction]
pub(crate) fn at_exit(py: Python<'_>) -> PyResult<()> {
    let closed = crate::context::close_all(py);
    OVER.store(true, Ordering::SeqCst);
    let ended = crate::wait::block_on(
        py,
        async {
            loop {
                let listener = CALL_ENDED.listen();
                if CALLS.load(Ordering::SeqCst) == 0 {
                    return;
                }
                listener.await;
            }
        },
        None,
    );
    closed.and(ended.map(|_| ()))
}

/// For `os.register_at_fork`. No other thread is there, and no lock of ours is held, as they are
/// taken with the GIL.
#[pyfunction]
pub(crate) fn after_fork_in_child() {
    FORKS.fetch_add(1, Ordering::SeqCst);
    CALLS.store(0, Ordering::SeqCst);
    crate::context::forget_all();
}

/// A number that is another one in a child.
pub(crate) fn generation() -> u32 {
    FORKS.load(Ordering::SeqCst)
}

/// A value of this process. In a child it is neither reachable nor dropped.
pub(crate) struct OfProcess<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> OfProcess<T> {
    pub(crate) fn new(value: T) -> Self {
        OfProcess {
            generation: generation(),
            value: Some(value),
        }
    }

    /// `None` when it was made before a fork.
    pub(crate) fn here(&self) -> Option<&T> {
        self.value
            .as_ref()
            .filter(|_| self.generation == generation())
    }

    /// # Errors
    ///
    /// When it was made before a fork.
    #[inline]
    pub(crate) fn get(&self, py: Python<'_>) -> PyResult<&T> {
        self.here().ok_or_else(|| {
            crate::error::plain(
                py,
                "Forked",
                "this was made before a fork: make contexts, sockets and clients in the child",
            )
        })
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if self.generation != generation() {
            std::mem::forget(self.value.take());
        }
    }
}
