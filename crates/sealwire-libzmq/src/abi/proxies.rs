//! `zmq_proxy`, with and without a control, and what came before it.

use std::ptr;

use libc::{c_int, c_void};

use super::guard;
use super::sockets::shared;
use crate::errno::Errno;
use crate::proxy::run;

/// `zmq_proxy_steerable`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_proxy_steerable(
    frontend: *mut c_void,
    backend: *mut c_void,
    capture: *mut c_void,
    control: *mut c_void,
) -> c_int {
    guard::status(|| {
        if frontend.is_null() || backend.is_null() {
            return Err(Errno::FAULT);
        }
        let optional = |handle: *mut c_void| match handle.is_null() {
            true => Ok(None),
            false => shared(handle).map(Some),
        };
        let (frontend, backend) = (shared(frontend)?, shared(backend)?);
        let (capture, control) = (optional(capture)?, optional(control)?);
        run(frontend, backend, capture.as_deref(), control)
    })
}

/// `zmq_proxy`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_proxy(
    frontend: *mut c_void,
    backend: *mut c_void,
    capture: *mut c_void,
) -> c_int {
    zmq_proxy_steerable(frontend, backend, capture, ptr::null_mut())
}

/// The kind of device never mattered.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_device(_kind: c_int, frontend: *mut c_void, backend: *mut c_void) -> c_int {
    zmq_proxy(frontend, backend, ptr::null_mut())
}
