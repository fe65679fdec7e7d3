//! Z85, and keys for CURVE in it.

use std::ffi::CStr;
use std::ptr;

use libc::{c_char, c_int};
use sealwire::{Generate, KeyPair};

use super::guard;
use crate::errno::Errno;
use crate::standalone::keys;

/// The text of a caller, without its zero.
///
/// # Safety
///
/// A pointer that is not null points to a string that stays as it is.
unsafe fn text<'a>(text: *const c_char) -> Result<&'a [u8], Errno> {
    if text.is_null() {
        return Err(Errno::FAULT);
    }
    // SAFETY: not null, and a string, as the caller says.
    Ok(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// Writes `bytes`.
///
/// # Safety
///
/// A pointer that is not null points to that many bytes of room.
unsafe fn write(to: *mut u8, bytes: &[u8]) -> Result<(), Errno> {
    if to.is_null() {
        return Err(Errno::FAULT);
    }
    // SAFETY: not null, and there is room, as the caller says; what is written was not in it.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    Ok(())
}

/// Writes `text` and a zero.
///
/// # Safety
///
/// A pointer that is not null points to room for both.
unsafe fn write_text(to: *mut c_char, text: &str) -> Result<(), Errno> {
    // SAFETY: the caller's word, the zero counted.
    unsafe {
        write(to.cast(), text.as_bytes())?;
        write(to.cast::<u8>().add(text.len()), &[0])
    }
}

/// `zmq_z85_encode`: `text` has room for 5 characters for 4 bytes, and a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_z85_encode(
    to: *mut c_char,
    data: *const u8,
    size: usize,
) -> *mut c_char {
    guard::value(ptr::null_mut(), || {
        // Before the pointers, as in libzmq.
        if !size.is_multiple_of(4) {
            return Err(Errno::INVAL);
        }
        if (data.is_null() && size != 0) || isize::try_from(size).is_err() {
            return Err(Errno::FAULT);
        }
        let bytes = if size == 0 {
            &[][..]
        } else {
            // SAFETY: not null, and the caller has put `size` bytes there.
            unsafe { std::slice::from_raw_parts(data, size) }
        };
        let text = keys::encode(bytes)?;
        // SAFETY: the caller has the room.
        unsafe { write_text(to, &text)? };
        Ok(to)
    })
}

/// `zmq_z85_decode`: `to` has room for 4 bytes for 5 characters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_z85_decode(to: *mut u8, string: *const c_char) -> *mut u8 {
    guard::value(ptr::null_mut(), || {
        // SAFETY: the caller's string.
        let bytes = keys::decode(unsafe { text(string)? })?;
        // SAFETY: the caller has the room.
        unsafe { write(to, &bytes)? };
        Ok(to)
    })
}

/// `zmq_curve_keypair`: each of the two has room for 41 characters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_curve_keypair(public: *mut c_char, secret: *mut c_char) -> c_int {
    guard::status(|| {
        if public.is_null() || secret.is_null() {
            return Err(Errno::FAULT);
        }
        let pair = KeyPair::generate();
        // SAFETY: the caller has the room.
        unsafe {
            write_text(public, &pair.public().to_z85())?;
            write_text(secret, &pair.secret().to_z85())
        }
    })
}

/// `zmq_curve_public`: `public` has room for 41 characters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_curve_public(public: *mut c_char, secret: *const c_char) -> c_int {
    guard::status(|| {
        // SAFETY: the caller's string.
        let pair = keys::pair(unsafe { text(secret)? })?;
        // SAFETY: the caller has the room.
        unsafe { write_text(public, &pair.public().to_z85()) }
    })
}
