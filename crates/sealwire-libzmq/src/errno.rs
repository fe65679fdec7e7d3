//! The numbers that functions leave in `errno`: the system's, and those that ZeroMQ adds.

use std::io;

use libc::c_int;

/// Why a function failed, as `errno` says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) c_int);

/// Far from the numbers of any system, as zmq.h has it.
const HAUSNUMERO: c_int = 156_384_712;

impl Errno {
    /// The operation does not fit the state of the socket: a second request before the answer.
    pub(crate) const FSM: Errno = Errno(HAUSNUMERO + 51);
    /// The transport is not one of this socket type.
    pub(crate) const NOCOMPATPROTO: Errno = Errno(HAUSNUMERO + 52);
    /// The context was terminated.
    pub(crate) const TERM: Errno = Errno(HAUSNUMERO + 53);
    /// The context has no thread for it.
    pub(crate) const MTHREAD: Errno = Errno(HAUSNUMERO + 54);

    pub(crate) const AGAIN: Errno = Errno(libc::EAGAIN);
    pub(crate) const FAULT: Errno = Errno(libc::EFAULT);
    pub(crate) const INTR: Errno = Errno(libc::EINTR);
    pub(crate) const INVAL: Errno = Errno(libc::EINVAL);
    pub(crate) const NOENT: Errno = Errno(libc::ENOENT);
    pub(crate) const NOMEM: Errno = Errno(libc::ENOMEM);
    pub(crate) const NOTSUP: Errno = Errno(libc::ENOTSUP);
    pub(crate) const NOTSOCK: Errno = Errno(libc::ENOTSOCK);
    pub(crate) const MFILE: Errno = Errno(libc::EMFILE);
    pub(crate) const HOSTUNREACH: Errno = Errno(libc::EHOSTUNREACH);
    pub(crate) const PROTONOSUPPORT: Errno = Errno(libc::EPROTONOSUPPORT);
    pub(crate) const NODEV: Errno = Errno(libc::ENODEV);
    pub(crate) const ADDRINUSE: Errno = Errno(libc::EADDRINUSE);
    pub(crate) const ACCES: Errno = Errno(libc::EACCES);

    /// That of a system call.
    pub(crate) fn of(error: &io::Error) -> Self {
        Errno(error.raw_os_error().unwrap_or(libc::EINVAL))
    }
}
