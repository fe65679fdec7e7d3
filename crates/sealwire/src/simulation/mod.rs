//! Contexts over a simulated network, driven by one thread and a seed. For tests of this crate and, with
//! the feature `simulation`, of the crates above it; programs have no use for it.
//!
//! Most tests want a [`Scene`]: contexts by host, steps, trouble. They make sockets in its contexts as
//! anywhere else, and use calls that do not wait; between those calls the scene makes steps. A seed makes a
//! [`Plan`] of a run; [`check`] runs plans and shrinks the first that fails.
//!
//! A layer above a context asks it for the time ([`Context::now`]) and is served between two steps.
//!
//! ```
//! use sealwire::simulation::{Scene, Trouble};
//! use sealwire::{Message, Security, Socket, SocketType};
//!
//! let mut scene = Scene::new(1, Trouble::CUTS);
//! let contexts = [1, 2].map(|host| scene.context(host));
//! let socket = |socket_type, context| {
//!     let builder = Socket::builder(socket_type).context(context);
//!     builder.security(Security::plain_text()).build()
//! };
//! let pull = socket(SocketType::Pull, &contexts[0])?;
//! let push = socket(SocketType::Push, &contexts[1])?;
//! push.connect(pull.bind("tcp://10.0.0.1:0")?)?;
//! push.try_send(Message::from("work")).map_err(sealwire::Error::from)?;
//! let received = loop {
//!     match pull.try_recv() {
//!         Err(sealwire::Error::WouldBlock) => scene.step(),
//!         received => break received?,
//!     }
//! };
//! assert_eq!(received.as_bytes(), b"work");
//! assert_eq!(contexts[0].now(), contexts[1].now());
//! drop((pull, push, contexts));
//! scene.end();
//! # Ok::<(), sealwire::Error>(())
//! ```

mod exchange;
mod plan;
mod scene;
mod stranger;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

pub use exchange::Exchanges;
pub use plan::{Plan, Trouble, check, seeds};
pub use scene::{PAUSE, Scene, address};
pub use stranger::Stranger;

use crate::context::Context;
use crate::engine::{SimulatedHost, Threads};
use crate::inproc;
pub use crate::transport::simulated::{
    Conditions, DatagramFaults, Network, Random, SimulatedDatagrams, SimulatedListener,
    SimulatedStream, Told,
};

/// Hosts on a network, each with a context. The caller's thread does the work of all.
pub struct Simulation {
    network: Network,
    hosts: Vec<SimulatedHost>,
    /// Hosts that do nothing, and until when.
    frozen: BTreeMap<IpAddr, Duration>,
}

impl Simulation {
    /// Makes one without hosts.
    pub fn new(seed: u64, conditions: Conditions) -> Self {
        Simulation {
            network: Network::new(seed, conditions),
            hosts: Vec::new(),
            frozen: BTreeMap::new(),
        }
    }

    /// The network, and with it the clock.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// A context on a host with this address.
    pub fn context(&mut self, address: IpAddr) -> Context {
        self.context_of(1, address)
    }

    /// The same with this number of I/O threads.
    pub fn context_of(&mut self, threads: usize, address: IpAddr) -> Context {
        let inproc = Arc::<inproc::Registry>::default();
        let hosts = (0..threads).map(|_| {
            let inproc = inproc.clone();
            SimulatedHost::new(&self.network, address, inproc)
        });
        let mut hosts: Vec<_> = hosts.collect();
        let mailboxes: Vec<_> = hosts.iter().map(|host| host.mailbox().clone()).collect();
        let neighbours: Arc<[_]> = mailboxes.as_slice().into();
        for (number, host) in hosts.iter_mut().enumerate() {
            host.meet(number, neighbours.clone());
        }
        let threads = Threads::played(mailboxes);
        self.hosts.extend(hosts);
        Context::served_by(threads, inproc)
    }

    /// Hosts whose context goes on.
    pub fn hosts(&self) -> usize {
        self.hosts.len()
    }

    /// Stops everything on a host for this time, as SIGSTOP does: its connections stay, and it says nothing.
    pub fn freeze(&mut self, address: IpAddr, time: Duration) {
        self.frozen.insert(address, self.network.now() + time);
    }

    /// Ends everything on a host at once, as SIGKILL does: the system closes its connections.
    pub fn kill(&mut self, address: IpAddr) {
        self.frozen.remove(&address);
        self.hosts.retain(|host| host.address() != address);
    }

    /// Serves one host that has something to do, or lets time pass until one has, but no more than `most`.
    /// `false` when nothing would ever happen.
    pub fn step(&mut self, most: Duration) -> bool {
        let now = self.network.now();
        self.frozen.retain(|_, until| now < *until);
        let is_frozen = |host: &SimulatedHost| self.frozen.contains_key(&host.address());
        let due: Vec<_> = (0..self.hosts.len())
            .filter(|&index| self.hosts[index].is_due() && !is_frozen(&self.hosts[index]))
            .collect();
        if !due.is_empty() {
            let chosen = due[self.network.below(due.len() as u64) as usize];
            if !self.hosts[chosen].serve() {
                self.hosts.remove(chosen);
            }
            return true;
        }
        let awake = self.hosts.iter().filter(|host| !is_frozen(host));
        let timers = awake.filter_map(SimulatedHost::timer);
        let thaws = self.frozen.values().copied();
        match timers.chain(thaws).chain(self.network.next()).min() {
            Some(at) => {
                let limit = self.network.now().saturating_add(most);
                self.network.advance(at.min(limit));
                true
            }
            None => false,
        }
    }
}
