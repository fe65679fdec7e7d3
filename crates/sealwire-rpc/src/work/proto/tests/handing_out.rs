//! The worker that gets a task, and how many it gets.

use bytes::Bytes;

use super::super::{Ended, Hello, Violation};
use super::world::{ID, World, counters, hello, options, set_aside, take_all};
use crate::limits::work::{ENOUGH_TASKS, ROUND};

/// A worker whose credit is the bytes of this number of tasks, and how many there are of them.
fn with_credit_of(credit: u32, tasks: usize, body: &[u8]) -> (World, usize) {
    let mut world = World::new(options());
    let worker = world.join(Hello {
        credit_bytes: credit * (body.len() as u32 + 128),
        ..hello(64)
    });
    for _ in 0..tasks {
        world.add(body).unwrap();
    }
    world.run();
    (world, worker)
}

#[test]
fn a_worker_gets_as_many_tasks_as_its_credit_and_one_more_for_each_that_it_ends() {
    let mut world = World::new(options());
    let worker = world.join(hello(4));
    for _ in 0..10 {
        world.add(b"task").unwrap();
    }
    world.run();
    assert_eq!(take_all(&mut world, worker), [1, 2, 3, 4]);
    world.run();
    assert_eq!(world.take(worker), None);
    world.end(worker, Ended::Done, b"");
    world.end(worker, Ended::Failed, b"");
    world.run();
    assert_eq!(take_all(&mut world, worker), [5, 6]);
    assert_eq!((counters(&world).out, counters(&world).pending), (4, 9));
}

#[test]
fn credit_is_of_bytes_too_and_one_task_may_always_go() {
    let (mut world, worker) = with_credit_of(3, 10, &[7; 100]);
    assert_eq!(take_all(&mut world, worker).len(), 3);
    for left in [3, 3, 1] {
        for _ in 0..3 {
            world.end(worker, Ended::Done, b"");
        }
        world.run();
        assert_eq!(take_all(&mut world, worker).len(), left);
    }
    let mut world = World::new(options());
    let worker = world.join(Hello {
        credit_bytes: 0,
        ..hello(64)
    });
    world.add(&[7; 1_000]).unwrap();
    world.add(b"").unwrap();
    world.run();
    assert_eq!(take_all(&mut world, worker), [1]);
    world.end(worker, Ended::Done, b"");
    world.run();
    assert_eq!(take_all(&mut world, worker), [2]);
}

#[test]
fn those_who_are_there_share_what_waits() {
    let mut world = World::new(options());
    let workers = [(); 3].map(|()| world.join(hello(64)));
    world.run();
    for _ in 0..30 {
        world.add(b"task").unwrap();
    }
    world.run();
    assert_eq!(
        workers.map(|worker| take_all(&mut world, worker).len()),
        [10; 3]
    );
}

#[test]
fn the_tasks_of_a_worker_that_died_go_to_another_in_their_order_before_the_rest() {
    let mut world = World::new(options());
    let dead = world.join(hello(3));
    for _ in 0..5 {
        world.add(b"task").unwrap();
    }
    world.run();
    world.kill(dead);
    let other = world.join(hello(64));
    world.run();
    let attempts: Vec<_> = std::iter::from_fn(|| world.take(other))
        .map(|task| (task.counter, task.attempt))
        .collect();
    assert_eq!(attempts, [(1, 2), (2, 2), (3, 2), (4, 1), (5, 1)]);
    assert_eq!(counters(&world).lost, 3);
    assert_eq!(counters(&world).handed_out_again, 3);
}

#[test]
fn a_task_that_ends_its_workers_takes_no_others_along() {
    let mut world = World::new(options());
    for _ in 0..4 {
        world.add(b"task").unwrap();
    }
    // Two are lost with all of them, which then go alone.
    for _ in 0..2 {
        let worker = world.join(hello(64));
        world.run();
        assert_eq!(world.kill(worker).len(), 0);
    }
    world.add(b"later").unwrap();
    let worker = world.join(hello(64));
    world.run();
    assert_eq!(take_all(&mut world, worker), [1]);
    // It is the one that ends workers.
    world.kill(worker);
    let aside = set_aside(&world);
    assert_eq!(aside, [(1, 3, "the worker's connection ended".into())]);
    let worker = world.join(hello(64));
    for alone in 2..=4 {
        world.run();
        assert_eq!(take_all(&mut world, worker), [alone]);
        world.end(worker, Ended::Done, b"");
    }
    world.run();
    assert_eq!(take_all(&mut world, worker), [5]);
    assert_eq!(counters(&world).done, 3);
}

