//! NaCl's `box` and `secretbox`. A message carries its nonce in front, which is random unless the caller
//! gives one.
//!
//! ```text
//! | nonce, 24 | tag, 16 | ciphertext |
//! ```

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealwire_nacl::{KEY_SIZE, NONCE_SIZE, OpenError, TAG_SIZE};
use zeroize::Zeroizing;

use crate::keys::{KeyPair, PublicKey};
use crate::sealing::{sized, work};

fn not_authentic(py: Python<'_>) -> PyErr {
    crate::error::plain(py, "DecryptionError", OpenError)
}

fn random<const N: usize>() -> PyResult<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok(bytes)
}

/// A fresh key of 32 bytes from the randomness of the system.
#[pyfunction]
pub(crate) fn generate_box_key(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
    let key = Zeroizing::new(random::<KEY_SIZE>()?);
    Ok(PyBytes::new(py, &key[..]))
}

/// A fresh nonce of 24 bytes from the randomness of the system.
#[pyfunction]
pub(crate) fn generate_box_nonce(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
    Ok(PyBytes::new(py, &random::<NONCE_SIZE>()?))
}

/// Seals and opens messages under one key: `crypto_secretbox`.
#[pyclass(frozen, module = "sealwire.box")]
pub(crate) struct SecretBox(sealwire_nacl::SecretBox);

#[pymethods]
impl SecretBox {
    #[new]
    fn new(key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let key = Zeroizing::new(sized(key, "a key")?);
        Ok(SecretBox(sealwire_nacl::SecretBox::new(&key)))
    }

    /// Seals a message under a nonce, a random one unless given, which stands in front of the result.
    #[pyo3(signature = (plaintext, nonce = None))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        plaintext: &Bound<'_, PyAny>,
        nonce: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        seal(py, &self.0, plaintext, nonce)
    }

    /// Opens what `encrypt` gave; with a nonce, what followed it.
    #[pyo3(signature = (ciphertext, nonce = None))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        ciphertext: &Bound<'_, PyAny>,
        nonce: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        open(py, &self.0, ciphertext, nonce)
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.box.SecretBox>"
    }
}

/// Seals and opens messages between the owners of two key pairs: `crypto_box`. The key that they share
/// is computed once, here.
#[pyclass(frozen, name = "Box", module = "sealwire.box")]
pub(crate) struct PublicKeyBox(sealwire_nacl::SecretBox);

#[pymethods]
impl PublicKeyBox {
    /// Between one's own key pair and the public key of the other side.
    #[new]
    fn new(py: Python<'_>, keys: &KeyPair, public: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (keys, public) = (keys.inner(), PublicKey::any(public)?);
        let shared = sealwire_nacl::x25519(keys.secret().as_bytes(), public.as_bytes())
            .and_then(|agreed| sealwire_nacl::SecretBox::from_agreement(&agreed))
            .map_err(|error| crate::error::plain(py, "WeakKeyError", error))?;
        Ok(PublicKeyBox(shared))
    }

    /// The key of 32 bytes that both sides share (`crypto_box_beforenm`), as an object of Python that is
    /// not wiped.
    fn shared_key<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.as_bytes())
    }

    /// Seals a message under a nonce, a random one unless given, which stands in front of the result.
    #[pyo3(signature = (plaintext, nonce = None))]
    fn encrypt<'py>(
        &self,
        py: Python<'py>,
        plaintext: &Bound<'_, PyAny>,
        nonce: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        seal(py, &self.0, plaintext, nonce)
    }

    /// Opens what `encrypt` of either side gave; with a nonce, what followed it.
    #[pyo3(signature = (ciphertext, nonce = None))]
    fn decrypt<'py>(
        &self,
        py: Python<'py>,
        ciphertext: &Bound<'_, PyAny>,
        nonce: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        open(py, &self.0, ciphertext, nonce)
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.box.Box>"
    }
}

fn seal<'py>(
    py: Python<'py>,
    key: &sealwire_nacl::SecretBox,
    plaintext: &Bound<'_, PyAny>,
    nonce: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let nonce: [u8; NONCE_SIZE] = nonce.map_or_else(random, |nonce| sized(nonce, "a nonce"))?;
    let plaintext = crate::buffer::bytes(plaintext)?;
    PyBytes::new_with(py, NONCE_SIZE + TAG_SIZE + plaintext.len(), |sealed| {
        let (front, text) = sealed.split_at_mut(NONCE_SIZE + TAG_SIZE);
        front[..NONCE_SIZE].copy_from_slice(&nonce);
        work(py, plaintext.len(), || {
            text.copy_from_slice(&plaintext);
            front[NONCE_SIZE..].copy_from_slice(&key.seal_in_place_detached(&nonce, text));
        });
        Ok(())
    })
}

fn open<'py>(
    py: Python<'py>,
    key: &sealwire_nacl::SecretBox,
    sealed: &Bound<'_, PyAny>,
    nonce: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let sealed = crate::buffer::bytes(sealed)?;
    let short = || not_authentic(py);
    let (nonce, sealed) = match nonce {
        Some(nonce) => (sized(nonce, "a nonce")?, &sealed[..]),
        None => {
            let (nonce, rest) = sealed.split_first_chunk().ok_or_else(short)?;
            (*nonce, rest)
        }
    };
    let (tag, ciphertext) = sealed.split_first_chunk::<TAG_SIZE>().ok_or_else(short)?;
    PyBytes::new_with(py, ciphertext.len(), |text| {
        work(py, ciphertext.len(), || {
            text.copy_from_slice(ciphertext);
            key.open_in_place_detached(&nonce, text, tag)
        })
        .map_err(|_| not_authentic(py))
    })
}
