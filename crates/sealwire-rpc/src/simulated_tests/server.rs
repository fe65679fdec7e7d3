//! The server, which is exchanged for another one now and then: it is dropped, or shut down.

use std::sync::Arc;
use std::time::Duration;

use sealwire::auth::AllowAnyone;
use sealwire::simulation::{Exchanges, Plan, Scene, address};
use sealwire::{Context, Generate as _, KeyPair, Security};

use super::ledger::{Ledger, check_time};
use super::service::{Kind, Service};
use super::world::World;
use crate::handler::{Handler, Pool};
use crate::{Conn, Limits, Server};

/// How connections are protected, by the seed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mechanism {
    Blake3,
    Curve,
    Null,
}

/// What the server of a scene is like.
#[derive(Clone, Copy, Default)]
pub(super) struct Manner {
    /// Connections that it serves at once, and how long others wait for a place; else as many as come.
    pub(super) places: Option<(usize, Duration)>,
    /// Requests that may wait for the thread of a pool; else they are handled as they are read.
    pub(super) queue: Option<usize>,
    /// It is shut down before another one comes, and not just dropped.
    pub(super) shuts_down: bool,
    /// It calls clients back, for messages too, and they take their time to answer.
    pub(super) waits_for_clients: bool,
}

pub(super) struct Exchanged {
    context: Context,
    service: Service,
    manner: Manner,
    /// Whether the time may jump, so that a shutdown takes longer than it may.
    time_jumps: bool,
    keys: KeyPair,
    mechanism: Mechanism,
    pub(super) exchanges: Exchanges,
    server: Option<Server>,
    /// Those that there were.
    servers: u64,
    pub(super) is_bound: bool,
    /// Before, it does not try to bind again.
    binds_from: Duration,
}

pub(super) fn limits(scene: &Scene) -> Limits {
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

impl Exchanged {
    pub(super) fn new(world: &mut World, ledger: &Ledger, plan: Plan, manner: Manner) -> Self {
        let mechanism = match plan.seed % 4 {
            0..2 => Mechanism::Blake3,
            2 => Mechanism::Null,
            _ => Mechanism::Curve,
        };
        Exchanged {
            context: world.scene.context(1),
            service: Service {
                tasks: world.tasks.clone(),
                ledger: ledger.clone(),
                server: None,
                asks_for: match manner.waits_for_clients {
                    true => Kind::Late,
                    false => Kind::Now,
                },
            },
            manner,
            time_jumps: plan.trouble.jumps > 0,
            keys: KeyPair::generate(),
            mechanism,
            exchanges: Exchanges::one_in(1_000),
            server: None,
            servers: 0,
            is_bound: false,
            binds_from: Duration::ZERO,
        }
    }

    fn security(&self) -> Security {
        let keys = match self.exchanges.has_other_keys() {
            true => KeyPair::generate(),
            false => self.keys.clone(),
        };
        match self.mechanism {
            Mechanism::Blake3 => Security::blake3_server(keys, AllowAnyone).into(),
            Mechanism::Curve => Security::curve_server(keys, AllowAnyone),
            Mechanism::Null => Security::plain_text(),
        }
    }

    pub(super) fn client_security(&self) -> Security {
        let known = self.keys.public();
        match self.mechanism {
            Mechanism::Blake3 => Security::blake3_client(known).into(),
            Mechanism::Curve => Security::curve_client(known, KeyPair::generate()),
            Mechanism::Null => Security::plain_text(),
        }
    }

    /// The service of a client, when the server calls it.
    pub(super) fn client_service(&self) -> Service {
        self.service.clone()
    }

    pub(super) fn endpoint() -> String {
        format!("tcp://{}:5555", address(1))
    }

    /// The server that is there now.
    pub(super) fn server(&self) -> &Server {
        self.server.as_ref().expect("it was made")
    }

    pub(super) fn connections(&self) -> Vec<Conn> {
        self.server().connections()
    }

    /// Exchanges the server if it is time to, and binds the next one once it can.
    pub(super) fn go_on(&mut self, world: &mut World) {
        if self.is_bound && self.exchanges.begins(&mut world.scene) {
            self.is_bound = false;
            if let Some(server) = self.server.take() {
                self.end(world, server);
            }
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

    /// Drops a server, or has it shut down within a limit by the seed.
    fn end(&self, world: &World, server: Server) {
        if !self.manner.shuts_down {
            return;
        }
        server.unbind_all();
        let limit = Duration::from_millis(world.scene.below(40_000));
        let (tasks, ledger, number) = (
            world.tasks.clone(),
            self.service.ledger.clone(),
            self.servers,
        );
        let time_jumps = self.time_jumps;
        world.tasks.spawn(async move {
            let begun = tasks.now();
            let finished = server.hub().end_by_deadline(begun + limit).await;
            if !time_jumps {
                check_time("a shutdown", tasks.now() - begun, limit);
            }
            ledger.shut_down(number, finished);
        });
    }

    fn build(&mut self, world: &mut World) -> Server {
        self.servers += 1;
        let service = Service {
            server: Some(self.servers),
            ..self.service.clone()
        };
        let handler: Arc<dyn Handler> = match self.manner.queue {
            None => Arc::new(service),
            Some(queue) => {
                let (pool, steps) = Pool::without_threads(queue, service);
                world.pools.push(steps);
                Arc::new(pool)
            }
        };
        let mut builder = Server::builder(self.security())
            .limits(limits(&world.scene))
            .socket(|socket| socket.context(&self.context));
        if let Some((places, wait)) = self.manner.places {
            builder = builder.max_connections(places).connection_wait(wait);
        }
        let driver = world.tasks.driver.clone();
        let server = builder
            .build_with(handler, |options, socket| Ok(driver.start(options, socket)))
            .expect("a server");
        world.serve(server.hub());
        server
    }
}
