//! Certificates of `wss` endpoints: the one that a socket shows, and those that it believes.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sealwire::options::{self, TlsConfigError};

use crate::auth::text_or_bytes;

fn unusable(py: Python<'_>, error: &TlsConfigError) -> PyErr {
    crate::error::plain(py, "TlsConfigError", error)
}

/// What `wss` endpoints show that a socket binds: a chain of certificates, its own first, and the key
/// of that one, both as PEM.
#[pyclass(frozen, module = "sealwire")]
pub(crate) struct TlsIdentity {
    pub(crate) inner: options::TlsIdentity,
}

#[pymethods]
impl TlsIdentity {
    #[new]
    fn new(py: Python<'_>, chain: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let chain = text_or_bytes(chain)?;
        let key = zeroize::Zeroizing::new(text_or_bytes(key)?);
        let inner = options::TlsIdentity::from_pem(chain, &*key);
        let inner = inner.map_err(|error| unusable(py, &error))?;
        Ok(TlsIdentity { inner })
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.TlsIdentity>"
    }
}

/// Whom a socket believes that connects to `wss` endpoints: these authorities (PEM), those of the
/// system, or both. Certificates are for the endpoint's host, or for `host_name`.
#[pyclass(frozen, module = "sealwire")]
pub(crate) struct TlsTrust {
    pub(crate) inner: options::TlsTrust,
}

#[pymethods]
impl TlsTrust {
    #[new]
    #[pyo3(signature = (authorities = None, *, system = false, host_name = None))]
    fn new(
        py: Python<'_>,
        authorities: Option<&Bound<'_, PyAny>>,
        system: bool,
        host_name: Option<String>,
    ) -> PyResult<Self> {
        let authorities = authorities.map(text_or_bytes).transpose()?;
        let made = match (authorities, system) {
            (Some(pem), false) => options::TlsTrust::from_pem(pem),
            (Some(pem), true) => {
                options::TlsTrust::from_pem(pem).and_then(options::TlsTrust::and_system)
            }
            (None, true) => options::TlsTrust::system(),
            (None, false) => {
                let problem = "trust somebody: authorities, system=True, or both";
                return Err(PyValueError::new_err(problem));
            }
        };
        let named = made.and_then(|trust| match host_name {
            Some(name) => trust.with_host_name(name),
            None => Ok(trust),
        });
        let inner = named.map_err(|error| unusable(py, &error))?;
        Ok(TlsTrust { inner })
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.TlsTrust>"
    }
}
