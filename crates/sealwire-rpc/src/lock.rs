//! Locks whose holders may panic.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that runs under these locks leaves them half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
