//! Sockets of contexts that one thread serves, over a network whose delays, short writes, partitions and
//! cuts come from a seed. A failure names its seed, which repeats the run.

mod account;
mod awaiting;
mod blocking_work;
mod datagrams;
mod dgram;
mod disconnecting;
mod draining;
mod ending;
mod everything;
mod inproc;
mod limits;
mod lingering;
mod many_to_one;
mod memory;
mod proxies;
mod publishing;
mod push_pull;
mod raw_bytes;
mod requests;
mod silent_peers;
mod slow_peers;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use sealwire_zmtp::SocketType;

use crate::auth::AllowAnyone;
use crate::core::SocketCore;
use crate::endpoint::Endpoint;
use crate::simulation::{PAUSE, Plan, Scene, Trouble, address, check, seeds};
use crate::{Context, Error, Generate as _, KeyPair, Message, Security, Socket, SocketBuilder};
use account::Account;
use ending::{Ending, core_of};
use sealwire_relay::zmtp::{self, GREETING_SIZE};

const HOUR: Duration = Duration::from_secs(3_600);

/// A scene where strangers begin with nothing, with a part of a greeting, or with a whole one.
fn scene(seed: u64, trouble: Trouble) -> Scene {
    Scene::new(seed, trouble).with_opening(|network| {
        let mechanism = ["NULL", "CURVE", "BLAKE3", "NOISE"][network.below(4) as usize];
        let mut greeting = zmtp::greeting(mechanism, false).to_vec();
        greeting.truncate(network.below(2 * GREETING_SIZE as u64) as usize);
        greeting
    })
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
        true => builder
            .heartbeat(Duration::from_millis(100))
            .heartbeat_timeout(HOUR)
            .heartbeat_ttl(HOUR),
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
