//! A simulation with disturbances from a seed.

use std::net::IpAddr;
use std::time::Duration;

use super::{Conditions, Network, Simulation, Stranger, Trouble};
use crate::context::Context;

/// The application looks after its sockets again before so much time has passed.
pub const PAUSE: Duration = Duration::from_millis(1);
/// A run takes fewer steps, unless somebody waits for ever.
const MOST_STEPS: usize = 400_000;

/// Contexts, the network between them, and what goes wrong.
pub struct Scene {
    /// What decides about everything.
    pub seed: u64,
    /// Between the hosts.
    pub network: Network,
    /// The kinds of faults that may still happen.
    pub trouble: Trouble,
    /// Steps so far.
    pub steps: usize,
    /// How long a step lasts at most.
    pub pause: Duration,
    simulation: Simulation,
    /// Hosts that may run out of descriptors.
    hosts: Vec<IpAddr>,
    /// What strangers begin with.
    opening: fn(&Network) -> Vec<u8>,
    strangers: Vec<Stranger>,
    /// Nobody receives anything before.
    stalled_until: Duration,
}

impl Scene {
    /// Makes a scene without hosts. Strangers send nothing but noise.
    pub fn new(seed: u64, trouble: Trouble) -> Self {
        let conditions = Conditions {
            delay: 10..=20_000,
            window: 1 << (10 + seed % 13),
        };
        let simulation = Simulation::new(seed, conditions);
        Scene {
            seed,
            network: simulation.network().clone(),
            trouble,
            steps: 0,
            pause: PAUSE,
            simulation,
            hosts: Vec::new(),
            opening: |_| Vec::new(),
            strangers: Vec::new(),
            stalled_until: Duration::ZERO,
        }
    }

    /// Makes strangers begin with this, as somebody who knows the protocol would.
    #[must_use]
    pub fn with_opening(mut self, opening: fn(&Network) -> Vec<u8>) -> Self {
        self.opening = opening;
        self
    }

    /// A context on the host with this number, with one I/O thread or two, by the seed.
    pub fn context(&mut self, host: u8) -> Context {
        let address = self.host(host);
        let threads = 1 + (self.seed / 2 % 2) as usize;
        self.simulation.context_of(threads, address)
    }

    /// The address of a host with this number, which has no context.
    pub fn host(&mut self, host: u8) -> IpAddr {
        let address = address(host);
        if !self.hosts.contains(&address) {
            self.hosts.push(address);
        }
        address
    }

    /// Stops everything on a host for this time. A scene with programs on it stops them as well.
    pub fn freeze(&mut self, host: u8, time: Duration) {
        self.simulation.freeze(address(host), time);
    }

    /// Ends everything on a host. Its peers are told where its system goes on, and not where the host is gone.
    pub fn kill(&mut self, host: u8, is_told: bool) {
        if !is_told {
            self.network.leave_all_half_open(address(host));
        }
        self.simulation.kill(address(host));
    }

    /// A number below `bound`, by the seed.
    pub fn below(&self, bound: u64) -> u64 {
        self.network.below(bound)
    }

    /// Lets one host do something, or time pass until one has something to do, but no more than `most`.
    ///
    /// # Panics
    ///
    /// When there is no end to it.
    pub fn pass(&mut self, most: Duration) {
        self.steps += 1;
        assert!(self.steps < MOST_STEPS, "seed {}: no end", self.seed);
        if !self.simulation.step(most) {
            // Others may have something to do then.
            self.network.advance(self.network.now() + most);
        }
    }

    /// Lets the world go on for a step, and now and then makes trouble.
    pub fn step(&mut self) {
        let kind = self.below(700);
        let left = match kind {
            0..2 => &mut self.trouble.cuts,
            2..4 => &mut self.trouble.partitions,
            4 => &mut self.trouble.half_open,
            5 => &mut self.trouble.exhaustions,
            6 => &mut self.trouble.jumps,
            7 => &mut self.trouble.strangers,
            8 => &mut self.trouble.stalls,
            9..16 => return self.strangers.iter_mut().for_each(Stranger::go_on),
            _ => return self.pass(self.pause),
        };
        if *left == 0 {
            return self.pass(self.pause);
        }
        *left -= 1;
        let milliseconds = |most| Duration::from_millis(self.network.below(most));
        match kind {
            0..2 => self.network.cut(),
            2..4 => self.network.partition(milliseconds(2_000)),
            4 => self.network.leave_half_open(),
            5 => {
                let host = self.hosts[self.network.below(self.hosts.len() as u64) as usize];
                self.network.exhaust(host, milliseconds(10_000));
            }
            6 => {
                let to = self.network.now() + milliseconds(3_600_000);
                self.network.advance(to);
            }
            7 => {
                let stranger = Stranger::new(&self.network, self.opening);
                self.strangers.extend(stranger);
            }
            _ => self.stalled_until = self.network.now() + milliseconds(60_000),
        }
    }

    /// Ends all trouble, from here on.
    pub fn calm(&mut self) {
        self.trouble = Trouble::NONE;
        self.strangers.clear();
        self.stalled_until = Duration::ZERO;
    }

    /// Returns whether applications receive nothing now.
    pub fn is_stalled(&self) -> bool {
        self.network.now() < self.stalled_until
    }

    /// Ends all contexts, which nobody has any more, and says when that was.
    ///
    /// # Panics
    ///
    /// When something is left that nobody will ever end.
    pub fn end(mut self) -> Duration {
        while self.simulation.step(Duration::MAX) {}
        assert_eq!(
            self.simulation.hosts(),
            0,
            "seed {}: a context goes on",
            self.seed
        );
        self.network.now()
    }
}

/// The address of the host with this number.
pub fn address(host: u8) -> IpAddr {
    IpAddr::from([10, 0, 0, host])
}
