//! Waiting for threads of the crates above, in the same way as sockets wait.

mod first_failure;
mod signal;
mod task;

#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

#[cfg(unix)]
use nix::poll::{PollFd, PollFlags};
use tracing::subscriber::{self, NoSubscriber};

use crate::error::Error;
use crate::guard;
use crate::message::Message;
#[cfg(unix)]
use crate::signals;
use crate::socket::blocking::Socket;
#[cfg(unix)]
use crate::waiting;

pub use first_failure::{FirstFailure, Waited};
pub use signal::{Listening, Signal};
pub use task::{Task, Work};

/// Returns whether this thread does the I/O of a context, or holds the lock of a connection: then no call waits.
pub fn must_not_wait() -> bool {
    guard::must_not_wait()
}

/// Says that this program tells of failures by its own means, with [`FirstFailure`] or events: standard error gets
/// no line about them. A log that was set before stays.
pub fn silence_standard_error() {
    let _ = subscriber::set_global_default(NoSubscriber::new());
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

/// A descriptor that is polled: which of the bits of poll(2) it is asked for, and which it has.
#[cfg(unix)]
#[derive(Debug)]
pub struct Polled<'a> {
    pub descriptor: BorrowedFd<'a>,
    pub events: i16,
    pub ready: i16,
}

#[cfg(unix)]
impl<'a> Polled<'a> {
    fn of_system(&self) -> PollFd<'a> {
        PollFd::new(self.descriptor, PollFlags::from_bits_truncate(self.events))
    }
}

/// Sleeps until a descriptor has what it is asked for, or the deadline. `interrupted` is asked before each sleep,
/// which then is a second at most, and after each signal handler, which it is told of, and may end the sleep;
/// without it no signal does. Returns how many descriptors have something.
///
/// # Errors
///
/// * [`Error::Interrupted`] where `interrupted` ended it.
/// * [`Error::System`] where the system refuses to poll.
#[cfg(unix)]
pub fn poll(
    polled: &mut [Polled<'_>],
    deadline: Option<Instant>,
    interrupted: Option<&mut dyn FnMut(bool) -> bool>,
) -> Result<usize, Error> {
    let mut descriptors: Vec<_> = polled.iter().map(Polled::of_system).collect();
    let deadline = match must_not_wait() {
        true => Some(Instant::now()),
        false => deadline,
    };
    let found = signals::poll(&mut descriptors, deadline, interrupted);
    let found = found.map_err(|error| Error::System(error.into()))?;
    for (polled, descriptor) in polled.iter_mut().zip(&descriptors) {
        polled.ready = descriptor.revents().map_or(0, |ready| ready.bits());
    }
    found.ok_or(Error::Interrupted)
}

/// A descriptor that is readable from a signal on until it is cleared.
#[cfg(unix)]
pub struct Notifier(waiting::Notifier);

#[cfg(unix)]
impl Notifier {
    /// Makes one that is not readable.
    ///
    /// # Errors
    ///
    /// [`Error::System`] where the process has no descriptors left.
    pub fn new() -> Result<Self, Error> {
        waiting::Notifier::new()
            .map(Notifier)
            .map_err(Error::System)
    }

    /// Makes it readable. A system call only where it is not readable yet.
    pub fn signal(&self) {
        self.0.signal();
    }

    /// Makes it unreadable. To be called before what was signalled is read.
    pub fn clear(&self) {
        self.0.clear();
    }
}

#[cfg(unix)]
impl AsFd for Notifier {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
