//! How threads of the crates above sockets wait: as the sockets' own do.

use std::time::Instant;

use crate::error::Error;
use crate::guard;
use crate::message::Message;
use crate::socket::blocking::Socket;

/// Returns whether this thread does the I/O of a context, or holds the lock of a connection: then no call waits.
pub fn must_not_wait() -> bool {
    guard::must_not_wait()
}

/// Receives up to `limit` messages, as [`Socket::recv_many`]. Returns 0 at the deadline, or once `over` holds,
/// which is asked at first and whenever somebody [wakes](wake_receivers) it.
///
/// # Errors
///
/// [`Error::Closed`], [`Error::EngineFailed`].
pub fn recv_many_unless(
    socket: &Socket,
    into: &mut Vec<Message>,
    limit: usize,
    deadline: Option<Instant>,
    over: impl Fn() -> bool,
) -> Result<usize, Error> {
    socket.recv_many_unless(into, limit, deadline, over)
}

/// Wakes all threads that wait to receive from this socket, which then ask again what ends their wait.
pub fn wake_receivers(socket: &Socket) {
    socket.wake();
}
