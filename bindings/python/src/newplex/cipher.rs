//! The AEAD.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealwire_newplex::TAG_SIZE;
use sealwire_newplex::schemes::aead::Aead;

use super::{label, not_authentic, random, secret};
use crate::sealing::{sized, work};

const KEY_SIZE: usize = 32;
const NONCE_SIZE: usize = 16;

/// A fresh key of 32 bytes from the randomness of the system.
#[pyfunction]
pub(crate) fn generate_newplex_key(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
    random::<KEY_SIZE>(py)
}

/// A fresh nonce of 16 bytes from the randomness of the system.
#[pyfunction]
pub(crate) fn generate_newplex_nonce(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
    random::<NONCE_SIZE>(py)
}

/// Seals and opens single messages under one key, each with a nonce of its own: 16 bytes.
#[pyclass(frozen, module = "sealwire.newplex")]
pub(crate) struct Cipher(Box<Aead>);

#[pymethods]
impl Cipher {
    /// Under a key of any size, best 32 random bytes, for the purpose `domain`.
    #[new]
    fn new(domain: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Cipher(Box::new(Aead::new(label(domain)?, &secret(key)?))))
    }

    /// Seals a message and binds `aad` to it; the tag is at the end.
    #[pyo3(signature = (nonce, plaintext, aad = None))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'_, PyAny>,
        plaintext: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let nonce = sized::<NONCE_SIZE>(nonce, "a nonce")?.into();
        let aad = aad
            .map(crate::buffer::bytes)
            .transpose()?
            .unwrap_or_default();
        let plaintext = crate::buffer::bytes(plaintext)?;
        PyBytes::new_with(py, plaintext.len() + TAG_SIZE, |sealed| {
            work(py, plaintext.len() + aad.len(), || {
                let (text, tag) = sealed.split_at_mut(plaintext.len());
                text.copy_from_slice(&plaintext);
                tag.copy_from_slice(&self.0.seal_detached(&nonce, &aad, text));
            });
            Ok(())
        })
    }

    /// Opens a message that was sealed with the same `aad`.
    #[pyo3(signature = (nonce, ciphertext, aad = None))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'_, PyAny>,
        ciphertext: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let nonce = sized::<NONCE_SIZE>(nonce, "a nonce")?.into();
        let aad = aad
            .map(crate::buffer::bytes)
            .transpose()?
            .unwrap_or_default();
        let sealed = crate::buffer::bytes(ciphertext)?;
        let parts = sealed.split_last_chunk::<TAG_SIZE>();
        let (ciphertext, tag) = parts.ok_or_else(|| not_authentic(py))?;
        PyBytes::new_with(py, ciphertext.len(), |text| {
            work(py, ciphertext.len() + aad.len(), || {
                text.copy_from_slice(ciphertext);
                self.0.open_detached(&nonce, &aad, text, tag)
            })
            .map_err(|_| not_authentic(py))
        })
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.newplex.Cipher>"
    }
}
