//! How a socket protects its connections.

use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use sealwire::Mechanism;

use crate::auth::{OfKeys, OfPasswords};
use crate::keys::{KeyPair, PublicKey};

/// The mechanism of a socket with its keys.
#[pyclass(frozen, module = "sealwire")]
pub(crate) struct Security(sealwire::Security);

/// The names as they stand in greetings.
pub(crate) fn mechanism_names(security: &sealwire::Security) -> String {
    let names: Vec<_> = security.mechanisms().map(Mechanism::name).collect();
    names.join(" or ")
}

impl From<sealwire::Security> for Security {
    fn from(inner: sealwire::Security) -> Self {
        Security(inner)
    }
}

impl Security {
    pub(crate) fn inner(&self) -> sealwire::Security {
        self.0.clone()
    }
}

#[pymethods]
impl Security {
    /// No encryption and no authentication: anyone on the path reads and writes.
    #[classmethod]
    fn plain_text(_: &Bound<'_, PyType>) -> Self {
        Security(sealwire::Security::plain_text())
    }

    /// A client that shows a username and a password. **Nothing is encrypted**, the password
    /// included: for loopback and Unix sockets only.
    #[classmethod]
    fn plain_client(
        _: &Bound<'_, PyType>,
        username: String,
        password: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let password = crate::auth::text_or_bytes(password)?;
        Ok(Security(sealwire::Security::plain_client(
            username, password,
        )))
    }

    /// A server that asks for a username and a password. **Nothing is encrypted.**
    #[classmethod]
    fn plain_server(_: &Bound<'_, PyType>, authenticator: &Bound<'_, PyAny>) -> PyResult<Self> {
        let authenticator = OfPasswords::of(authenticator)?;
        Ok(Security(sealwire::Security::plain_server(authenticator)))
    }

    /// A client of libzmq's mechanism. It always has keys.
    #[classmethod]
    fn curve_client(
        _: &Bound<'_, PyType>,
        server_key: &Bound<'_, PyAny>,
        keys: &Bound<'_, KeyPair>,
    ) -> PyResult<Self> {
        let server_key = PublicKey::any(server_key)?;
        let keys = keys.get().inner();
        Ok(Security(sealwire::Security::curve_client(server_key, keys)))
    }

    /// A server of libzmq's mechanism.
    #[classmethod]
    fn curve_server(
        _: &Bound<'_, PyType>,
        keys: &Bound<'_, KeyPair>,
        authenticator: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let authenticator = OfKeys::of(authenticator)?;
        let keys = keys.get().inner();
        Ok(Security(sealwire::Security::curve_server(
            keys,
            authenticator,
        )))
    }

    /// A `curve_client` for a server that skips numbers of frames, which libzmq does not. **Someone on
    /// the path can drop frames then, and nobody notices**; a warning event says so.
    #[classmethod]
    fn curve_client_accepting_gaps_unauthenticated_order(
        _: &Bound<'_, PyType>,
        server_key: &Bound<'_, PyAny>,
        keys: &Bound<'_, KeyPair>,
    ) -> PyResult<Self> {
        let server_key = PublicKey::any(server_key)?;
        let keys = keys.get().inner();
        Ok(Security(
            sealwire::Security::curve_client_accepting_gaps_unauthenticated_order(server_key, keys),
        ))
    }

    /// A `curve_server` for clients that skip numbers of frames, which libzmq does not. **Someone on
    /// the path can drop frames then, and nobody notices**; a warning event says so.
    #[classmethod]
    fn curve_server_accepting_gaps_unauthenticated_order(
        _: &Bound<'_, PyType>,
        keys: &Bound<'_, KeyPair>,
        authenticator: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let authenticator = OfKeys::of(authenticator)?;
        let keys = keys.get().inner();
        Ok(Security(
            sealwire::Security::curve_server_accepting_gaps_unauthenticated_order(
                keys,
                authenticator,
            ),
        ))
    }

    /// A client that knows the server by its key, and proves who it is itself if it has keys.
    #[classmethod]
    #[pyo3(signature = (server_key, keys = None))]
    fn blake3_client(
        _: &Bound<'_, PyType>,
        server_key: &Bound<'_, PyAny>,
        keys: Option<&Bound<'_, KeyPair>>,
    ) -> PyResult<Self> {
        let server_key = PublicKey::any(server_key)?;
        let client = match keys {
            None => sealwire::Security::blake3_client(server_key),
            Some(keys) => {
                sealwire::Security::blake3_client_with_keys(server_key, keys.get().inner())
            }
        };
        Ok(Security(client.into()))
    }

    /// A server with its keys. The authenticator decides about every client and has no default.
    /// `additional_keys` are those that clients may still know it by while they are changed.
    #[classmethod]
    #[pyo3(signature = (keys, authenticator, *, additional_keys = Vec::new()))]
    fn blake3_server(
        _: &Bound<'_, PyType>,
        keys: &Bound<'_, KeyPair>,
        authenticator: &Bound<'_, PyAny>,
        additional_keys: Vec<Bound<'_, KeyPair>>,
    ) -> PyResult<Self> {
        let authenticator = OfKeys::of(authenticator)?;
        let mut server = sealwire::Security::blake3_server(keys.get().inner(), authenticator);
        for keys in additional_keys {
            server = server.with_additional_keys(keys.get().inner());
        }
        Ok(Security(server.into()))
    }

    /// Name of the mechanism as it stands in the greeting.
    #[getter]
    fn mechanism<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, &mechanism_names(&self.0))
    }

    fn __repr__(&self) -> String {
        format!("<sealwire.Security {:?}>", self.0)
    }
}
