//! Options of contexts that are not numbers.

use libc::{c_int, c_void};

use super::super::contexts::context;
use super::super::guard;
use super::super::pointers::{bytes, copy_out, object};
use crate::errno::Errno;

/// `zmq_ctx_set_ext`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_ctx_set_ext(
    handle: *mut c_void,
    option: c_int,
    value: *const c_void,
    size: usize,
) -> c_int {
    guard::status(|| context(handle)?.set_bytes(option, bytes(value, size)?))
}

/// `zmq_ctx_get_ext`. The size stays as it is, as in libzmq.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_ctx_get_ext(
    handle: *mut c_void,
    option: c_int,
    value: *mut c_void,
    size: *mut usize,
) -> c_int {
    guard::status(|| {
        let context = context(handle)?;
        let room = *object(size)?;
        let answer = context.get_bytes(option, room)?;
        if value.is_null() && !answer.is_empty() {
            return Err(Errno::FAULT);
        }
        copy_out(&answer, value, room);
        Ok(())
    })
}
