//! Futures of Rust on an event loop of Python.
//!
//! A coroutine polls its future itself, while it runs ([`Operation::poll`]), so that it has the result at
//! once and loses none when it is cancelled. A wake-up from another thread says only that it should
//! poll: the number of the operation goes on a list, and a descriptor, one for the whole loop,
//! becomes readable.

use std::future::Future;
use std::os::fd::{AsFd, AsRawFd as _, RawFd};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use sealwire::waits::Notifier;

/// What the end of a future becomes in Python.
pub(crate) type Finish = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;
type Pending = Pin<Box<dyn Future<Output = Finish> + Send>>;

/// Something under way, for a coroutine to look at.
#[pyclass(frozen, module = "sealwire._sealwire")]
pub(crate) struct Operation {
    pending: Mutex<Option<Pending>>,
}

impl Operation {
    pub(crate) fn new(future: impl Future<Output = Finish> + Send + 'static) -> Self {
        Operation {
            pending: Mutex::new(Some(Box::pin(future))),
        }
    }

    /// From a future and what becomes of its output.
    pub(crate) fn of<T: Send + 'static>(
        future: impl Future<Output = T> + Send + 'static,
        finish: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> Self {
        Self::new(async move {
            let output = future.await;
            Box::new(move |py: Python<'_>| finish(py, output)) as Finish
        })
    }

    fn slot(&self) -> MutexGuard<'_, Option<Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Operation {
    /// `(result,)` once it has ended; `None` while it has not, and then `token` will be among what
    /// `reactor` gives.
    fn poll<'py>(
        &self,
        py: Python<'py>,
        reactor: &Reactor,
        token: u64,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        // Taken out, so that no lock is held while the GIL is not.
        let Some(mut pending) = self.slot().take() else {
            return Err(crate::error::state(
                py,
                "the operation has ended, or is looked at",
            ));
        };
        let waker = Waker::from(Arc::new(TokenWaker {
            woken: reactor.woken.clone(),
            token,
        }));
        let polled = py.detach(
            || match pending.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(finish) => Ok(finish),
                Poll::Pending => Err(pending),
            },
        );
        match polled {
            Ok(finish) => PyTuple::new(py, [finish(py)?]).map(Some),
            Err(pending) => {
                *self.slot() = Some(pending);
                Ok(None)
            }
        }
    }

    /// Gives it up: nothing of it happens any more.
    fn cancel(&self, py: Python<'_>) {
        let pending = self.slot().take();
        py.detach(|| drop(pending));
    }
}

struct Woken {
    tokens: Mutex<Vec<u64>>,
    notifier: Notifier,
}

struct TokenWaker {
    woken: Arc<Woken>,
    token: u64,
}

impl Wake for TokenWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let tokens = &self.woken.tokens;
        tokens
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(self.token);
        self.woken.notifier.signal();
    }
}

/// Tells an event loop which operations to look at.
#[pyclass(frozen, module = "sealwire._sealwire")]
pub(crate) struct Reactor {
    woken: Arc<Woken>,
}

#[pymethods]
impl Reactor {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        let notifier = Notifier::new().map_err(|error| crate::error::of_socket(py, error))?;
        Ok(Reactor {
            woken: Arc::new(Woken {
                tokens: Mutex::default(),
                notifier,
            }),
        })
    }

    /// Readable while there is something to take.
    fn fileno(&self) -> RawFd {
        self.woken.notifier.as_fd().as_raw_fd()
    }

    /// The operations to look at; some may be named twice, or be over.
    fn take(&self) -> Vec<u64> {
        self.woken.notifier.clear();
        std::mem::take(
            &mut *self
                .woken
                .tokens
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}
