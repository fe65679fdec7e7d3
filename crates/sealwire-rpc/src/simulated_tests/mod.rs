//! Clients and a server without threads, over a network whose delays, cuts and partitions a seed decides
//! about. What fails is made smaller and named (`sealwire::simulation`).

mod callers;
mod ledger;
mod service;
mod world;

use std::sync::Arc;
use std::time::Duration;

use sealwire::account::Kind as Held;
use sealwire::auth::AllowAnyone;
use sealwire::simulation::{Plan, Scene, Trouble, address, check, seeds};
use sealwire::{Context, Generate as _, KeyPair, Security};

use self::callers::Caller;
use self::ledger::Ledger;
use self::service::Service;
use self::world::World;
use crate::hub::Hub;
use crate::{Client, Limits, Server};

const CLIENTS: u8 = 3;
/// Of each client.
const CALLERS: u64 = 2;
const RETRIES: u32 = 2;
/// Longer than anybody waits for anything.
const QUIET: Duration = Duration::from_secs(120);
/// Longer than any delivery takes.
const DELIVERY: Duration = Duration::from_secs(5);

fn limits(scene: &Scene) -> Limits {
    Limits {
        max_calls: 1 << scene.below(6),
        one_way_window: 1 << scene.below(5),
        stream_window: 1 << scene.below(4),
        max_body: 64 << 10,
        request_budget: 64 << scene.below(12),
        message_budget: 64 << scene.below(12),
        answer_budget: 64 << scene.below(12),
        ..Limits::default()
    }
}

/// The server, which is exchanged for another one now and then.
struct Exchanged {
    context: Context,
    service: Service,
    keys: KeyPair,
    is_plain: bool,
    has_other_keys: bool,
    server: Option<Server>,
    is_bound: bool,
    /// Before, it does not try to bind again.
    binds_from: Duration,
}

impl Exchanged {
    fn security(&self) -> Security {
        match (self.is_plain, self.has_other_keys) {
            (true, _) => Security::plain_text(),
            (false, true) => Security::blake3_server(KeyPair::generate(), AllowAnyone).into(),
            (false, false) => Security::blake3_server(self.keys.clone(), AllowAnyone).into(),
        }
    }

    fn client_security(&self) -> Security {
        match self.is_plain {
            true => Security::plain_text(),
            false => Security::blake3_client(self.keys.public()).into(),
        }
    }

    fn endpoint() -> String {
        format!("tcp://{}:5555", address(1))
    }

    /// Exchanges the server if it is time to, and binds the next one once it can.
    fn go_on(&mut self, world: &mut World) {
        if self.is_bound && self.begins_exchange(&mut world.scene) {
            (self.server, self.is_bound) = (None, false);
        }
        let server = self.server.take().unwrap_or_else(|| self.build(world));
        let now = world.scene.network.now();
        if !self.is_bound && self.binds_from <= now {
            // Without a descriptor, and while the last one still has the port, it tries again later.
            self.is_bound = server.bind(Self::endpoint()).is_ok();
            self.binds_from = now + Duration::from_millis(50);
        }
        self.server = Some(server);
    }

    fn build(&self, world: &mut World) -> Server {
        let builder = Server::builder(self.security())
            .limits(limits(&world.scene))
            .socket(|socket| socket.context(&self.context));
        let driver = world.tasks.driver.clone();
        let service = self.service.clone();
        let server = builder
            .build_with(service, |options, socket| Ok(driver.start(options, socket)))
            .expect("a server");
        world.serve(server.hub());
        server
    }

    fn begins_exchange(&mut self, scene: &mut Scene) -> bool {
        let is_calm = scene.trouble == Trouble::NONE;
        let chosen = scene.below(1_000);
        let Trouble {
            restarts,
            rotations,
            ..
        } = &mut scene.trouble;
        match chosen {
            _ if self.has_other_keys && is_calm => self.has_other_keys = false,
            0 if *restarts > 0 => *restarts -= 1,
            1 if self.has_other_keys => self.has_other_keys = false,
            1 if *rotations > 0 => {
                *rotations -= 1;
                self.has_other_keys = true;
            }
            _ => return false,
        }
        true
    }
}

