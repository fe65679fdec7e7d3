//! The peer at the other end of a connection.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sealwire::Mechanism;
use sealwire::metrics::Amount;

use crate::account::Account;
use crate::keys::PublicKey;

/// A connected peer, as the handshake proved it.
#[pyclass(frozen, module = "sealwire")]
pub(crate) struct Peer {
    inner: Arc<sealwire::Peer>,
}

impl From<Arc<sealwire::Peer>> for Peer {
    fn from(inner: Arc<sealwire::Peer>) -> Self {
        Peer { inner }
    }
}

#[pymethods]
impl Peer {
    /// Where it is.
    #[getter]
    fn address(&self) -> String {
        self.inner.address().to_string()
    }

    /// Where this end of the connection is; ``None`` over ``udp``, within the process, and for the end of an ``ipc``
    /// connection that connected, which has no name.
    #[getter]
    fn local_address(&self) -> Option<String> {
        self.inner.local_address().map(ToString::to_string)
    }

    /// The endpoint that was bound or connected to for this connection.
    #[getter]
    fn endpoint(&self) -> String {
        self.inner.endpoint().to_string()
    }

    /// Whether the peer connected to this socket; ``False`` where this socket connected to the peer, and over ``udp``.
    #[getter]
    fn is_accepted(&self) -> bool {
        self.inner.is_accepted()
    }

    /// The number of the descriptor on Unix; ``None`` over ``udp`` and within the process. It is good for comparing with
    /// what the system tells. Others have the number once the connection has ended, and the connection fails if somebody else
    /// reads, writes or closes it.
    #[getter]
    fn descriptor(&self) -> Option<i32> {
        self.inner.descriptor()
    }

    /// The connection id, unique in its context.
    #[getter]
    fn connection(&self) -> u64 {
        self.inner.connection()
    }

    /// SERVER and PEER: the number to send to.
    #[getter]
    fn connection_routing_id(&self) -> u32 {
        self.inner.connection_routing_id()
    }

    /// The key it proved to hold; `None` where the mechanism proves none.
    #[getter]
    fn public_key(&self) -> Option<PublicKey> {
        self.inner.public_key().map(PublicKey::from)
    }

    /// The name that the authenticator gave to it.
    #[getter]
    fn user_id(&self) -> Option<String> {
        self.inner.user_id().map(str::to_owned)
    }

    /// What it calls itself. Not verified by anyone.
    #[getter]
    fn routing_id<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.inner.routing_id())
    }

    /// The type of its socket, as it stands on the wire.
    #[getter]
    fn socket_type(&self) -> &'static str {
        self.inner.socket_type().name()
    }

    /// What protects the connection: `BLAKE3`, `CURVE`, `PLAIN`, `NULL`, or `None` where there is
    /// no handshake.
    #[getter]
    fn mechanism(&self) -> Option<&'static str> {
        self.inner.mechanism().map(Mechanism::name)
    }

    /// Over `ipc` on Linux: the numbers of the process at the other end, its user and its group.
    #[getter]
    fn process(&self) -> Option<(i32, u32, u32)> {
        self.inner.process().map(numbers)
    }

    /// Its account: bytes and objects held for it, and how often it reached a bound. `accounts` of the socket
    /// brings it up to date.
    #[getter]
    fn account(&self) -> Account {
        self.inner.account().into()
    }

    /// Its numbers by name: messages and bytes in and out, what waits, what was dropped, its age in seconds. They are
    /// as `peers` and `accounts` of the socket last found them.
    #[getter]
    fn numbers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let named = PyDict::new(py);
        for (name, amount) in self.inner.numbers().named() {
            match amount {
                Amount::Count(count) => named.set_item(name, count)?,
                amount => named.set_item(name, amount.as_f64())?,
            }
        }
        Ok(named)
    }

    /// A property that a ZAP handler or the peer itself gave, by name without case.
    fn metadata<'py>(&self, py: Python<'py>, name: &str) -> Option<Bound<'py, PyBytes>> {
        self.inner
            .metadata(name)
            .map(|value| PyBytes::new(py, value))
    }

    fn __str__(&self) -> String {
        self.inner.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<sealwire.Peer {}>", self.inner)
    }
}

/// Of a process, its user and its group.
pub(crate) fn numbers(process: sealwire::ProcessCredentials) -> (i32, u32, u32) {
    (process.process, process.user, process.group)
}
