//! The edge that no panic crosses.

use std::panic::{AssertUnwindSafe, catch_unwind};

use libc::c_int;

use super::error::{set_errno, zmq_errno};
use crate::errno::Errno;

/// Runs a function that gives a number, and -1 with `errno` where it fails. A panic is `EFAULT`.
pub(super) fn number(operation: impl FnOnce() -> Result<c_int, Errno>) -> c_int {
    value(-1, operation)
}

/// Runs a function that gives nothing but success.
pub(super) fn status(operation: impl FnOnce() -> Result<(), Errno>) -> c_int {
    value(-1, || operation().map(|()| 0))
}

/// Runs a function that gives `failed` with `errno` where it fails. Where it succeeds `errno` is as it was, whatever the
/// system said to what was tried on the way.
#[inline]
pub(super) fn value<T>(failed: T, operation: impl FnOnce() -> Result<T, Errno>) -> T {
    let before = Errno(zmq_errno());
    in_memory(failed, || {
        let value = operation()?;
        set_errno(before);
        Ok(value)
    })
}

/// The same for what asks the system for nothing, and so leaves `errno` as it is: a program calls that several times for
/// each message.
#[inline]
pub(super) fn in_memory<T>(failed: T, operation: impl FnOnce() -> Result<T, Errno>) -> T {
    let error = match catch_unwind(AssertUnwindSafe(operation)) {
        Ok(Ok(value)) => return value,
        Ok(Err(error)) => error,
        Err(_) => Errno::FAULT,
    };
    set_errno(error);
    failed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_leaves_errno_alone() {
        for before in [0, libc::EAGAIN] {
            set_errno(Errno(before));
            let tried = || {
                set_errno(Errno(libc::EINVAL));
                Ok(())
            };
            assert_eq!((status(tried), zmq_errno()), (0, before));
        }
        assert_eq!(
            (status(|| Err(Errno::TERM)), zmq_errno()),
            (-1, Errno::TERM.0)
        );
        assert_eq!(
            (in_memory(-1, || Err(Errno::AGAIN)), zmq_errno()),
            (-1, Errno::AGAIN.0)
        );
        assert_eq!((in_memory(-1, || Ok(7)), zmq_errno()), (7, Errno::AGAIN.0));
    }
}
