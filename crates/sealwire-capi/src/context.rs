//! Contexts: the thread that does the I/O of sockets.

use std::ffi::c_char;

use sealwire::Context;

use crate::panics::{free, guard};
use crate::pointers::{give, optional_text, output};
use crate::status::sealwire_status;

/// The thread that does the I/O of the sockets made with it, and the names of their `inproc`
/// endpoints. Most programs need none: sockets share one unless their options name another.
///
/// Threads: any number may use it at once.
pub struct sealwire_context {
    pub(crate) context: Context,
}

/// Starts a context with its thread. Free it with `sealwire_context_free`.
///
/// Errors: `SEALWIRE_ERROR_SYSTEM`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_context_new(out: *mut *mut sealwire_context) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let context = Context::new()?;
        out.write(give(sealwire_context { context }));
        Ok(())
    })
}

/// Starts a context with this many threads (1 to 64), whose names begin with `thread_name`, where that is not
/// NULL; systems show 15 bytes of it. Each endpoint that is bound or connected to is served by the thread that serves
/// least then, of those that `SEALWIRE_OPTION_IO_AFFINITY` allows. Free it with `sealwire_context_free` or
/// `sealwire_context_join`. libzmq's `ZMQ_IO_THREADS` and `ZMQ_THREAD_NAME_PREFIX`.
///
/// Errors: `SEALWIRE_ERROR_OPTION` for another number of threads, `SEALWIRE_ERROR_SYSTEM`,
/// `SEALWIRE_ERROR_ARGUMENT`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_context_new_with_threads(
    io_threads: usize,
    thread_name: *const c_char,
    out: *mut *mut sealwire_context,
) -> sealwire_status {
    guard(|| {
        let out = output(out, "out")?;
        let mut builder = Context::builder().io_threads(io_threads);
        if let Some(name) = optional_text(thread_name, "thread_name")? {
            builder = builder.thread_name(name);
        }
        let context = builder.build()?;
        out.write(give(sealwire_context { context }));
        Ok(())
    })
}

/// Gives a context back as `sealwire_context_free` does, and waits until its threads have ended: until
/// all sockets, options and others that were made with it are freed too. So free them first, or on another
/// thread; and do not call it from a callback of the library. In a child of a fork it returns at once. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_context_join(context: Option<Box<sealwire_context>>) {
    crate::panics::value((), || {
        if let Some(context) = context {
            context.context.join();
        }
    });
}

/// Gives a context back. Its thread ends once all sockets made with it are freed too; until then
/// they go on working. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_context_free(context: Option<Box<sealwire_context>>) {
    free(context);
}
