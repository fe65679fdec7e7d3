//! The same socket with calls that block, for programs without an async runtime.

mod endpoints;
mod incoming;
mod receiving;
#[cfg(unix)]
mod running;
mod sending;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sealwire_zmtp::SocketType;

pub use incoming::Incoming;
#[cfg(unix)]
pub use running::block_on;

use super::SocketBuilder;
use crate::error::Error;
use crate::message::Message;
use crate::metrics::SocketMetrics;
use crate::monitor::{Counters, Monitor};
#[cfg(unix)]
use crate::waiting::Readiness;
use crate::waiting::{Unfinished, Until};

/// A ZeroMQ socket whose calls block the thread.
///
/// Cloning gives another handle to the same socket; handles can be used from several threads at once.
/// Dropping the last handle waits for unsent messages, up to the linger time (5 s unless set otherwise), so
/// that a program may send and return.
///
/// A call that waits holds its thread until it is done, its timeout is over ([`Error::TimedOut`]) or another
/// handle closes the socket ([`Error::Closed`]). The timeouts are
/// [`send_timeout`](SocketBuilder::send_timeout) and [`receive_timeout`](SocketBuilder::receive_timeout), or
/// the argument of a `_timeout` method; without one it waits for any time. If the socket is
/// [interruptible](SocketBuilder::interruptible), a signal handler ends the wait too
/// ([`Error::Interrupted`]). In a child of a fork all calls fail with [`Error::Forked`].
///
/// ```
/// use sealwire::{KeyPair, Generate as _, Security, SocketType, auth::AllowAnyone, blocking::Socket};
///
/// let keys = KeyPair::generate();
/// let pull = Socket::builder(SocketType::Pull)
///     .security(Security::blake3_server(keys.clone(), AllowAnyone))
///     .build_blocking()?;
/// let push = Socket::builder(SocketType::Push)
///     .security(Security::blake3_client(keys.public()))
///     .build_blocking()?;
/// push.connect(pull.bind("tcp://127.0.0.1:0")?)?;
///
/// push.send("work")?;
/// assert_eq!(pull.recv()?.as_bytes(), b"work");
/// # Ok::<(), sealwire::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Socket {
    inner: super::Socket,
}

impl From<super::Socket> for Socket {
    fn from(inner: super::Socket) -> Self {
        Socket { inner }
    }
}

impl From<Socket> for super::Socket {
    fn from(socket: Socket) -> Self {
        socket.inner.clone()
    }
}

impl SocketBuilder {
    /// Makes the socket with the blocking API.
    ///
    /// # Errors
    ///
    /// Those of [`build`](SocketBuilder::build).
    pub fn build_blocking(self) -> Result<Socket, Error> {
        self.build().map(Into::into)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Other handles keep the socket open.
        if Arc::strong_count(&self.inner.handle) == 1 && self.inner.core().is_ok() {
            self.begin_close();
            // No caller is told of a signal here, so none ends it.
            let _ = self.wait_for_end(Until::default());
        }
    }
}

impl Socket {
    /// Returns a socket with default options: no encryption, and a high-water mark of 1,000 messages per peer
    /// and direction.
    ///
    /// # Errors
    ///
    /// [`Error::System`] if the first context of the process cannot start its thread.
    pub fn new(socket_type: SocketType) -> Result<Self, Error> {
        Self::builder(socket_type).build_blocking()
    }

    /// Returns a builder, to set options before the socket is made.
    pub fn builder(socket_type: SocketType) -> SocketBuilder {
        SocketBuilder::new(socket_type)
    }

    /// Returns the type that this socket was made with.
    pub fn socket_type(&self) -> SocketType {
        self.inner.socket_type()
    }

    /// Returns a monitor, which reads the events of this socket's connections from now on.
    pub fn monitor(&self) -> Monitor {
        self.inner.monitor()
    }

    /// Returns a descriptor that becomes readable when this socket may have something to do, for `poll(2)`,
    /// `epoll(7)` or an event loop. [`Readiness`] says how to use it.
    ///
    /// From now on the thread of the context reads for this socket, also while a thread blocks in
    /// [`recv`](Socket::recv).
    ///
    /// # Errors
    ///
    /// An [`io::Error`](std::io::Error) of the system if the process has no descriptors left; it takes one on
    /// Linux, two elsewhere. In a child of a fork an error that holds [`Error::Forked`].
    #[cfg(unix)]
    pub fn readiness(&self) -> std::io::Result<Readiness> {
        self.inner.readiness()
    }

    /// Returns the numbers of messages, bytes and connections of this socket so far.
    pub fn counters(&self) -> Counters {
        self.inner.counters()
    }

    /// Returns all numbers of this socket as of now, with those of its endpoints and peers. Takes the socket's lock for a
    /// time that grows with the number of peers.
    ///
    /// # Errors
    ///
    /// [`Error::Forked`] in a child of the process that made it.
    pub fn metrics(&self) -> Result<SocketMetrics, Error> {
        self.inner.metrics()
    }

