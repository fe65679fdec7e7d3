//! Contexts: the thread that does the I/O of sockets.

use sealwire::Context;

use crate::panics::{free, guard};
use crate::pointers::{give, output};
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

/// Gives a context back. Its thread ends once all sockets made with it are freed too; until then
/// they go on working. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_context_free(context: Option<Box<sealwire_context>>) {
    free(context);
}
