//! ChaCha20-BLAKE3: single messages, batches, and sealed streams.
//!
//! The result is made in place in the `bytes` object that is given back, with the GIL released for
//! all but short messages.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use sealwire_aead::batch::{OpenJob, SealJob, Verdict};
use sealwire_aead::{KEY_SIZE, NONCE_SIZE, OpenError, TAG_SIZE};
use zeroize::Zeroizing;

use crate::sealing::{sized, work};

fn key_of(given: &Bound<'_, PyAny>) -> PyResult<Zeroizing<[u8; KEY_SIZE]>> {
    sized(given, "a key").map(Zeroizing::new)
}

fn nonce_of(given: &Bound<'_, PyAny>) -> PyResult<[u8; NONCE_SIZE]> {
    sized(given, "a nonce")
}

fn aad_of(given: Option<&Bound<'_, PyAny>>) -> PyResult<bytes::Bytes> {
    given.map_or_else(|| Ok(bytes::Bytes::new()), crate::buffer::bytes)
}

fn forged(py: Python<'_>) -> PyErr {
    crate::error::plain(py, "DecryptionError", sealwire_aead::DecryptionError)
}

fn exhausted(py: Python<'_>) -> PyErr {
    crate::error::plain(py, "StreamExhausted", sealwire_aead::StreamExhausted)
}

fn not_opened(py: Python<'_>, error: &OpenError) -> PyErr {
    match error {
        OpenError::Exhausted => exhausted(py),
        _ => forged(py),
    }
}

/// Ciphertext and tag of a sealed message.
fn apart<'a>(py: Python<'_>, sealed: &'a [u8]) -> PyResult<(&'a [u8], &'a [u8; TAG_SIZE])> {
    sealed.split_last_chunk().ok_or_else(|| forged(py))
}

/// A fresh key of 32 bytes from the randomness of the system.
#[pyfunction]
pub(crate) fn generate_key(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
    let key = sealwire_aead::generate_key().map_err(no_randomness)?;
    Ok(PyBytes::new(py, key.as_bytes()))
}

/// A fresh nonce of 24 bytes from the randomness of the system.
#[pyfunction]
pub(crate) fn generate_nonce(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
    let nonce = sealwire_aead::generate_nonce().map_err(no_randomness)?;
    Ok(PyBytes::new(py, &nonce))
}

/// Longest key that is derived. BLAKE3 would give more, and nobody has a use for it.
const LONGEST_DERIVED: usize = 65_535;

/// A key of `length` bytes from secret `material`, for the purpose that `context` names: BLAKE3's key
/// derivation mode. The context is a constant of the program, and the material never a password.
#[pyfunction]
// A literal: of a constant the signature shows an ellipsis.
#[pyo3(signature = (context, material, length = 32))]
pub(crate) fn derive_key<'py>(
    py: Python<'py>,
    context: &str,
    material: &Bound<'_, PyAny>,
    length: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let material = Zeroizing::new(crate::buffer::copy(material)?);
    if !(1..=LONGEST_DERIVED).contains(&length) {
        let problem = format!("a derived key has 1 to {LONGEST_DERIVED} bytes, not {length}");
        return Err(PyValueError::new_err(problem));
    }
    PyBytes::new_with(py, length, |key| {
        work(py, material.len() + length, || {
            sealwire_aead::derive_key_into(context, &material, key);
        });
        Ok(())
    })
}

