//! `errno` and its texts.

use std::ffi::CStr;

use libc::{c_char, c_int};

use crate::errno::Errno;

/// The `errno` of this thread.
fn errno() -> *mut c_int {
    #[cfg(any(target_os = "linux", target_os = "emscripten"))]
    // SAFETY: it has no conditions.
    let errno = unsafe { libc::__errno_location() };
    #[cfg(any(target_os = "macos", target_os = "freebsd"))]
    // SAFETY: it has no conditions.
    let errno = unsafe { libc::__error() };
    errno
}

pub(super) fn set_errno(error: Errno) {
    // SAFETY: the place of this thread's `errno`, which lives as long as the thread.
    unsafe { *errno() = error.0 }
}

/// `zmq_errno`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_errno() -> c_int {
    // SAFETY: the place of this thread's `errno`, which lives as long as the thread.
    unsafe { *errno() }
}

/// `zmq_strerror`: the text lives as long as the program, or until the next call for a number of the system's.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_strerror(number: c_int) -> *const c_char {
    let text: &CStr = match Errno(number) {
        Errno::FSM => c"Operation cannot be accomplished in current state",
        Errno::NOCOMPATPROTO => c"The protocol is not compatible with the socket type",
        Errno::TERM => c"Context was terminated",
        Errno::MTHREAD => c"No thread available",
        Errno::HOSTUNREACH => c"Host unreachable",
        // SAFETY: it takes any number.
        _ => return unsafe { libc::strerror(number) },
    };
    text.as_ptr()
}
