//! The edge that no panic crosses.

use std::panic::{AssertUnwindSafe, catch_unwind};

use libc::c_int;

use super::error::set_errno;
use crate::errno::Errno;

/// Runs a function that gives a number, and -1 with `errno` where it fails. A panic is `EFAULT`.
pub(super) fn number(operation: impl FnOnce() -> Result<c_int, Errno>) -> c_int {
    value(-1, operation)
}

/// Runs a function that gives nothing but success.
pub(super) fn status(operation: impl FnOnce() -> Result<(), Errno>) -> c_int {
    value(-1, || operation().map(|()| 0))
}

/// Runs a function that gives `failed` with `errno` where it fails.
pub(super) fn value<T>(failed: T, operation: impl FnOnce() -> Result<T, Errno>) -> T {
    let error = match catch_unwind(AssertUnwindSafe(operation)) {
        Ok(Ok(value)) => return value,
        Ok(Err(error)) => error,
        Err(_) => Errno::FAULT,
    };
    set_errno(error);
    failed
}
