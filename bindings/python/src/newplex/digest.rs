//! Digests, in the manner of `hashlib` and `hmac`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use digest::Update as _;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealwire_newplex::schemes::digest::{Digest as Unkeyed, KeyedDigest as Keyed};

use super::{label, not_verified, secret};

fn locked<T>(digest: &Mutex<T>) -> MutexGuard<'_, T> {
    digest.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A digest of 32 bytes.
#[pyclass(frozen, module = "sealwire.newplex")]
pub(crate) struct Digest(Box<Mutex<Unkeyed>>);

impl Digest {
    fn value(&self, py: Python<'_>) -> [u8; 32] {
        py.detach(|| locked(&self.0).value())
    }
}

#[pymethods]
impl Digest {
    /// Of a message of the purpose `domain`, which begins with `data` if it is given.
    #[new]
    #[pyo3(signature = (domain, data = None))]
    fn new(domain: &Bound<'_, PyAny>, data: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let digest = Digest(Box::new(Mutex::new(Unkeyed::new(label(domain)?))));
        data.map_or(Ok(()), |data| digest.update(domain.py(), data))?;
        Ok(digest)
    }

    /// Takes the next piece of the message.
    fn update(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let data = crate::buffer::bytes(data)?;
        py.detach(|| locked(&self.0).update(&data));
        Ok(())
    }

    /// The digest of what has been taken so far. The message may go on.
    fn digest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.value(py))
    }

    /// The same in hexadecimal.
    fn hexdigest(&self, py: Python<'_>) -> String {
        hex(&self.value(py))
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.newplex.Digest>"
    }
}

/// A tag of 16 bytes, which only those who have the key can make.
#[pyclass(frozen, module = "sealwire.newplex")]
pub(crate) struct KeyedDigest(Box<Mutex<Keyed>>);

impl KeyedDigest {
    fn value(&self, py: Python<'_>) -> [u8; 16] {
        py.detach(|| locked(&self.0).value())
    }
}

#[pymethods]
impl KeyedDigest {
    /// Under a key of any size, of a message of the purpose `domain`, which begins with `data` if it is given.
    #[new]
    #[pyo3(signature = (domain, key, data = None))]
    fn new(
        domain: &Bound<'_, PyAny>,
        key: &Bound<'_, PyAny>,
        data: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let keyed = Keyed::new(label(domain)?, &secret(key)?);
        let digest = KeyedDigest(Box::new(Mutex::new(keyed)));
        data.map_or(Ok(()), |data| digest.update(domain.py(), data))?;
        Ok(digest)
    }

    /// Takes the next piece of the message.
    fn update(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<()> {
        let data = crate::buffer::bytes(data)?;
        py.detach(|| locked(&self.0).update(&data));
        Ok(())
    }

    /// The tag of what has been taken so far. The message may go on. To check one that came with a message use
    /// `verify`: `==` tells by its time where two differ.
    fn digest<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.value(py))
    }

    /// The same in hexadecimal.
    fn hexdigest(&self, py: Python<'_>) -> String {
        hex(&self.value(py))
    }

    /// Raises `VerificationError` unless `tag` is that of what has been taken so far. In constant time.
    fn verify(&self, py: Python<'_>, tag: &Bound<'_, PyAny>) -> PyResult<()> {
        let tag = crate::buffer::bytes(tag)?;
        let is_right = py.detach(|| match tag[..].try_into() {
            Ok(tag) => locked(&self.0).verify(tag),
            Err(_) => false,
        });
        if is_right {
            Ok(())
        } else {
            let problem = "not the tag of this message under this key and domain";
            Err(not_verified(py, problem))
        }
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.newplex.KeyedDigest>"
    }
}
