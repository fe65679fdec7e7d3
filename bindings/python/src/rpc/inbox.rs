//! Where requests and one-way messages wait for Python.

use pyo3::prelude::*;
use sealwire_rpc::handler::{self, Arrival};

use super::request::{OneWay, Request};
use crate::reactor::Operation;

/// Requests and one-way messages that wait for Python.
#[pyclass(frozen, module = "sealwire._sealwire")]
pub(crate) struct Inbox {
    inner: handler::Inbox,
}

impl Inbox {
    pub(super) fn handler(&self) -> handler::Inbox {
        self.inner.clone()
    }
}

fn given(py: Python<'_>, arrival: Option<Arrival>) -> PyResult<Py<PyAny>> {
    Ok(match arrival {
        None => py.None(),
        Some(Arrival::Request(request)) => {
            Bound::new(py, Request::from(request))?.into_any().unbind()
        }
        Some(Arrival::Message(message)) => {
            Bound::new(py, OneWay::from(message))?.into_any().unbind()
        }
    })
}

#[pymethods]
impl Inbox {
    #[new]
    fn new(limit: usize) -> Self {
        Inbox {
            inner: handler::Inbox::new(limit),
        }
    }

    /// The next request or one-way message; `None` once it is closed and empty.
    fn next(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let arrival = crate::wait::block_on(py, self.inner.next(), None)?;
        given(py, arrival.flatten())
    }

    /// The same for an event loop.
    fn start_next(&self) -> Operation {
        let inbox = self.inner.clone();
        Operation::of(async move { inbox.next().await }, given)
    }

    /// Takes nothing new. What waits is still given out.
    fn close(&self) {
        self.inner.close();
    }
}
