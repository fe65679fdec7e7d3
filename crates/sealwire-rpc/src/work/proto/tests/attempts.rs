//! Attempts that fail, are late or were repeated, and what is set aside.

use std::time::Duration;

use bytes::Bytes;

use super::super::{DistributorOptions, Ended};
use super::world::{ID, World, counters, hello, options, set_aside, take_all};

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
fn tasks_that_were_set_aside_are_taken_one_by_one_and_leave_room() {
    let mut world = World::new(DistributorOptions {
        max_tasks: 2,
        max_attempts: 1,
        ..options()
    });
    let worker = world.join(hello(4));
    for _ in 0..2 {
        world.add(b"task").unwrap();
    }
    world.run();
    assert_eq!(world.distributor.drop_first_aside(), None);
    assert_eq!(take_all(&mut world, worker), [1, 2]);
    for _ in 0..2 {
        world.end(worker, Ended::Failed, b"no");
    }
    world.run();
    assert_eq!(world.add(b"task"), None);
    world.distributor.take_changes();
    for counter in [1, 2] {
        let task = world.distributor.drop_first_aside().unwrap();
        assert_eq!((task.counter, task.is_aside), (counter, true));
    }
    assert_eq!(world.distributor.drop_first_aside(), None);
    assert!(world.distributor.take_changes().room);
    assert_eq!(world.add(b"task"), Some(3));
    let left = world.distributor.take_unfinished();
    assert_eq!((left.len(), left[0].is_aside), (1, false));
}
