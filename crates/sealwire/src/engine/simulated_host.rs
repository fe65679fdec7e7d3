//! A context of the simulated world: a host, whose I/O thread any thread can play.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use super::io_thread::IoThread;
use super::mailbox::Mailbox;
use super::neighbours::Neighbours;
use super::world::simulated::Host;
use crate::inproc;
use crate::transport::simulated::Network;

/// A host with one context, and the thread of that, which is served when it is told to.
pub(crate) struct SimulatedHost {
    host: Arc<Host>,
    thread: IoThread,
}

impl SimulatedHost {
    /// A host with this address, whose context has these names of `inproc`.
    pub(crate) fn new(network: &Network, address: IpAddr, inproc: Arc<inproc::Registry>) -> Self {
        let host = Arc::new(Host::new(network, address));
        let thread = IoThread::new(host.clone(), inproc);
        SimulatedHost { host, thread }
    }

    /// Lets its thread, which has this number, know the threads of its context.
    pub(crate) fn meet(&mut self, number: usize, threads: Arc<[Arc<Mailbox>]>) {
        self.thread.meet(Neighbours::of(number, threads));
    }

    /// How the thread is asked to do something.
    pub(crate) fn mailbox(&self) -> &Arc<Mailbox> {
        self.thread.mailbox()
    }

    pub(crate) fn address(&self) -> IpAddr {
        self.host.address()
    }

    /// Whether there is something to do now.
    pub(crate) fn is_due(&self) -> bool {
        self.host.is_due()
    }

    /// When it is to be served by the clock.
    pub(crate) fn timer(&self) -> Option<Duration> {
        self.host.timer()
    }

    /// One iteration of its thread. Whether it goes on.
    pub(crate) fn serve(&mut self) -> bool {
        self.thread.iterate().is_none()
    }
}
