//! Sockets of contexts that one thread serves, over a network whose delays, short writes, partitions and
//! cuts a seed decides about. What fails is repeated by its seed, which the failure names.

mod many_to_one;
mod publishing;
mod push_pull;
mod requests;

use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use sealwire_zmtp::SocketType;

use super::world::simulated::Simulation;
use crate::auth::AllowAnyone;
use crate::core::SocketCore;
use crate::transport::simulated::{Conditions, Network};
use crate::{Context, Error, Generate as _, KeyPair, Security, Socket, SocketBuilder};

/// The application looks after its sockets again before so much time has passed.
const PAUSE: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3_600);
/// Nothing here takes so many unless somebody waits for ever.
const MOST_STEPS: usize = 400_000;

/// So many seeds, or as many as the environment variable `SEALWIRE_SEEDS` says: `make simulate`.
fn seeds(count: u64) -> Range<u64> {
    let wanted = std::env::var("SEALWIRE_SEEDS").ok();
    0..wanted.map_or(count, |wanted| wanted.parse().expect("a number"))
}

/// A server, clients, and the network between them.
struct Scene {
    seed: u64,
    simulation: Simulation,
    network: Network,
    steps: usize,
    trouble: Trouble,
}

/// How often the network is disturbed at most, before [`Scene::calm`].
#[derive(Debug, Clone, Copy, Default)]
struct Trouble {
    /// Connections that are cut.
    cuts: usize,
    /// Times of up to two seconds in which nothing comes through.
    partitions: usize,
}

impl Trouble {
    const NONE: Trouble = Trouble {
        cuts: 0,
        partitions: 0,
    };
    const SOME: Trouble = Trouble {
        cuts: 5,
        partitions: 3,
    };
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
        }
    }

    fn context(&mut self, host: u8) -> Context {
        self.simulation.context(&address(host))
    }

    fn below(&self, bound: u64) -> u64 {
        self.network.below(bound)
    }

    /// Lets the world go on for a step, and now and then makes trouble.
    fn step(&mut self) {
        self.steps += 1;
        assert!(self.steps < MOST_STEPS, "seed {}: no end", self.seed);
        match self.below(300) {
            0 if self.trouble.cuts > 0 => self.trouble.cuts -= usize::from(self.network.cut()),
            1 if self.trouble.partitions > 0 => {
                self.trouble.partitions -= 1;
                let time = Duration::from_millis(self.below(2_000));
                self.network.partition(time);
            }
            _ => {
                self.simulation.step(PAUSE);
            }
        }
    }

    /// From here on there is no more trouble.
    fn calm(&mut self) {
        self.trouble = Trouble::NONE;
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

/// What became of the messages that a socket sent, as it counts them itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Account {
    /// Messages that did not arrive.
    lost: u64,
    /// Those that may not have arrived.
    unconfirmed: u64,
}

impl Account {
    fn of(core: &SocketCore) -> Self {
        let counters = core.counters();
        Account {
            lost: counters.dropped_at_send + counters.dropped_unsent + counters.replaced,
            unconfirmed: counters.unconfirmed,
        }
    }

    /// Every message is accounted for: `delivered + lost <= sent <= delivered + lost + unconfirmed`,
    /// where those count as delivered that the receiving sockets count as lost themselves.
    fn check(self, sent: u64, received: usize, receiver: &SocketCore, seed: u64) {
        let counters = receiver.counters();
        let delivered = received as u64 + counters.dropped_unread + counters.dropped_at_receive;
        let least = delivered + self.lost;
        assert!(
            least <= sent && sent <= least + self.unconfirmed,
            "seed {seed}: {sent} sent, {delivered} delivered, {self:?}"
        );
    }
}

/// A socket that is used, and then closes.
enum Ending {
    Open(Socket),
    Closing(Pin<Box<dyn Future<Output = Result<(), Error>>>>),
    Closed { unsent: usize },
}

impl std::iter::Sum for Account {
    fn sum<I: Iterator<Item = Self>>(accounts: I) -> Self {
        let none = Account {
            lost: 0,
            unconfirmed: 0,
        };
        accounts.fold(none, |all, one| Account {
            lost: all.lost + one.lost,
            unconfirmed: all.unconfirmed + one.unconfirmed,
        })
    }
}

/// What stays of a socket that is open, also once it is closed.
fn core_of(socket: &Ending) -> Arc<SocketCore> {
    let socket = socket.open().expect("an open socket");
    socket.core().unwrap().clone()
}

impl Ending {
    /// The socket, while it is open.
    fn open(&self) -> Option<&Socket> {
        match self {
            Ending::Open(socket) => Some(socket),
            Ending::Closing(_) | Ending::Closed { .. } => None,
        }
    }

    /// Goes on with closing it.
    fn close(&mut self) {
        let mut closing = match std::mem::replace(self, Ending::Closed { unsent: 0 }) {
            Ending::Open(socket) => Box::pin(socket.close()) as Pin<Box<_>>,
            Ending::Closing(closing) => closing,
            closed @ Ending::Closed { .. } => return *self = closed,
        };
        let mut context = TaskContext::from_waker(Waker::noop());
        *self = match closing.as_mut().poll(&mut context) {
            Poll::Ready(Ok(())) => Ending::Closed { unsent: 0 },
            Poll::Ready(Err(Error::Unsent(unsent))) => Ending::Closed { unsent },
            Poll::Ready(Err(error)) => panic!("{error}"),
            Poll::Pending => Ending::Closing(closing),
        };
    }

    /// Once it is closed, how many messages it counted as lost.
    fn unsent(&self) -> Option<usize> {
        match self {
            Ending::Closed { unsent } => Some(*unsent),
            Ending::Open(_) | Ending::Closing(_) => None,
        }
    }
}
