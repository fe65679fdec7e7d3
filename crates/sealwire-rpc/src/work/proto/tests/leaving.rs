//! Workers that leave, and a distributor that stops.

use super::super::Ended;
use super::world::{World, counters, hello, options};

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
