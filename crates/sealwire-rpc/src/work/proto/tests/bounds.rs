//! What a distributor holds at most.

use bytes::Bytes;

use super::super::{DistributorOptions, Ended};
use super::world::{World, counters, hello, options};

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
