//! The answering side.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::conn::Conn;
use super::inbox::Inbox;
use crate::context::Context;
use crate::descriptor::Given;
use crate::lifecycle::OfProcess;
use crate::monitor::Monitor;
use crate::reactor::Operation;
use crate::security::Security;
use crate::wait::{block_on, seconds};

/// Puts the requests of its clients into an inbox.
#[pyclass(frozen, subclass, module = "sealwire._sealwire", name = "ServerCore")]
pub(crate) struct Server {
    inner: OfProcess<sealwire_rpc::Server>,
}

#[pymethods]
impl Server {
    #[new]
    #[pyo3(signature = (
        security,
        context,
        inbox,
        *,
        max_connections = 1024,
        connection_wait = 3.0,
        handshake_timeout = 3.0,
        reuse_port = false,
        **limits
    ))]
    #[allow(clippy::too_many_arguments)] // Callers name each of them.
    fn new(
        py: Python<'_>,
        security: &Bound<'_, Security>,
        context: &Bound<'_, Context>,
        inbox: &Bound<'_, Inbox>,
        max_connections: usize,
        connection_wait: f64,
        handshake_timeout: f64,
        reuse_port: bool,
        limits: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let context = context.get().shared.inner(py)?.clone();
        let builder = sealwire_rpc::Server::builder(security.get().inner())
            .max_connections(max_connections)
            .connection_wait(seconds(Some(connection_wait))?.unwrap_or_default())
            .handshake_limit(seconds(Some(handshake_timeout))?.unwrap_or_default())
            .limits(super::limits::limits(limits)?)
            .socket(|socket| socket.context(&context).reuse_port(reuse_port));
        let server = builder
            .build(inbox.get().handler())
            .map_err(|error| crate::error::of_socket(py, error))?;
        Ok(Server {
            inner: OfProcess::new(server),
        })
    }

    /// Listens on an endpoint and gives it with the port that was chosen, if that was left open.
    fn bind(&self, py: Python<'_>, endpoint: &str) -> PyResult<String> {
        let server = self.inner.get(py)?;
        py.detach(|| server.bind(endpoint))
            .map(|endpoint| endpoint.to_string())
            .map_err(|error| crate::error::of_socket(py, error))
    }

    /// Listens on a TCP or Unix socket that somebody else opened and gives its endpoint, as ``Socket.bind_listener`` does.
    #[pyo3(signature = (listener, *, ws = None))]
    fn bind_listener(
        &self,
        py: Python<'_>,
        listener: &Bound<'_, PyAny>,
        ws: Option<&str>,
    ) -> PyResult<String> {
        let server = self.inner.get(py)?;
        Given::new(listener).bind(ws, None, |listener| {
            let bound = py.detach(|| server.bind_listener(listener));
            bound.map_err(|error| crate::error::of_socket(py, error))
        })
    }

    /// Connections that are served.
    #[getter]
    fn connections(&self, py: Python<'_>) -> PyResult<Vec<Conn>> {
        let connections = self.inner.get(py)?.connections();
        Ok(connections.into_iter().map(Conn::from).collect())
    }

    /// What it has done so far, by name.
    #[getter]
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        super::counters(py, self.inner.get(py)?.counters())
    }

    /// What happens to the connections.
    fn _monitor(&self, py: Python<'_>) -> PyResult<Monitor> {
        Ok(self.inner.get(py)?.monitor().into())
    }

    fn _shutdown(&self, py: Python<'_>, limit: f64) -> PyResult<bool> {
        let limit = seconds(Some(limit))?.unwrap_or_default();
        let server = self.inner.get(py)?;
        let ended = block_on(py, server.shutdown(limit), None)?;
        Ok(ended.unwrap_or(false))
    }

    fn _start_shutdown(&self, py: Python<'_>, limit: f64) -> PyResult<Operation> {
        let limit = seconds(Some(limit))?.unwrap_or_default();
        let server = self.inner.get(py)?.clone();
        Ok(Operation::of(
            async move { server.shutdown(limit).await },
            |py, ended| {
                Ok(pyo3::types::PyBool::new(py, ended)
                    .to_owned()
                    .into_any()
                    .unbind())
            },
        ))
    }
}
