//! The lock of the interpreter, and being done without it.
//!
//! Everything unsafe about waiting is in here. Work that is done without the lock cannot touch Ruby:
//! it is `Send`, which no value of Ruby is.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::{from_mut, from_ref, null_mut};
use std::thread;

use magnus::Ruby;

struct Call<W, T> {
    work: Option<W>,
    outcome: Option<thread::Result<T>>,
}

/// Does `work` while other threads of Ruby run.
///
/// Ruby calls `interrupt`, from another thread and perhaps more than once, when it wants this one
/// back: for a signal, `Thread#kill`, `Timeout`. It may not wait for anything.
///
/// # Errors
///
/// Gives `work` back, not done, when Ruby wants the thread already. Then, as after work that was
/// interrupted, [`Ruby::thread_check_ints`] is to be called: nothing in here raises.
pub(crate) fn released<T, W, I>(_ruby: &Ruby, work: W, interrupt: I) -> Result<T, W>
where
    T: Send,
    W: FnOnce() -> T + Send,
    I: Fn() + Sync,
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

    unsafe extern "C" fn unblock<I: Fn()>(data: *mut c_void) {
        // SAFETY: `data` is `interrupt` below. Ruby calls this only while `run` is under way.
        let interrupt = unsafe { &*data.cast::<I>() };
        // Whoever interrupts has no use for a panic, and the waiting thread goes on as before.
        let _ = catch_unwind(AssertUnwindSafe(interrupt));
    }

    let mut call = Call {
        work: Some(work),
        outcome: None,
    };
    // SAFETY: `_ruby` shows that this is a thread of Ruby which holds the lock. Both pointers stay
    // valid during the call, their types are those that the functions were made for, and this
    // variant of the call does not raise, so no frame of Rust is jumped over.
    unsafe {
        rb_sys::rb_thread_call_without_gvl2(
            Some(run::<T, W>),
            from_mut(&mut call).cast(),
            Some(unblock::<I>),
            from_ref(&interrupt).cast_mut().cast(),
        );
    }
    match (call.outcome, call.work) {
        (Some(Ok(value)), _) => Ok(value),
        (Some(Err(panic)), _) => resume_unwind(panic),
        (None, Some(work)) => Err(work),
        (None, None) => unreachable!("work that was taken has an outcome"),
    }
}

/// Does `work`, which takes some time and ends by itself, while other threads of Ruby run.
pub(crate) fn lent<T, W>(ruby: &Ruby, work: W) -> T
where
    T: Send,
    W: FnOnce() -> T + Send,
{
    released(ruby, work, || ()).unwrap_or_else(|work| work())
}

/// Tells Ruby that the functions defined from here on may be called from any Ractor.
pub(crate) fn allow_ractors(_ruby: &Ruby) {
    // SAFETY: sets a flag of the extension being loaded. What the functions share is behind locks,
    // and the objects that Ractors may share are `Sync`, as magnus asks of them.
    unsafe { rb_sys::rb_ext_ractor_safe(true) };
}
