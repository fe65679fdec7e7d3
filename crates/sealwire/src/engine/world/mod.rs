//! The engine's interface to the world around it: a clock, a poll, transports, limits and
//! randomness.
//!
//! [`System`] is the operating system. The tests have a world of their own, in which one thread runs any
//! number of contexts over a simulated network, driven by a seed (`simulated`).

#[cfg(any(test, feature = "simulation"))]
pub(super) mod simulated;
mod system;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use mio::Registry;

pub(super) use self::system::System;
use crate::account::DescriptorLimit;
use crate::endpoint::{Endpoint, TcpSource};
use crate::options::{SocketOptions, TcpOptions};
#[cfg(unix)]
use crate::transport::Listener;
use crate::transport::udp::DatagramSocket;
use crate::transport::{BoundListener, Stream, Target};

/// Work that may block.
pub(crate) type Work = Box<dyn FnOnce() + Send>;

/// The world of one context. What happens with each message asks it for nothing but the time.
pub(crate) trait World: Send + Sync {
    /// The time since the context began.
    fn now(&self) -> Duration;

    /// Lets this time pass, some microseconds, without giving the core away.
    fn pause(&self, time: Duration);

    /// Waits until a transport is ready, somebody [wakes](World::wake) it, or the timeout (`None` for no
    /// limit), and writes what is ready to `ready`, which is empty.
    ///
    /// # Errors
    ///
    /// [`Interrupted`](io::ErrorKind::Interrupted) by a signal; others when no poll is possible any more.
    fn poll(&self, timeout: Option<Duration>, ready: &mut Vec<PollEvent>) -> io::Result<()>;

    /// Ends the poll that waits, or else the next one.
    ///
    /// # Errors
    ///
    /// Where the system refuses.
    fn wake(&self) -> io::Result<()>;

    /// Where transports register, with their slot as the token, to be polled.
    fn registry(&self) -> &Registry;

    /// Begins to listen and gives the endpoint with the port that was chosen. May block to resolve a
    /// name.
    ///
    /// # Errors
    ///
    /// Those of the transport.
    fn listen(
        &self,
        endpoint: &Endpoint,
        options: &SocketOptions,
    ) -> io::Result<(BoundListener, Endpoint)>;

    /// Begins to accept on a listening socket that somebody else opened.
    ///
    /// # Errors
    ///
    /// Those of the transport.
    #[cfg(unix)]
    fn take_over(&self, listener: Listener, options: &SocketOptions) -> io::Result<BoundListener>;

    /// Begins to connect; [`Stream::connected`] tells the outcome.
    ///
    /// # Errors
    ///
    /// Those of the transport that are known at once.
    fn connect(
        &self,
        target: &Target,
        source: Option<&TcpSource>,
        options: &TcpOptions,
    ) -> io::Result<Stream>;

    /// Opens a socket that receives datagrams. May block to resolve a name.
    ///
    /// # Errors
    ///
    /// Those of the transport.
    fn bind_datagrams(
        &self,
        endpoint: &Endpoint,
        options: &SocketOptions,
    ) -> io::Result<DatagramSocket>;

    /// Opens a socket that sends datagrams, and gives where they go. May block to resolve a name.
    ///
    /// # Errors
    ///
    /// Those of the transport.
    fn connect_datagrams(
        &self,
        endpoint: &Endpoint,
        options: &SocketOptions,
    ) -> io::Result<(DatagramSocket, SocketAddr)>;

    /// Looks up the addresses behind an endpoint. May block for as long as a name takes: work to
    /// [run beside](World::spawn_blocking) the context.
    ///
    /// # Errors
    ///
    /// Those of the resolver.
    fn resolve(&self, endpoint: &Endpoint, options: &SocketOptions) -> io::Result<Vec<Target>>;

    /// Runs work that may block beside the thread that serves the context.
    ///
    /// # Errors
    ///
    /// Where the system gives no thread.
    fn spawn_blocking(&self, name: &'static str, work: Work) -> io::Result<()>;

    /// How long work beside the context that has nothing to do waits for more before it ends.
    fn idle_time(&self) -> Duration;

    /// How many descriptors there may be.
    fn descriptor_limit(&self) -> DescriptorLimit;

    /// Fills it with bytes that nobody can foresee.
    fn fill_random(&self, bytes: &mut [u8]);

    /// A random number below `bound`, for jitter; 0 when `bound` is 0.
    fn random_below(&self, bound: u64) -> u64 {
        let mut bytes = [0; 8];
        self.fill_random(&mut bytes);
        u64::from_le_bytes(bytes).checked_rem(bound).unwrap_or(0)
    }
}

/// What a poll says of a transport: it is ready for something that it was not ready for before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PollEvent {
    pub(super) slot: usize,
    /// Also where it has hung up: reading tells how.
    pub(super) readable: bool,
    pub(super) writable: bool,
    /// No more bytes will come after those that it holds.
    pub(super) hung_up: bool,
}
