//! What a tunnel has of the world around it: a clock, sockets that never block, and a poll. [`System`] is the
//! operating system; the tests have a world that a seed decides about.

mod system;

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

pub(super) use system::System;

/// A source that is ready for something it was not ready for before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PollEvent {
    /// Somebody may wait to be accepted.
    Listener,
    /// A socket of the connection with this id.
    Connection(u64),
}

/// The world of one tunnel's end, with the one address that it listens on.
pub(super) trait World {
    /// A connection's socket.
    type Stream: Stream;

    fn now(&self) -> Instant;

    /// Waits until something is ready, somebody has something to say, or the timeout (`None` for no limit),
    /// and writes what is ready to `ready`, which is empty.
    ///
    /// # Errors
    ///
    /// When no poll is possible any more.
    fn poll(&mut self, timeout: Option<Duration>, ready: &mut Vec<PollEvent>) -> io::Result<()>;

    /// Takes a connection that waits. `None` when it does not listen.
    fn accept(&self) -> Option<io::Result<(Self::Stream, SocketAddr)>>;

    /// Takes no more connections. Whether it did.
    fn stop_listening(&mut self) -> bool;

    /// Begins to connect; [`Stream::connected`] tells the outcome.
    fn connect(&self, address: SocketAddr) -> io::Result<Self::Stream>;

    /// Has polls tell when a socket of this connection is ready.
    fn register(&self, stream: &mut Self::Stream, connection: u64) -> io::Result<()>;

    /// Whether it was told to stop.
    fn is_to_stop(&self) -> bool;
}

/// A byte stream that never blocks.
pub(super) trait Stream: io::Read + io::Write {
    /// Whether it is connected; `None` while that is not known.
    fn connected(&self) -> Option<io::Result<()>>;

    /// Sends no more. The other side may have gone already.
    fn finish(&self);

    /// Ends it so that the other side does not take it for the end of the data.
    fn reset(self);
}
