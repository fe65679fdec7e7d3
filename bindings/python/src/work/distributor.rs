//! The side that hands tasks out.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sealwire_rpc::work::{self, Error, Outcome, TaskNumber};

use super::{Unfinished, failed, in_time, unfinished};
use crate::context::Context;
use crate::descriptor::Given;
use crate::lifecycle::OfProcess;
use crate::monitor::Monitor;
use crate::reactor::Operation;
use crate::security::Security;
use crate::wait::{block_on, seconds};

/// Hands tasks out to workers, and keeps each until one says that it is done.
#[pyclass(
    frozen,
    subclass,
    module = "sealwire._sealwire",
    name = "DistributorCore"
)]
pub(crate) struct Distributor {
    inner: OfProcess<work::Distributor>,
}

/// Number and result of a task that is done, or a task that was set aside.
type Told = (Option<(Py<PyBytes>, Py<PyBytes>)>, Option<Unfinished>);

fn told(py: Python<'_>, outcome: Outcome) -> PyResult<Told> {
    match outcome {
        Outcome::Done { number, result } => Ok((Some(done(py, number, &result)), None)),
        Outcome::SetAside(task) => Ok((None, Some(unfinished(py, task)))),
        _ => Err(crate::error::plain(
            py,
            "Error",
            "an outcome that has no form here yet",
        )),
    }
}

fn done(py: Python<'_>, number: TaskNumber, result: &[u8]) -> (Py<PyBytes>, Py<PyBytes>) {
    (
        super::number(py, number).unbind(),
        PyBytes::new(py, result).unbind(),
    )
}

/// The number that these bytes are; `None` where they are none.
fn numbered(number: &Bound<'_, PyAny>) -> PyResult<TaskNumber> {
    let bytes = crate::buffer::bytes(number)?;
    let number = <[u8; 16]>::try_from(&bytes[..]).map_err(|_| {
        let problem = format!("the number of a task has 16 bytes, not {}", bytes.len());
        pyo3::exceptions::PyValueError::new_err(problem)
    })?;
    Ok(TaskNumber::from_bytes(number))
}

