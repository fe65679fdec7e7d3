//! The calling side.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::calling::{self, Call};
use super::conn::Conn;
use super::inbox::Inbox;
use super::stream::CallStream;
use crate::context::Context;
use crate::lifecycle::OfProcess;
use crate::monitor::Monitor;
use crate::reactor::Operation;
use crate::security::Security;
use crate::wait::{block_on, seconds};

/// Calls a server, over connections that are opened as they are needed.
#[pyclass(frozen, subclass, module = "sealwire._sealwire", name = "ClientCore")]
pub(crate) struct Client {
    inner: OfProcess<sealwire_rpc::Client>,
}

#[pymethods]
impl Client {
    #[new]
    #[pyo3(signature = (
        endpoint,
        security,
        context,
        inbox = None,
        *,
        max_connections = 4,
        calls_per_connection = 64,
        dial_attempts = 1,
        dial_timeout = 3.0,
        handshake_timeout = 3.0,
        retries = 2,
        **limits
    ))]
    #[allow(clippy::too_many_arguments)] // Callers name each of them.
    fn new(
        py: Python<'_>,
        endpoint: &str,
        security: &Bound<'_, Security>,
        context: &Bound<'_, Context>,
        inbox: Option<&Bound<'_, Inbox>>,
        max_connections: usize,
        calls_per_connection: usize,
        dial_attempts: u32,
        dial_timeout: f64,
        handshake_timeout: f64,
        retries: u32,
        limits: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let context = context.get().shared.inner(py)?.clone();
        let mut builder = sealwire_rpc::Client::builder(security.get().inner())
            .max_connections(max_connections)
            .calls_per_connection(calls_per_connection)
            .dial_attempts(dial_attempts)
            .dial_limit(seconds(Some(dial_timeout))?.unwrap_or_default())
            .handshake_limit(seconds(Some(handshake_timeout))?.unwrap_or_default())
            .retries(retries)
            .limits(super::limits::limits(limits)?)
            .socket(|socket| socket.context(&context));
        if let Some(inbox) = inbox {
            builder = builder.handler(inbox.get().handler());
        }
        let client = builder
            .build(endpoint)
            .map_err(|error| crate::error::of_call(py, error))?;
        Ok(Client {
            inner: OfProcess::new(client),
        })
    }

    /// What happens to the connections.
    fn _monitor(&self, py: Python<'_>) -> PyResult<Monitor> {
        Ok(self.inner.get(py)?.monitor().into())
    }

    /// Connections that are ready.
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

    fn _request<'py>(
        &self,
        py: Python<'py>,
        body: &Bound<'py, PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let call = Call::new(body, timeout, metadata)?;
        let answer = self.inner.get(py)?.request_with(&call.body, call.options());
        calling::request(py, answer)
    }

    fn _send(
        &self,
        py: Python<'_>,
        body: &Bound<'_, PyAny>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let message = Call::new(body, None, metadata)?;
        let client = self.inner.get(py)?;
        calling::send(py, client.send_with(&message.body, message.options()))
    }

    fn _conn(&self, py: Python<'_>) -> PyResult<Conn> {
        match block_on(py, self.inner.get(py)?.conn(), None)? {
            Some(Ok(conn)) => Ok(conn.into()),
            Some(Err(error)) => Err(crate::error::of_call(py, error)),
            None => Err(crate::error::again(py)),
        }
    }

    fn _open(
        &self,
        py: Python<'_>,
        body: &Bound<'_, PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<CallStream> {
        let call = Call::new(body, timeout, metadata)?;
        let client = self.inner.get(py)?;
        let open = async { client.conn().await?.open(&call.body, call.options()).await };
        calling::open(py, open)
    }

    fn _shutdown(&self, py: Python<'_>, limit: f64) -> PyResult<bool> {
        let limit = seconds(Some(limit))?.unwrap_or_default();
        let client = self.inner.get(py)?;
        let ended = block_on(py, client.shutdown(limit), None)?;
        Ok(ended.unwrap_or(false))
    }

    fn _start_request(
        &self,
        py: Python<'_>,
        body: &Bound<'_, PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Operation> {
        let call = Call::new(body, timeout, metadata)?;
        let client = self.inner.get(py)?.clone();
        Ok(calling::start_request(async move {
            client.request_with(&call.body, call.options()).await
        }))
    }

    fn _start_send(
        &self,
        py: Python<'_>,
        body: &Bound<'_, PyAny>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Operation> {
        let message = Call::new(body, None, metadata)?;
        let client = self.inner.get(py)?.clone();
        Ok(calling::start_send(async move {
            client.send_with(&message.body, message.options()).await
        }))
    }

    fn _start_conn(&self, py: Python<'_>) -> PyResult<Operation> {
        let client = self.inner.get(py)?.clone();
        Ok(Operation::of(
            async move { client.conn().await },
            |py, conn| match conn {
                Ok(conn) => Ok(Bound::new(py, Conn::from(conn))?.into_any().unbind()),
                Err(error) => Err(crate::error::of_call(py, error)),
            },
        ))
    }

    fn _start_open(
        &self,
        py: Python<'_>,
        body: &Bound<'_, PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Operation> {
        let call = Call::new(body, timeout, metadata)?;
        let client = self.inner.get(py)?.clone();
        Ok(calling::start_open(async move {
            client.conn().await?.open(&call.body, call.options()).await
        }))
    }

    fn _start_shutdown(&self, py: Python<'_>, limit: f64) -> PyResult<Operation> {
        let limit = seconds(Some(limit))?.unwrap_or_default();
        let client = self.inner.get(py)?.clone();
        Ok(Operation::of(
            async move { client.shutdown(limit).await },
            |py, ended| {
                Ok(pyo3::types::PyBool::new(py, ended)
                    .to_owned()
                    .into_any()
                    .unbind())
            },
        ))
    }
}
