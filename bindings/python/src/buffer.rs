//! Bytes from and to Python, and the only unsafe code of this crate.
//!
//! In: an immutable `bytes` object is lent as it is, with a reference that keeps it alive, also to
//! threads without the GIL. Everything else with the buffer protocol may change under our hands, so
//! it is copied, once. Out: a [`Frame`](crate::message::Frame) lends its memory, read-only.

#![allow(unsafe_code)]

use std::ffi::c_int;
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::ptr::NonNull;

use bytes::Bytes;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::message::Frame;

/// `bytes` objects from this size on are kept alive instead of copied. Below, the copy is cheaper
/// than the reference.
const LENT_FROM: usize = 4 << 10;

/// The content of a `bytes` object, readable from any thread for as long as this lives.
struct Lent {
    content: NonNull<[u8]>,
    _owner: Py<PyBytes>,
}

// SAFETY: the content of a `bytes` object never changes and stays where it is while a reference to
// it exists, which `_owner` is. PyO3 puts off giving the reference back until a thread has the GIL.
unsafe impl Send for Lent {}
// SAFETY: as above; there is no way to write through it.
unsafe impl Sync for Lent {}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: see above.
        unsafe { self.content.as_ref() }
    }
}

/// What Python gave, without the GIL.
pub(crate) fn lend(object: &Bound<'_, PyBytes>) -> Bytes {
    let content = object.as_bytes();
    if content.len() < LENT_FROM {
        return Bytes::copy_from_slice(content);
    }
    Bytes::from_owner(Lent {
        content: NonNull::from(content),
        _owner: object.clone().unbind(),
    })
}

/// Any object with the buffer protocol, as a frame to send.
pub(crate) fn frame(object: &Bound<'_, PyAny>) -> PyResult<sealwire::Frame> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        let content = bytes.as_bytes();
        return Ok(if content.len() < LENT_FROM {
            sealwire::Frame::copy_from_slice(content)
        } else {
            lend(bytes).into()
        });
    }
    if let Ok(frame) = object.cast::<Frame>() {
        return Ok(frame.get().inner().clone());
    }
    Ok(copy(object)?.into())
}

/// Any object with the buffer protocol, for a call that keeps it.
pub(crate) fn bytes(object: &Bound<'_, PyAny>) -> PyResult<Bytes> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(lend(bytes));
    }
    if let Ok(frame) = object.cast::<Frame>() {
        return Ok(frame.get().inner().clone().into_bytes());
    }
    copy(object).map(Bytes::from)
}

/// A copy of any contiguous buffer, whatever its items are.
pub(crate) fn copy(object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    if object.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(
            "expected bytes, not str: encode it, or use send_string",
        ));
    }
    let buffer = PyUntypedBuffer::get(object).map_err(|_| {
        let name = object.get_type().name().map(|name| name.to_string());
        PyTypeError::new_err(format!(
            "expected an object with bytes in it, not {}",
            name.unwrap_or_default()
        ))
    })?;
    if !buffer.is_c_contiguous() {
        return Err(PyBufferError::new_err("the buffer is not contiguous"));
    }
    let mut copied = Vec::with_capacity(buffer.len_bytes());
    // SAFETY: the buffer is contiguous and has `len_bytes()` bytes, the vector has room for them, and
    // they cannot overlap. Another thread that writes to the buffer meanwhile may make a mixture
    // of old and new bytes, as with every reader of the protocol.
    unsafe {
        std::ptr::copy_nonoverlapping(
            buffer.buf_ptr().cast::<u8>(),
            copied.as_mut_ptr(),
            buffer.len_bytes(),
        );
        copied.set_len(buffer.len_bytes());
    }
    Ok(copied)
}

/// Fills a view of `content`, which `owner` must hold unchanged at its place for as long as it
/// lives.
///
/// # Safety
///
/// `view` is a valid pointer from Python's request for a buffer of `owner`.
pub(crate) unsafe fn fill_view(
    owner: &Bound<'_, PyAny>,
    content: &[u8],
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    // SAFETY: the caller's promises; the view keeps `owner` alive. The content is said to be
    // read-only, so nobody writes through the pointer.
    let filled = unsafe {
        ffi::PyBuffer_FillInfo(
            view,
            owner.as_ptr(),
            content.as_ptr().cast_mut().cast(),
            content.len() as ffi::Py_ssize_t,
            1,
            flags,
        )
    };
    if filled == 0 {
        Ok(())
    } else {
        Err(PyErr::fetch(owner.py()))
    }
}

/// A descriptor that Python's caller keeps open.
pub(crate) fn borrow_descriptor<'fd>(descriptor: RawFd) -> io::Result<BorrowedFd<'fd>> {
    if descriptor < 0 {
        return Err(io::Error::from_raw_os_error(
            nix::errno::Errno::EBADF as i32,
        ));
    }
    // SAFETY: it is only given to `poll`, for which a descriptor that has been closed is an answer
    // and not a fault.
    Ok(unsafe { BorrowedFd::borrow_raw(descriptor) })
}
