//! Waiting for a socket beside other descriptors.

use std::os::fd::{AsRawFd as _, RawFd};

use pyo3::prelude::*;

use crate::lifecycle::OfProcess;

/// A descriptor that is readable when something about the socket may have changed.
#[pyclass(frozen, module = "sealwire")]
pub(crate) struct Readiness {
    inner: OfProcess<sealwire::Readiness>,
}

impl Readiness {
    pub(super) fn of(py: Python<'_>, socket: &sealwire::Socket) -> PyResult<Self> {
        match socket.readiness() {
            Ok(inner) => Ok(Readiness {
                inner: OfProcess::new(inner),
            }),
            Err(error) => Err(crate::error::of_socket(py, error.into())),
        }
    }
}

#[pymethods]
impl Readiness {
    /// The descriptor, to be waited on and never read.
    fn fileno(&self, py: Python<'_>) -> PyResult<RawFd> {
        Ok(self.inner.get(py)?.as_raw_fd())
    }

    /// Makes the descriptor unreadable and says what can be done without waiting: receive, send,
    /// and whether the socket is closed.
    fn take(&self, py: Python<'_>) -> PyResult<(bool, bool, bool)> {
        let ready = self.inner.get(py)?.take();
        Ok((ready.receive, ready.send, ready.closed))
    }
}
