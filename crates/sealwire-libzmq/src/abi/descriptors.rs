//! Descriptors that programs give by their number.

use std::io;
use std::os::fd::{BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

/// Another descriptor of what is behind a number of the program's.
///
/// # Errors
///
/// `EBADF` where nothing is, `EMFILE`.
pub(crate) fn duplicate(number: RawFd) -> io::Result<OwnedFd> {
    if number < 0 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: not -1. It is used for this call alone, which says so when nothing is open there.
    unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned()
}

/// Closes a descriptor that the program gave away.
pub(crate) fn close(number: RawFd) {
    // SAFETY: the program has said, by `ZMQ_USE_FD`, that the socket is to close it; it was open when it was duplicated.
    drop(unsafe { OwnedFd::from_raw_fd(number) });
}
