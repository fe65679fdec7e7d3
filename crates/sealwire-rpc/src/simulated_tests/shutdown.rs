//! Servers that shut down before another one takes their place.

use std::future::Future as _;
use std::pin::pin;
use std::task::{Context, Waker};

use sealwire::simulation::{Plan, Trouble, check, seeds};

use super::callers::Caller;
use super::ledger::Ledger;
use super::server::{Exchanged, Manner};
use super::{DELIVERY, calls, client, without_trouble, world};
use crate::proto::Protocol;

const SHUTS_DOWN: Manner = Manner {
    places: None,
    queue: None,
    shuts_down: true,
    waits_for_clients: false,
};

/// A server that shuts down: it ends within its limit, and calls go to the next one.
#[test]
fn each_call_ends_once_where_servers_shut_down() {
    check(&[], seeds(100), |plan| {
        calls(with_shutdowns(plan), SHUTS_DOWN);
    });
}

/// Where nothing else goes wrong, no call is cut off that the limit is enough for, and no message is lost.
#[test]
fn a_shutdown_cuts_off_no_call_that_has_the_time() {
    check(&[], seeds(100), |plan| {
        let plan = without_trouble(with_shutdowns(plan), SHUTS_DOWN);
        calls(plan, SHUTS_DOWN);
    });
}

fn with_shutdowns(mut plan: Plan) -> Plan {
    plan.trouble.restarts = 1 + plan.seed % 4;
    plan
}

/// Otherwise a shutdown that waits for one connection would ask all of them again without a pause.
#[test]
fn a_connection_tells_once_that_it_has_finished() {
    let plan = Plan {
        seed: 0,
        messages: 1,
        trouble: Trouble::NONE,
    };
    let mut world = world(plan);
    let ledger = Ledger::default();
    let mut server = Exchanged::new(&mut world, &ledger, plan, SHUTS_DOWN);
    server.go_on(&mut world);
    let context = world.scene.context(10);
    let client = client(&mut world, &server, &context, 1);
    let caller = Caller::new(&world, &ledger, &client, 0, plan);
    world.tasks.spawn(caller.get_answer());
    world.settle(DELIVERY);
    let hub = server.server().hub().clone();
    let links = hub.links();
    let changed = pin!(hub.changes.listen());
    links[0].with(Protocol::go_away);
    world.settle(DELIVERY);
    let mut asked = Context::from_waker(Waker::noop());
    assert!(links[0].is_finished() && changed.poll(&mut asked).is_ready());
    let changed = pin!(hub.changes.listen());
    links[0].with(Protocol::go_away);
    assert!(changed.poll(&mut asked).is_pending(), "it is told again");
    drop((links, hub, client, context, server));
    world.end(DELIVERY);
}
