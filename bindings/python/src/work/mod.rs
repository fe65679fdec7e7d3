//! Acknowledged work: distributors, workers, and the tasks between them. Tasks without an outcome go to Python as
//! tuples, which `python/sealwire/_work.py` names.

mod distributor;
mod task;
mod worker;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sealwire_rpc::work::{Error, TaskNumber, UnfinishedTask};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<distributor::Distributor>()?;
    module.add_class::<task::Task>()?;
    module.add_class::<worker::Worker>()?;
    Ok(())
}

fn number(py: Python<'_>, number: TaskNumber) -> Bound<'_, PyBytes> {
    PyBytes::new(py, &number.to_bytes())
}

/// Number, attempts, reason, whether it was set aside, and body.
type Unfinished = (Py<PyBytes>, u32, Option<String>, bool, Py<PyBytes>);

fn unfinished(py: Python<'_>, task: UnfinishedTask) -> Unfinished {
    (
        number(py, task.number).unbind(),
        task.attempts,
        task.reason,
        task.is_set_aside,
        PyBytes::new(py, &task.body).unbind(),
    )
}

fn failed(py: Python<'_>, error: Error) -> PyErr {
    crate::error::of_work(py, error)
}

/// The end of a wait with a time limit.
fn in_time<T>(py: Python<'_>, ended: Option<Result<T, Error>>) -> PyResult<T> {
    ended
        .unwrap_or(Err(Error::TimedOut))
        .map_err(|error| failed(py, error))
}

fn nothing(py: Python<'_>, outcome: Result<(), Error>) -> PyResult<Py<PyAny>> {
    outcome
        .map(|()| py.None())
        .map_err(|error| failed(py, error))
}

fn counters<'py>(py: Python<'py>, numbers: &[(&str, u64)]) -> PyResult<Bound<'py, PyDict>> {
    let named = PyDict::new(py);
    for (name, number) in numbers {
        named.set_item(name, number)?;
    }
    Ok(named)
}
