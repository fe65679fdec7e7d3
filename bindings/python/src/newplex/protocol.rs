//! The protocol.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use sealwire_newplex::{Protocol as Inner, TAG_SIZE};

use super::{invalid, label, not_authentic, secret};

/// A state that operations are applied to, one after the other: what each gives depends on all that went
/// before, labels and lengths included. Two protocols that did the same are in the same state.
///
/// A label is a text or bytes. A stream takes the state over: the protocol that it was made of cannot be used any more.
#[pyclass(frozen, module = "sealwire.newplex")]
pub(crate) struct Protocol(Mutex<Option<Box<Inner>>>);

impl Protocol {
    pub(super) fn of(inner: Inner) -> Self {
        Protocol(Mutex::new(Some(Box::new(inner))))
    }

    /// Always without the GIL: the thread that holds the lock may want it.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        run: impl FnOnce(&mut Inner) -> R + Send,
    ) -> PyResult<R> {
        let outcome = py.detach(|| {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            state.as_deref_mut().map(run)
        });
        outcome.ok_or_else(|| handed_over(py))
    }

    /// The state, for a stream that goes on from it.
    pub(super) fn hand_over(&self, py: Python<'_>) -> PyResult<Inner> {
        let taken = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
        taken.map(|state| *state).ok_or_else(|| handed_over(py))
    }
}

fn handed_over(py: Python<'_>) -> PyErr {
    let problem = "the protocol was handed over to a stream: go on with the one that its end gives";
    crate::error::state(py, problem)
}

#[pymethods]
impl Protocol {
    /// For a domain that is unique to the application and the purpose: "com.example.application.purpose".
    #[new]
    fn new(domain: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self::of(Inner::new(label(domain)?)))
    }

    /// Takes data into the state.
    fn mix(
        &self,
        py: Python<'_>,
        label: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (label, data) = (super::label(label)?, crate::buffer::bytes(data)?);
        self.with(py, |protocol| protocol.mix(label, &data))
    }

    /// Gives pseudorandom bytes. Outputs of different sizes are unrelated.
    fn derive<'py>(
        &self,
        py: Python<'py>,
        label: &Bound<'_, PyAny>,
        size: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let label = super::label(label)?;
        PyBytes::new_with(py, size, |derived| {
            self.with(py, |protocol| protocol.derive(label, derived))
        })
    }

    /// Encrypts without authenticating: use `seal` unless something else does.
    fn mask<'py>(
        &self,
        py: Python<'py>,
        label: &Bound<'_, PyAny>,
        plaintext: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (label, plaintext) = (super::label(label)?, crate::buffer::bytes(plaintext)?);
        PyBytes::new_with(py, plaintext.len(), |text| {
            text.copy_from_slice(&plaintext);
            self.with(py, |protocol| protocol.mask(label, text))
        })
    }

    /// Decrypts what `mask` gave. Whether it is authentic remains unknown.
    fn unmask<'py>(
        &self,
        py: Python<'py>,
        label: &Bound<'_, PyAny>,
        ciphertext: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (label, ciphertext) = (super::label(label)?, crate::buffer::bytes(ciphertext)?);
        PyBytes::new_with(py, ciphertext.len(), |text| {
            text.copy_from_slice(&ciphertext);
            self.with(py, |protocol| protocol.unmask(label, text))
        })
    }

    /// Seals a message: the ciphertext, then the tag of 16 bytes, which also authenticates all that went into
    /// the protocol before.
    fn seal<'py>(
        &self,
        py: Python<'py>,
        label: &Bound<'_, PyAny>,
        plaintext: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (label, plaintext) = (super::label(label)?, crate::buffer::bytes(plaintext)?);
        PyBytes::new_with(py, plaintext.len() + TAG_SIZE, |sealed| {
            let (text, tag) = sealed.split_at_mut(plaintext.len());
            text.copy_from_slice(&plaintext);
            self.with(py, |protocol| {
                tag.copy_from_slice(&protocol.seal_detached(label, text));
            })
        })
    }

    /// Opens what `seal` gave in the same state. After a forgery the state has moved on all the same: open with
    /// a clone to go on.
    fn open<'py>(
        &self,
        py: Python<'py>,
        label: &Bound<'_, PyAny>,
        sealed: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (label, sealed) = (super::label(label)?, crate::buffer::bytes(sealed)?);
        let parts = sealed.split_last_chunk::<TAG_SIZE>();
        let (ciphertext, tag) = parts.ok_or_else(|| not_authentic(py))?;
        PyBytes::new_with(py, ciphertext.len(), |text| {
            text.copy_from_slice(ciphertext);
            self.with(py, |protocol| protocol.open_detached(label, text, tag))?
                .map_err(|_| not_authentic(py))
        })
    }

    /// Changes the state in a way that cannot be undone: who learns the new one learns nothing about what went
    /// before.
    fn ratchet(&self, py: Python<'_>, label: &Bound<'_, PyAny>) -> PyResult<()> {
        let label = super::label(label)?;
        self.with(py, |protocol| protocol.ratchet(label))
    }

    /// Splits off a branch for each value, 255 at most. They differ from each other and from this one, which goes
    /// on, even where values are the same.
    #[pyo3(signature = (label, *values))]
    fn fork<'py>(
        &self,
        py: Python<'py>,
        label: &Bound<'_, PyAny>,
        values: &Bound<'py, PyTuple>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let label = super::label(label)?;
        let values: Vec<_> = (values.iter())
            .map(|value| crate::buffer::bytes(&value))
            .collect::<PyResult<_>>()?;
        let values: Vec<&[u8]> = values.iter().map(|value| &value[..]).collect();
        let branches = self.with(py, |protocol| protocol.fork_each(label, &values))?;
        let branches = branches.map_err(invalid)?.into_iter().map(Self::of);
        PyTuple::new(py, branches.collect::<Vec<_>>())
    }

    /// A copy in the same state: what both are asked in the same way they answer in the same way, so never seal
    /// different messages with both.
    fn clone(&self, py: Python<'_>) -> PyResult<Self> {
        self.with(py, |protocol| protocol.clone()).map(Self::of)
    }

    /// The state, 130 bytes, as secret as any key that went into the protocol; an object of Python that is not wiped.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.with(py, |protocol| protocol.to_bytes())?;
        Ok(PyBytes::new(py, &state[..]))
    }

    /// The protocol whose state `to_bytes` gave. Nothing shows that a state was changed.
    #[staticmethod]
    fn from_bytes(state: &Bound<'_, PyAny>) -> PyResult<Self> {
        let protocol = Inner::from_bytes(&secret(state)?).map_err(invalid)?;
        Ok(Self::of(protocol))
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.newplex.Protocol>"
    }
}
