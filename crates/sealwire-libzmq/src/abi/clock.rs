//! Stopwatches, and waiting.

use std::ptr;

use libc::{c_int, c_uint, c_ulong, c_void};

use super::guard;
use super::tagged::{self, Tag};
use crate::standalone::clock::Stopwatch;

impl Tag for Stopwatch {
    const TAG: u64 = 0x5357_5374_6f70_7761;
}

/// Microseconds.
fn elapsed(watch: &Stopwatch) -> c_ulong {
    c_ulong::try_from(watch.elapsed().as_micros()).unwrap_or(c_ulong::MAX)
}

/// `zmq_stopwatch_start`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_stopwatch_start() -> *mut c_void {
    guard::value(ptr::null_mut(), || Ok(tagged::give(Stopwatch::start())))
}

/// `zmq_stopwatch_intermediate`: microseconds since the start.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_stopwatch_intermediate(watch: *mut c_void) -> c_ulong {
    // SAFETY: the caller's handle.
    guard::value(0, || Ok(elapsed(unsafe { tagged::borrow(watch)? })))
}

/// `zmq_stopwatch_stop`: microseconds since the start, and the end of the handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_stopwatch_stop(watch: *mut c_void) -> c_ulong {
    // SAFETY: the caller's handle.
    guard::value(0, || Ok(elapsed(&unsafe { tagged::take(watch)? })))
}

/// `zmq_sleep`: as the system's `sleep`, a signal ends it.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_sleep(seconds: c_int) {
    guard::value((), || {
        // SAFETY: it takes any number.
        unsafe { libc::sleep(seconds as c_uint) };
        Ok(())
    });
}
