//! Sockets of contexts that one thread serves, over a network whose delays, short writes and cuts a seed
//! decides about.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use sealwire_zmtp::SocketType;

use super::world::simulated::Simulation;
use crate::transport::simulated::{Conditions, Network};
use crate::{Context, Error, Security, Socket};

const SENDER: &str = "10.0.0.1";
const RECEIVER: &str = "10.0.0.2";
/// Messages of a run.
const MESSAGES: u64 = 1_000;
/// The application looks after its sockets again before so much time has passed.
const PAUSE: Duration = Duration::from_millis(1);
/// A run takes a tenth of these.
const MOST_STEPS: usize = 200_000;

/// What a run came to. Two runs of a seed have the same in all.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    /// What was received, and when.
    received: Vec<(Duration, u64)>,
    /// Messages that the sender says it lost.
    unsent: usize,
    cuts: usize,
    steps: usize,
    ended_at: Duration,
}

impl Outcome {
    fn numbers(&self) -> Vec<u64> {
        self.received.iter().map(|(_, number)| *number).collect()
    }
}

fn socket(context: &Context, socket_type: SocketType, network: &Network) -> Socket {
    Socket::builder(socket_type)
        .context(context)
        .security(Security::plain_text())
        .send_high_water_mark(1 << network.below(9))
        .receive_high_water_mark(1 << network.below(9))
        .linger(Duration::from_secs(3_600))
        .build()
        .unwrap()
}

/// A message that begins with its number.
fn message(number: u64, network: &Network) -> Vec<u8> {
    let most = [8, 64, 1_000, 30_000][network.below(4) as usize];
    let mut message = vec![number as u8; 8 + network.below(most) as usize];
    message[..8].copy_from_slice(&number.to_le_bytes());
    message
}

/// Receives what there is.
fn receive(pull: &Socket, network: &Network, outcome: &mut Outcome) {
    loop {
        match pull.try_recv() {
            Ok(message) => {
                let (number, rest) = message.as_bytes().split_first_chunk().unwrap();
                let number = u64::from_le_bytes(*number);
                assert!(rest.iter().all(|byte| *byte == number as u8));
                outcome.received.push((network.now(), number));
            }
            Err(Error::WouldBlock) => return,
            Err(error) => panic!("{error}"),
        }
    }
}

/// A socket that sends, and then closes.
enum Sender {
    Open(Socket),
    Closing(Pin<Box<dyn Future<Output = Result<(), Error>>>>),
    Closed { unsent: usize },
}

impl Sender {
    /// Goes on with closing it.
    fn close(&mut self) {
        let mut closing = match std::mem::replace(self, Sender::Closed { unsent: 0 }) {
            Sender::Open(socket) => Box::pin(socket.close()) as Pin<Box<_>>,
            Sender::Closing(closing) => closing,
            closed @ Sender::Closed { .. } => return *self = closed,
        };
        match closing
            .as_mut()
            .poll(&mut TaskContext::from_waker(Waker::noop()))
        {
            Poll::Ready(Ok(())) => *self = Sender::Closed { unsent: 0 },
            Poll::Ready(Err(Error::Unsent(unsent))) => *self = Sender::Closed { unsent },
            Poll::Ready(Err(error)) => panic!("{error}"),
            Poll::Pending => *self = Sender::Closing(closing),
        }
    }

    /// Once it is closed, how many messages it counted as lost.
    fn unsent(&self) -> Option<usize> {
        match self {
            Sender::Closed { unsent } => Some(*unsent),
            Sender::Open(_) | Sender::Closing(_) => None,
        }
    }
}

/// PUSH to PULL: the connection is cut at most so many times, in the first half.
fn push_to_pull(seed: u64, most_cuts: usize) -> Outcome {
    let conditions = Conditions {
        delay: 10..=20_000,
        window: 1 << (10 + seed % 13),
    };
    let mut simulation = Simulation::new(seed, conditions);
    let network = simulation.network.clone();
    let contexts = [SENDER, RECEIVER].map(|address| simulation.context(address));
    let push = socket(&contexts[0], SocketType::Push, &network);
    let pull = socket(&contexts[1], SocketType::Pull, &network);
    push.connect(pull.bind(format!("tcp://{RECEIVER}:0")).unwrap())
        .unwrap();

    let mut outcome = Outcome {
        received: Vec::new(),
        unsent: 0,
        cuts: 0,
        steps: 0,
        ended_at: Duration::ZERO,
    };
    let mut push = Sender::Open(push);
    let mut sent = 0;
    while push.unsent().is_none() || network.connections() > 0 {
        outcome.steps += 1;
        assert!(outcome.steps < MOST_STEPS, "seed {seed}: no end");
        match network.below(4) {
            0 => match &push {
                Sender::Open(socket) if sent < MESSAGES => {
                    for _ in 0..1 << network.below(8) {
                        if sent == MESSAGES {
                            break;
                        }
                        match socket.try_send(message(sent, &network)) {
                            Ok(()) => sent += 1,
                            Err(error) => {
                                assert!(matches!(error.error(), Error::WouldBlock), "{error}");
                                break;
                            }
                        }
                    }
                }
                _ => push.close(),
            },
            1 => receive(&pull, &network, &mut outcome),
            2 if outcome.cuts < most_cuts && sent < MESSAGES / 4 && network.below(50) == 0 => {
                outcome.cuts += usize::from(network.cut());
            }
            // Where nothing happens any more, the application goes on.
            _ => {
                simulation.step(PAUSE);
            }
        }
    }
    receive(&pull, &network, &mut outcome);
    outcome.unsent = push.unsent().unwrap_or(0);
    drop((pull, contexts));
    while simulation.step(Duration::MAX) {}
    outcome.ended_at = network.now();
    outcome
}

#[test]
fn everything_arrives_in_order_however_slow_the_network_is() {
    for seed in 0..200 {
        let outcome = push_to_pull(seed, 0);
        let expected: Vec<_> = (0..MESSAGES).collect();
        assert_eq!(outcome.numbers(), expected, "seed {seed}");
        assert_eq!(outcome.unsent, 0, "seed {seed}");
    }
}

#[test]
fn cuts_lose_messages_and_neither_repeat_nor_reorder_them() {
    let (mut cuts, mut lost) = (0, 0);
    for seed in 0..200 {
        let outcome = push_to_pull(seed, 5);
        let numbers = outcome.numbers();
        assert!(numbers.is_sorted(), "seed {seed}: {numbers:?}");
        let different: BTreeSet<_> = numbers.iter().collect();
        assert_eq!(different.len(), numbers.len(), "seed {seed}: {numbers:?}");
        // A cut loses what is queued, which is less than what is sent after the last one.
        assert_eq!(numbers.last(), Some(&(MESSAGES - 1)), "seed {seed}");
        cuts += outcome.cuts;
        lost += MESSAGES as usize - numbers.len();
    }
    // Else nothing was tried.
    assert!(cuts > 50 && lost > 0, "{cuts} cuts, {lost} messages lost");
}

#[test]
fn a_seed_gives_the_same_run_again() {
    for seed in 100..110 {
        let first = push_to_pull(seed, 3);
        assert_eq!(first, push_to_pull(seed, 3), "seed {seed}");
        assert_ne!(first.received, push_to_pull(seed + 1, 3).received);
    }
}
