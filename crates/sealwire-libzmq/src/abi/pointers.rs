//! Where pointers of programs are followed.

use std::ffi::CStr;

use libc::{c_char, c_int, c_void};

use crate::errno::Errno;

/// Bytes to read. Without any the pointer may be null.
pub(super) fn bytes<'a>(data: *const c_void, size: usize) -> Result<&'a [u8], Errno> {
    if size == 0 {
        return Ok(&[]);
    }
    if data.is_null() || isize::try_from(size).is_err() {
        return Err(Errno::FAULT);
    }
    // SAFETY: not null; the program says that `size` bytes are there for the time of the call.
    Ok(unsafe { std::slice::from_raw_parts(data.cast(), size) })
}

/// A text that ends with a zero octet.
pub(super) fn text<'a>(data: *const c_char) -> Result<&'a str, Errno> {
    if data.is_null() {
        return Err(Errno::INVAL);
    }
    // SAFETY: not null; the program says that a text is there for the time of the call.
    let text = unsafe { CStr::from_ptr(data) };
    text.to_str().map_err(|_| Errno::INVAL)
}

/// An object of the program's to change.
pub(super) fn object<'a, T>(object: *mut T) -> Result<&'a mut T, Errno> {
    // SAFETY: null, or an object that nobody else uses for the time of the call, as the program says.
    unsafe { object.as_mut() }.ok_or(Errno::FAULT)
}

/// Several objects of the program's. Without any the pointer may be null.
pub(super) fn objects<'a, T>(objects: *mut T, count: usize) -> Result<&'a mut [T], Errno> {
    if count == 0 {
        return Ok(&mut []);
    }
    if objects.is_null() {
        return Err(Errno::FAULT);
    }
    // SAFETY: not null; `count` of them are there, and nobody else uses them for the time of the call, as the program
    // says.
    Ok(unsafe { std::slice::from_raw_parts_mut(objects, count) })
}

/// Copies as much as there is room for, as a message may be longer than the program's buffer.
pub(super) fn copy_out(from: &[u8], to: *mut c_void, room: usize) {
    let size = from.len().min(room);
    if size > 0 && !to.is_null() {
        // SAFETY: not null; the program says that there is so much room.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to.cast(), size) }
    }
}

/// The answer to the question for an option: its bytes, with zeros behind them as far as there is room, and
/// their number.
///
/// # Errors
///
/// `EINVAL` where there is not enough room, `EFAULT` for null.
pub(super) fn answer(value: &[u8], to: *mut c_void, size: *mut usize) -> Result<c_int, Errno> {
    let size = object(size)?;
    if *size < value.len() {
        return Err(Errno::INVAL);
    }
    let room = std::mem::replace(size, value.len());
    if to.is_null() {
        return if value.is_empty() {
            Ok(0)
        } else {
            Err(Errno::FAULT)
        };
    }
    // SAFETY: not null; the program says that there is so much room.
    unsafe {
        std::ptr::copy_nonoverlapping(value.as_ptr(), to.cast(), value.len());
        std::ptr::write_bytes(to.cast::<u8>().add(value.len()), 0, room - value.len());
    }
    Ok(0)
}

/// A copy in memory that the program frees with `free`.
pub(super) fn allocated(from: &[u8]) -> Result<*mut c_void, Errno> {
    // SAFETY: it has no conditions.
    let memory = unsafe { libc::malloc(from.len().max(1)) };
    if memory.is_null() {
        return Err(Errno::NOMEM);
    }
    copy_out(from, memory, from.len());
    Ok(memory)
}
