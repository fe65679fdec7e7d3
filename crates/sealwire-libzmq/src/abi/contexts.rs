//! `zmq_ctx_*`, and what came before them.

use std::sync::Arc;

use libc::{c_int, c_void};

use super::handles::{Handles, Using};
use super::{guard, rights};
use crate::context::Context;
use crate::errno::Errno;
use crate::{log, policy};

static CONTEXTS: Handles<Context> = Handles::of_kind(1);

fn new() -> Result<Context, Errno> {
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    super::verification::check_again();
    log::begin(rights::are_of_others);
    policy::of_process(rights::are_of_others).map(Context::new)
}

pub(super) fn context(handle: *mut c_void) -> Result<Using<Context>, Errno> {
    CONTEXTS.get(handle).ok_or(Errno::FAULT)
}

/// `zmq_ctx_new`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_ctx_new() -> *mut c_void {
    guard::value(std::ptr::null_mut(), || Ok(CONTEXTS.open(Arc::new(new()?))))
}

/// `zmq_init`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_init(io_threads: c_int) -> *mut c_void {
    guard::value(std::ptr::null_mut(), || {
        if io_threads < 0 {
            return Err(Errno::INVAL);
        }
        let context = new()?;
        context.set(1, io_threads)?;
        Ok(CONTEXTS.open(Arc::new(context)))
    })
}

/// `zmq_ctx_term`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_ctx_term(handle: *mut c_void) -> c_int {
    guard::status(|| {
        if let Ok(context) = context(handle) {
            context.terminate()?;
            CONTEXTS.close(handle);
            return Ok(());
        }
        // In a child of a fork the handle ends, and nothing of the parent's.
        CONTEXTS.close(handle).map(drop).ok_or(Errno::FAULT)
    })
}

/// `zmq_term`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_term(handle: *mut c_void) -> c_int {
    zmq_ctx_term(handle)
}

/// `zmq_ctx_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_ctx_destroy(handle: *mut c_void) -> c_int {
    zmq_ctx_term(handle)
}

/// `zmq_ctx_shutdown`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_ctx_shutdown(handle: *mut c_void) -> c_int {
    guard::status(|| {
        context(handle)?.shut_down();
        Ok(())
    })
}

/// `zmq_ctx_set`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_ctx_set(handle: *mut c_void, option: c_int, value: c_int) -> c_int {
    guard::status(|| context(handle)?.set(option, value))
}

/// `zmq_ctx_get`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_ctx_get(handle: *mut c_void, option: c_int) -> c_int {
    guard::number(|| context(handle)?.get(option))
}