#[pymethods]
impl Distributor {
    #[new]
    #[pyo3(signature = (
        security,
        context,
        *,
        max_tasks = 65536,
        max_bytes = 268435456,
        max_task = 4194304,
        max_result = 4096,
        max_attempts = 5,
        attempt_limit = None,
        retry_delay = 1.0,
        keep_results = false,
        max_workers = 1024,
        silence_limit = 15.0
    ))]
    #[allow(clippy::too_many_arguments)] // Callers name each of them.
    fn new(
        py: Python<'_>,
        security: &Bound<'_, Security>,
        context: &Bound<'_, Context>,
        max_tasks: usize,
        max_bytes: usize,
        max_task: u32,
        max_result: u32,
        max_attempts: u32,
        attempt_limit: Option<f64>,
        retry_delay: f64,
        keep_results: bool,
        max_workers: usize,
        silence_limit: f64,
    ) -> PyResult<Self> {
        let context = context.get().shared.inner(py)?.clone();
        let distributor = work::Distributor::builder(security.get().inner())
            .max_tasks(max_tasks)
            .max_bytes(max_bytes)
            .max_task(max_task)
            .max_result(max_result)
            .max_attempts(max_attempts)
            .attempt_limit(seconds(attempt_limit)?)
            .retry_delay(seconds(Some(retry_delay))?.unwrap_or_default())
            .keep_results(keep_results)
            .max_workers(max_workers)
            .silence_limit(seconds(Some(silence_limit))?.unwrap_or_default())
            .socket(|socket| socket.context(&context))
            .build()
            .map_err(|error| failed(py, error))?;
        Ok(Distributor {
            inner: OfProcess::new(distributor),
        })
    }

    /// Listens on an endpoint and gives it with the port that was chosen, if that was left open.
    fn bind(&self, py: Python<'_>, endpoint: &str) -> PyResult<String> {
        let distributor = self.inner.get(py)?;
        py.detach(|| distributor.bind(endpoint))
            .map(|endpoint| endpoint.to_string())
            .map_err(|error| failed(py, error))
    }

    /// Listens on a TCP or Unix socket that somebody else opened and gives its endpoint, as ``Socket.bind_listener`` does.
    #[pyo3(signature = (listener, *, ws = None))]
    fn bind_listener(
        &self,
        py: Python<'_>,
        listener: &Bound<'_, PyAny>,
        ws: Option<&str>,
    ) -> PyResult<String> {
        let distributor = self.inner.get(py)?;
        Given::new(listener).bind(ws, None, |listener| {
            let bound = py.detach(|| distributor.bind_listener(listener));
            bound.map_err(|error| failed(py, error))
        })
    }

    /// What happens to the connections.
    fn _monitor(&self, py: Python<'_>) -> PyResult<Monitor> {
        Ok(self.inner.get(py)?.monitor().into())
    }

    /// What it has done, and what it has now, by name.
    #[getter]
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = self.inner.get(py)?.counters();
        super::counters(
            py,
            &[
                ("added", counters.added),
                ("done", counters.done),
                ("handed_out", counters.handed_out),
                ("handed_out_again", counters.handed_out_again),
                ("failed", counters.failed),
                ("lost", counters.lost),
                ("overdue", counters.overdue),
                ("returned", counters.returned),
                ("late", counters.late),
                ("repeated", counters.repeated),
                ("foreign", counters.foreign),
                ("violations", counters.violations),
                ("silent", counters.silent),
                ("out", counters.out as u64),
                ("pending", counters.pending as u64),
                ("set_aside", counters.set_aside as u64),
                ("workers", counters.workers as u64),
                ("held_bytes", counters.held_bytes as u64),
            ],
        )
    }

    /// Adds a task if there is room, and gives its number; ``DistributorFull`` if there is none.
    fn try_add<'py>(
        &self,
        py: Python<'py>,
        task: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let body = crate::buffer::bytes(task)?;
        let distributor = self.inner.get(py)?;
        let added = py.detach(|| distributor.try_add(body));
        let number = added.map_err(|error| failed(py, error))?;
        Ok(super::number(py, number))
    }

    fn _add<'py>(
        &self,
        py: Python<'py>,
        task: &Bound<'py, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (body, limit) = (crate::buffer::bytes(task)?, seconds(timeout)?);
        let added = block_on(py, self.inner.get(py)?.add(body), limit)?;
        Ok(super::number(py, in_time(py, added)?))
    }

    /// The number and result of a task that is done, in the order in which they came, and not tasks that were set
    /// aside; ``None`` if there is none now, as always without ``keep_results``.
    fn next_result(&self, py: Python<'_>) -> PyResult<Option<(Py<PyBytes>, Py<PyBytes>)>> {
        let result = self.inner.get(py)?.next_result();
        Ok(result.map(|(number, result)| done(py, number, &result)))
    }

    fn _try_outcome(&self, py: Python<'_>) -> PyResult<Option<Told>> {
        let outcome = self.inner.get(py)?.try_outcome();
        outcome.map(|outcome| told(py, outcome)).transpose()
    }

    fn _outcome(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Told> {
        let limit = seconds(timeout)?;
        let outcome = block_on(py, self.inner.get(py)?.outcome(), limit)?;
        told(py, in_time(py, outcome)?)
    }

    fn _set_aside(&self, py: Python<'_>) -> PyResult<Vec<Unfinished>> {
        let aside = self.inner.get(py)?.set_aside();
        Ok(aside.into_iter().map(|task| unfinished(py, task)).collect())
    }

    /// Hands a task out again that was set aside, for as many attempts as it had. ``False`` where it was not.
    fn put_back(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.inner.get(py)?.put_back(numbered(number)?))
    }

    fn _drop_aside(
        &self,
        py: Python<'_>,
        number: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Unfinished>> {
        let dropped = self.inner.get(py)?.drop_aside(numbered(number)?);
        Ok(dropped.map(|task| unfinished(py, task)))
    }

    fn _join(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<()> {
        let limit = seconds(timeout)?;
        let finished = block_on(py, self.inner.get(py)?.finished(), limit)?;
        in_time(py, finished)
    }

    /// Hands nothing out any more, and waits for the outcomes of what is with workers, up to the limit.
    fn _settle(&self, py: Python<'_>, timeout: f64) -> PyResult<()> {
        let limit = seconds(Some(timeout))?;
        match block_on(py, self.inner.get(py)?.settled(), limit)? {
            Some(Err(error)) if !matches!(error, Error::ShutDown | Error::EngineFailed) => {
                Err(failed(py, error))
            }
            _ => Ok(()),
        }
    }

    /// Ends the connections. The tasks without an outcome.
    fn _end(&self, py: Python<'_>) -> PyResult<Vec<Unfinished>> {
        let distributor = self.inner.get(py)?;
        let left = py.detach(|| distributor.shutdown(Duration::ZERO));
        Ok(left.into_iter().map(|task| unfinished(py, task)).collect())
    }

    fn _start_add(&self, py: Python<'_>, task: &Bound<'_, PyAny>) -> PyResult<Operation> {
        let body = crate::buffer::bytes(task)?;
        let distributor = self.inner.get(py)?.clone();
        Ok(Operation::of(
            async move { distributor.add(body).await },
            |py, added| {
                let number = added.map_err(|error| failed(py, error))?;
                Ok(super::number(py, number).into_any().unbind())
            },
        ))
    }

    fn _start_outcome(&self, py: Python<'_>) -> PyResult<Operation> {
        let distributor = self.inner.get(py)?.clone();
        Ok(Operation::of(
            async move { distributor.outcome().await },
            |py, outcome| {
                let outcome = outcome.map_err(|error| failed(py, error))?;
                Ok(told(py, outcome)?.into_pyobject(py)?.into_any().unbind())
            },
        ))
    }

    fn _start_join(&self, py: Python<'_>) -> PyResult<Operation> {
        let distributor = self.inner.get(py)?.clone();
        Ok(Operation::of(
            async move { distributor.finished().await },
            super::nothing,
        ))
    }

    fn _start_settle(&self, py: Python<'_>) -> PyResult<Operation> {
        let distributor = self.inner.get(py)?.clone();
        Ok(Operation::of(
            async move { distributor.settled().await },
            |py, settled| match settled {
                Ok(()) | Err(Error::ShutDown | Error::EngineFailed) => Ok(py.None()),
                Err(error) => Err(failed(py, error)),
            },
        ))
    }
}
