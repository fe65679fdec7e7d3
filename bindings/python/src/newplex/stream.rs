//! The blocks of a sealed stream. What moves them, `Writer` and `Reader`, is in `newplex.py`.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealwire_newplex::schemes::aestream::{
    HEADER_SIZE, MAX_BLOCK_SIZE, OVERHEAD, Opener as InnerOpener, Sealer as InnerSealer,
};

use super::not_authentic;
use super::protocol::Protocol;
use crate::sealing::sized;

/// Seals one block after the other. The stream is complete only with its end.
#[pyclass(frozen, module = "sealwire.newplex")]
pub(crate) struct Sealer(Mutex<Option<Box<InnerSealer>>>);

fn ended(py: Python<'_>) -> PyErr {
    crate::error::state(py, "the stream has ended: start another")
}

#[pymethods]
impl Sealer {
    /// Goes on from a protocol, whose state it takes over. It must hold a key, and something that never repeats
    /// under that key.
    #[new]
    fn new(py: Python<'_>, protocol: &Protocol) -> PyResult<Self> {
        let sealer = InnerSealer::new(protocol.hand_over(py)?);
        Ok(Sealer(Mutex::new(Some(Box::new(sealer)))))
    }

    /// The next block, with a text of 1 to 65,535 bytes; 18 bytes longer than that.
    fn seal<'py>(
        &self,
        py: Python<'py>,
        plaintext: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let plaintext = crate::buffer::bytes(plaintext)?;
        if !(1..=MAX_BLOCK_SIZE).contains(&plaintext.len()) {
            let problem = format!(
                "a block carries 1 to {MAX_BLOCK_SIZE} bytes, not {}",
                plaintext.len()
            );
            return Err(PyValueError::new_err(problem));
        }
        PyBytes::new_with(py, plaintext.len() + OVERHEAD, |block| {
            block[HEADER_SIZE..][..plaintext.len()].copy_from_slice(&plaintext);
            py.detach(|| {
                let mut sealer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                sealer.as_mut().map(|sealer| sealer.seal(block))
            })
            .ok_or_else(|| ended(py))
        })
    }

    /// The block that ends the stream, and the protocol to go on with.
    fn end<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>, Protocol)> {
        let sealer = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
        let (block, protocol) = sealer.ok_or_else(|| ended(py))?.end();
        Ok((PyBytes::new(py, &block), Protocol::of(protocol)))
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.newplex.Sealer>"
    }
}

/// Opens one block after the other, in their order only.
#[pyclass(frozen, module = "sealwire.newplex")]
pub(crate) struct Opener(Mutex<Side>);

struct Side {
    /// None once the protocol was given back.
    opener: Option<Box<InnerOpener>>,
    ended: bool,
}

impl Opener {
    fn with<R: Send>(&self, py: Python<'_>, run: impl FnOnce(&mut Side) -> R + Send) -> R {
        py.detach(|| run(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

fn given_back(py: Python<'_>) -> PyErr {
    let problem = "the protocol of the stream was given back: start another stream";
    crate::error::state(py, problem)
}

#[pymethods]
impl Opener {
    /// Goes on from a protocol, whose state it takes over: that with which the sealing side began.
    #[new]
    fn new(py: Python<'_>, protocol: &Protocol) -> PyResult<Self> {
        let opener = Some(Box::new(InnerOpener::new(protocol.hand_over(py)?)));
        let ended = false;
        Ok(Opener(Mutex::new(Side { opener, ended })))
    }

    /// Whether the end of the stream was opened. One without its end was cut off.
    #[getter]
    fn ended(&self, py: Python<'_>) -> bool {
        self.with(py, |side| side.ended)
    }

    /// Size of the next block, which begins with `header`, 2 bytes. A forged header is noticed when the block is
    /// opened, not here.
    fn block_size(&self, py: Python<'_>, header: &Bound<'_, PyAny>) -> PyResult<usize> {
        let header = sized(header, "a header")?;
        let ask = |side: &mut Side| Some(side.opener.as_mut()?.block_size(header));
        self.with(py, ask).ok_or_else(|| given_back(py))
    }

    /// The text of the next block; that of the end is empty. After a block that is not authentic none is opened any
    /// more.
    fn open<'py>(
        &self,
        py: Python<'py>,
        block: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let block = crate::buffer::bytes(block)?;
        let opened = self.with(py, |side| {
            let mut block = zeroize::Zeroizing::new(block.to_vec());
            let size = side
                .opener
                .as_mut()?
                .open(&mut block)
                .map(|text| text.len());
            side.ended |= size == Ok(0);
            Some(size.map(|size| (block, size)))
        });
        let (block, size) = opened
            .ok_or_else(|| given_back(py))?
            .map_err(|_| not_authentic(py))?;
        Ok(PyBytes::new(py, &block[HEADER_SIZE..][..size]))
    }

    /// The protocol to go on with, once the end was opened.
    fn end(&self, py: Python<'_>) -> PyResult<Protocol> {
        let (ended, opener) = self.with(py, |side| {
            let opener = if side.ended { side.opener.take() } else { None };
            (side.ended, opener)
        });
        if !ended {
            let problem = "the end of the stream was not opened: it may be cut off";
            return Err(crate::error::state(py, problem));
        }
        let opener = opener.ok_or_else(|| given_back(py))?;
        Ok(Protocol::of(opener.into_protocol()))
    }

    fn __repr__(&self) -> &'static str {
        "<sealwire.newplex.Opener>"
    }
}
