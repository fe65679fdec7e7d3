//! A distributor and workers without threads. Workers are cut off, stopped, killed, leave in order and come again; some of
//! what they do fails, and some of it ends them. Each task has one outcome, and each attempt is accounted for.

mod books;
mod program;
mod staff;

use std::time::Duration;

use sealwire::auth::AllowAnyone;
use sealwire::simulation::{Plan, Trouble, address, check, seeds};
use sealwire::{Generate as _, KeyPair, Security};

use self::books::{Books, Kind};
use self::program::{add, add_all, read_outcomes};
use self::staff::Staff;
use super::life::Life;
use super::world::World;
use super::{DELIVERY, QUIET, world};
use crate::work::{Distributor, simulated};

/// Tasks for each message of a plan.
const TASKS: u64 = 5;
/// Bytes of the largest task.
const MAX_TASK: u32 = 4_096;
const MAX_RESULT: u32 = 4_200;
/// Hosts may wait behind the places of connections that are gone, and nobody has told of.
const PLACES: usize = 3;

/// What both sides are made with, by the seed.
pub(super) struct Terms {
    security: Security,
    worker_security: Box<dyn Fn() -> Security>,
    max_tasks: usize,
    max_bytes: usize,
    max_attempts: u32,
    max_workers: usize,
    attempt_limit: Option<Duration>,
}

impl Terms {
    fn new(world: &World, plan: Plan, workers: usize) -> Self {
        let keys = KeyPair::generate();
        let known = keys.public();
        let (security, worker_security): (Security, Box<dyn Fn() -> Security>) = match plan.seed % 4
        {
            0..2 => (
                Security::blake3_server(keys, AllowAnyone).into(),
                Box::new(move || Security::blake3_client(known).into()),
            ),
            2 => (Security::plain_text(), Box::new(Security::plain_text)),
            _ => (
                Security::curve_server(keys, AllowAnyone),
                Box::new(move || Security::curve_client(known, KeyPair::generate())),
            ),
        };
        let has_limit = plan.trouble != Trouble::NONE && world.scene.below(3) == 0;
        Terms {
            security,
            worker_security,
            max_tasks: 1 + world.scene.below(200) as usize,
            max_bytes: 1 << (8 + world.scene.below(10)),
            max_attempts: 6 + world.scene.below(3) as u32,
            max_workers: workers + world.scene.below(PLACES as u64) as usize,
            attempt_limit: has_limit.then(|| Duration::from_secs(1 + world.scene.below(60))),
        }
    }

    fn endpoint() -> String {
        format!("tcp://{}:5555", address(1))
    }

    fn distributor(&self, world: &mut World) -> Distributor {
        let context = world.scene.context(1);
        let builder = Distributor::builder(self.security.clone())
            .max_tasks(self.max_tasks)
            .max_bytes(self.max_bytes)
            .max_task(MAX_TASK)
            .max_result(MAX_RESULT)
            .max_attempts(self.max_attempts)
            .max_workers(self.max_workers)
            .attempt_limit(self.attempt_limit)
            .retry_delay(Duration::from_millis(world.scene.below(3) * 300))
            .keep_results(true)
            .socket(|socket| socket.context(&context));
        let (distributor, steps) = simulated::distributor(builder).expect("a distributor");
        world.serve_work(steps, &Life::default());
        distributor
            .bind(Self::endpoint())
            .expect("nobody else is there");
        distributor
    }

    /// Asserts that the distributor holds no more than it may.
    fn check_bounds(&self, distributor: &Distributor) {
        let (tasks, results, _, entries) = distributor.held();
        assert!(
            tasks + results <= self.max_tasks,
            "{tasks} tasks and {results} results"
        );
        assert!(entries <= 3 * (tasks + 64), "{entries} entries");
        let counters = distributor.counters();
        // Results and reasons come on top of the tasks that they are of, and a result is as large as its task.
        let most = self.max_bytes.max(MAX_TASK as usize + 128);
        assert!(counters.held_bytes <= 2 * most, "{counters:?}");
    }
}

/// Tasks of all kinds, and workers to which everything happens.
fn acknowledged_work(plan: Plan) {
    let mut world = world(plan);
    let has_trouble = plan.trouble != Trouble::NONE;
    let workers = 3 + world.scene.below(3) as u8;
    let terms = Terms::new(&world, plan, workers.into());
    let books = Books::new(terms.max_attempts, has_trouble);
    let distributor = terms.distributor(&mut world);
    let mut staff = Staff::new(&books, workers, plan);
    let tasks = plan.messages * TASKS;
    let adding = add_all(
        distributor.clone(),
        world.tasks.clone(),
        books.clone(),
        tasks,
        has_trouble,
    );
    world.tasks.spawn(adding);
    let reading = read_outcomes(
        distributor.clone(),
        world.tasks.clone(),
        books.clone(),
        tasks + u64::from(workers),
    );
    world.tasks.spawn(reading);
    while books.ended() < tasks {
        staff.go_on(&mut world, &terms);
        world.step();
        terms.check_bounds(&distributor);
        staff.check_bounds();
    }
    world.scene.calm();
    staff.calm(&mut world, &terms);
    world.settle(QUIET);
    staff.check_connected();
    // Before, the end of a connection may be unread where the next one has its place already.
    assert_eq!(distributor.counters().workers, usize::from(workers));
    // Once there is quiet, what is added is done.
    for number in tasks..tasks + u64::from(workers) {
        world.tasks.spawn(add(
            distributor.clone(),
            world.tasks.clone(),
            books.clone(),
            number,
            Kind::Usual,
        ));
    }
    world.settle(DELIVERY);
    assert_eq!(
        books.ended(),
        tasks + u64::from(workers),
        "tasks are not done"
    );
    world.settle(QUIET);
    world.check_timers();
    assert_eq!(distributor.due(), None);
    books.check(&distributor.counters(), &staff.counters());
    staff.leave(&mut world);
    let settled = distributor.clone();
    world.tasks.spawn(async move {
        let settled = settled.settled().await;
        settled.expect("all have their outcome");
    });
    world.settle(QUIET);
    assert_eq!(world.waiting(), 0, "somebody waits for ever");
    drop((staff, distributor));
    world.end(DELIVERY);
}

#[test]
fn each_task_has_one_outcome_whatever_happens_to_workers() {
    check(&[], seeds(100), acknowledged_work);
}

/// Nothing is handed out again but what failed or was given back.
#[test]
fn nothing_is_repeated_where_nothing_goes_wrong() {
    check(&[], seeds(100), |plan| {
        acknowledged_work(Plan {
            trouble: Trouble::NONE,
            ..plan
        });
    });
}
