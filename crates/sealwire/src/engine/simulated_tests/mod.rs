//! Sockets of contexts that one thread serves, over a network whose delays, short writes, partitions and
//! cuts a seed decides about. What fails is repeated by its seed, which the failure names.

mod account;
mod ending;
mod everything;
mod many_to_one;
mod plan;
mod publishing;
mod push_pull;
mod requests;
mod strangers;

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use sealwire_zmtp::SocketType;

use account::Account;
use ending::{Ending, core_of};
use plan::{Plan, Trouble, check, seeds};
use strangers::Stranger;

use super::world::simulated::Simulation;
use crate::auth::AllowAnyone;
use crate::core::SocketCore;
use crate::endpoint::Endpoint;
use crate::transport::simulated::{Conditions, Network};
use crate::{Context, Error, Generate as _, KeyPair, Message, Security, Socket, SocketBuilder};

/// The application looks after its sockets again before so much time has passed.
const PAUSE: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3_600);
/// No run here takes this number of steps unless somebody waits for ever.
const MOST_STEPS: usize = 400_000;

/// A server, clients, and the network between them.
struct Scene {
    seed: u64,
    simulation: Simulation,
    network: Network,
    steps: usize,
    trouble: Trouble,
    /// Hosts that have a context.
    hosts: Vec<IpAddr>,
    strangers: Vec<Stranger>,
    /// Nobody receives anything before.
    stalled_until: Duration,
}

impl Scene {
    fn new(seed: u64, trouble: Trouble) -> Self {
        let conditions = Conditions {
            delay: 10..=20_000,
            window: 1 << (10 + seed % 13),
        };
        let simulation = Simulation::new(seed, conditions);
        Scene {
            seed,
            network: simulation.network.clone(),
            simulation,
            steps: 0,
            trouble,
            hosts: Vec::new(),
            strangers: Vec::new(),
            stalled_until: Duration::ZERO,
        }
    }

    fn context(&mut self, host: u8) -> Context {
        let address = address(host);
        self.hosts.push(address.parse().unwrap());
        self.simulation.context(&address)
    }

    fn below(&self, bound: u64) -> u64 {
        self.network.below(bound)
    }

    /// Lets one host do something, or time pass until one has something to do, but no more than `most`.
    fn pass(&mut self, most: Duration) {
        self.steps += 1;
        assert!(self.steps < MOST_STEPS, "seed {}: no end", self.seed);
        self.simulation.step(most);
    }

    /// Lets the world go on for a step, and now and then makes trouble.
    fn step(&mut self) {
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
            _ => return self.pass(PAUSE),
        };
        if *left == 0 {
            return self.pass(PAUSE);
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
            7 => self.strangers.extend(Stranger::new(&self.network)),
            _ => self.stalled_until = self.network.now() + milliseconds(60_000),
        }
    }

    /// From here on there is no more trouble.
    fn calm(&mut self) {
        self.trouble = Trouble::NONE;
        self.strangers.clear();
        self.stalled_until = Duration::ZERO;
    }

    /// Whether applications receive nothing now.
    fn is_stalled(&self) -> bool {
        self.network.now() < self.stalled_until
    }

    /// Ends all contexts, which nobody has any more.
    fn end(mut self) -> Duration {
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

fn address(host: u8) -> String {
    format!("10.0.0.{host}")
}

/// What both ends of a connection have for security, by the seed: BLAKE3ZMQ, CURVE or none.
struct Securities {
    server: Security,
    keys: KeyPair,
    kind: u64,
}

impl Securities {
    fn new(seed: u64) -> Self {
        let keys = KeyPair::generate();
        let kind = seed % 3;
        let server = match kind {
            0 => Security::blake3_server(keys.clone(), AllowAnyone).into(),
            1 => Security::curve_server(keys.clone(), AllowAnyone),
            _ => Security::plain_text(),
        };
        Securities { server, keys, kind }
    }

    fn server(&self) -> Security {
        self.server.clone()
    }

    /// As the server's, with keys that no client knows.
    fn server_with_other_keys(&self) -> Security {
        match self.kind {
            2 => Security::plain_text(),
            kind => Securities::new(kind).server(),
        }
    }

    fn client(&self) -> Security {
        let (own, server) = (KeyPair::generate(), self.keys.public());
        match self.kind {
            0 => Security::blake3_client_with_keys(server, own).into(),
            1 => Security::curve_client(server, own),
            _ => Security::plain_text(),
        }
    }
}

/// Whether sockets have heartbeats, by the seed.
fn has_heartbeats(seed: u64) -> bool {
    seed % 2 == 1
}

fn builder(
    context: &Context,
    socket_type: SocketType,
    scene: &Scene,
    security: Security,
) -> SocketBuilder {
    let builder = Socket::builder(socket_type)
        .context(context)
        .security(security)
        .send_high_water_mark(1 << scene.below(9))
        .receive_high_water_mark(1 << scene.below(9))
        .linger(HOUR);
    // Often, so that much is confirmed; and no partition is so long that it ends a connection.
    match has_heartbeats(scene.seed) {
        true => builder.heartbeat(Duration::from_millis(100), HOUR, HOUR),
        false => builder,
    }
}

/// A message with these numbers in front, of a size by the seed.
fn message(numbers: &[u64], scene: &Scene) -> Vec<u8> {
    let most = [1, 64, 1_000, 30_000][scene.below(4) as usize];
    let mut message: Vec<u8> = numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let fill = message[0];
    message.resize(message.len() + scene.below(most) as usize, fill);
    message
}

/// The numbers in front of a message, whose other bytes are as they were sent.
fn numbers<const N: usize>(message: &[u8]) -> [u64; N] {
    let (numbers, rest) = message.split_at(8 * N);
    assert!(rest.iter().all(|byte| *byte == message[0]));
    let mut numbers = numbers.as_chunks::<8>().0.iter();
    std::array::from_fn(|_| u64::from_le_bytes(*numbers.next().unwrap()))
}

/// `None` where it would have to wait.
fn at_once<T>(outcome: Result<T, Error>) -> Option<T> {
    match outcome {
        Ok(done) => Some(done),
        Err(Error::WouldBlock) => None,
        Err(error) => panic!("{error}"),
    }
}
