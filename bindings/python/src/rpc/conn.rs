//! One connection of a client or server: either side can call the other.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealwire_rpc::CallOptions;

use super::stream::CallStream;
use crate::account::Account;
use crate::keys::PublicKey;
use crate::reactor::Operation;

/// A connection, through which both sides can call.
#[pyclass(frozen, module = "sealwire.rpc")]
pub(crate) struct Conn {
    inner: sealwire_rpc::Conn,
}

impl From<sealwire_rpc::Conn> for Conn {
    fn from(inner: sealwire_rpc::Conn) -> Self {
        Conn { inner }
    }
}

pub(super) fn options(timeout: Option<f64>) -> PyResult<CallOptions<'static>> {
    Ok(CallOptions {
        limit: crate::wait::seconds(timeout)?,
        metadata: None,
    })
}

#[pymethods]
impl Conn {
    /// The key that the other side proved to hold.
    #[getter]
    fn public_key(&self) -> Option<PublicKey> {
        self.inner.peer().public_key().map(PublicKey::from)
    }

    /// The name that the authenticator gave to the other side.
    #[getter]
    fn user_id(&self) -> Option<String> {
        self.inner.peer().user_id().map(str::to_owned)
    }

    /// Where the other side is.
    #[getter]
    fn address(&self) -> String {
        self.inner.peer().address().to_string()
    }

    /// Whether calls can be made.
    #[getter]
    fn is_open(&self) -> bool {
        self.inner.is_open()
    }

    /// Ends the connection.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.inner.close());
    }

    /// The account of the peer: bytes and objects held for it, and how often it reached a bound.
    #[getter]
    fn account(&self) -> Account {
        self.inner.peer().account().into()
    }

    /// Calls the other side and waits for its answer, for up to `timeout` seconds.
    #[pyo3(signature = (body, *, timeout = None))]
    fn request<'py>(
        &self,
        py: Python<'py>,
        body: &Bound<'py, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (body, options) = (crate::buffer::bytes(body)?, options(timeout)?);
        let call = self.inner.request_with(&body, options);
        match crate::wait::block_on(py, call, None)? {
            Some(answer) => super::answered(py, answer),
            None => Ok(PyBytes::new(py, b"")),
        }
    }

    /// Sends a message that nobody answers.
    fn send(&self, py: Python<'_>, body: &Bound<'_, PyAny>) -> PyResult<()> {
        let body = crate::buffer::bytes(body)?;
        match crate::wait::block_on(py, self.inner.send(&body), None)? {
            Some(outcome) => super::sent(py, outcome),
            None => Ok(()),
        }
    }

    /// Calls the other side with a stream of items in each direction.
    #[pyo3(signature = (body, *, timeout = None))]
    fn open(
        &self,
        py: Python<'_>,
        body: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<CallStream> {
        let (body, options) = (crate::buffer::bytes(body)?, options(timeout)?);
        match crate::wait::block_on(py, self.inner.open(&body, options), None)? {
            Some(Ok(stream)) => Ok(stream.into()),
            Some(Err(error)) => Err(crate::error::of_call(py, error)),
            None => Err(crate::error::again(py)),
        }
    }

    #[pyo3(signature = (body, timeout = None))]
    fn _start_request(&self, body: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<Operation> {
        let (body, options) = (crate::buffer::bytes(body)?, options(timeout)?);
        let conn = self.inner.clone();
        Ok(Operation::of(
            async move { conn.request_with(&body, options).await },
            super::finished,
        ))
    }

    fn _start_send(&self, body: &Bound<'_, PyAny>) -> PyResult<Operation> {
        let (body, conn) = (crate::buffer::bytes(body)?, self.inner.clone());
        Ok(Operation::of(
            async move { conn.send(&body).await },
            |py, outcome| super::sent(py, outcome).map(|()| py.None()),
        ))
    }

    #[pyo3(signature = (body, timeout = None))]
    fn _start_open(&self, body: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<Operation> {
        let (body, options) = (crate::buffer::bytes(body)?, options(timeout)?);
        let conn = self.inner.clone();
        Ok(Operation::of(
            async move { conn.open(&body, options).await },
            |py, opened| match opened {
                Ok(stream) => Ok(Bound::new(py, CallStream::from(stream))?
                    .into_any()
                    .unbind()),
                Err(error) => Err(crate::error::of_call(py, error)),
            },
        ))
    }

    fn __repr__(&self) -> String {
        format!("<sealwire.rpc.Conn with {}>", self.inner.peer())
    }
}
