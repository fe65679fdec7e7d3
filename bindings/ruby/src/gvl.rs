//! The lock of the interpreter, and being done without it.
//!
//! Work that is done without the lock cannot touch Ruby: it is `Send`, which no value of Ruby is.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{from_mut, null_mut};
use std::thread;

use magnus::Ruby;

struct Call<W, T> {
    work: Option<W>,
    outcome: Option<thread::Result<T>>,
}

/// Does `work`, which takes a moment and ends by itself, while other threads of Ruby run. It cannot
/// be interrupted: what may take long is waited for in [`waiting`](crate::waiting).
pub(crate) fn lent<T, W>(_ruby: &Ruby, work: W) -> T
where
    T: Send,
    W: FnOnce() -> T + Send,
{
    unsafe extern "C" fn run<T, W: FnOnce() -> T>(data: *mut c_void) -> *mut c_void {
        // SAFETY: `data` is the `Call` below, which nobody else looks at until this has returned.
        let call = unsafe { &mut *data.cast::<Call<W, T>>() };
        if let Some(work) = call.work.take() {
            // A panic must not pass through the frames of the interpreter.
            call.outcome = Some(catch_unwind(AssertUnwindSafe(work)));
        }
        null_mut()
    }

    let mut call = Call {
        work: Some(work),
        outcome: None,
    };
    // SAFETY: `_ruby` shows that this is a thread of Ruby which holds the lock. The pointer stays
    // valid during the call and is of the type that `run` was made for. This variant of the call
    // does not raise, so no frame of Rust is jumped over.
    unsafe {
        rb_sys::rb_thread_call_without_gvl2(
            Some(run::<T, W>),
            from_mut(&mut call).cast(),
            None,
            null_mut(),
        );
    }
    match (call.outcome, call.work) {
        (Some(Ok(value)), _) => value,
        (Some(Err(panic)), _) => resume_unwind(panic),
        // Ruby wants the thread for something else, which comes right after this.
        (None, Some(work)) => work(),
        (None, None) => unreachable!("work that was taken has an outcome"),
    }
}

/// Tells Ruby that the functions defined from here on may be called from any Ractor.
pub(crate) fn allow_ractors(_ruby: &Ruby) {
    // SAFETY: sets a flag of the extension being loaded. What the functions share is behind locks,
    // and the objects that Ractors may share are `Sync`, as magnus asks of them.
    unsafe { rb_sys::rb_ext_ractor_safe(true) };
}
