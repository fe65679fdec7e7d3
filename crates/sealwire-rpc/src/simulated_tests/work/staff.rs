//! The hosts of workers: they come, leave in order, are stopped or killed, and come again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sealwire::Context;
use sealwire::simulation::Plan;

use super::books::Books;
use super::program::work;
use super::{MAX_TASK, Terms};
use crate::simulated_tests::life::Life;
use crate::simulated_tests::world::World;
use crate::work::{Worker, WorkerCounters, simulated};

const FIRST_HOST: u8 = 10;
/// Tasks that a worker's programs do at a time, at most.
const PROGRAMS: u64 = 3;
/// Checks until something happens to a worker, on average.
const CHECKS: u64 = 400;

pub(super) struct Staff {
    books: Books,
    places: Vec<Place>,
    deaths: u64,
    freezes: u64,
    /// Times that a worker leaves in order.
    departures: u64,
    /// Of workers that are gone.
    past: Vec<WorkerCounters>,
}

/// A host, and the worker on it.
struct Place {
    host: u8,
    context: Option<Context>,
    person: Option<Person>,
    /// The next one does not come before.
    comes_at: Duration,
}

struct Person {
    worker: Worker,
    life: Life,
    credit: usize,
    /// A task ends it.
    dies: Arc<AtomicBool>,
    leaves: bool,
    has_left: Arc<AtomicBool>,
}

impl Person {
    /// Has it leave in order.
    fn leave(&mut self, world: &World) {
        self.leaves = true;
        let (worker, has_left) = (self.worker.clone(), self.has_left.clone());
        let leaving = async move {
            worker.leave().await.expect("it has not ended");
            has_left.store(true, Ordering::Relaxed);
        };
        let tasks = world.tasks.clone();
        (world.tasks).spawn(self.life.clone().run(tasks, leaving));
    }
}

impl Place {
    fn hire(&mut self, world: &mut World, terms: &Terms, books: &Books) {
        let (host, life) = (self.host, Life::default());
        let context = self
            .context
            .get_or_insert_with(|| world.scene.context(host));
        let credit = 1 << world.scene.below(7);
        let builder = Worker::builder((terms.worker_security)())
            .credit(credit)
            .credit_bytes(1 << (8 + world.scene.below(12)))
            .max_task(MAX_TASK)
            .socket(|socket| socket.context(context));
        let built = simulated::worker(builder, &Terms::endpoint());
        let (worker, steps) = built.expect("a worker");
        world.serve_work(steps, &life);
        let dies = Arc::new(AtomicBool::new(false));
        for _ in 0..=world.scene.below(PROGRAMS) {
            let tasks = world.tasks.clone();
            let program = work(worker.clone(), tasks.clone(), books.clone(), dies.clone());
            world.tasks.spawn(life.clone().run(tasks, program));
        }
        self.person = Some(Person {
            worker,
            life,
            credit: credit as usize,
            dies,
            leaves: false,
            has_left: Arc::default(),
        });
    }

    /// Ends the host. Its system says so to its peers, or is gone as well.
    fn kill(&mut self, world: &mut World) -> Option<WorkerCounters> {
        let person = self.person.take()?;
        person.life.end();
        world.scene.kill(self.host, world.scene.below(2) == 0);
        self.context = None;
        let pause = [0, 3_000, 30_000][world.scene.below(3) as usize];
        let pause = Duration::from_millis(world.scene.below(1 + pause));
        self.comes_at = world.tasks.now() + pause;
        Some(person.worker.counters())
    }
}

impl Staff {
    pub(super) fn new(books: &Books, hosts: u8, plan: Plan) -> Self {
        let place = |host| Place {
            host,
            context: None,
            person: None,
            comes_at: Duration::ZERO,
        };
        Staff {
            books: books.clone(),
            places: (FIRST_HOST..FIRST_HOST + hosts).map(place).collect(),
            deaths: plan.trouble.deaths,
            freezes: plan.trouble.freezes,
            departures: plan.seed % 5,
            past: Vec::new(),
        }
    }

    /// Lets something happen to one of them now and then, and others come.
    pub(super) fn go_on(&mut self, world: &mut World, terms: &Terms) {
        let chosen = world.scene.below(self.places.len() as u64) as usize;
        let place = &mut self.places[chosen];
        let happens = world.scene.below(CHECKS);
        if let Some(person) = &mut place.person {
            match happens {
                0 if self.deaths > 0 => {
                    self.deaths -= 1;
                    self.past.extend(place.kill(world));
                }
                1 if self.freezes > 0 => {
                    self.freezes -= 1;
                    let time = Duration::from_millis(world.scene.below(60_000));
                    person.life.freeze(world.tasks.now() + time);
                    world.scene.freeze(place.host, time);
                }
                2 if self.departures > 0 && !person.leaves => {
                    self.departures -= 1;
                    person.leave(world);
                }
                _ => {}
            }
        }
        self.fill(world, terms);
    }

    /// Ends those that a task has ended, and lets others come in the places of all that are gone.
    fn fill(&mut self, world: &mut World, terms: &Terms) {
        for place in &mut self.places {
            if let Some(person) = &place.person {
                if person.dies.load(Ordering::Relaxed) {
                    self.past.extend(place.kill(world));
                } else if person.has_left.load(Ordering::Relaxed) {
                    self.past.push(person.worker.counters());
                    place.person = None;
                }
            }
            if place.person.is_none() && place.comes_at <= world.tasks.now() {
                place.hire(world, terms, &self.books);
            }
        }
    }

    /// Has everybody be there, and nothing happen to anybody any more.
    pub(super) fn calm(&mut self, world: &mut World, terms: &Terms) {
        let is_there = |place: &Place, now| {
            let person = place.person.as_ref();
            person.is_some_and(|person| !person.leaves && person.life.is_awake(now))
        };
        while !(self.places.iter()).all(|place| is_there(place, world.tasks.now())) {
            self.fill(world, terms);
            world.step();
        }
    }

    fn people(&self) -> impl Iterator<Item = &Person> {
        self.places.iter().filter_map(|place| place.person.as_ref())
    }

    /// Asserts that all are let in, and have nothing of what was handed to them, be it over a connection that ended.
    pub(super) fn check_connected(&self) {
        let connected = self.people().filter(|person| person.worker.is_connected());
        assert_eq!(
            connected.count(),
            self.places.len(),
            "somebody is not let in"
        );
        for counters in self.people().map(|person| person.worker.counters()) {
            assert_eq!(
                counters.received,
                counters.taken + counters.dropped,
                "{counters:?}"
            );
        }
    }

    /// Asserts that no worker holds more than its credit, and what was done beside it.
    pub(super) fn check_bounds(&self) {
        for person in self.people() {
            let (queue, untold, messages) = person.worker.held();
            let most = person.credit + PROGRAMS as usize;
            assert!(
                queue <= person.credit && untold <= most && messages <= most,
                "{queue} tasks, {untold} outcomes and {messages} messages with a credit of {}",
                person.credit
            );
        }
    }

    /// Counters of all that there were.
    pub(super) fn counters(&self) -> Vec<WorkerCounters> {
        let present = self.people().map(|person| person.worker.counters());
        self.past.iter().copied().chain(present).collect()
    }

    /// Has all of them leave.
    pub(super) fn leave(&mut self, world: &mut World) {
        let people = self
            .places
            .iter_mut()
            .filter_map(|place| place.person.as_mut());
        people.for_each(|person| person.leave(world));
    }
}
