//! What the other side may not do.

use std::time::Duration;

use bytes::Bytes;

use super::super::{Ended, Hello, Violation};
use super::world::{ID, World, counters, hello, options};

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
