//! Contexts, and the sockets that are open or still sending what they were given.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context as TaskContext, Waker};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyType};
use sealwire::embed;
use sealwire::metrics::{Amount, ContextMetrics};

use crate::lifecycle::OfProcess;
use crate::socket::Opened;

/// All sockets that may be open. Locked with the GIL held and never for long, so that a fork finds
/// it free.
static SOCKETS: Mutex<Vec<Weak<Opened>>> = Mutex::new(Vec::new());
/// Sockets that were dropped without being closed and may have something to send still.
static ENDING: Mutex<Vec<Ending>> = Mutex::new(Vec::new());

/// The closing of a socket.
pub(crate) type Ending = Pin<Box<dyn Future<Output = Result<(), sealwire::Error>> + Send>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has it closed at the end of the process, if it is there still.
pub(crate) fn remember(socket: &Arc<Opened>) {
    let mut sockets = lock(&SOCKETS);
    // Each socket is passed over once or twice on the average.
    if sockets.len() == sockets.capacity() {
        sockets.retain(|socket| socket.strong_count() > 0);
    }
    sockets.push(Arc::downgrade(socket));
}

/// Closes it in the background; the end of the process waits for that.
pub(crate) fn close_later(mut ending: Ending) {
    if has_ended(&mut ending) {
        return;
    }
    let mut others = lock(&ENDING);
    others.retain_mut(|other| !has_ended(other));
    others.push(ending);
}

/// Also begins the closing.
fn has_ended(ending: &mut Ending) -> bool {
    let mut nobody = TaskContext::from_waker(Waker::noop());
    ending.as_mut().poll(&mut nobody).is_ready()
}

/// Closes every socket of the process, each with its linger time, and waits.
pub(crate) fn close_all(py: Python<'_>) -> PyResult<()> {
    let mut endings = close_where(None, |_| true);
    endings.append(&mut lock(&ENDING));
    wait_for(py, endings)
}

/// In a child of a fork: what the parent closes is the parent's.
pub(crate) fn forget_all() {
    std::mem::forget(std::mem::take(&mut *lock(&ENDING)));
    lock(&SOCKETS).clear();
}

/// With this linger time in milliseconds, or that of each socket.
fn close_where(linger: Option<f64>, belongs: impl Fn(&Opened) -> bool) -> Vec<Ending> {
    let sockets: Vec<_> = lock(&SOCKETS).iter().filter_map(Weak::upgrade).collect();
    let of_this_process = sockets.iter().filter(|socket| belongs(socket));
    of_this_process
        .filter_map(|socket| socket.close(linger))
        .map(|mut ending| {
            // Begun now, so that all linger at the same time. One that has ended is not polled
            // again.
            if has_ended(&mut ending) {
                ending = Box::pin(std::future::ready(Ok(())));
            }
            ending
        })
        .collect()
}

fn wait_for(py: Python<'_>, endings: Vec<Ending>) -> PyResult<()> {
    for ending in endings {
        // The linger time bounds this wait, so it needs no limit of its own.
        crate::wait::block_on(py, ending, None)?;
    }
    Ok(())
}

pub(crate) struct Shared {
    inner: OfProcess<sealwire::Context>,
    terminated: AtomicBool,
}

impl Shared {
    pub(crate) fn is_terminated(&self) -> bool {
        self.terminated.load(Ordering::SeqCst)
    }

    pub(crate) fn inner(&self, py: Python<'_>) -> PyResult<&sealwire::Context> {
        self.inner.get(py)
    }
}

/// What sockets share: the thread that does their I/O, and the names of `inproc` endpoints.
#[pyclass(frozen, subclass, module = "sealwire._sealwire", name = "ContextCore")]
pub(crate) struct Context {
    pub(crate) shared: Arc<Shared>,
}

impl Context {
    fn snapshot(&self, py: Python<'_>) -> PyResult<ContextMetrics> {
        let inner = self.shared.inner(py)?;
        // It takes the locks of all sockets.
        let metrics = py.detach(|| inner.metrics());
        metrics.map_err(|error| crate::error::of_socket(py, error))
    }
}

#[pymethods]
impl Context {
    #[new]
    #[classmethod]
    #[pyo3(signature = (io_threads = 1, *, thread_name = None))]
    fn new(
        _: &Bound<'_, PyType>,
        py: Python<'_>,
        io_threads: usize,
        thread_name: Option<String>,
    ) -> PyResult<Self> {
        let mut builder = sealwire::Context::builder().io_threads(io_threads);
        if let Some(name) = thread_name {
            builder = builder.thread_name(name);
        }
        let inner = (builder.build()).map_err(|error| crate::error::of_socket(py, error))?;
        Ok(Context {
            shared: Arc::new(Shared {
                inner: OfProcess::new(inner),
                terminated: AtomicBool::new(false),
            }),
        })
    }

    /// Whether it has been terminated.
    #[getter]
    fn closed(&self) -> bool {
        self.shared.is_terminated()
    }

    /// Whether it was made by this process, and not before a fork.
    #[getter]
    fn _usable(&self, py: Python<'_>) -> bool {
        !self.shared.is_terminated() && self.shared.inner(py).is_ok()
    }

    /// Closes its sockets, each with its linger time, and waits. A thread that waits on one of them gets
    /// `ContextTerminated`.
    fn term(&self, py: Python<'_>) -> PyResult<()> {
        self.destroy(py, None)
    }

    /// Closes its sockets as `term` does, with this linger time in milliseconds for all of them.
    #[pyo3(signature = (linger = None))]
    fn destroy(&self, py: Python<'_>, linger: Option<f64>) -> PyResult<()> {
        self.shared.terminated.store(true, Ordering::SeqCst);
        wait_for(py, close_where(linger, |socket| socket.is_of(&self.shared)))
    }

    /// Its numbers in the text format of Prometheus (`text/plain; version=0.0.4`), but for those of single peers.
    fn prometheus(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.snapshot(py)?.prometheus())
    }

    /// Its numbers: name, labels and value of each.
    fn _numbers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        for sample in self.snapshot(py)?.samples() {
            for number in sample.numbers() {
                let labels = PyDict::new(py);
                for (name, value) in sample.labels_of(&number) {
                    labels.set_item(name, value)?;
                }
                let name = format!("{}{}", sample.metric.name, number.suffix);
                match number.amount {
                    Amount::Count(count) => all.append((name, labels, count))?,
                    amount => all.append((name, labels, amount.as_f64()))?,
                }
            }
        }
        Ok(all)
    }

    /// Closes its sockets as `term` does, and waits until its threads have ended: before a fork, for example.
    fn join(&self, py: Python<'_>) -> PyResult<()> {
        let inner = self.shared.inner(py)?.clone();
        self.term(py)?;
        // Those that were dropped without being closed, whichever context they are of.
        let ending = std::mem::take(&mut *lock(&ENDING));
        wait_for(py, ending)?;
        py.detach(|| embed::end(&inner));
        Ok(())
    }
}
