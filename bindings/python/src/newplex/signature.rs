//! Signatures.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealwire_newplex::schemes::keys::{PublicKey, SecretKey};
use sealwire_newplex::schemes::sig::{Signature, SigningKey as Signing, VerifyingKey as Verifying};

use super::{invalid, label, not_verified, secret};
use crate::sealing::work;

/// A secret key that signs for one domain.
#[pyclass(frozen, module = "sealwire.newplex")]
pub(crate) struct SigningKey {
    key: Box<Signing>,
    secret: SecretKey,
}

impl SigningKey {
    fn of(domain: &Bound<'_, PyAny>, secret: SecretKey) -> PyResult<Self> {
        let key = Box::new(Signing::new(label(domain)?, secret.clone()));
        Ok(SigningKey { key, secret })
    }
}

#[pymethods]
impl SigningKey {
    /// With the 32 bytes that `secret_key` gave.
    #[new]
    fn new(domain: &Bound<'_, PyAny>, secret_key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let secret_key = SecretKey::from_bytes(&secret(secret_key)?).map_err(invalid)?;
        Self::of(domain, secret_key)
    }

    /// A new key.
    #[staticmethod]
    fn generate(domain: &Bound<'_, PyAny>) -> PyResult<Self> {
        let secret = SecretKey::generate();
        let secret = secret.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Self::of(domain, secret)
    }

    /// The key to give to others: 32 bytes.
    #[getter]
    fn public_key<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.secret.public_key().as_bytes())
    }

    /// The key to keep: 32 bytes, an object of Python that is not wiped.
    fn secret_key<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.secret.to_bytes()[..])
    }

    /// The signature of a message: 64 bytes. `random` hedges: any number of bytes, best 64 random ones, protect the
    /// key of a device that can be made to miscalculate. Without them the same message has the same signature.
    #[pyo3(signature = (message, random = None))]
    fn sign<'py>(
        &self,
        py: Python<'py>,
        message: &Bound<'_, PyAny>,
        random: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let message = crate::buffer::bytes(message)?;
        let random = random.map(secret).transpose()?.unwrap_or_default();
        let signature = work(py, message.len(), || {
            self.key.sign_hedged(&message, &random)
        });
        Ok(PyBytes::new(py, &signature.to_bytes()))
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.newplex.SigningKey>"
    }
}

/// A public key that verifies signatures for one domain.
#[pyclass(frozen, module = "sealwire.newplex")]
pub(crate) struct VerifyingKey(Box<Verifying>);

#[pymethods]
impl VerifyingKey {
    /// With the 32 bytes of a `SigningKey`'s `public_key`.
    #[new]
    fn new(domain: &Bound<'_, PyAny>, public_key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let public_key = PublicKey::from_bytes(&crate::buffer::bytes(public_key)?);
        let public_key = public_key.map_err(invalid)?;
        let key = Verifying::new(label(domain)?, public_key);
        Ok(VerifyingKey(Box::new(key)))
    }

    /// The 32 bytes.
    #[getter]
    fn public_key<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.public_key().as_bytes())
    }

    /// Raises `VerificationError` unless the owner of the key signed this message for this domain.
    fn verify(
        &self,
        py: Python<'_>,
        message: &Bound<'_, PyAny>,
        signature: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (message, signature) = (
            crate::buffer::bytes(message)?,
            crate::buffer::bytes(signature)?,
        );
        let verified = work(py, message.len(), || {
            let mut verification = self.0.begin();
            verification.update(&message);
            verification.finish(&Signature::try_from(&signature[..])?)
        });
        let problem = "not a signature of this message by this key for this domain";
        verified.map_err(|_| not_verified(py, problem))
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.newplex.VerifyingKey>"
    }
}