fn client(world: &mut World, server: &Exchanged, number: u8) -> Client {
    let context = world.scene.context(10 + number);
    let driver = world.tasks.driver.clone();
    let client = Client::builder(server.client_security())
        .limits(limits(&world.scene))
        .max_connections(1 + world.scene.below(3) as usize)
        .calls_per_connection(1 + world.scene.below(3) as usize)
        .dial_attempts(1 + world.scene.below(2) as u32)
        .retries(RETRIES)
        .handler(server.service.clone())
        .socket(|socket| socket.context(&context))
        .build_with(Exchanged::endpoint(), |options, socket| {
            Ok(driver.start(options, socket))
        })
        .expect("a client");
    world.serve(client.hub());
    client
}

/// Asserts that nothing is held for anybody.
fn check_empty(hub: &Arc<Hub>, connections: &[crate::Conn], has_trouble: bool) {
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

/// Calls of all kinds from three clients. Each ends once, as the ledger says, and nothing is left.
fn calls(plan: Plan) {
    let mut scene = Scene::new(plan.seed, plan.trouble);
    scene.pause = Duration::from_millis(10);
    let context = scene.context(1);
    let mut world = World::new(scene);
    let ledger = Ledger::default();
    let mut server = Exchanged {
        context,
        service: Service {
            tasks: world.tasks.clone(),
            ledger: ledger.clone(),
        },
        keys: KeyPair::generate(),
        is_plain: plan.seed % 3 == 2,
        has_other_keys: false,
        server: None,
        is_bound: false,
        binds_from: Duration::ZERO,
    };
    server.go_on(&mut world);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| client(&mut world, &server, number))
        .collect();
    let tasks = world.tasks.clone();
    let caller = |client: &Client, number: u64, time_jumps: bool| Caller {
        client: client.clone(),
        tasks: tasks.clone(),
        ledger: ledger.clone(),
        number,
        calls: 0,
        messages: 0,
        time_jumps,
    };
    for number in 0..u64::from(CLIENTS) * CALLERS {
        let client = &clients[(number / CALLERS) as usize];
        let things = plan.messages.div_ceil(3);
        let caller = caller(client, number, plan.trouble.jumps > 0);
        world.tasks.spawn(caller.run(things));
    }
    world.step();
    while world.waiting() > 0 {
        server.go_on(&mut world);
        world.step();
    }
    world.scene.calm();
    while server.has_other_keys || !server.is_bound {
        server.go_on(&mut world);
        world.step();
    }
    world.settle(QUIET);
    assert_eq!(world.waiting(), 0, "somebody waits for ever");
    // Once there is quiet, everybody is answered.
    for (number, client) in (100..).zip(&clients) {
        let caller = caller(client, number, false);
        world.tasks.spawn(async move { caller.get_answer().await });
    }
    world.settle(DELIVERY);
    assert_eq!(world.waiting(), 0, "somebody is not answered");
    for number in 100..100 + u64::from(CLIENTS) {
        assert!(ledger.has_come(number, 0), "a message did not come");
    }
    world.settle(QUIET);
    ledger.check(1 + u64::from(RETRIES));
    let has_trouble = plan.trouble != Trouble::NONE;
    if !has_trouble {
        ledger.check_all_came();
    }
    let of_server = server.server.as_ref().expect("it is bound");
    check_empty(of_server.hub(), &of_server.connections(), has_trouble);
    for client in &clients {
        check_empty(client.hub(), &client.connections(), has_trouble);
    }
    world.check_timers();
    drop((clients, server));
    world.end(DELIVERY);
}

#[test]
fn each_call_ends_once_and_leaves_nothing_whatever_happens() {
    check(&[], seeds(100), calls);
}

/// Without trouble all messages come, and nobody takes the other for one that violates the protocol.
#[test]
fn everything_comes_where_nothing_goes_wrong() {
    check(&[], seeds(20), |plan| {
        calls(Plan {
            trouble: Trouble::NONE,
            ..plan
        });
    });
}
