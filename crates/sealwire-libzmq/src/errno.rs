//! The numbers that functions leave in `errno`: the system's, and those that ZeroMQ adds.

use std::io;

use libc::c_int;

/// Why a function failed, as `errno` says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub c_int);

/// Far from the numbers of any system, as zmq.h has it.
const HAUSNUMERO: c_int = 156_384_712;

#[allow(missing_docs, reason = "the system documents its own")]
impl Errno {
    /// The operation does not fit the state of the socket: a second request before the answer.
    pub const FSM: Errno = Errno(HAUSNUMERO + 51);
    /// The transport is not one of this socket type.
    pub const NOCOMPATPROTO: Errno = Errno(HAUSNUMERO + 52);
    /// The context was terminated.
    pub const TERM: Errno = Errno(HAUSNUMERO + 53);
    /// The context has no thread for it.
    pub const MTHREAD: Errno = Errno(HAUSNUMERO + 54);

    pub const AGAIN: Errno = Errno(libc::EAGAIN);
    pub const FAULT: Errno = Errno(libc::EFAULT);
    pub const INTR: Errno = Errno(libc::EINTR);
    pub const INVAL: Errno = Errno(libc::EINVAL);
    pub const NOENT: Errno = Errno(libc::ENOENT);
    pub const NOMEM: Errno = Errno(libc::ENOMEM);
    pub const NOTSUP: Errno = Errno(libc::ENOTSUP);
    pub const NOTSOCK: Errno = Errno(libc::ENOTSOCK);
    pub const MFILE: Errno = Errno(libc::EMFILE);
    pub const HOSTUNREACH: Errno = Errno(libc::EHOSTUNREACH);
    pub const PROTONOSUPPORT: Errno = Errno(libc::EPROTONOSUPPORT);
    pub const ADDRINUSE: Errno = Errno(libc::EADDRINUSE);
    pub const ADDRNOTAVAIL: Errno = Errno(libc::EADDRNOTAVAIL);
    pub const NODEV: Errno = Errno(libc::ENODEV);
    pub const ACCES: Errno = Errno(libc::EACCES);

    /// That of a system call.
    pub fn of(error: &io::Error) -> Self {
        Errno(error.raw_os_error().unwrap_or(libc::EINVAL))
    }
}
