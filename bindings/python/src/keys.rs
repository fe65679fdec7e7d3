//! Keys and key files. Secrets show themselves only where that is asked for by name.

use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyType};
use sealwire::Generate as _;
use sealwire::keys::KeyFileError;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

/// The half of a key pair that everybody may know.
#[pyclass(frozen, eq, hash, ord, module = "sealwire")]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PublicKey(sealwire::PublicKey);

impl From<sealwire::PublicKey> for PublicKey {
    fn from(key: sealwire::PublicKey) -> Self {
        PublicKey(key)
    }
}

impl PublicKey {
    /// A key, or what one can be made of.
    pub(crate) fn any(given: &Bound<'_, PyAny>) -> PyResult<sealwire::PublicKey> {
        if let Ok(key) = given.cast::<PublicKey>() {
            return Ok(key.get().0);
        }
        if let Ok(text) = given.cast::<PyString>() {
            return text.to_cow()?.parse().map_err(invalid);
        }
        let bytes = crate::buffer::copy(given)?;
        // As pyzmq has it: the text form in bytes.
        if matches!(bytes.len(), 40 | 64) {
            return text_of(&bytes)?.parse().map_err(invalid);
        }
        let bytes = bytes[..].try_into().map_err(|_| wrong_size(bytes.len()))?;
        sealwire::PublicKey::from_bytes(bytes).map_err(invalid)
    }
}

fn text_of(bytes: &[u8]) -> PyResult<&str> {
    std::str::from_utf8(bytes)
        .map_err(|_| PyValueError::new_err("the key is not text in Z85 or hex"))
}

fn invalid(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn wrong_size(size: usize) -> PyErr {
    PyValueError::new_err(format!(
        "a key has 32 bytes, or 40 characters of Z85, or 64 of hex: not {size}"
    ))
}

#[pymethods]
impl PublicKey {
    /// From Z85 or hex text, or 32 bytes.
    #[new]
    fn new(key: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::any(key).map(PublicKey)
    }

    /// From a key file: that of `sealwire keygen`, a czmq certificate, or a bare key.
    #[classmethod]
    fn load(_: &Bound<'_, PyType>, py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        sealwire::keys::read_public_key(path)
            .map(PublicKey)
            .map_err(|error| of_file(py, &error))
    }

    /// The key as 40 characters.
    #[getter]
    fn z85(&self) -> String {
        self.0.to_z85()
    }

    /// The key as 64 characters.
    #[getter]
    fn hex(&self) -> String {
        self.0.to_hex()
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.as_bytes())
    }

    fn __str__(&self) -> String {
        self.0.to_z85()
    }

    fn __repr__(&self) -> String {
        format!("PublicKey('{}')", self.0)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String,)) {
        (slf.get_type(), (slf.get().z85(),))
    }
}

fn of_file(py: Python<'_>, error: &KeyFileError) -> PyErr {
    crate::error::plain(py, "KeyFileError", error)
}

fn not_pickled() -> PyErr {
    PyTypeError::new_err("secret keys are not pickled or copied: write them to a file with save()")
}

/// The half of a key pair that nobody else may know. Wiped when it is gone; what `secret_bytes` gives
/// is Python's and is not.
#[pyclass(frozen, module = "sealwire")]
pub(crate) struct SecretKey(sealwire::SecretKey);

#[pymethods]
impl SecretKey {
    /// From Z85 or hex text, or 32 bytes.
    #[new]
    fn new(key: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(text) = key.cast::<PyString>() {
            return text.to_cow()?.parse().map(SecretKey).map_err(invalid);
        }
        let bytes = Zeroizing::new(crate::buffer::copy(key)?);
        if matches!(bytes.len(), 40 | 64) {
            let text = text_of(&bytes)?;
            return text.parse().map(SecretKey).map_err(invalid);
        }
        let bytes = bytes[..].try_into().map_err(|_| wrong_size(bytes.len()))?;
        Ok(SecretKey(sealwire::SecretKey::from_bytes(bytes)))
    }

    /// The 32 bytes, as an object of Python that is not wiped.
    fn secret_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.as_bytes())
    }

    /// The key as 40 characters, as an object of Python that is not wiped.
    fn secret_z85<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, &self.0.to_z85())
    }

    /// In constant time.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<SecretKey>() else {
            return false;
        };
        self.0.ct_eq(&other.get().0).into()
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.SecretKey>"
    }

    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(not_pickled())
    }
}

/// A secret key with its public half: who somebody is.
#[pyclass(frozen, module = "sealwire")]
pub(crate) struct KeyPair(sealwire::KeyPair);

impl KeyPair {
    pub(crate) fn inner(&self) -> sealwire::KeyPair {
        self.0.clone()
    }
}

#[pymethods]
impl KeyPair {
    /// From a secret key.
    #[new]
    fn new(secret: &Bound<'_, PyAny>) -> PyResult<Self> {
        let secret = match secret.cast::<SecretKey>() {
            Ok(secret) => secret.get().0.clone(),
            Err(_) => SecretKey::new(secret)?.0,
        };
        Ok(KeyPair(sealwire::KeyPair::from_secret(secret)))
    }

    /// A fresh one, from the randomness of the system.
    #[classmethod]
    fn generate(_: &Bound<'_, PyType>) -> Self {
        KeyPair(sealwire::KeyPair::generate())
    }

    /// From a secret key file: that of `sealwire keygen`, a czmq certificate, or a bare key. One
    /// that others may read is refused.
    #[classmethod]
    fn load(_: &Bound<'_, PyType>, py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        sealwire::keys::read_key_pair(path)
            .map(KeyPair)
            .map_err(|error| of_file(py, &error))
    }

    /// Writes `<stem>.pub` and `<stem>.key`, or with `czmq` the certificates `<stem>.key` (public)
    /// and `<stem>.key_secret`, and gives both paths. Existing files are left alone.
    #[pyo3(signature = (stem, *, czmq = false))]
    fn save(&self, py: Python<'_>, stem: PathBuf, czmq: bool) -> PyResult<(PathBuf, PathBuf)> {
        let written = if czmq {
            sealwire::keys::write_czmq_certificate(stem, &self.0)
        } else {
            sealwire::keys::write_key_pair(stem, &self.0)
        };
        written.map_err(|error| of_file(py, &error))
    }

    /// The half that peers may know.
    #[getter]
    fn public(&self) -> PublicKey {
        PublicKey(self.0.public())
    }

    /// The half to keep.
    #[getter]
    fn secret(&self) -> SecretKey {
        SecretKey(self.0.secret().clone())
    }

    fn __repr__(&self) -> String {
        format!("<sealwire.KeyPair, public half {}>", self.0.public())
    }

    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(not_pickled())
    }
}
