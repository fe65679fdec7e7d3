//! The rules of handing out, one by one.

use std::time::Duration;

use bytes::Bytes;

use super::super::{DistributorOptions, Ended, Hello, Violation};
use super::world::{ID, World, hello, options};

fn counters(world: &World) -> super::super::DistributorCounters {
    world.distributor.counters()
}

/// Takes everything that a worker has got.
fn take_all(world: &mut World, worker: usize) -> Vec<u64> {
    std::iter::from_fn(|| world.take(worker))
        .map(|task| task.counter)
        .collect()
}

fn set_aside(world: &World) -> Vec<(u64, u32, String)> {
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
    let mut world = World::new(options());
    let credit_bytes = 3 * (100 + 128);
    let worker = world.join(Hello {
        credit_bytes,
        ..hello(64)
    });
    for _ in 0..10 {
        world.add(&[7; 100]).unwrap();
    }
    world.run();
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
fn a_distributor_that_is_full_takes_nothing_until_something_is_done() {
    let mut world = World::new(DistributorOptions {
        max_tasks: 2,
        ..options()
    });
    assert!(world.add(b"a").is_some() && world.add(b"b").is_some());
    assert_eq!(world.add(b"c"), None);
    let worker = world.join(hello(64));
    world.run();
    assert_eq!(world.add(b"c"), None, "tasks that are out are held");
    world.take(worker);
    world.end(worker, Ended::Done, b"");
    assert!(!world.distributor.take_changes().room);
    world.run();
    let changes = world.distributor.take_changes();
    assert!(changes.room && changes.ended);
    assert!(world.add(b"c").is_some());

    let mut world = World::new(DistributorOptions {
        max_bytes: 500,
        ..options()
    });
    assert!(
        world.add(&[0; 900]).is_some(),
        "a single task may always be held"
    );
    assert_eq!(world.add(b""), None);
    let mut world = World::new(DistributorOptions {
        max_bytes: 2 * 128 + 20,
        ..options()
    });
    assert!(world.add(&[0; 10]).is_some() && world.add(&[0; 10]).is_some());
    assert_eq!(world.add(b""), None);
    assert_eq!(counters(&world).held_bytes, 2 * 128 + 20);
}

#[test]
fn results_that_nobody_reads_count_as_tasks_do() {
    let mut world = World::new(DistributorOptions {
        max_tasks: 1,
        keeps_results: true,
        ..options()
    });
    let worker = world.join(hello(1));
    world.add(b"a").unwrap();
    world.run();
    world.take(worker);
    world.end(worker, Ended::Done, b"result");
    world.run();
    assert_eq!(world.add(b"b"), None);
    assert_eq!(counters(&world).held_bytes, 128 + 6);
    world.distributor.take_changes();
    assert_eq!(
        world.distributor.next_result(),
        Some((1, Bytes::from_static(b"result")))
    );
    assert!(world.distributor.take_changes().room);
    assert_eq!(world.distributor.next_result(), None);
    assert!(world.add(b"b").is_some());
    assert_eq!(counters(&world).held_bytes, 128 + 1);
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

#[test]
fn what_fails_again_and_again_is_set_aside_and_can_be_put_back_or_dropped() {
    let mut world = World::new(options());
    let worker = world.join(hello(1));
    world.add(b"a").unwrap();
    for attempt in 1..=3 {
        world.run();
        assert_eq!(set_aside(&world), []);
        assert_eq!(world.take(worker).unwrap().attempt, attempt);
        world.end(
            worker,
            Ended::Failed,
            format!("reason {attempt}").as_bytes(),
        );
    }
    world.run();
    assert_eq!(world.take(worker), None);
    assert_eq!(set_aside(&world), [(1, 3, "reason 3".into())]);
    assert!(world.distributor.take_changes().ended);
    assert_eq!(world.distributor.pending(), 0);
    assert_eq!(counters(&world).held_bytes, 128 + 1 + 8);
    assert!(!world.distributor.put_back(2));
    assert!(world.distributor.put_back(1) && !world.distributor.put_back(1));
    for attempt in 4..=6 {
        world.run();
        assert_eq!(world.take(worker).unwrap().attempt, attempt);
        world.end(worker, Ended::Failed, b"again");
    }
    world.run();
    assert_eq!(set_aside(&world), [(1, 6, "again".into())]);
    assert_eq!(world.distributor.drop_aside(2), None);
    assert_eq!(world.distributor.drop_aside(1).unwrap().body, b"a"[..]);
    assert_eq!(world.distributor.drop_aside(1), None);
    assert_eq!(world.distributor.held(), (0, 0, 1, 0));
    assert_eq!(counters(&world).held_bytes, 0);
}

#[test]
fn a_reason_is_cut_at_a_character() {
    let mut world = World::new(DistributorOptions {
        max_attempts: 1,
        max_result: 4_096,
        ..options()
    });
    let worker = world.join(hello(1));
    world.add(b"a").unwrap();
    world.run();
    world.take(worker);
    let reason = format!("a{}", "ä".repeat(1_000));
    world.end(worker, Ended::Failed, reason.as_bytes());
    world.run();
    let kept = &set_aside(&world)[0].2;
    assert_eq!(kept.len(), 1_023);
    assert!(reason.starts_with(kept));
}

#[test]
fn a_task_that_failed_waits_before_its_next_attempt_and_holds_up_nobody() {
    let mut world = World::new(DistributorOptions {
        retry_delay: Duration::from_secs(1),
        ..options()
    });
    let worker = world.join(hello(1));
    world.add(b"a").unwrap();
    world.add(b"b").unwrap();
    world.run();
    world.take(worker);
    world.end(worker, Ended::Failed, b"");
    world.run();
    assert_eq!(world.take(worker).unwrap().counter, 2);
    world.end(worker, Ended::Done, b"");
    world.run();
    assert_eq!(world.take(worker), None);
    assert_eq!(
        world.distributor.due(),
        Some(world.now + Duration::from_secs(1))
    );
    world.now += Duration::from_millis(999);
    world.run();
    assert_eq!(world.take(worker), None);
    world.now += Duration::from_millis(1);
    world.run();
    assert_eq!(world.take(worker).unwrap().counter, 1);
    assert_eq!(world.distributor.due(), None);
}

#[test]
fn an_attempt_without_an_outcome_in_time_goes_to_another_and_its_late_outcome_counts() {
    let mut world = World::new(DistributorOptions {
        attempt_limit: Some(Duration::from_secs(10)),
        ..options()
    });
    let slow = world.join(hello(1));
    world.add(b"a").unwrap();
    world.run();
    world.take(slow);
    world.now += Duration::from_millis(9_999);
    world.run();
    assert_eq!(counters(&world).overdue, 0);
    world.now += Duration::from_millis(1);
    let other = world.join(hello(1));
    world.run();
    assert_eq!(counters(&world).overdue, 1);
    assert_eq!(world.take(other).unwrap().attempt, 2);
    // It has its task still, and gets no other one.
    world.add(b"b").unwrap();
    world.run();
    assert_eq!(world.take(slow), None);
    // A failure of an attempt that was given up says nothing about the present one.
    world.end(slow, Ended::Failed, b"late");
    world.run();
    assert_eq!((counters(&world).late, counters(&world).failed), (1, 0));
    assert_eq!(world.take(slow).unwrap().counter, 2);
    world.end(other, Ended::Done, b"");
    world.run();
    assert_eq!(counters(&world).done, 1);
    assert_eq!(world.distributor.pending(), 1);
}

#[test]
fn the_first_done_ends_a_task_and_the_second_counts_as_a_repetition() {
    let mut world = World::new(DistributorOptions {
        attempt_limit: Some(Duration::from_secs(10)),
        keeps_results: true,
        ..options()
    });
    let slow = world.join(hello(1));
    world.add(b"a").unwrap();
    world.run();
    world.take(slow);
    world.now += Duration::from_secs(10);
    let other = world.join(hello(1));
    world.run();
    world.take(other);
    world.end(slow, Ended::Done, b"first");
    world.run();
    let all = counters(&world);
    assert_eq!((all.done, all.late, all.repeated, all.out), (1, 1, 0, 0));
    world.end(other, Ended::Done, b"second");
    world.run();
    let all = counters(&world);
    assert_eq!(
        (all.done, all.late, all.repeated, all.pending),
        (1, 1, 1, 0)
    );
    assert_eq!(
        world.distributor.next_result(),
        Some((1, Bytes::from_static(b"first")))
    );
    assert_eq!(world.distributor.next_result(), None);
    // Both take tasks again.
    for _ in 0..2 {
        world.add(b"b").unwrap();
    }
    world.run();
    assert!(world.take(slow).is_some() && world.take(other).is_some());
}

#[test]
fn work_that_was_done_while_the_connection_was_cut_is_told_over_the_next_one() {
    let mut world = World::new(options());
    let worker = world.join(hello(2));
    world.add(b"a").unwrap();
    world.add(b"b").unwrap();
    world.run();
    let first = world.take(worker).unwrap();
    world.cut(worker);
    world.end(worker, Ended::Done, b"");
    assert_eq!(world.take(worker), None, "others get what was not begun");
    assert_eq!(world.people[&worker].core.counters().dropped, 1);
    world.connect(worker);
    // The distributor hands it out again before it hears that it is done.
    world.run();
    let all = counters(&world);
    assert_eq!((first.counter, all.done, all.late, all.lost), (1, 1, 1, 2));
    assert_eq!(world.distributor.pending(), 1);
}

#[test]
fn an_outcome_that_had_not_left_before_the_cut_is_told_after_it_where_it_says_done() {
    let mut world = World::new(options());
    let worker = world.join(hello(2));
    for _ in 0..2 {
        world.add(b"task").unwrap();
    }
    world.run();
    assert_eq!(take_all(&mut world, worker), [1, 2]);
    world.end(worker, Ended::Done, b"");
    world.end(worker, Ended::Failed, b"");
    world.cut(worker);
    world.connect(worker);
    world.run();
    let all = counters(&world);
    assert_eq!((all.done, all.late, all.failed, all.lost), (1, 1, 0, 2));
    assert_eq!(world.people[&worker].core.counters().untold, 1);
}

#[test]
fn of_an_attempt_that_is_under_way_only_its_own_worker_can_tell() {
    let mut world = World::new(options());
    let (liar, honest) = (world.join(hello(1)), world.join(hello(1)));
    world.run();
    for _ in 0..2 {
        world.add(b"task").unwrap();
    }
    world.run();
    let theirs = world.take(honest).unwrap();
    let connection = world.connection(liar).unwrap();
    let mut tell = |counter, attempt| {
        let mut message = super::super::wire::begin_outcomes(ID, 0);
        super::super::wire::add_outcome(&mut message, counter, attempt, Ended::Done, b"");
        let now = world.now;
        world
            .distributor
            .receive(connection, message.into(), now)
            .unwrap();
        world.distributor.counters().done
    };
    assert_eq!(tell(theirs.counter, theirs.attempt), 0);
    assert_eq!(
        tell(theirs.counter, theirs.attempt + 1),
        0,
        "an attempt to come"
    );
    assert_eq!(tell(theirs.counter, 0), 0);
    assert_eq!(tell(99, 1), 0, "a task that there never was");
    assert_eq!(counters(&world).pending, 2);
}

#[test]
fn a_worker_that_leaves_gives_back_what_it_has_not_begun_and_no_attempt_counts() {
    let mut world = World::new(options());
    let worker = world.join(hello(3));
    for _ in 0..4 {
        world.add(b"task").unwrap();
    }
    world.run();
    assert_eq!(world.take(worker).unwrap().counter, 1);
    world.people.get_mut(&worker).unwrap().core.leave();
    world.run();
    let all = counters(&world);
    assert_eq!((all.returned, all.out, all.lost), (2, 1, 0));
    assert!(!world.people[&worker].core.has_left(), "it has begun one");
    world.end(worker, Ended::Done, b"");
    assert!(
        !world.people[&worker].core.has_left(),
        "nobody knows yet that it is done"
    );
    world.run();
    assert!(world.people[&worker].core.has_left());
    assert_eq!(counters(&world).done, 1);
    world.kill(worker);
    assert_eq!(counters(&world).lost, 0);
    let other = world.join(hello(64));
    world.run();
    let attempts: Vec<_> = std::iter::from_fn(|| world.take(other))
        .map(|task| (task.counter, task.attempt))
        .collect();
    assert_eq!(attempts, [(2, 1), (3, 1), (4, 1)]);
}

#[test]
fn tasks_that_cross_with_a_leave_come_back() {
    let mut world = World::new(options());
    let worker = world.join(hello(3));
    world.run();
    world.add(b"task").unwrap();
    world.people.get_mut(&worker).unwrap().core.leave();
    // The distributor sends before it reads.
    world.run();
    assert_eq!(counters(&world).returned, 1);
    assert_eq!(world.take(worker), None);
    assert!(world.people[&worker].core.has_left());
}

#[test]
fn a_worker_that_leaves_while_it_has_no_connection_has_left() {
    let mut world = World::new(options());
    let worker = world.join(hello(3));
    world.run();
    world.cut(worker);
    let person = world.people.get_mut(&worker).unwrap();
    assert!(!person.core.has_left());
    person.core.leave();
    assert!(person.core.has_left());
}

#[test]
fn outcomes_of_another_distributor_are_counted_and_not_told() {
    let mut world = World::new(options());
    let worker = world.join(hello(1));
    world.add(b"a").unwrap();
    world.run();
    world.take(worker);
    let connection = world.connection(worker).unwrap();
    let mut message = super::super::wire::begin_outcomes(ID + 1, 0);
    super::super::wire::add_outcome(&mut message, 1, 1, Ended::Done, b"");
    world
        .distributor
        .receive(connection, message.into(), world.now)
        .unwrap();
    assert_eq!((counters(&world).foreign, counters(&world).done), (1, 0));

    let old = std::mem::replace(
        &mut world.distributor,
        super::super::DistributorCore::new(ID + 1, options()),
    );
    drop(old);
    world.cut(worker);
    world.end(worker, Ended::Done, b"");
    world.connect(worker);
    world.run();
    assert_eq!(world.people[&worker].core.counters().untold, 1);
    assert_eq!(counters(&world).foreign, 0);
}

#[test]
fn who_does_not_greet_in_time_is_sent_away() {
    let mut world = World::new(options());
    world.distributor.connected(900, world.now);
    let due = world.distributor.due().unwrap();
    world
        .distributor
        .process_due(due - Duration::from_millis(1));
    assert_eq!(world.distributor.take_closing(), []);
    world.distributor.process_due(due);
    assert_eq!(
        world.distributor.take_closing(),
        [(900, "work: no greeting in time")]
    );
    assert_eq!(world.distributor.due(), None);
    assert_eq!(counters(&world).silent, 1);
    world.distributor.disconnected(900);
    let worker = world.join(hello(1));
    world.run();
    assert_eq!(world.distributor.due(), None);
    assert_eq!((worker, counters(&world).workers), (1, 1));
}

#[test]
fn messages_out_of_turn_are_violations() {
    let mut world = World::new(options());
    let now = world.now;
    world.distributor.connected(7, now);
    let receive =
        |world: &mut World, message: Vec<u8>| world.distributor.receive(7, message.into(), now);
    let leave = super::super::wire::leave;
    assert_eq!(receive(&mut world, leave()), Err(Violation::NoGreeting));
    assert_eq!(
        receive(&mut world, hello(0).message()),
        Err(Violation::NoCredit)
    );
    let small = Hello {
        max_task: 1_023,
        ..hello(1)
    };
    let refused = Violation::SmallTasks {
        ours: 1_024,
        theirs: 1_023,
    };
    assert_eq!(receive(&mut world, small.message()), Err(refused));
    assert_eq!(receive(&mut world, hello(1).message()), Ok(()));
    assert_eq!(
        receive(&mut world, hello(1).message()),
        Err(Violation::GreetingAgain)
    );
    let mut large = super::super::wire::begin_outcomes(ID, 0);
    super::super::wire::add_outcome(&mut large, 1, 1, Ended::Done, &[0; 65]);
    assert_eq!(receive(&mut world, large), Err(Violation::TooLarge));
}

#[test]
fn a_worker_takes_no_more_than_it_said() {
    use super::super::wire::{Welcome, add_task, begin_tasks, farewell};
    let mut core = super::super::WorkerCore::new(Hello {
        credit: 2,
        credit_bytes: 400,
        max_task: 300,
    });
    core.connected(1);
    let task = |counter, size: usize| {
        let mut message = begin_tasks(0);
        add_task(&mut message, counter, 1, &vec![0; size]);
        message
    };
    assert_eq!(
        core.receive(1, task(1, 0).into()),
        Err(Violation::NoGreeting)
    );
    let welcome = Welcome {
        distributor: ID,
        max_result: 1,
    };
    assert_eq!(core.receive(1, welcome.message().into()), Ok(()));
    assert_eq!(
        core.receive(1, welcome.message().into()),
        Err(Violation::GreetingAgain)
    );
    assert_eq!(
        core.receive(1, farewell().into()),
        Err(Violation::NotLeaving)
    );
    assert_eq!(
        core.receive(1, task(1, 301).into()),
        Err(Violation::TooLarge)
    );
    assert_eq!(
        core.receive(1, task(1, 300).into()),
        Ok(()),
        "one may always come"
    );
    assert_eq!(
        core.receive(1, task(2, 0).into()),
        Err(Violation::BeyondCredit),
        "bytes"
    );
    let first = core.take().unwrap();
    core.end(&first, Ended::Done, Bytes::new());
    assert_eq!(
        core.receive(1, task(2, 0).into()),
        Err(Violation::BeyondCredit),
        "not told yet"
    );
    core.flush(|_, outbox| outbox.clear());
    assert_eq!(core.receive(1, task(2, 0).into()), Ok(()));
    assert_eq!(core.receive(1, task(3, 0).into()), Ok(()));
    assert_eq!(
        core.receive(1, task(4, 0).into()),
        Err(Violation::BeyondCredit)
    );
    // Of an earlier connection nothing counts.
    core.connected(2);
    assert_eq!(core.receive(1, task(4, 0).into()), Ok(()));
    assert_eq!(core.take(), None);
}

#[test]
fn a_distributor_that_stops_hands_nothing_out_and_returns_what_it_has() {
    let mut world = World::new(options());
    let worker = world.join(hello(1));
    for body in [b"a", b"b"] {
        world.add(body).unwrap();
    }
    world.run();
    world.distributor.stop();
    world.take(worker);
    world.end(worker, Ended::Done, b"");
    world.run();
    assert_eq!(world.take(worker), None);
    assert_eq!(world.distributor.under_way(), 0);
    let left = world.distributor.take_unfinished();
    assert_eq!(left.len(), 1);
    assert_eq!((left[0].counter, &left[0].body[..]), (2, &b"b"[..]));
    assert_eq!(world.distributor.pending(), 0);
}
