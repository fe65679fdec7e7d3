//! The operating system.

use std::hint;
use std::io;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mio::{Events, Poll, Registry, Token, Waker};

use super::{PollEvent, Work, World};
use crate::account::DescriptorLimit;
use crate::endpoint::{Endpoint, TcpSource};
use crate::entropy;
use crate::options::{SocketOptions, TcpOptions};
#[cfg(unix)]
use crate::transport::Listener;
use crate::transport::udp::{self, DatagramSocket};
use crate::transport::{BoundListener, Stream, Target, listen};

/// Events taken from the poll at a time.
const EVENTS: usize = 1_024;
/// A thread beside the context that has no work ends after this time.
const IDLE: Duration = Duration::from_secs(10);
/// The waker's token; slots of the slab never get so far.
const WAKER: Token = Token(usize::MAX);

pub(crate) struct System {
    epoch: Instant,
    /// Locked by the I/O thread alone.
    poll: Mutex<(Poll, Events)>,
    registry: Registry,
    waker: Waker,
}

impl System {
    /// # Errors
    ///
    /// When the process has no descriptors left; it takes three.
    pub(in crate::engine) fn new(epoch: Instant) -> io::Result<Self> {
        let poll = Poll::new()?;
        Ok(System {
            epoch,
            registry: poll.registry().try_clone()?,
            waker: Waker::new(poll.registry(), WAKER)?,
            poll: Mutex::new((poll, Events::with_capacity(EVENTS))),
        })
    }
}

impl World for System {
    fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    fn pause(&self, time: Duration) {
        let begin = self.now();
        while self.now().saturating_sub(begin) < time {
            hint::spin_loop();
        }
    }

    fn poll(&self, timeout: Option<Duration>, ready: &mut Vec<PollEvent>) -> io::Result<()> {
        let (poll, events) = &mut *self.poll.lock().unwrap_or_else(PoisonError::into_inner);
        poll.poll(events, timeout)?;
        let transports = events.iter().filter(|event| event.token() != WAKER);
        ready.extend(transports.map(|event| {
            let hung_up = event.is_read_closed() || event.is_error();
            PollEvent {
                slot: event.token().0,
                readable: event.is_readable() || hung_up,
                writable: event.is_writable(),
                hung_up,
            }
        }));
        Ok(())
    }

    fn wake(&self) -> io::Result<()> {
        self.waker.wake()
    }

    fn registry(&self) -> &Registry {
        &self.registry
    }

    fn listen(
        &self,
        endpoint: &Endpoint,
        options: &SocketOptions,
    ) -> io::Result<(BoundListener, Endpoint)> {
        listen(endpoint, options)
    }

    #[cfg(unix)]
    fn take_over(&self, listener: Listener, options: &SocketOptions) -> io::Result<BoundListener> {
        listener.take_over(options)
    }

    fn connect(
        &self,
        target: &Target,
        source: Option<&TcpSource>,
        options: &TcpOptions,
    ) -> io::Result<Stream> {
        Stream::connect(target, source, options)
    }

    fn bind_datagrams(
        &self,
        endpoint: &Endpoint,
        options: &SocketOptions,
    ) -> io::Result<DatagramSocket> {
        udp::bind(endpoint, options).map(DatagramSocket::System)
    }

    fn connect_datagrams(
        &self,
        endpoint: &Endpoint,
        options: &SocketOptions,
    ) -> io::Result<(DatagramSocket, SocketAddr)> {
        let (socket, target) = udp::connect(endpoint, options)?;
        Ok((DatagramSocket::System(socket), target))
    }

    fn resolve(&self, endpoint: &Endpoint, options: &SocketOptions) -> io::Result<Vec<Target>> {
        Target::resolve(endpoint, options)
    }

    fn spawn_blocking(&self, name: &'static str, work: Work) -> io::Result<()> {
        let thread = thread::Builder::new().name(name.into());
        thread.spawn(work).map(drop)
    }

    fn idle_time(&self) -> Duration {
        IDLE
    }

    fn descriptor_limit(&self) -> DescriptorLimit {
        DescriptorLimit::current()
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        entropy::fill(bytes);
    }
}
