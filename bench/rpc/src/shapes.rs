//! What monte's benchmarks do, with both ends in one process: nanoseconds for each message of
//! 1,400 B, until the last has arrived; and what the caller alone spends, which is what monte's
//! benchmarks measure of messages that nobody waits for, as its queue has no bound.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sealwire::{Generate as _, KeyPair, Security, auth::AllowAnyone};
use sealwire_rpc::handler::Inline;
use sealwire_rpc::{Client, OneWay, Request, Server, Status, blocking};

use crate::{Error, MESSAGE};

/// What one of monte's benchmarks does.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    parallel: bool,
    action: Action,
}

pub(crate) const SHAPES: [Shape; 6] = [
    Shape::new("send", false, send),
    Shape::new("send without waiting", false, send_no_wait),
    Shape::new("request", false, request),
    Shape::new("parallel send", true, send),
    Shape::new("parallel send without waiting", true, send_no_wait),
    Shape::new("parallel request", true, request),
];

impl Shape {
    const fn new(name: &'static str, parallel: bool, action: Action) -> Self {
        Shape {
            name,
            parallel,
            action,
        }
    }
}

/// Messages in a row that the caller's part is measured of: their queue has room for more.
const BURST: u64 = 128;

/// Messages between two readings of the clock.
const CHECK_EVERY: u64 = 256;

pub(crate) struct Pair {
    client: blocking::Client,
    arrived: Arc<AtomicU64>,
    _server: Server,
}

type Action = fn(&blocking::Client, &[u8]) -> Result<(), sealwire_rpc::Error>;

fn send(client: &blocking::Client, body: &[u8]) -> Result<(), sealwire_rpc::Error> {
    client.send(body)
}

fn send_no_wait(client: &blocking::Client, body: &[u8]) -> Result<(), sealwire_rpc::Error> {
    send_at_once(client, body).map(drop)
}

/// Waits only when the other side is so far behind that there is no room; `false` then.
fn send_at_once(client: &blocking::Client, body: &[u8]) -> Result<bool, sealwire_rpc::Error> {
    match client.send_no_wait(body) {
        Err(sealwire_rpc::Error::WouldBlock) => client.send(body).map(|()| false),
        sent => sent.map(|()| true),
    }
}

fn request(client: &blocking::Client, body: &[u8]) -> Result<(), sealwire_rpc::Error> {
    client.request(body).map(drop)
}

impl Pair {
    pub(crate) fn new() -> Result<Self, Error> {
        let keys = KeyPair::generate();
        let arrived = Arc::new(AtomicU64::new(0));
        let (by_message, by_request) = (arrived.clone(), arrived.clone());
        let answer = move |_: &Request| {
            by_request.fetch_add(1, Ordering::Relaxed);
            Ok::<[u8; 0], Status>([])
        };
        let handler = Inline::new(answer).on_message(move |_: &OneWay| {
            by_message.fetch_add(1, Ordering::Relaxed);
        });
        let security = Security::blake3_server(keys.clone(), AllowAnyone);
        let server = Server::builder(security).build(handler)?;
        let endpoint = server.bind("tcp://127.0.0.1:0")?;
        let security = Security::blake3_client(keys.public());
        let client = Client::builder(security).build(endpoint)?.blocking();
        client.request(b"")?;
        Ok(Pair {
            client,
            arrived,
            _server: server,
        })
    }

    /// Nanoseconds a message, after a warm-up.
    pub(crate) fn measure(&self, shape: &Shape, turn: Duration) -> Result<f64, Error> {
        let threads = match shape.parallel {
            true => thread::available_parallelism()?.get(),
            false => 1,
        };
        self.run(threads, turn / 4, shape.action)?;
        self.run(threads, turn, shape.action)
    }

    /// Nanoseconds that a caller spends for a message it does not wait for. All of a burst is
    /// handled before the next; bursts for which the other side had not yet given room do not count.
    pub(crate) fn measure_caller(&self, turn: Duration) -> Result<f64, Error> {
        self.callers_part(turn / 4)?;
        self.callers_part(turn)
    }

    fn callers_part(&self, turn: Duration) -> Result<f64, Error> {
        let body = [0x5a; MESSAGE];
        let (mut spent, mut counted) = (Duration::ZERO, 0);
        let started = Instant::now();
        while started.elapsed() < turn || counted == 0 {
            let before = self.arrived.load(Ordering::Relaxed);
            let began = Instant::now();
            let mut at_once = true;
            for _ in 0..BURST {
                at_once &= send_at_once(&self.client, &body)?;
            }
            if at_once {
                spent += began.elapsed();
                counted += BURST;
            }
            while self.arrived.load(Ordering::Relaxed) < before + BURST {
                thread::yield_now();
            }
        }
        Ok(spent.as_nanos() as f64 / counted as f64)
    }

    /// Nanoseconds a message.
    fn run(&self, threads: usize, turn: Duration, action: Action) -> Result<f64, Error> {
        let before = self.arrived.load(Ordering::Relaxed);
        let started = Instant::now();
        let counts = thread::scope(|scope| {
            let callers: Vec<_> = (0..threads)
                .map(|_| {
                    scope.spawn(move || {
                        let (body, mut done) = ([0x5a; MESSAGE], 0);
                        while started.elapsed() < turn {
                            for _ in 0..CHECK_EVERY {
                                action(&self.client, &body)?;
                            }
                            done += CHECK_EVERY;
                        }
                        Ok::<u64, sealwire_rpc::Error>(done)
                    })
                })
                .collect();
            let counts = callers.into_iter().map(|caller| {
                let count = caller.join().map_err(|_| "a caller panicked")?;
                Ok::<u64, Error>(count?)
            });
            counts.sum::<Result<u64, Error>>()
        })?;
        while self.arrived.load(Ordering::Relaxed) < before + counts {
            thread::yield_now();
        }
        Ok(started.elapsed().as_nanos() as f64 / counts as f64)
    }
}