fn no_randomness(error: sealwire_aead::RandomError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// Seals and opens single messages under one key, each with a nonce of its own.
#[pyclass(frozen, module = "sealwire.aead")]
pub(crate) struct Cipher(sealwire_aead::Cipher);

#[pymethods]
impl Cipher {
    #[new]
    fn new(key: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Cipher(sealwire_aead::Cipher::new(&*key_of(key)?)))
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
        let (nonce, aad) = (nonce_of(nonce)?, aad_of(aad)?);
        let plaintext = crate::buffer::bytes(plaintext)?;
        PyBytes::new_with(py, plaintext.len() + TAG_SIZE, |sealed| {
            work(py, plaintext.len(), || {
                let (text, tag) = sealed.split_at_mut(plaintext.len());
                text.copy_from_slice(&plaintext);
                tag.copy_from_slice(&self.0.encrypt_in_place_detached(&nonce, &aad, text));
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
        let sealed = crate::buffer::bytes(ciphertext)?;
        let (text, tag) = apart(py, &sealed)?;
        self.open(py, nonce_of(nonce)?, &aad_of(aad)?, text, tag)
    }

    /// Seals a message and gives ciphertext and tag apart.
    #[pyo3(signature = (nonce, plaintext, aad = None))]
    fn encrypt_detached<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'_, PyAny>,
        plaintext: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let (nonce, aad) = (nonce_of(nonce)?, aad_of(aad)?);
        let plaintext = crate::buffer::bytes(plaintext)?;
        let mut tag = [0; TAG_SIZE];
        let text = PyBytes::new_with(py, plaintext.len(), |text| {
            tag = work(py, plaintext.len(), || {
                text.copy_from_slice(&plaintext);
                self.0.encrypt_in_place_detached(&nonce, &aad, text)
            });
            Ok(())
        })?;
        Ok((text, PyBytes::new(py, &tag)))
    }

    /// Opens a message whose tag is kept apart.
    #[pyo3(signature = (nonce, ciphertext, tag, aad = None))]
    fn decrypt_detached<'py>(
        &self,
        py: Python<'py>,
        nonce: &Bound<'_, PyAny>,
        ciphertext: &Bound<'_, PyAny>,
        tag: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let text = crate::buffer::bytes(ciphertext)?;
        let tag = sized(tag, "a tag")?;
        self.open(py, nonce_of(nonce)?, &aad_of(aad)?, &text, &tag)
    }

    /// Seals messages, each a tuple of nonce, plaintext and perhaps aad, faster than one by one.
    fn encrypt_many<'py>(
        &self,
        py: Python<'py>,
        messages: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut parts = parts_of(messages)?;
        let size = parts.iter().map(|part| part.text.len()).sum();
        let tags = work(py, size, || {
            let mut tags = vec![[0; TAG_SIZE]; parts.len()];
            let mut jobs: Vec<_> = parts
                .iter_mut()
                .zip(&mut tags)
                .map(|(part, tag)| SealJob {
                    nonce: part.nonce,
                    aad: &part.aad,
                    buffer: &mut part.text,
                    tag,
                })
                .collect();
            self.0.seal_batch(&mut jobs);
            drop(jobs);
            tags
        });
        let sealed = PyList::empty(py);
        for (part, tag) in parts.iter().zip(&tags) {
            sealed.append(joined(py, &part.text, tag)?)?;
        }
        Ok(sealed)
    }

    /// Opens messages, each a tuple of nonce, ciphertext and perhaps aad. The list has `None` for a forged
    /// one.
    fn decrypt_many<'py>(
        &self,
        py: Python<'py>,
        messages: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut parts = parts_of(messages)?;
        let size = parts.iter().map(|part| part.text.len()).sum();
        let verdicts = work(py, size, || {
            let mut tags = Vec::with_capacity(parts.len());
            for part in &mut parts {
                tags.push(part.split_tag());
            }
            let mut jobs: Vec<_> = parts
                .iter_mut()
                .zip(&tags)
                .filter_map(|(part, tag)| {
                    let tag = tag.as_ref()?;
                    Some(OpenJob::new(part.nonce, &part.aad, &mut part.text, tag))
                })
                .collect();
            // Each job has a verdict of its own.
            let _ = self.0.open_batch(&mut jobs);
            let mut verdicts = jobs.iter().map(|job| job.verdict == Verdict::Verified);
            tags.iter()
                .map(|tag| tag.is_some() && verdicts.next() == Some(true))
                .collect::<Vec<_>>()
        });
        let opened = PyList::empty(py);
        for (part, verified) in parts.iter().zip(verdicts) {
            opened.append(verified.then(|| PyBytes::new(py, &part.text)))?;
        }
        Ok(opened)
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.aead.Cipher>"
    }
}

