//! The side that takes tasks.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use sealwire_rpc::work;

use super::task::Task;
use super::{failed, in_time};
use crate::context::Context;
use crate::lifecycle::OfProcess;
use crate::monitor::Monitor;
use crate::reactor::Operation;
use crate::security::Security;
use crate::wait::{block_on, seconds};

/// Takes tasks of a distributor.
#[pyclass(frozen, subclass, module = "sealwire._sealwire", name = "WorkerCore")]
pub(crate) struct Worker {
    inner: OfProcess<work::Worker>,
}

#[pymethods]
impl Worker {
    #[new]
    #[pyo3(signature = (
        endpoint,
        security,
        context,
        *,
        credit = 64,
        credit_bytes = 16777216,
        max_task = 4194304,
        silence_limit = 15.0
    ))]
    #[allow(clippy::too_many_arguments)] // Callers name each of them.
    fn new(
        py: Python<'_>,
        endpoint: &str,
        security: &Bound<'_, Security>,
        context: &Bound<'_, Context>,
        credit: u32,
        credit_bytes: u32,
        max_task: u32,
        silence_limit: f64,
    ) -> PyResult<Self> {
        let context = context.get().shared.inner(py)?.clone();
        let worker = work::Worker::builder(security.get().inner())
            .credit(credit)
            .credit_bytes(credit_bytes)
            .max_task(max_task)
            .silence_limit(seconds(Some(silence_limit))?.unwrap_or_default())
            .socket(|socket| socket.context(&context))
            .build(endpoint)
            .map_err(|error| failed(py, error))?;
        Ok(Worker {
            inner: OfProcess::new(worker),
        })
    }

    /// What happens to the connection.
    fn _monitor(&self, py: Python<'_>) -> PyResult<Monitor> {
        Ok(self.inner.get(py)?.monitor().into())
    }

    /// Whether a distributor has let this worker in.
    #[getter]
    fn is_connected(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.inner.get(py)?.is_connected())
    }

    /// What it has done so far, by name.
    #[getter]
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = self.inner.get(py)?.counters();
        super::counters(
            py,
            &[
                ("received", counters.received),
                ("taken", counters.taken),
                ("done", counters.done),
                ("failed", counters.failed),
                ("returned", counters.returned),
                ("dropped", counters.dropped),
                ("untold", counters.untold),
                ("connections", counters.connections),
                ("violations", counters.violations),
            ],
        )
    }

    /// Takes a task if one is here; ``None`` if not.
    fn try_take(&self, py: Python<'_>) -> PyResult<Option<Task>> {
        let worker = self.inner.get(py)?;
        match py.detach(|| worker.try_take()) {
            Ok(task) => Ok(Some(task.into())),
            Err(work::Error::WouldBlock) => Ok(None),
            Err(error) => Err(failed(py, error)),
        }
    }

    fn _take(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Task> {
        let limit = seconds(timeout)?;
        let taken = block_on(py, self.inner.get(py)?.take(), limit)?;
        in_time(py, taken).map(Task::from)
    }

    /// At the limit the worker ends as well.
    fn _leave(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        let limit = seconds(timeout)?;
        let left = block_on(py, self.inner.get(py)?.leave(), limit)?;
        if left.is_none() {
            self._end(py)?;
        }
        in_time(py, left)
    }

    /// Ends at once: others get what it had.
    fn _end(&self, py: Python<'_>) -> PyResult<()> {
        let worker = self.inner.get(py)?;
        // It has ended in any case, in time or not.
        let _ = py.detach(|| worker.leave_blocking(Some(Duration::ZERO)));
        Ok(())
    }

    fn _start_take(&self, py: Python<'_>) -> PyResult<Operation> {
        let worker = self.inner.get(py)?.clone();
        Ok(Operation::of(
            async move { worker.take().await },
            |py, taken| {
                let task = taken.map_err(|error| failed(py, error))?;
                Ok(Bound::new(py, Task::from(task))?.into_any().unbind())
            },
        ))
    }

    fn _start_leave(&self, py: Python<'_>) -> PyResult<Operation> {
        let worker = self.inner.get(py)?.clone();
        Ok(Operation::of(
            async move { worker.leave().await },
            super::nothing,
        ))
    }
}
