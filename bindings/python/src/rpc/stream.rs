//! The caller's end of a call with streams.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::reactor::Operation;

/// A call with a stream of items in each direction. Closed or dropped before its answer it is
/// cancelled.
#[pyclass(frozen, module = "sealwire.rpc")]
pub(crate) struct CallStream {
    /// `None` once the answer was asked for. Shared with operations.
    inner: Mutex<Option<Arc<sealwire_rpc::CallStream>>>,
}

impl From<sealwire_rpc::CallStream> for CallStream {
    fn from(stream: sealwire_rpc::CallStream) -> Self {
        CallStream {
            inner: Mutex::new(Some(Arc::new(stream))),
        }
    }
}

impl CallStream {
    fn get(&self, py: Python<'_>) -> PyResult<Arc<sealwire_rpc::CallStream>> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner
            .clone()
            .ok_or_else(|| crate::error::plain(py, "StreamEnded", "the stream has ended"))
    }

    fn take(&self, py: Python<'_>) -> PyResult<sealwire_rpc::CallStream> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = || crate::error::plain(py, "StreamEnded", "the stream has ended");
        let stream = inner.take().ok_or_else(ended)?;
        Arc::try_unwrap(stream).map_err(|stream| {
            *inner = Some(stream);
            crate::error::state(py, "the stream is waited on elsewhere")
        })
    }
}

#[pymethods]
impl CallStream {
    /// Sends an item, waiting for the other side to want one.
    fn send(&self, py: Python<'_>, item: &Bound<'_, PyAny>) -> PyResult<()> {
        let (stream, item) = (self.get(py)?, crate::buffer::bytes(item)?);
        match crate::wait::block_on(py, stream.send(&item), None)? {
            Some(outcome) => super::sent(py, outcome),
            None => Ok(()),
        }
    }

    /// Says that no more items follow.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let stream = self.get(py)?;
        py.detach(|| stream.finish());
        Ok(())
    }

    /// The next item of the other side; `None` when there are no more.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let stream = self.get(py)?;
        let next = crate::wait::block_on(py, stream.next(), None)?;
        Ok(super::item(py, next.flatten()))
    }

    /// Waits for the answer that ends the call. Items that were not read are dropped.
    fn answer<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let stream = self.take(py)?;
        match crate::wait::block_on(py, stream.answer(), None)? {
            Some(answer) => super::answered(py, answer),
            None => Ok(PyBytes::new(py, b"")),
        }
    }

    /// Cancels the call, unless it was answered.
    fn close(&self, py: Python<'_>) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = inner.take();
        drop(inner);
        py.detach(|| drop(stream));
    }

    fn _start_send(&self, py: Python<'_>, item: &Bound<'_, PyAny>) -> PyResult<Operation> {
        let (stream, item) = (self.get(py)?, crate::buffer::bytes(item)?);
        Ok(Operation::of(
            async move { stream.send(&item).await },
            |py, outcome| super::sent(py, outcome).map(|()| py.None()),
        ))
    }

    fn _start_next(&self, py: Python<'_>) -> PyResult<Operation> {
        let stream = self.get(py)?;
        Ok(Operation::of(
            async move { stream.next().await },
            super::finished_item,
        ))
    }

    fn _start_answer(&self, py: Python<'_>) -> PyResult<Operation> {
        let stream = self.take(py)?;
        Ok(Operation::of(stream.answer(), super::finished))
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.next(py)
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.rpc.CallStream>"
    }
}