/// The credit of a connection is its own, also where a later one has the number of an earlier one.
#[test]
fn a_task_of_an_earlier_connection_takes_no_credit_of_the_next() {
    use super::super::wire::{Welcome, add_task, begin_tasks};
    let mut core = super::super::WorkerCore::new(Hello {
        credit: 1,
        credit_bytes: 400,
        max_task: 300,
    });
    let welcome = Welcome {
        distributor: ID,
        max_result: 1,
    };
    let task = |counter| {
        let mut message = begin_tasks(0);
        add_task(&mut message, counter, 1, b"");
        message
    };
    let mut begun = Vec::new();
    for counter in 1..=3 {
        core.connected(7);
        assert_eq!(core.receive(7, welcome.message().into()), Ok(()));
        assert_eq!(core.receive(7, task(counter).into()), Ok(()));
        begun.push(core.take().unwrap());
        for earlier in begun.drain(..begun.len() - 1) {
            core.end(&earlier, Ended::Done, Bytes::new());
        }
        core.flush(|_, messages| messages.clear());
        assert_eq!(
            core.receive(7, task(9).into()),
            Err(Violation::BeyondCredit)
        );
        core.disconnected();
    }
}

#[test]
fn the_first_task_goes_at_once_and_those_behind_it_go_together() {
    let mut world = World::new(options());
    world.add(b"task").unwrap();
    assert!(
        !world.distributor.hands_out_now(world.now),
        "nobody takes it"
    );
    assert_eq!(world.distributor.due(), None);
    let worker = world.join(hello(64));
    world.run();
    assert_eq!(take_all(&mut world, worker), [1]);
    world.add(b"task").unwrap();
    assert!(world.distributor.hands_out_now(world.now));
    world.run();
    for _ in 0..ENOUGH_TASKS - 1 {
        world.add(b"task").unwrap();
        assert!(!world.distributor.hands_out_now(world.now));
    }
    world.add(b"task").unwrap();
    assert!(world.distributor.hands_out_now(world.now));
    // The thread that sleeps until then sends the rest.
    assert_eq!(world.distributor.due(), Some(world.now + ROUND));
    world.now += ROUND;
    world.distributor.process_due(world.now);
    assert_eq!(world.distributor.due(), Some(world.now + ROUND));
    world.now += ROUND;
    world.distributor.process_due(world.now);
    assert_eq!(
        world.distributor.due(),
        None,
        "nothing was handed out meanwhile"
    );
}

#[test]
fn the_first_outcome_goes_at_once_and_half_of_the_credit_together() {
    let mut world = World::new(options());
    let worker = world.join(hello(8));
    for _ in 0..20 {
        world.add(b"task").unwrap();
    }
    world.run();
    let end = |world: &mut World| {
        world.take(worker).unwrap();
        world.end(worker, Ended::Done, b"").unwrap();
        let now = world.now;
        world.people.get_mut(&worker).unwrap().core.tells_now(now)
    };
    assert!(end(&mut world));
    world.run();
    let told: Vec<_> = (0..4).map(|_| end(&mut world)).collect();
    assert_eq!(told, [false, false, false, true]);
    assert_eq!(world.people[&worker].core.due(), Some(world.now + ROUND));
}

#[test]
fn a_worker_that_has_nothing_left_tells_at_once() {
    let mut world = World::new(options());
    let worker = world.join(hello(64));
    for _ in 0..3 {
        world.add(b"task").unwrap();
    }
    world.run();
    let told: Vec<_> = (0..3)
        .map(|_| {
            world.take(worker).unwrap();
            world.end(worker, Ended::Done, b"").unwrap();
            let now = world.now;
            let told = world.people.get_mut(&worker).unwrap().core.tells_now(now);
            world.run();
            told
        })
        .collect();
    // The first, one before whose end another is here, and the last.
    assert_eq!(told, [true, false, true]);
}

#[test]
fn outcomes_of_large_tasks_do_not_wait_for_their_number() {
    let (mut world, worker) = with_credit_of(8, 12, &[0; 1_000]);
    let end = |world: &mut World| {
        world.take(worker).unwrap();
        world.end(worker, Ended::Done, b"").unwrap();
        let now = world.now;
        world.people.get_mut(&worker).unwrap().core.tells_now(now)
    };
    let told: Vec<_> = (0..5).map(|_| end(&mut world)).collect();
    assert_eq!(told, [true, false, false, true, true]);
    world.run();
    assert!(!end(&mut world), "those were told");
}
