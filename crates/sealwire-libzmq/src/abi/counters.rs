//! Counters that threads share.

use std::ptr;

use libc::{c_int, c_void};

use super::guard;
use super::tagged::{self, Tag};
use crate::errno::Errno;
use crate::standalone::counter::Counter;

impl Tag for Counter {
    const TAG: u64 = 0x5357_436f_756e_7465;
}

/// `zmq_atomic_counter_new`: at zero.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_atomic_counter_new() -> *mut c_void {
    guard::value(ptr::null_mut(), || Ok(tagged::give(Counter::default())))
}

/// `zmq_atomic_counter_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_atomic_counter_set(counter: *mut c_void, value: c_int) {
    guard::value((), || {
        // SAFETY: the caller's handle.
        unsafe { tagged::borrow::<Counter>(counter)? }.set(value);
        Ok(())
    });
}

/// `zmq_atomic_counter_inc`: the value before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_atomic_counter_inc(counter: *mut c_void) -> c_int {
    guard::number(|| {
        // SAFETY: the caller's handle.
        let counter = unsafe { tagged::borrow::<Counter>(counter)? };
        Ok(counter.increment())
    })
}

/// `zmq_atomic_counter_dec`: 0 when the counter is at zero now, else 1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_atomic_counter_dec(counter: *mut c_void) -> c_int {
    guard::number(|| {
        // SAFETY: the caller's handle.
        let counter = unsafe { tagged::borrow::<Counter>(counter)? };
        Ok(counter.decrement().into())
    })
}

/// `zmq_atomic_counter_value`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_atomic_counter_value(counter: *mut c_void) -> c_int {
    guard::number(|| {
        // SAFETY: the caller's handle.
        let counter = unsafe { tagged::borrow::<Counter>(counter)? };
        Ok(counter.value())
    })
}

/// `zmq_atomic_counter_destroy`: makes the caller's pointer null. A null counter is not an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn zmq_atomic_counter_destroy(counter: *mut *mut c_void) {
    guard::value((), || {
        if counter.is_null() {
            return Err(Errno::FAULT);
        }
        // SAFETY: not null, and the caller's own pointer.
        let handle = unsafe { &mut *counter };
        if !handle.is_null() {
            // SAFETY: the caller's handle.
            unsafe { tagged::take::<Counter>(*handle)? };
            *handle = ptr::null_mut();
        }
        Ok(())
    });
}
