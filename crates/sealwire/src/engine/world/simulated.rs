//! A world for the tests: contexts that one thread serves, each on a host of its own, over a simulated
//! network. The seed decides everything, so a run can be repeated.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mio::{Poll, Registry};

use super::{Ready, World};
use crate::Context;
use crate::account::DescriptorLimit;
use crate::endpoint::Endpoint;
use crate::engine::io_thread::IoThread;
use crate::options::{SocketOptions, TcpOptions};
use crate::transport::simulated::{Conditions, Network};
use crate::transport::{BoundListener, Stream, Target};

/// A machine on the network, with one context.
struct Host {
    network: Network,
    address: IpAddr,
    /// Of a poll that nothing is registered with: transports ask for one.
    registry: Registry,
    woken: AtomicBool,
    next: Mutex<Next>,
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
    fn next(&self) -> MutexGuard<'_, Next> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_woken(&self) -> bool {
        self.woken.swap(false, Ordering::Relaxed)
    }

    /// When it is to be served by the clock.
    fn timer(&self) -> Option<Duration> {
        match *self.next() {
            Next::At(at) => Some(at),
            Next::Poll | Next::Never => None,
        }
    }

    fn is_due(&self) -> bool {
        *self.next() == Next::Poll
            || self.timer().is_some_and(|at| at <= self.network.now())
            || self.woken.load(Ordering::Relaxed)
            || self.network.has_ready(self.address)
    }
}

impl World for Host {
    fn now(&self) -> Duration {
        self.network.now()
    }

    fn poll(&self, timeout: Option<Duration>, ready: &mut Vec<Ready>) -> io::Result<()> {
        let told = self.network.take_ready(self.address);
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
                .map(|(slot, readable, writable, hung_up)| Ready {
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

    fn connect(&self, target: &Target, _: &TcpOptions) -> io::Result<Stream> {
        let Target::Tcp(remote) = target else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let stream = self.network.connect(self.address, *remote)?;
        Ok(Stream::Simulated(stream))
    }

    fn descriptor_limit(&self) -> DescriptorLimit {
        DescriptorLimit::current()
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        self.network.fill_random(bytes);
    }
}

/// Hosts on a network, and the thread of each context. The caller's thread does the work of all.
pub(in crate::engine) struct Simulation {
    pub(in crate::engine) network: Network,
    hosts: Vec<(Arc<Host>, IoThread)>,
}

impl Simulation {
    pub(in crate::engine) fn new(seed: u64, conditions: Conditions) -> Self {
        Simulation {
            network: Network::new(seed, conditions),
            hosts: Vec::new(),
        }
    }

    /// A context on a host with this address.
    pub(in crate::engine) fn context(&mut self, address: &str) -> Context {
        let poll = Poll::new().unwrap();
        let host = Arc::new(Host {
            network: self.network.clone(),
            address: address.parse().unwrap(),
            registry: poll.registry().try_clone().unwrap(),
            woken: AtomicBool::new(false),
            next: Mutex::new(Next::Poll),
        });
        let inproc = Arc::<crate::inproc::Registry>::default();
        let thread = IoThread::new(host.clone(), inproc.clone());
        let context = Context::served_by(thread.mailbox().clone(), inproc);
        self.hosts.push((host, thread));
        context
    }

    /// Hosts whose context goes on.
    pub(in crate::engine) fn hosts(&self) -> usize {
        self.hosts.len()
    }

    /// Serves one host that has something to do, or lets time pass until one has, but no more than `most`.
    /// `false` when nothing would ever happen.
    pub(in crate::engine) fn step(&mut self, most: Duration) -> bool {
        let due: Vec<_> = (0..self.hosts.len())
            .filter(|&index| self.hosts[index].0.is_due())
            .collect();
        if !due.is_empty() {
            let chosen = due[self.network.below(due.len() as u64) as usize];
            let (_, thread) = &mut self.hosts[chosen];
            if thread.iterate().is_some() {
                self.hosts.remove(chosen);
            }
            return true;
        }
        let timers = self.hosts.iter().filter_map(|(host, _)| host.timer());
        match timers.chain(self.network.next()).min() {
            Some(at) => {
                self.network
                    .advance(at.min(self.network.now().saturating_add(most)));
                true
            }
            None => false,
        }
    }
}
