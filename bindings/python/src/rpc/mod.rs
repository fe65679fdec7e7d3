//! Calls: clients, servers and what they exchange. Handlers of Python are not called from Rust:
//! requests wait in an [`inbox`] until a thread or an event loop of Python takes them.

mod calling;
mod client;
mod conn;
mod inbox;
mod limits;
mod metadata;
mod request;
mod server;
mod stream;
mod trace;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<client::Client>()?;
    module.add_class::<conn::Conn>()?;
    module.add_class::<inbox::Inbox>()?;
    module.add_class::<metadata::Metadata>()?;
    module.add_class::<request::Request>()?;
    module.add_class::<request::OneWay>()?;
    module.add_class::<server::Server>()?;
    module.add_class::<stream::CallStream>()?;
    module.add_class::<trace::TraceContext>()?;
    Ok(())
}

type Answer = Result<sealwire_rpc::Body, sealwire_rpc::Error>;

/// The bytes of an answer, or what became of the call.
fn answered<'py>(py: Python<'py>, answer: Answer) -> PyResult<Bound<'py, PyBytes>> {
    match answer {
        Ok(body) => Ok(PyBytes::new(py, &body)),
        Err(error) => Err(crate::error::of_call(py, error)),
    }
}

fn finished(py: Python<'_>, answer: Answer) -> PyResult<Py<PyAny>> {
    answered(py, answer).map(|body| body.into_any().unbind())
}

fn sent(py: Python<'_>, outcome: Result<(), sealwire_rpc::Error>) -> PyResult<()> {
    outcome.map_err(|error| crate::error::of_call(py, error))
}

/// An item of a stream, or its end.
fn item(py: Python<'_>, item: Option<sealwire_rpc::Body>) -> Option<Bound<'_, PyBytes>> {
    item.map(|body| PyBytes::new(py, &body))
}

fn finished_item(py: Python<'_>, next: Option<sealwire_rpc::Body>) -> PyResult<Py<PyAny>> {
    Ok(match item(py, next) {
        Some(bytes) => bytes.into_any().unbind(),
        None => py.None(),
    })
}

fn counters<'py>(
    py: Python<'py>,
    counters: sealwire_rpc::Counters,
) -> PyResult<Bound<'py, pyo3::types::PyDict>> {
    let named = pyo3::types::PyDict::new(py);
    for (name, number) in [
        ("calls", counters.calls),
        ("calls_failed", counters.calls_failed),
        ("calls_retried", counters.calls_retried),
        ("messages_sent", counters.messages_sent),
        ("requests", counters.requests),
        ("messages_received", counters.messages_received),
        ("answers_too_late", counters.answers_too_late),
        ("connections", counters.connections),
        ("violations", counters.violations),
        ("connections_refused", counters.connections_refused),
        ("connections_silent", counters.connections_silent),
        ("requests_refused", counters.requests_refused),
        ("peers_paused", counters.peers_paused),
        ("panics", counters.panics),
    ] {
        named.set_item(name, number)?;
    }
    Ok(named)
}
