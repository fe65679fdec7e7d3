//! The process of the clients. It is told of key changes on its standard input, and says on its standard output who has left
//! with what.
//!
//! ```text
//! in:  rotate ROUND                 out: rotated ROUND
//!      stop                              left CLIENT SENT UNSENT UNCONFIRMED IN-ORDER
//!                                        news READ MISSED WRONG
//!                                        calls MADE ANSWERED MAY-HAVE-RUN NOT-BEGUN WRONG
//!                                        failed TEXT
//!                                        failure TEXT
//! ```

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{process, thread};

use fastrand::Rng;
use sealwire_rpc::{CallOptions, Client};

use crate::Error;
use crate::keys::Keys;
use crate::slot::{Endpoints, Slot};

/// Threads that each have a part of the clients.
const DRIVERS: usize = 2;
/// Threads that make calls, each with clients of its own in turn.
const CALLERS: usize = 4;
const CLIENTS_OF_A_CALLER: usize = 25;
/// Between two turns of a client.
const PAUSE: Duration = Duration::from_millis(100);
const CALL_LIMIT: Duration = Duration::from_secs(60);

struct World {
    keys: Keys,
    endpoints: Endpoints,
    calls: String,
    clients: usize,
    round: AtomicU64,
    stop: AtomicBool,
    next_client: AtomicU64,
    /// The round that each thread has keys of.
    here: [AtomicU64; DRIVERS + CALLERS],
}

pub(crate) fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), Error> {
    let mut next = || arguments.next().ok_or("an argument is missing");
    let world = World {
        keys: Keys {
            seed: next()?.parse()?,
        },
        clients: next()?.parse()?,
        endpoints: Endpoints {
            intake: next()?,
            news: next()?,
        },
        calls: next()?,
        round: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        next_client: AtomicU64::new(1),
        here: Default::default(),
    };
    let world = &world;
    thread::scope(|scope| {
        for at in 0..DRIVERS {
            scope.spawn(move || or_fail(world.drive(at)));
        }
        for at in DRIVERS..DRIVERS + CALLERS {
            scope.spawn(move || or_fail(world.call(at)));
        }
        for line in std::io::stdin().lines() {
            let line = line?;
            match line.split_once(' ') {
                Some(("rotate", round)) => world.rotate(round.parse()?),
                _ => break,
            }
        }
        world.stop.store(true, Ordering::SeqCst);
        Ok(())
    })
}

/// A thread that fails ends the process: nothing it had would be accounted for.
fn or_fail(ended: Result<(), Error>) {
    if let Err(error) = ended {
        println!("failure {error}");
        process::exit(1);
    }
}

impl World {
    /// Has all threads take the keys of a round.
    fn rotate(&self, round: u64) {
        self.round.store(round, Ordering::SeqCst);
        while self.here.iter().any(|it| it.load(Ordering::SeqCst) < round) {
            thread::sleep(Duration::from_millis(5));
        }
        println!("rotated {round}");
    }

    fn stops(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Lives of clients, one after another in each place.
    fn drive(&self, at: usize) -> Result<(), Error> {
        let mut random = Rng::with_seed(self.keys.seed.wrapping_mul(31).wrapping_add(at as u64));
        let places = (at..self.clients).step_by(DRIVERS).count();
        let mut slots: Vec<Slot> = Vec::with_capacity(places);
        let mut round = 0;
        while !self.stops() {
            let turn = Instant::now();
            let now = self.round.load(Ordering::SeqCst);
            if now != round {
                round = now;
                for slot in &slots {
                    slot.renew(&mut random, || self.keys.client(round))?;
                }
                self.here[at].store(round, Ordering::SeqCst);
            }
            // They do not come all at once.
            for _ in 0..(places - slots.len()).min(20) {
                let client = self.next_client.fetch_add(1, Ordering::SeqCst);
                let slot = Slot::new(client, &mut random, &self.endpoints, || {
                    self.keys.client(round)
                });
                slots.push(slot?);
            }
            for index in (0..slots.len()).rev() {
                if slots[index].is_over(turn) {
                    leave(slots.swap_remove(index))?;
                } else {
                    slots[index].act(&mut random)?;
                }
            }
            thread::sleep(PAUSE.saturating_sub(turn.elapsed()));
        }
        slots.into_iter().try_for_each(leave)
    }

    /// Calls of clients in turn; each is made anew now and then.
    fn call(&self, at: usize) -> Result<(), Error> {
        let mut random = Rng::with_seed(self.keys.seed.wrapping_mul(37).wrapping_add(at as u64));
        let (mut round, mut calls) = (0, Calls::default());
        let mut clients: Vec<Option<Client>> = (0..CLIENTS_OF_A_CALLER).map(|_| None).collect();
        while !self.stops() {
            let now = self.round.load(Ordering::SeqCst);
            if now != round {
                round = now;
                clients.iter_mut().filter_map(Option::take).for_each(end);
                self.here[at].store(round, Ordering::SeqCst);
            }
            let client = &mut clients[random.usize(..CLIENTS_OF_A_CALLER)];
            if random.u8(..20) == 0 {
                client.take().into_iter().for_each(end);
            }
            let client = match client {
                Some(client) => client,
                None => {
                    client.insert(Client::builder(self.keys.client(round)).build(&*self.calls)?)
                }
            };
            calls.make(client, &mut random);
            thread::sleep(Duration::from_millis(random.u64(..10)));
        }
        clients.into_iter().flatten().for_each(end);
        let Calls {
            made,
            answered,
            may_have_run,
            not_begun,
            wrong,
        } = calls;
        println!("calls {made} {answered} {may_have_run} {not_begun} {wrong}");
        Ok(())
    }
}

fn leave(slot: Slot) -> Result<(), Error> {
    let client = slot.client();
    let (left, seen) = slot
        .leave()
        .map_err(|error| format!("client {client}: {error}"))?;
    println!(
        "left {} {} {} {} {}",
        left.client, left.sent, left.unsent, left.unconfirmed, left.in_order
    );
    println!("news {} {} {}", seen.news, seen.missed, seen.wrong);
    Ok(())
}

fn end(client: Client) {
    client.blocking().shutdown(Duration::from_secs(10));
}

#[derive(Default)]
struct Calls {
    made: u64,
    answered: u64,
    may_have_run: u64,
    /// Failed before a handler saw it.
    not_begun: u64,
    /// Answered with something else.
    wrong: u64,
}

impl Calls {
    /// Asks for an echo of a body that is drawn.
    fn make(&mut self, client: &Client, random: &mut Rng) {
        let size = match random.u16(..1_000) {
            0 => 4 << 20,
            1..100 => 64 << 10,
            _ => 256,
        };
        let body = vec![random.u8(..); size];
        self.made += 1;
        match client
            .blocking()
            .request_with(&body, CallOptions::within(CALL_LIMIT))
        {
            Ok(answer) if answer[..] == body[..] => self.answered += 1,
            Ok(_) => self.wrong += 1,
            Err(error) if error.may_have_run() => self.may_have_run += 1,
            // It says that no handler has seen it.
            Err(error) => {
                println!("failed {error}");
                self.not_begun += 1;
            }
        }
    }
}
