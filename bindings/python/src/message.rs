//! Messages and frames as Python sees them when it asks for more than the bytes.

use std::ffi::c_int;
use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyUnicodeDecodeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::peer::Peer;

/// One frame with the buffer protocol: `memoryview(frame)` copies nothing.
#[pyclass(frozen, module = "sealwire")]
pub(crate) struct Frame {
    inner: sealwire::Frame,
    peer: Option<Arc<sealwire::Peer>>,
}

impl Frame {
    pub(crate) fn new(inner: sealwire::Frame, peer: Option<Arc<sealwire::Peer>>) -> Self {
        Frame { inner, peer }
    }

    pub(crate) fn inner(&self) -> &sealwire::Frame {
        &self.inner
    }
}

#[pymethods]
impl Frame {
    #[new]
    fn of(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Frame::new(crate::buffer::frame(data)?, None))
    }

    /// A copy of the payload.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner)
    }

    /// The payload itself, read-only.
    #[getter]
    fn buffer<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let builtins = slf.py().import("builtins")?;
        builtins.getattr("memoryview")?.call1((slf,))
    }

    /// The peer that sent it; `None` for a frame made here.
    #[getter]
    fn peer(&self) -> Option<Peer> {
        self.peer.clone().map(Peer::from)
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.bytes(py)
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    fn __repr__(&self) -> String {
        format!("<sealwire.Frame {:?}>", self.inner)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        if let Ok(frame) = other.cast::<Frame>() {
            return frame.get().inner == self.inner;
        }
        crate::buffer::copy(other).is_ok_and(|other| self.inner == other[..])
    }

    /// As that of the equal `bytes`.
    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.bytes(py).hash()
    }

    /// # Safety
    ///
    /// Called by Python, with what [`fill_view`](crate::buffer::fill_view) asks for.
    #[allow(unsafe_code)]
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let content: &[u8] = &slf.get().inner;
        // SAFETY: `view` comes from Python. The class is frozen and its objects do not move, so the
        // frame stays as it is and where it is.
        unsafe { crate::buffer::fill_view(slf.as_any(), content, view, flags) }
    }
}

/// One or more frames that were received together, with who sent them.
#[pyclass(frozen, sequence, module = "sealwire")]
pub(crate) struct Message {
    inner: sealwire::Message,
}

impl From<sealwire::Message> for Message {
    fn from(inner: sealwire::Message) -> Self {
        Message { inner }
    }
}

#[pymethods]
impl Message {
    /// The peer that sent it, as the handshake proved it.
    #[getter]
    fn peer(&self) -> Option<Peer> {
        self.inner.peer().cloned().map(Peer::from)
    }

    /// All frames, copied.
    #[getter]
    fn frames<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        frames_of(py, &self.inner)
    }

    /// The last frame, copied: the whole message, or the body behind an envelope.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.inner.as_bytes())
    }

    /// The last frame as text.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        text_of(py, self.inner.as_bytes())
    }

    /// SERVER and PEER: the routing id of the connection it came through.
    #[getter]
    fn routing_id(&self) -> Option<u32> {
        self.inner.routing_id()
    }

    /// DISH: the group it was sent to.
    #[getter]
    fn group<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.inner.group().map(|group| PyBytes::new(py, group))
    }

    /// Frame `index` with the buffer protocol, not copied.
    fn frame(&self, index: isize) -> PyResult<Frame> {
        let count = self.inner.len();
        let place = if index < 0 {
            index + count as isize
        } else {
            index
        };
        let frame = usize::try_from(place)
            .ok()
            .and_then(|place| self.inner.frames().get(place))
            .ok_or_else(|| PyIndexError::new_err("the message has no such frame"))?;
        Ok(Frame::new(frame.clone(), self.inner.peer().cloned()))
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyBytes>> {
        self.frame(index)
            .map(|frame| PyBytes::new(py, &frame.inner))
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.body(py)
    }

    fn __repr__(&self) -> String {
        format!("<sealwire.Message {:?}>", self.inner)
    }
}

/// UTF-8 or `UnicodeDecodeError`.
pub(crate) fn text_of<'py>(py: Python<'py>, content: &[u8]) -> PyResult<Bound<'py, PyString>> {
    match std::str::from_utf8(content) {
        Ok(text) => Ok(PyString::new(py, text)),
        Err(error) => Err(PyUnicodeDecodeError::new_err_from_utf8(py, content, error)),
    }
}

/// All frames as a list of `bytes`.
pub(crate) fn frames_of<'py>(
    py: Python<'py>,
    message: &sealwire::Message,
) -> PyResult<Bound<'py, PyList>> {
    PyList::new(
        py,
        message.frames().iter().map(|frame| PyBytes::new(py, frame)),
    )
}

/// All frames as objects with the buffer protocol.
pub(crate) fn lent_frames_of<'py>(
    py: Python<'py>,
    message: &sealwire::Message,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for frame in message.frames() {
        list.append(Bound::new(
            py,
            Frame::new(frame.clone(), message.peer().cloned()),
        )?)?;
    }
    Ok(list)
}
