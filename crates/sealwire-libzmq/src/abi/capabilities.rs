//! The version and the capabilities of the library.

use std::ffi::CStr;

use libc::{c_char, c_int};

use super::guard;
use crate::errno::Errno;
use crate::standalone::capabilities::{VERSION, has};

/// `zmq_version`: each number where its pointer says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_version(major: *mut c_int, minor: *mut c_int, patch: *mut c_int) {
    guard::value((), || {
        for (place, number) in [major, minor, patch].into_iter().zip(VERSION) {
            if place.is_null() {
                return Err(Errno::FAULT);
            }
            // SAFETY: not null, and the caller's own number.
            unsafe { *place = number };
        }
        Ok(())
    });
}

/// `zmq_has`: 1 for what the library has, else 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_has(capability: *const c_char) -> c_int {
    guard::value(0, || {
        if capability.is_null() {
            return Err(Errno::FAULT);
        }
        // SAFETY: not null, and a string of the caller's.
        Ok(has(unsafe { CStr::from_ptr(capability) }.to_bytes()).into())
    })
}
