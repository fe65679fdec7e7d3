//! Clients that come, make calls and go, at a server with fewer places than they are.

use std::time::Duration;

use sealwire::simulation::{Plan, Trouble, check, seeds};

use super::callers::Caller;
use super::ledger::{Ledger, SLACK};
use super::server::{Exchanged, Manner};
use super::{DELIVERY, QUIET, RETRIES, calm, check_empty, client, without_trouble, world};

/// Hosts of the clients.
const HOSTS: u8 = 4;
/// Tasks beyond which no client comes.
const CROWD: usize = 10;
/// A client gives a place up for which it has waited as long, and notices that within the slack.
const DIAL_LIMIT: Duration = Duration::from_secs(7);

/// Nobody is served beyond the places, each call ends, and a place that was left is free.
fn few_places(plan: Plan) {
    let mut world = world(plan);
    let ledger = Ledger::default();
    let places = 1 + world.scene.below(3) as usize;
    let wait = Duration::from_millis(1 + world.scene.below(20_000));
    let manner = Manner {
        places: Some((places, wait)),
        ..Manner::default()
    };
    let mut server = Exchanged::new(&mut world, &ledger, plan, manner);
    server.go_on(&mut world);
    let contexts: Vec<_> = (10..10 + HOSTS)
        .map(|host| world.scene.context(host))
        .collect();
    let mut left = plan.messages.div_ceil(3);
    let mut number = 0;
    while left > 0 || world.waiting() > 0 {
        if left > 0 && world.waiting() < CROWD && world.scene.below(30) == 0 {
            left -= 1;
            let context = &contexts[(number % u64::from(HOSTS)) as usize];
            let connections = 1 + world.scene.below(2);
            let client = client(&mut world, &server, context, connections);
            let caller = Caller::new(&world, &ledger, &client, number, plan);
            world.tasks.spawn(caller.run(1 + plan.messages % 4));
            number += 1;
        }
        server.go_on(&mut world);
        world.step();
        assert!(server.connections().len() <= places, "one too many");
    }
    calm(&mut world, &mut server);
    // All have gone.
    assert!(server.connections().is_empty(), "a place is kept");
    let counters = server.server().counters();
    let has_trouble = plan.trouble != Trouble::NONE;
    if !has_trouble && wait > DIAL_LIMIT + SLACK {
        assert_eq!(counters.connections_refused, 0, "nobody waited so long");
    }
    for (number, context) in (number..).zip(&contexts[..places]) {
        let client = client(&mut world, &server, context, 1);
        let caller = Caller::new(&world, &ledger, &client, number, plan);
        world.tasks.spawn(async move { caller.get_answer().await });
    }
    world.settle(DELIVERY);
    assert_eq!(world.waiting(), 0, "somebody is not answered");
    world.settle(QUIET);
    ledger.check(1 + u64::from(RETRIES));
    check_empty(server.server().hub(), &[], has_trouble);
    world.check_timers();
    drop((contexts, server));
    world.end(DELIVERY);
}

#[test]
fn each_call_ends_once_where_places_are_few() {
    // The clock of a client was left out for six seconds.
    let left_out = Plan {
        seed: 3_766,
        messages: 51,
        trouble: Trouble {
            stalls: 1,
            restarts: 4,
            rotations: 1,
            ..Trouble::NONE
        },
    };
    check(&[left_out], seeds(100), few_places);
}

#[test]
fn nobody_is_refused_a_place_that_it_waits_for_where_nothing_goes_wrong() {
    // Their clients noticed a moment too late that they had waited for 7 s.
    let kept = [(781, 49), (5_031, 58)].map(|(seed, messages)| Plan {
        seed,
        messages,
        trouble: Trouble::NONE,
    });
    check(&kept, seeds(100), |plan| {
        few_places(without_trouble(plan, Manner::default()));
    });
}
