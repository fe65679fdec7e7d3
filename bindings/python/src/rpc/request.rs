//! What a peer asks and says.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealwire_rpc::{Code, Status};

use super::conn::Conn;
use super::metadata::Metadata;
use crate::reactor::Operation;

/// A request of a peer. Dropped without an answer it is answered with an internal error.
#[pyclass(frozen, module = "sealwire.rpc")]
pub(crate) struct Request {
    /// `None` once it is answered. Shared with operations on its streams.
    inner: Mutex<Option<Arc<sealwire_rpc::Request>>>,
}

impl From<sealwire_rpc::Request> for Request {
    fn from(request: sealwire_rpc::Request) -> Self {
        Request {
            inner: Mutex::new(Some(Arc::new(request))),
        }
    }
}

impl Request {
    fn get(&self, py: Python<'_>) -> PyResult<Arc<sealwire_rpc::Request>> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner
            .clone()
            .ok_or_else(|| crate::error::state(py, "the request has been answered"))
    }

    fn take(&self, py: Python<'_>) -> PyResult<sealwire_rpc::Request> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let answered = || crate::error::state(py, "the request has been answered");
        let request = inner.take().ok_or_else(answered)?;
        Arc::try_unwrap(request).map_err(|request| {
            *inner = Some(request);
            crate::error::state(py, "the request is waited on by its streams")
        })
    }
}

#[pymethods]
impl Request {
    /// The body of the request.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.get(py)?.body()))
    }

    /// The connection it came through, to call its peer or to see who that is.
    #[getter]
    fn conn(&self, py: Python<'_>) -> PyResult<Conn> {
        Ok(self.get(py)?.conn().clone().into())
    }

    /// What the caller sent beside the body, which is theirs to choose: only `conn` says who they are.
    #[getter]
    fn metadata(&self, py: Python<'_>) -> PyResult<Metadata> {
        Ok(self.get(py)?.metadata().into())
    }

    /// Seconds that the caller still waits; `None` for ever.
    #[getter]
    fn time_left(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        Ok(self.get(py)?.time_left().map(|left| left.as_secs_f64()))
    }

    /// Whether the caller has stopped waiting.
    #[getter]
    fn is_cancelled(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.get(py)?.is_cancelled())
    }

    /// Whether the call has streams.
    #[getter]
    fn has_streams(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.get(py)?.has_streams())
    }

    #[getter]
    fn _is_answered(&self) -> bool {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.is_none()
    }

    /// Answers.
    fn reply(&self, py: Python<'_>, body: &Bound<'_, PyAny>) -> PyResult<()> {
        let body = crate::buffer::bytes(body)?;
        let request = self.take(py)?;
        super::sent(py, py.detach(|| request.reply(&body)))
    }

    /// Answers with an error. `not_started` promises that nothing was done, so that the caller may
    /// ask again.
    #[pyo3(signature = (code, message = String::new(), details = None, *, not_started = false))]
    fn fail(
        &self,
        py: Python<'_>,
        code: u16,
        message: String,
        details: Option<&Bound<'_, PyAny>>,
        not_started: bool,
    ) -> PyResult<()> {
        let mut status = Status::new(Code(code), message);
        if let Some(details) = details {
            status = status.with_details(crate::buffer::copy(details)?);
        }
        if not_started {
            status = status.not_started();
        }
        let request = self.take(py)?;
        py.detach(|| request.fail(status));
        Ok(())
    }

    /// The next item of the caller; `None` when it sends no more.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let request = self.get(py)?;
        let next = crate::wait::block_on(py, request.next(), None)?;
        Ok(super::item(py, next.flatten()))
    }

    /// Sends an item to the caller, waiting for it to want one.
    fn send(&self, py: Python<'_>, item: &Bound<'_, PyAny>) -> PyResult<()> {
        let (request, item) = (self.get(py)?, crate::buffer::bytes(item)?);
        match crate::wait::block_on(py, request.send(&item), None)? {
            Some(outcome) => super::sent(py, outcome),
            None => Ok(()),
        }
    }

    fn _start_next(&self, py: Python<'_>) -> PyResult<Operation> {
        let request = self.get(py)?;
        Ok(Operation::of(
            async move { request.next().await },
            super::finished_item,
        ))
    }

    fn _start_send(&self, py: Python<'_>, item: &Bound<'_, PyAny>) -> PyResult<Operation> {
        let (request, item) = (self.get(py)?, crate::buffer::bytes(item)?);
        Ok(Operation::of(
            async move { request.send(&item).await },
            |py, outcome| super::sent(py, outcome).map(|()| py.None()),
        ))
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.rpc.Request>"
    }
}

/// A message of a peer that wants no answer.
#[pyclass(frozen, module = "sealwire.rpc")]
pub(crate) struct OneWay {
    /// The peer may send more once this is dropped.
    inner: sealwire_rpc::OneWay,
}

impl From<sealwire_rpc::OneWay> for OneWay {
    fn from(inner: sealwire_rpc::OneWay) -> Self {
        OneWay { inner }
    }
}

#[pymethods]
impl OneWay {
    /// What it says.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.inner.body())
    }

    /// What the sender sent beside the body.
    #[getter]
    fn metadata(&self) -> Metadata {
        self.inner.metadata().into()
    }

    /// The connection it came through.
    #[getter]
    fn conn(&self) -> Conn {
        self.inner.conn().clone().into()
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.rpc.OneWay>"
    }
}