impl Cipher {
    fn open<'py>(
        &self,
        py: Python<'py>,
        nonce: [u8; NONCE_SIZE],
        aad: &[u8],
        ciphertext: &[u8],
        tag: &[u8; TAG_SIZE],
    ) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, ciphertext.len(), |text| {
            work(py, ciphertext.len(), || {
                text.copy_from_slice(ciphertext);
                self.0.decrypt_in_place_detached(&nonce, aad, text, tag)
            })
            .map_err(|_| forged(py))
        })
    }
}

/// One message of a batch.
struct Part {
    nonce: [u8; NONCE_SIZE],
    text: Vec<u8>,
    aad: bytes::Bytes,
}

impl Part {
    /// Takes the tag off; `None` when the message is too short for one.
    fn split_tag(&mut self) -> Option<[u8; TAG_SIZE]> {
        let tag = *self.text.last_chunk()?;
        self.text.truncate(self.text.len() - TAG_SIZE);
        Some(tag)
    }
}

fn parts_of(messages: &Bound<'_, PyAny>) -> PyResult<Vec<Part>> {
    let mut parts = Vec::new();
    for message in messages.try_iter()? {
        let message = message?;
        let message = message.cast::<PyTuple>()?;
        let aad = match message.len() {
            2 => None,
            3 => Some(message.get_item(2)?),
            _ => {
                return Err(PyValueError::new_err(
                    "a message of a batch is (nonce, text) or (nonce, text, aad)",
                ));
            }
        };
        parts.push(Part {
            nonce: nonce_of(&message.get_item(0)?)?,
            text: crate::buffer::copy(&message.get_item(1)?)?,
            aad: aad_of(aad.as_ref())?,
        });
    }
    Ok(parts)
}

fn joined<'py>(
    py: Python<'py>,
    text: &[u8],
    tag: &[u8; TAG_SIZE],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, text.len() + TAG_SIZE, |sealed| {
        sealed[..text.len()].copy_from_slice(text);
        sealed[text.len()..].copy_from_slice(tag);
        Ok(())
    })
}

/// Seals a sequence of messages; nonces are counted and cannot repeat.
#[pyclass(frozen, module = "sealwire.aead")]
pub(crate) struct Stream(sealwire_aead::Stream);

#[pymethods]
impl Stream {
    /// The pair of key and nonce must be fresh.
    #[new]
    #[pyo3(signature = (key, nonce, position = 0))]
    fn new(key: &Bound<'_, PyAny>, nonce: &Bound<'_, PyAny>, position: u64) -> PyResult<Self> {
        let (key, nonce) = (key_of(key)?, nonce_of(nonce)?);
        Ok(Stream(sealwire_aead::Stream::starting_at(
            &key, &nonce, position,
        )))
    }

    /// Position of the next message.
    #[getter]
    fn position(&self) -> u64 {
        self.0.position()
    }

    /// Seals the next message; the tag is at the end.
    #[pyo3(signature = (plaintext, aad = None))]
    fn seal<'py>(
        &self,
        py: Python<'py>,
        plaintext: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (plaintext, aad) = (crate::buffer::bytes(plaintext)?, aad_of(aad)?);
        PyBytes::new_with(py, plaintext.len() + TAG_SIZE, |sealed| {
            work(py, plaintext.len(), || {
                let (text, tag) = sealed.split_at_mut(plaintext.len());
                text.copy_from_slice(&plaintext);
                self.0
                    .seal(&aad, text)
                    .map(|(_, made)| tag.copy_from_slice(&made))
            })
            .map_err(|_| exhausted(py))
        })
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.aead.Stream>"
    }
}

/// Opens what a `Stream` sealed, in order; moves on only when a message opens.
#[pyclass(frozen, module = "sealwire.aead")]
pub(crate) struct StreamOpener(Mutex<sealwire_aead::StreamOpener>);

#[pymethods]
impl StreamOpener {
    #[new]
    #[pyo3(signature = (key, nonce, position = 0))]
    fn new(key: &Bound<'_, PyAny>, nonce: &Bound<'_, PyAny>, position: u64) -> PyResult<Self> {
        let (key, nonce) = (key_of(key)?, nonce_of(nonce)?);
        let opener = sealwire_aead::StreamOpener::starting_at(&key, &nonce, position);
        Ok(StreamOpener(Mutex::new(opener)))
    }

