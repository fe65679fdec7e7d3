//! Listening sockets that somebody else opened: objects with `fileno()` and numbers of descriptors. With [`buffer`]
//! the only module with `unsafe` code.
//!
//! [`buffer`]: crate::buffer
#![allow(unsafe_code, reason = "Python gives descriptors by number")]

use std::os::fd::{BorrowedFd, FromRawFd as _, IntoRawFd as _, OwnedFd, RawFd};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyInt;
use sealwire::{Endpoint, Error, Listener};

use crate::error::of_socket;

/// A descriptor that Python has still.
pub(crate) struct Given<'a, 'py>(&'a Bound<'py, PyAny>);

impl<'a, 'py> Given<'a, 'py> {
    pub(crate) fn new(object: &'a Bound<'py, PyAny>) -> Self {
        Given(object)
    }

    fn number(&self) -> PyResult<RawFd> {
        let number: RawFd = match self.0.is_instance_of::<PyInt>() {
            true => self.0.extract()?,
            false => self.0.call_method0("fileno")?.extract()?,
        };
        match number {
            0.. => Ok(number),
            _ => Err(PyValueError::new_err(format!(
                "{number} is not a file descriptor"
            ))),
        }
    }

    /// Another descriptor of the same socket.
    fn duplicate(&self) -> PyResult<Listener> {
        let number = self.number()?;
        // SAFETY: not -1. It is used for this call alone, which says so when nothing is open there; nothing of Python
        // runs meanwhile.
        let duplicate = unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned();
        let duplicate = duplicate.map_err(|error| of_socket(self.0.py(), Error::System(error)))?;
        Ok(duplicate.into())
    }

    /// The same, for a WebSocket where one of these paths is there.
    fn listener(&self, ws: Option<&str>, wss: Option<&str>) -> PyResult<Listener> {
        match (ws, wss) {
            (None, None) => self.duplicate(),
            (Some(path), None) => Ok(self.duplicate()?.over_ws(path)),
            (None, Some(path)) => Ok(self.duplicate()?.over_wss(path)),
            (Some(_), Some(_)) => {
                let problem = "a listener is ws or wss, not both";
                Err(PyValueError::new_err(problem))
            }
        }
    }

    /// Binds to it by `bind`, and closes what Python has. After an exception that is as it was.
    pub(crate) fn bind(
        &self,
        ws: Option<&str>,
        wss: Option<&str>,
        bind: impl FnOnce(Listener) -> PyResult<Endpoint>,
    ) -> PyResult<String> {
        let bound = bind(self.listener(ws, wss)?)?;
        self.close()?;
        Ok(bound.to_string())
    }

    /// Closes what Python has, as the socket has it now.
    fn close(&self) -> PyResult<()> {
        if !self.0.is_instance_of::<PyInt>() {
            return self.0.call_method0("close").map(drop);
        }
        let number = self.number()?;
        // SAFETY: it was open when it was duplicated, and a number that is given to `bind_listener` is given away.
        drop(unsafe { OwnedFd::from_raw_fd(number) });
        Ok(())
    }
}

/// The listening sockets that a service manager opened for this process (``LISTEN_FDS``, ``LISTEN_PID`` and
/// ``LISTEN_FDNAMES`` of systemd), in its order: the name of each (``FileDescriptorName=`` of its unit) or ``None``, and
/// its descriptor, for ``Socket.bind_listener``. Empty where it passed none.
///
/// Call it once, before anything closes descriptors that it did not open. Raises ``ListenerError`` where they are
/// for another process, are not open, or were taken before.
#[pyfunction]
pub(crate) fn passed_listeners(py: Python<'_>) -> PyResult<Vec<(Option<String>, RawFd)>> {
    let passed = Listener::passed().map_err(|error| of_socket(py, error.into()))?;
    let given = passed.into_iter().map(|listener| {
        let name = listener.name().map(str::to_owned);
        (name, OwnedFd::from(listener).into_raw_fd())
    });
    Ok(given.collect())
}
