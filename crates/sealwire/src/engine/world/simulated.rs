//! A world for the tests: a host on a simulated network, whose context any thread serves. The network's
//! seed decides everything, so a run can be repeated.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{io, mem};

use mio::{Poll, Registry};

use super::{PollEvent, Work, World};
use crate::account::DescriptorLimit;
use crate::endpoint::{Endpoint, TcpSource};
use crate::options::{SocketOptions, TcpOptions};
#[cfg(unix)]
use crate::transport::Listener;
use crate::transport::simulated::{Network, poller_of};
use crate::transport::udp::DatagramSocket;
use crate::transport::{BoundListener, Stream, Target};

/// A machine on the network, with one context.
pub(in crate::engine) struct Host {
    network: Network,
    address: IpAddr,
    /// Of a poll that nothing is registered with: transports ask for one, and tell this thread from others of its host by it.
    registry: Registry,
    woken: AtomicBool,
    next: Mutex<Next>,
    /// Work beside the context, which it does before it polls the next time.
    blocking_work: Mutex<Vec<Work>>,
}

/// When a thread is to be served again, where nothing happens before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// It is about to poll.
    Poll,
    At(Duration),
    Never,
}

impl Host {
    /// A host with this address.
    pub(in crate::engine) fn new(network: &Network, address: IpAddr) -> Self {
        let poll = Poll::new().expect("the tests have descriptors");
        let registry = poll.registry().try_clone();
        Host {
            network: network.clone(),
            address,
            registry: registry.expect("the tests have descriptors"),
            woken: AtomicBool::new(false),
            next: Mutex::new(Next::Poll),
            blocking_work: Mutex::default(),
        }
    }

    pub(in crate::engine) fn address(&self) -> IpAddr {
        self.address
    }

    fn next(&self) -> MutexGuard<'_, Next> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Work that waits for the context itself, as a question to a ZAP handler does, would wait for ever.
    fn run_blocking_work(&self) {
        let mut waiting = self
            .blocking_work
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let work = mem::take(&mut *waiting);
        drop(waiting);
        work.into_iter().for_each(|work| work());
    }

    fn take_woken(&self) -> bool {
        self.woken.swap(false, Ordering::Relaxed)
    }

    /// When it is to be served by the clock.
    pub(in crate::engine) fn timer(&self) -> Option<Duration> {
        match *self.next() {
            Next::At(at) => Some(at),
            Next::Poll | Next::Never => None,
        }
    }

    /// Whether there is something to do now.
    pub(in crate::engine) fn is_due(&self) -> bool {
        *self.next() == Next::Poll
            || self.timer().is_some_and(|at| at <= self.network.now())
            || self.woken.load(Ordering::Relaxed)
            || self
                .network
                .has_ready(self.address, poller_of(&self.registry))
    }
}

/// Where an endpoint has datagrams; names are for streams.
fn datagrams_at(endpoint: &Endpoint) -> io::Result<SocketAddr> {
    let Endpoint::Udp { host, port, .. } = endpoint else {
        return Err(io::ErrorKind::Unsupported.into());
    };
    let address = host.parse().map_err(|_| io::ErrorKind::NotFound)?;
    Ok(SocketAddr::new(address, *port))
}

impl World for Host {
    fn now(&self) -> Duration {
        self.network.now()
    }

    /// The queue that it is for is filled on this thread, too.
    fn pause(&self, _time: Duration) {}

    fn poll(&self, timeout: Option<Duration>, ready: &mut Vec<PollEvent>) -> io::Result<()> {
        self.run_blocking_work();
        let told = self
            .network
            .take_ready(self.address, poller_of(&self.registry));
        let mut next = self.next();
        // The results of notifications told now, and of timers that are due, are known with the next poll.
        let is_idle = *next == Next::Poll && told.is_empty() && !self.take_woken();
        *next = match timeout {
            _ if !is_idle => Next::Poll,
            Some(timeout) => Next::At(self.now() + timeout),
            None => Next::Never,
        };
        ready.extend(
            told.into_iter()
                .map(|(slot, readable, writable, hung_up)| PollEvent {
                    slot,
                    readable,
                    writable,
                    hung_up,
                }),
        );
        Ok(())
    }

    fn wake(&self) -> io::Result<()> {
        self.woken.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn registry(&self) -> &Registry {
        &self.registry
    }

    fn listen(
        &self,
        endpoint: &Endpoint,
        _: &SocketOptions,
    ) -> io::Result<(BoundListener, Endpoint)> {
        let Endpoint::Tcp { port, .. } = endpoint else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let listener = self.network.listen(SocketAddr::new(self.address, *port))?;
        let (host, port) = (self.address.to_string(), listener.address().port());
        let bound = Endpoint::Tcp { host, port };
        Ok((BoundListener::Simulated(listener), bound))
    }

    /// Nobody else opens sockets on this network.
    #[cfg(unix)]
    fn take_over(&self, _: Listener, _: &SocketOptions) -> io::Result<BoundListener> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn connect(
        &self,
        target: &Target,
        source: Option<&TcpSource>,
        _: &TcpOptions,
    ) -> io::Result<Stream> {
        // A host here has one address.
        let (Target::Tcp(remote), None) = (target, source) else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let stream = self.network.connect(self.address, *remote)?;
        Ok(Stream::Simulated(stream))
    }

    fn bind_datagrams(&self, endpoint: &Endpoint, _: &SocketOptions) -> io::Result<DatagramSocket> {
        let socket = (self.network).bind_datagrams(self.address, datagrams_at(endpoint)?)?;
        Ok(DatagramSocket::Simulated(socket))
    }

    fn connect_datagrams(
        &self,
        endpoint: &Endpoint,
        _: &SocketOptions,
    ) -> io::Result<(DatagramSocket, SocketAddr)> {
        let target = datagrams_at(endpoint)?;
        let socket = self.network.open_datagrams(self.address)?;
        Ok((DatagramSocket::Simulated(socket), target))
    }

    fn resolve(&self, endpoint: &Endpoint, _: &SocketOptions) -> io::Result<Vec<Target>> {
        let Some((name, port)) = endpoint.over_tcp() else {
            return Ok(Vec::new());
        };
        let address = self.network.address_of(name);
        let address = address.ok_or(io::ErrorKind::NotFound)?;
        Ok(vec![Target::Tcp(SocketAddr::new(address, port))])
    }

    fn spawn_blocking(&self, _: &'static str, work: Work) -> io::Result<()> {
        let mut waiting = self
            .blocking_work
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        waiting.push(work);
        self.woken.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn idle_time(&self) -> Duration {
        Duration::ZERO
    }

    fn descriptor_limit(&self) -> DescriptorLimit {
        DescriptorLimit::current()
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        self.network.fill_random(bytes);
    }
}
