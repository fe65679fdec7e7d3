//! Timers.

use std::ptr;
use std::sync::Arc;

use libc::{c_int, c_long, c_void};

use super::guard;
use super::tagged::{self, Tag};
use crate::errno::Errno;
use crate::standalone::clock::now_ms;
use crate::standalone::timers::Timers;

/// `zmq_timer_fn`.
pub type TimerFunction = unsafe extern "C" fn(c_int, *mut c_void);

#[derive(Clone, Copy)]
struct Handler {
    function: TimerFunction,
    argument: *mut c_void,
}

// SAFETY: the argument is only handed back to the function, on the thread that executes the timers; which threads may is
// between the program and its function.
unsafe impl Send for Handler {}

/// Counted, as a handler may destroy the timers that call it.
type Shared = Arc<Timers<Handler>>;

impl Tag for Shared {
    const TAG: u64 = 0x5357_5469_6d65_7273;
}

/// # Safety
///
/// That of [`tagged::borrow`].
unsafe fn timers<'a>(handle: *mut c_void) -> Result<&'a Shared, Errno> {
    // SAFETY: the caller's word.
    unsafe { tagged::borrow(handle) }
}

/// `zmq_timers_new`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_timers_new() -> *mut c_void {
    guard::value(ptr::null_mut(), || {
        Ok(tagged::give(Shared::new(Timers::new())))
    })
}

/// `zmq_timers_destroy`: makes the caller's pointer null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_timers_destroy(handle: *mut *mut c_void) -> c_int {
    guard::status(|| {
        if handle.is_null() {
            return Err(Errno::FAULT);
        }
        // SAFETY: not null, and the caller's own pointer to a handle.
        let timers = unsafe { tagged::take::<Shared>(*handle)? };
        timers.clear();
        // SAFETY: as above.
        unsafe { *handle = ptr::null_mut() };
        Ok(())
    })
}

/// `zmq_timers_add`: the id of a timer that calls `function` every `interval` milliseconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_timers_add(
    handle: *mut c_void,
    interval: usize,
    function: Option<TimerFunction>,
    argument: *mut c_void,
) -> c_int {
    guard::number(|| {
        // SAFETY: the caller's handle.
        let timers = unsafe { timers(handle)? };
        let function = function.ok_or(Errno::FAULT)?;
        let handler = Handler { function, argument };
        timers.add(now_ms(), interval as u64, handler)
    })
}

/// `zmq_timers_cancel`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_timers_cancel(handle: *mut c_void, id: c_int) -> c_int {
    // SAFETY: the caller's handle.
    guard::status(|| unsafe { timers(handle)? }.cancel(id))
}

/// `zmq_timers_set_interval`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_timers_set_interval(
    handle: *mut c_void,
    id: c_int,
    interval: usize,
) -> c_int {
    // SAFETY: the caller's handle.
    guard::status(|| unsafe { timers(handle)? }.set_interval(now_ms(), id, interval as u64))
}

/// `zmq_timers_reset`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_timers_reset(handle: *mut c_void, id: c_int) -> c_int {
    // SAFETY: the caller's handle.
    guard::status(|| unsafe { timers(handle)? }.reset(now_ms(), id))
}

/// `zmq_timers_timeout`: milliseconds until a timer is due. -1 without timers, which is not an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_timers_timeout(handle: *mut c_void) -> c_long {
    guard::value(-1, || {
        // SAFETY: the caller's handle.
        let timeout = unsafe { timers(handle)? }.timeout(now_ms());
        Ok(timeout.map_or(-1, |timeout| {
            c_long::try_from(timeout).unwrap_or(c_long::MAX)
        }))
    })
}

/// `zmq_timers_execute`: calls the handlers of the timers that are due.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_timers_execute(handle: *mut c_void) -> c_int {
    guard::status(|| {
        // SAFETY: the caller's handle.
        let timers = Shared::clone(unsafe { timers(handle)? });
        timers.execute(now_ms(), |id, handler| {
            // SAFETY: the caller has given both for each other.
            unsafe { (handler.function)(id, handler.argument) };
        });
        Ok(())
    })
}
