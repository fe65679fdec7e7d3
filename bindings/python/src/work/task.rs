//! A task that a worker has taken.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealwire_rpc::work;

use crate::lifecycle::OfProcess;

/// A task that a worker has taken, to be ended with ``done``, ``fail`` or ``give_back``. One that is dropped without
/// has failed.
#[pyclass(frozen, module = "sealwire._sealwire")]
pub(crate) struct Task {
    number: work::TaskNumber,
    attempt: u32,
    max_result: usize,
    body: Bytes,
    /// `None` once it has an outcome.
    inner: OfProcess<Mutex<Option<work::Task>>>,
}

impl From<work::Task> for Task {
    fn from(task: work::Task) -> Self {
        Task {
            number: task.number(),
            attempt: task.attempt(),
            max_result: task.max_result(),
            body: task.body().clone(),
            inner: OfProcess::new(Mutex::new(Some(task))),
        }
    }
}

impl Task {
    fn take(&self, py: Python<'_>) -> PyResult<work::Task> {
        let inner = self.inner.get(py)?;
        let task = inner.lock().unwrap_or_else(PoisonError::into_inner).take();
        task.ok_or_else(|| crate::error::state(py, "the task has an outcome already"))
    }
}

#[pymethods]
impl Task {
    /// The number, 16 bytes, which is the same at each attempt: what was done under it need not be done again.
    #[getter]
    fn number<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        super::number(py, self.number)
    }

    /// Which attempt this is: 1 for the first.
    #[getter]
    fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The task, a copy at each time.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.body)
    }

    /// Bytes of the largest result that the distributor takes.
    #[getter]
    fn max_result(&self) -> usize {
        self.max_result
    }

    /// Says that the work is done, with a result. One that is larger than ``max_result`` raises ``ResultTooLarge``, and
    /// the attempt has failed.
    #[pyo3(signature = (result = None))]
    fn done(&self, py: Python<'_>, result: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let result = result
            .map(crate::buffer::bytes)
            .transpose()?
            .unwrap_or_default();
        let task = self.take(py)?;
        py.detach(|| task.done_with(result))
            .map_err(|error| super::failed(py, error))
    }

    /// Says that the attempt has failed, and why, up to 1,024 bytes.
    #[pyo3(signature = (reason = ""))]
    fn fail(&self, py: Python<'_>, reason: &str) -> PyResult<()> {
        let task = self.take(py)?;
        py.detach(|| task.fail(reason));
        Ok(())
    }

    /// Gives the task back as if it had not been taken: no attempt counts, and it may come again.
    fn give_back(&self, py: Python<'_>) -> PyResult<()> {
        let task = self.take(py)?;
        py.detach(|| task.give_back());
        Ok(())
    }

    fn __repr__(&self) -> String {
        format!(
            "<sealwire.Task {} of {} bytes, attempt {}>",
            self.number,
            self.body.len(),
            self.attempt
        )
    }
}
