//! Newplex: labelled operations on one state, and the schemes that are made of them.
//!
//! A state is aligned to 64 bytes, and Python's allocator aligns to 16: it lies in a box.

mod cipher;
mod digest;
mod protocol;
mod signature;
mod stream;

use bytes::Bytes;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use zeroize::Zeroizing;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<protocol::Protocol>()?;
    module.add_class::<digest::Digest>()?;
    module.add_class::<digest::KeyedDigest>()?;
    // `Cipher` here is that of the module `sealwire.aead`.
    module.add("NewplexCipher", module.py().get_type::<cipher::Cipher>())?;
    module.add_class::<stream::Sealer>()?;
    module.add_class::<stream::Opener>()?;
    module.add_class::<signature::SigningKey>()?;
    module.add_class::<signature::VerifyingKey>()?;
    module.add_function(wrap_pyfunction!(cipher::generate_newplex_key, module)?)?;
    module.add_function(wrap_pyfunction!(cipher::generate_newplex_nonce, module)?)
}

/// What Python allocates lies as it does in a `malloc`.
const fn is_aligned_by_python<T>() -> bool {
    align_of::<T>() <= 16
}

const _: () = assert!(
    is_aligned_by_python::<protocol::Protocol>()
        && is_aligned_by_python::<digest::Digest>()
        && is_aligned_by_python::<digest::KeyedDigest>()
        && is_aligned_by_python::<cipher::Cipher>()
        && is_aligned_by_python::<stream::Sealer>()
        && is_aligned_by_python::<stream::Opener>()
        && is_aligned_by_python::<signature::SigningKey>()
        && is_aligned_by_python::<signature::VerifyingKey>()
);

/// A label or domain: a text, whose bytes are those of UTF-8, or bytes.
fn label(given: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    match given.cast::<PyString>() {
        Ok(text) => Ok(Bytes::copy_from_slice(text.to_str()?.as_bytes())),
        Err(_) => crate::buffer::bytes(given),
    }
}

/// A key of any size, wiped after its use. That of the caller is Python's.
fn secret(given: &Bound<'_, PyAny>) -> PyResult<Zeroizing<Vec<u8>>> {
    crate::buffer::copy(given).map(Zeroizing::new)
}

fn random<const N: usize>(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(&mut bytes[..]).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, &bytes[..]))
}

fn not_authentic(py: Python<'_>) -> PyErr {
    crate::error::plain(py, "DecryptionError", sealwire_newplex::InvalidCiphertext)
}

fn not_verified(py: Python<'_>, problem: &str) -> PyErr {
    crate::error::plain(py, "VerificationError", problem)
}

fn invalid(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
