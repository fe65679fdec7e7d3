//! What belongs to a callback: the caller's pointer, and how to free what is behind it.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

/// Frees what a callback's `user` points to. Called exactly once, on any thread, when the callback
/// will not be called again. It must not throw, and must not wait for this library. NULL where
/// nothing is to be done.
pub type sealwire_destroy_fn = Option<extern "C" fn(user: *mut c_void)>;

/// The pointer that is handed to each call of a callback.
pub(crate) struct User {
    pointer: *mut c_void,
    destroy: sealwire_destroy_fn,
    /// It has gone back to the caller, who frees it.
    forgotten: AtomicBool,
}

// SAFETY: this library only hands the pointer on; the header asks for callbacks that may be called
// and destroyed on any thread.
unsafe impl Send for User {}
// SAFETY: as above; the header asks for callbacks that may run on several threads at once.
unsafe impl Sync for User {}

impl User {
    pub(crate) fn new(pointer: *mut c_void, destroy: sealwire_destroy_fn) -> Self {
        User {
            pointer,
            destroy,
            forgotten: AtomicBool::new(false),
        }
    }

    /// Leaves the pointer to the caller: the call that brought it has failed.
    pub(crate) fn forget(&self) {
        self.forgotten.store(true, Ordering::SeqCst);
    }

    pub(crate) fn pointer(&self) -> *mut c_void {
        self.pointer
    }
}

impl Drop for User {
    fn drop(&mut self) {
        if let Some(destroy) = self.destroy
            && !self.forgotten.load(Ordering::SeqCst)
        {
            destroy(self.pointer);
        }
    }
}
