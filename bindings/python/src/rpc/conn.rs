//! One connection of a client or server: either side can call the other.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::calling::{self, Call};
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
    #[pyo3(signature = (body, *, timeout = None, metadata = None))]
    fn request<'py>(
        &self,
        py: Python<'py>,
        body: &Bound<'py, PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let call = Call::new(body, timeout, metadata)?;
        let answer = self.inner.request_with(&call.body, call.options());
        calling::request(py, answer)
    }

    /// Sends a message that nobody answers.
    #[pyo3(signature = (body, *, metadata = None))]
    fn send(
        &self,
        py: Python<'_>,
        body: &Bound<'_, PyAny>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let message = Call::new(body, None, metadata)?;
        let sending = self.inner.send_with(&message.body, message.options());
        calling::send(py, sending)
    }

    /// Calls the other side with a stream of items in each direction.
    #[pyo3(signature = (body, *, timeout = None, metadata = None))]
    fn open(
        &self,
        py: Python<'_>,
        body: &Bound<'_, PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<CallStream> {
        let call = Call::new(body, timeout, metadata)?;
        calling::open(py, self.inner.open(&call.body, call.options()))
    }

    #[pyo3(signature = (body, timeout = None, metadata = None))]
    fn _start_request(
        &self,
        body: &Bound<'_, PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Operation> {
        let call = Call::new(body, timeout, metadata)?;
        let conn = self.inner.clone();
        Ok(calling::start_request(async move {
            conn.request_with(&call.body, call.options()).await
        }))
    }

    #[pyo3(signature = (body, metadata = None))]
    fn _start_send(
        &self,
        body: &Bound<'_, PyAny>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Operation> {
        let (message, conn) = (Call::new(body, None, metadata)?, self.inner.clone());
        Ok(calling::start_send(async move {
            conn.send_with(&message.body, message.options()).await
        }))
    }

    #[pyo3(signature = (body, timeout = None, metadata = None))]
    fn _start_open(
        &self,
        body: &Bound<'_, PyAny>,
        timeout: Option<f64>,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Operation> {
        let call = Call::new(body, timeout, metadata)?;
        let conn = self.inner.clone();
        Ok(calling::start_open(async move {
            conn.open(&call.body, call.options()).await
        }))
    }

    fn __repr__(&self) -> String {
        format!("<sealwire.rpc.Conn with {}>", self.inner.peer())
    }
}
