//! Clients and a server without threads, over a network whose delays, cuts and partitions a seed decides
//! about. What fails is made smaller and named (`sealwire::simulation`).
//!
//! Here all kinds of calls go to one server; [`places`] has clients that come and go at a server with few places,
//! [`shutdown`] servers that let what is under way end, [`client_shutdown`] clients that do. [`work`] has a distributor and
//! workers in their place.

mod callers;
mod client_shutdown;
mod ledger;
mod life;
mod places;
mod server;
mod service;
mod shutdown;
mod work;
mod world;

use std::sync::Arc;
use std::time::Duration;

use sealwire::Context;
use sealwire::account::Kind as Held;
use sealwire::simulation::{Plan, Scene, Trouble, check, seeds};

use self::callers::Caller;
use self::ledger::Ledger;
use self::server::{Exchanged, Manner, limits};
use self::world::World;
use crate::hub::Hub;
use crate::{Client, Conn};

const CLIENTS: u8 = 3;
/// Of each client.
const CALLERS: u64 = 2;
const RETRIES: u32 = 2;
/// Longer than anybody waits for anything.
const QUIET: Duration = Duration::from_secs(120);
/// Longer than any delivery takes.
const DELIVERY: Duration = Duration::from_secs(5);

fn world(plan: Plan) -> World {
    let mut scene = Scene::new(plan.seed, plan.trouble);
    scene.pause = Duration::from_millis(10);
    World::new(scene)
}

/// A client with up to this many connections.
fn client(world: &mut World, server: &Exchanged, context: &Context, connections: u64) -> Client {
    let driver = world.tasks.driver.clone();
    let client = Client::builder(server.client_security())
        .limits(limits(&world.scene))
        .max_connections(connections as usize)
        .calls_per_connection(1 + world.scene.below(3) as usize)
        .dial_attempts(1 + world.scene.below(2) as u32)
        .retries(RETRIES)
        .handler(server.client_service())
        .socket(|socket| socket.context(context))
        .build_with(Exchanged::endpoint(), |options, socket| {
            Ok(driver.start(options, socket))
        })
        .expect("a client");
    world.serve(client.hub());
    client
}

/// Asserts that nothing is held for anybody.
fn check_empty(hub: &Arc<Hub>, connections: &[Conn], has_trouble: bool) {
    for conn in connections {
        assert_eq!(conn.entries(), 0, "{conn:?}: entries of calls are left");
        assert_eq!(conn.calls_in_flight(), 0, "{conn:?}");
        let account = conn.peer().account();
        for kind in [Held::Requests, Held::Unhandled, Held::Answers] {
            assert_eq!(account.held(kind), 0, "{conn:?}: {kind:?}");
        }
    }
    let counters = hub.counters.snapshot();
    assert_eq!(counters.panics, 0);
    // One that is cut off, or reads nothing for long, is taken for one that does not answer.
    assert!(has_trouble || counters.violations == 0, "{counters:?}");
}

/// Ends all trouble, and has a server that everybody knows.
fn calm(world: &mut World, server: &mut Exchanged) {
    world.scene.calm();
    while server.exchanges.has_other_keys() || !server.is_bound {
        server.go_on(world);
        world.step();
    }
    world.settle(QUIET);
    assert_eq!(world.waiting(), 0, "somebody waits for ever");
}

/// Calls of all kinds from three clients. Each ends once, as the ledger says, and nothing is left.
fn calls(plan: Plan, manner: Manner) {
    let mut world = world(plan);
    let ledger = Ledger::default();
    let mut server = Exchanged::new(&mut world, &ledger, plan, manner);
    server.go_on(&mut world);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let context = world.scene.context(10 + number);
            let connections = 1 + world.scene.below(3);
            client(&mut world, &server, &context, connections)
        })
        .collect();
    let caller = |world: &World, client: &Client, number: u64| {
        Caller::new(world, &ledger, client, number, plan)
    };
    for number in 0..u64::from(CLIENTS) * CALLERS {
        let caller = caller(&world, &clients[(number / CALLERS) as usize], number);
        let things = plan.messages.div_ceil(3);
        world.tasks.spawn(caller.run(things));
    }
    world.step();
    while world.waiting() > 0 {
        server.go_on(&mut world);
        world.step();
    }
    calm(&mut world, &mut server);
    // Once there is quiet, everybody is answered.
    for (number, client) in (100..).zip(&clients) {
        let caller = caller(&world, client, number);
        world.tasks.spawn(async move { caller.get_answer().await });
    }
    world.settle(DELIVERY);
    assert_eq!(world.waiting(), 0, "somebody is not answered");
    for number in 100..100 + u64::from(CLIENTS) {
        assert!(ledger.has_come(number, 0), "a message did not come");
    }
    world.settle(QUIET);
    ledger.check(1 + u64::from(RETRIES));
    let has_trouble = plan.trouble != without_trouble(plan, manner).trouble;
    if !has_trouble {
        ledger.check_none_is_cut_off();
        if ledger.all_finished() {
            ledger.check_all_came();
        }
    }
    check_empty(server.server().hub(), &server.connections(), has_trouble);
    for client in &clients {
        check_empty(client.hub(), &client.connections(), has_trouble);
    }
    world.check_timers();
    drop((clients, server));
    world.end(DELIVERY);
}

/// The plan without what loses something: a server that is shut down loses nothing.
fn without_trouble(plan: Plan, manner: Manner) -> Plan {
    let restarts = match manner.shuts_down {
        true => plan.trouble.restarts,
        false => 0,
    };
    let trouble = Trouble {
        restarts,
        ..Trouble::NONE
    };
    Plan { trouble, ..plan }
}

#[test]
fn each_call_ends_once_and_leaves_nothing_whatever_happens() {
    // A server ended while a request waited for its peer to read.
    let waits_at_the_end = Plan {
        seed: 1_179,
        messages: 13,
        trouble: Trouble {
            cuts: 1,
            partitions: 2,
            jumps: 1,
            strangers: 1,
            restarts: 2,
            ..Trouble::NONE
        },
    };
    check(&[waits_at_the_end], seeds(100), |plan| {
        calls(plan, Manner::default())
    });
}

/// Without trouble all messages come, and nobody takes the other for one that violates the protocol.
#[test]
fn everything_comes_where_nothing_goes_wrong() {
    check(&[], seeds(100), |plan| {
        let manner = Manner::default();
        calls(without_trouble(plan, manner), manner);
    });
}

/// As many requests as it has threads and places in its queue are taken, and the others turned away as not
/// started.
fn with_pool(plan: Plan) {
    let manner = Manner {
        // One for each client once there is quiet.
        queue: Some(usize::from(CLIENTS) + plan.seed as usize % 4),
        ..Manner::default()
    };
    calls(plan, manner);
}

#[test]
fn each_call_ends_once_where_a_pool_answers() {
    check(&[], seeds(100), with_pool);
}
