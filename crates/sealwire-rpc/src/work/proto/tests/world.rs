//! A distributor and its workers, whose connections a test carries messages over, cuts and makes again.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use sealwire::Frame;

use super::super::{
    DistributorCore, DistributorCounters, DistributorOptions, Ended, Hello, Taken, Violation,
    WorkerCore,
};

pub(super) const ID: u64 = 0x0123_4567_89ab_cdef;

pub(super) fn options() -> DistributorOptions {
    DistributorOptions {
        max_tasks: 1_000,
        max_bytes: 1 << 20,
        max_task: 1 << 10,
        max_result: 64,
        max_attempts: 3,
        attempt_limit: None,
        retry_delay: Duration::ZERO,
        keeps_results: false,
    }
}

pub(super) fn hello(credit: u32) -> Hello {
    Hello {
        credit,
        credit_bytes: 1 << 20,
        max_task: 1 << 10,
    }
}

/// A worker's program: its core, what it has taken, and its connection.
pub(super) struct Person {
    pub(super) core: WorkerCore,
    pub(super) has: VecDeque<Taken>,
    hello: Hello,
    /// Nothing comes through for a while, and nobody is told.
    pub(super) stalled: bool,
}

/// Messages on their way, by connection.
#[derive(Default)]
struct Wire {
    to_worker: VecDeque<Frame>,
    to_distributor: VecDeque<Frame>,
    worker: usize,
}

pub(super) struct World {
    pub(super) now: Duration,
    pub(super) distributor: DistributorCore,
    pub(super) people: BTreeMap<usize, Person>,
    wires: BTreeMap<u32, Wire>,
    last_connection: u32,
    last_person: usize,
}

impl World {
    pub(super) fn new(options: DistributorOptions) -> Self {
        World {
            now: Duration::from_secs(1),
            distributor: DistributorCore::new(ID, options),
            people: BTreeMap::new(),
            wires: BTreeMap::new(),
            last_connection: 0,
            last_person: 0,
        }
    }

    pub(super) fn add(&mut self, body: &[u8]) -> Option<u64> {
        self.distributor.add(&Bytes::copy_from_slice(body))
    }

    pub(super) fn join(&mut self, hello: Hello) -> usize {
        self.last_person += 1;
        let person = Person {
            core: WorkerCore::new(hello),
            has: VecDeque::new(),
            hello,
            stalled: false,
        };
        self.people.insert(self.last_person, person);
        self.connect(self.last_person);
        self.last_person
    }

    pub(super) fn connection(&self, worker: usize) -> Option<u32> {
        let mut all = self.wires.iter();
        all.find(|(_, wire)| wire.worker == worker)
            .map(|(connection, _)| *connection)
    }

    pub(super) fn connect(&mut self, worker: usize) {
        self.last_connection += 1;
        let person = self.people.get_mut(&worker).unwrap();
        person.core.connected(self.last_connection);
        self.distributor.connected(self.last_connection, self.now);
        let mut wire = Wire {
            worker,
            ..Wire::default()
        };
        // The engine sends it with the handshake.
        wire.to_distributor.push_back(person.hello.message().into());
        self.wires.insert(self.last_connection, wire);
    }

    /// The connection ends, with what is on its way.
    pub(super) fn cut(&mut self, worker: usize) {
        let Some(connection) = self.connection(worker) else {
            return;
        };
        self.wires.remove(&connection);
        self.distributor.disconnected(connection);
        self.people.get_mut(&worker).unwrap().core.disconnected();
    }

    /// The process ends. Returns what its program was at.
    pub(super) fn kill(&mut self, worker: usize) -> VecDeque<Taken> {
        self.cut(worker);
        self.people.remove(&worker).unwrap().has
    }

    pub(super) fn take(&mut self, worker: usize) -> Option<Taken> {
        let person = self.people.get_mut(&worker).unwrap();
        let taken = person.core.take()?;
        person.has.push_back(taken.clone());
        Some(taken)
    }

    /// Ends what the program has had for longest.
    pub(super) fn end(&mut self, worker: usize, ended: Ended, result: &[u8]) -> Option<Taken> {
        let person = self.people.get_mut(&worker).unwrap();
        let task = person.has.pop_front()?;
        person
            .core
            .end(&task, ended, Bytes::copy_from_slice(result));
        Some(task)
    }

    /// Carries messages until nothing moves. Connections whose peer breaks the rules end a test.
    pub(super) fn run(&mut self) {
        while self.step(usize::MAX).unwrap() {}
    }

    /// Carries up to `most` messages of each connection. Whether something has moved.
    pub(super) fn step(&mut self, most: usize) -> Result<bool, Violation> {
        let mut moved = false;
        self.distributor.process_due(self.now);
        self.distributor.hand_out(self.now);
        let mut from = 0;
        while let Some(connection) = self.distributor.next_writable(from) {
            let wire = self.wires.get_mut(&connection).unwrap();
            let stalled = self.people[&wire.worker].stalled;
            // A peer that does not read leaves the socket full after a while.
            let room = if stalled {
                2_usize.saturating_sub(wire.to_worker.len())
            } else {
                most
            };
            self.distributor.flush(connection, |outbox| {
                let taken = room.min(outbox.len());
                moved |= taken > 0;
                wire.to_worker.extend(outbox.drain(..taken));
            });
            from = connection + 1;
        }
        let connections: Vec<_> = self.wires.keys().copied().collect();
        for connection in connections {
            let wire = self.wires.get_mut(&connection).unwrap();
            let person = self.people.get_mut(&wire.worker).unwrap();
            if person.stalled {
                continue;
            }
            for _ in 0..most.min(wire.to_worker.len()) {
                let message = wire.to_worker.pop_front().unwrap();
                person.core.receive(connection, message)?;
                moved = true;
            }
            person.core.flush(|_, outbox| {
                moved |= !outbox.is_empty();
                wire.to_distributor.append(outbox);
            });
            for _ in 0..most.min(wire.to_distributor.len()) {
                let message = wire.to_distributor.pop_front().unwrap();
                self.distributor.receive(connection, message, self.now)?;
                moved = true;
            }
        }
        Ok(moved)
    }
}

pub(super) fn counters(world: &World) -> DistributorCounters {
    world.distributor.counters()
}

/// Takes everything that a worker has got.
pub(super) fn take_all(world: &mut World, worker: usize) -> Vec<u64> {
    std::iter::from_fn(|| world.take(worker))
        .map(|task| task.counter)
        .collect()
}

pub(super) fn set_aside(world: &World) -> Vec<(u64, u32, String)> {
    let aside = world.distributor.set_aside().into_iter();
    aside
        .map(|task| {
            (
                task.counter,
                task.attempts,
                task.reason.unwrap_or_default().into(),
            )
        })
        .collect()
}