    /// Closes the socket for all its handles, and blocks until the queued messages are sent, for up to the
    /// [linger time](SocketBuilder::linger).
    ///
    /// # Errors
    ///
    /// * [`Error::Unsent`] with the number of messages that the linger time was too short for.
    /// * [`Error::Interrupted`] if a signal handler ran and the socket is
    ///   [interruptible](SocketBuilder::interruptible). It goes on closing, and `close` of another handle
    ///   waits again.
    /// * [`Error::EngineFailed`] if the I/O thread of the context has ended.
    pub fn close(self) -> Result<(), Error> {
        self.close_within(None)
    }

    /// Closes the socket as [`close`](Socket::close) does, with this linger time in place of that of its options:
    /// zero closes at once. Where the socket is closing already, a shorter time takes the place of the longer one.
    /// Messages that the time is too short for are dropped, and counted as
    /// [`dropped_unsent`](Counters::dropped_unsent).
    ///
    /// # Errors
    ///
    /// Those of [`close`](Socket::close).
    pub fn close_with_linger(self, linger: Duration) -> Result<(), Error> {
        self.close_within(Some(linger))
    }

    fn close_within(self, linger: Option<Duration>) -> Result<(), Error> {
        let core = self.inner.core()?;
        self.inner.handle.close(linger);
        if let Err(error) = self.wait_for_end(core.until(None)) {
            // As long as there is another handle the end of this one waits for nothing.
            let _other = self.inner.clone();
            drop(self);
            return Err(error);
        }
        self.inner.closed()
    }

    /// Begins to close the socket for all its handles.
    pub(crate) fn begin_close(&self) {
        if self.inner.core().is_ok() {
            self.inner.handle.close(None);
        }
    }

    /// Counts messages that were to be sent and were not taken.
    pub(crate) fn count_dropped_at_send(&self, messages: usize) {
        if let Ok(core) = self.inner.core() {
            crate::monitor::add(&core.counters.dropped_at_send, messages);
        }
    }

    /// Waits until the deadline, or as long as `over` does not hold, which is asked on each
    /// [`wake`](Socket::wake). Returns how many were taken.
    pub(crate) fn recv_many_unless(
        &self,
        into: &mut Vec<Message>,
        limit: usize,
        deadline: Option<Instant>,
        over: impl Fn() -> bool,
    ) -> Result<usize, Error> {
        let core = self.inner.core()?;
        let until = || Until {
            deadline,
            ..Until::default()
        };
        let waited = core.wait_readable_until(until, || {
            if over() {
                return Ok(Some(0));
            }
            let taken = core.try_receive_many(into, limit)?;
            Ok((taken > 0).then_some(taken))
        })?;
        Ok(waited.unwrap_or(0))
    }

    /// Lets the callers that wait check again what they wait for.
    pub(crate) fn wake(&self) {
        if let Ok(core) = self.inner.core() {
            core.notify_readable(usize::MAX);
            core.notify_writable();
        }
    }

    /// Fails once the socket takes part in nothing any more.
    pub(crate) fn check_open(&self) -> Result<(), Error> {
        self.inner.core()?.closed().map_or(Ok(()), Err)
    }

    /// As [`recv_many`](Socket::recv_many), but waits for nothing, and adds to `into`.
    pub(crate) fn try_recv_many(
        &self,
        into: &mut Vec<Message>,
        limit: usize,
    ) -> Result<usize, Error> {
        self.inner.core()?.try_receive_many(into, limit)
    }

    /// Blocks until the attempt succeeds, which is made whenever there may be something to receive, and on
    /// each [`wake`](Socket::wake).
    pub(crate) fn wait_to_receive<T>(
        &self,
        attempt: impl FnMut() -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        self.inner.core()?.wait_for_signal(attempt)
    }

    /// Blocks until the attempt succeeds, which is made whenever there may be room to send, and on each
    /// [`wake`](Socket::wake).
    pub(crate) fn wait_to_send<T>(
        &self,
        mut attempt: impl FnMut() -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        let core = self.inner.core()?;
        let done = core.writable.wait(None, Until::default(), |_| attempt())?;
        done.map_err(|_| Error::WouldBlock)
    }

    fn wait_for_end(&self, until: Until<'_>) -> Result<(), Error> {
        let Ok(core) = self.inner.core() else {
            return Ok(());
        };
        let ended = |_| Ok::<_, Infallible>(core.has_ended().then_some(()));
        let Ok(waited) = core.ended.wait(None, until, ended);
        match waited {
            // Where a payload holds the socket an I/O thread comes here, which does not wait for itself.
            Ok(()) | Err(Unfinished::TimedOut) => Ok(()),
            #[cfg(unix)]
            Err(Unfinished::Interrupted) => Err(Error::Interrupted),
            #[cfg(unix)]
            Err(Unfinished::Refused(error)) => Err(Error::System(error)),
        }
    }
}