    /// Position of the message that is expected next.
    #[getter]
    fn position(&self, py: Python<'_>) -> u64 {
        py.detach(|| {
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .position()
        })
    }

    /// Opens the next message.
    #[pyo3(signature = (ciphertext, aad = None))]
    fn open<'py>(
        &self,
        py: Python<'py>,
        ciphertext: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (sealed, aad) = (crate::buffer::bytes(ciphertext)?, aad_of(aad)?);
        let (ciphertext, tag) = apart(py, &sealed)?;
        PyBytes::new_with(py, ciphertext.len(), |text| {
            text.copy_from_slice(ciphertext);
            // Always without the GIL: the thread that holds the lock may want it.
            py.detach(|| {
                let mut opener = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                opener.open(&aad, text, tag)
            })
            .map_err(|error| not_opened(py, &error))
        })
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.aead.StreamOpener>"
    }
}

/// **Weak: whole messages can be dropped, repeated or reordered unnoticed.** One keystream that runs
/// on through all messages, for peers that speak nothing else. Use `Stream` everywhere else.
///
/// One side of one direction. The first message says which: one that sealed and opened would use its
/// keystream twice.
#[pyclass(frozen, module = "sealwire.aead")]
pub(crate) struct Session(Mutex<Side>);

struct Side {
    session: sealwire_aead::Session,
    direction: Option<Direction>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Sealing,
    Opening,
}

impl Side {
    /// `None` when the session is of the other direction.
    fn in_direction(&mut self, direction: Direction) -> Option<&mut sealwire_aead::Session> {
        let settled = *self.direction.get_or_insert(direction);
        (settled == direction).then_some(&mut self.session)
    }
}

fn other_direction(py: Python<'_>) -> PyErr {
    let problem = "one session seals and another opens: make one for each direction";
    crate::error::plain(py, "DirectionError", problem)
}

impl Session {
    fn side(&self) -> MutexGuard<'_, Side> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Session {
    /// With a key for the keystream, one for the tags, and a nonce of 8 bytes.
    #[new]
    fn new(
        encryption_key: &Bound<'_, PyAny>,
        authentication_key: &Bound<'_, PyAny>,
        nonce: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let session = sealwire_aead::Session::new(
            &*key_of(encryption_key)?,
            &*key_of(authentication_key)?,
            &sized(nonce, "the nonce of a session")?,
        );
        let direction = None;
        Ok(Session(Mutex::new(Side { session, direction })))
    }

    /// Number of blocks of the keystream, of 64 bytes each, that messages have used so far.
    #[getter]
    fn block_counter(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.side().session.block_counter())
    }

    /// Seals the next message; the tag is at the end.
    #[pyo3(signature = (plaintext, aad = None))]
    fn seal<'py>(
        &self,
        py: Python<'py>,
        plaintext: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (plaintext, aad) = (crate::buffer::bytes(plaintext)?, aad_of(aad)?);
        PyBytes::new_with(py, plaintext.len() + TAG_SIZE, |sealed| {
            py.detach(|| {
                let (text, tag) = sealed.split_at_mut(plaintext.len());
                text.copy_from_slice(&plaintext);
                let mut side = self.side();
                let session = side.in_direction(Direction::Sealing)?;
                tag.copy_from_slice(&session.seal(&aad, text));
                Some(())
            })
            .ok_or_else(|| other_direction(py))
        })
    }

    /// Opens the next message.
    #[pyo3(signature = (ciphertext, aad = None))]
    fn open<'py>(
        &self,
        py: Python<'py>,
        ciphertext: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (sealed, aad) = (crate::buffer::bytes(ciphertext)?, aad_of(aad)?);
        let (ciphertext, tag) = apart(py, &sealed)?;
        PyBytes::new_with(py, ciphertext.len(), |text| {
            text.copy_from_slice(ciphertext);
            py.detach(|| {
                let mut side = self.side();
                let session = side.in_direction(Direction::Opening)?;
                Some(session.open(&aad, text, tag))
            })
            .ok_or_else(|| other_direction(py))?
            .map_err(|_| forged(py))
        })
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.aead.Session>"
    }
}
