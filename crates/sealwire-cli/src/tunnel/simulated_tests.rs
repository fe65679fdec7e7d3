//! A tunnel between two hosts of a simulated network, with programs that connect at one end and a service at
//! the other. All of it runs in one thread, and a seed decides what goes wrong.

mod programs;
mod world;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use sealwire::simulation::{Network, Plan, Scene, Trouble, address, check, seeds};
use sealwire_tunnel::{Identity, PublicKey, SecretKey};

use super::allow::{Keys, Snapshot};
use super::connection::{Target, TunnelSettings};
use super::events::Events;
use super::own_keys::{CurrentKeys, OwnKeys};
use super::reading::ReadList;
use super::server::{Limits, Server};
use crate::exit::Failure;
use programs::{Client, Service, Stand};
use world::Simulated;

const LISTENER: u8 = 1;
const CONNECTOR: u8 = 2;
const PROGRAMS: u8 = 3;
const SERVICE: u8 = 4;
/// Of each host that has one.
const PORT: u16 = 7_000;
const CLIENTS: u32 = 3;
/// A connection over which nothing comes through is noticed then.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// Nothing of a tunnel takes longer where nothing goes wrong.
const QUIET: Duration = Duration::from_secs(60);

/// The list of allowed keys, which the scene changes, and which takes a moment to read.
#[derive(Debug)]
struct List {
    keys: Rc<RefCell<Keys>>,
    /// As it was read last.
    known: Keys,
    is_asked: bool,
}

impl ReadList for List {
    fn begin(&mut self) {
        self.is_asked = true;
    }

    fn take(&mut self) -> Result<Option<Snapshot>, Failure> {
        Ok(std::mem::take(&mut self.is_asked).then(|| {
            let keys = self.keys.borrow().clone();
            let snapshot = Snapshot {
                removed: !self.known.is_subset(&keys),
                keys: keys.clone(),
                is_complete: true,
                ..Snapshot::default()
            };
            self.known = keys;
            snapshot
        }))
    }
}

/// Both ends of a tunnel.
struct Tunnel {
    servers: Vec<Server<Simulated>>,
    /// Whom the listener lets in.
    allowed: Rc<RefCell<Keys>>,
    connector: PublicKey,
}

impl Tunnel {
    fn new(scene: &mut Scene) -> Self {
        let identity = || Identity::new("a test", SecretKey::generate().unwrap());
        let (ours, theirs) = (identity(), identity());
        let (connector, listener) = (*ours.public_key(), *theirs.public_key());
        let known = Keys::from([connector.to_bytes()]);
        let allowed = Rc::new(RefCell::new(known.clone()));
        let list = List {
            keys: allowed.clone(),
            known: known.clone(),
            is_asked: false,
        };
        let snapshot = Snapshot {
            keys: known,
            is_complete: true,
            ..Snapshot::default()
        };
        let list = (Box::new(list) as Box<dyn ReadList>, snapshot);
        let servers = vec![
            end(scene, LISTENER, SERVICE, theirs, None, Some(list)),
            end(scene, CONNECTOR, LISTENER, ours, Some(listener), None),
        ];
        Tunnel {
            servers,
            allowed,
            connector,
        }
    }

    /// Lets an end go on that has something to do. Whether there was one.
    fn go_on(&mut self, scene: &Scene) -> bool {
        let due: Vec<_> = (0..self.servers.len())
            .filter(|server| self.servers[*server].world.is_due())
            .collect();
        let Some(server) = due.get(scene.below(due.len() as u64) as usize) else {
            return false;
        };
        if !self.servers[*server].iterate().unwrap() {
            self.servers.remove(*server);
        }
        true
    }

    /// Takes the connector's key off the list, or puts it there again.
    fn change_list(&mut self, is_allowed: bool) {
        let key = self.connector.to_bytes();
        let mut allowed = self.allowed.borrow_mut();
        match is_allowed {
            true => allowed.insert(key),
            false => allowed.remove(&key),
        };
    }
}

/// One end on this host, which connects to that one.
fn end(
    scene: &mut Scene,
    host: u8,
    to: u8,
    identity: Identity,
    server_key: Option<PublicKey>,
    allowed: Option<(Box<dyn ReadList>, Snapshot)>,
) -> Server<Simulated> {
    let settings = TunnelSettings {
        keys: CurrentKeys::new(OwnKeys {
            identity: Arc::new(identity),
            server_key,
        }),
        to: Target {
            name: format!("host {to}"),
            addresses: [(address(to), PORT).into()].into(),
        },
        handshake_timeout: Duration::from_secs(10),
        half_closed_timeout: Duration::from_secs(20),
    };
    let limits = Limits {
        max_connections: 64,
        max_handshakes: 64,
        grace: Duration::ZERO,
    };
    let host = scene.host(host);
    let world = Simulated::new(&scene.network, host, PORT);
    Server::new(world, settings, allowed, limits, Events::silent())
}

/// Programs exchange streams with the service through the tunnel, each until both directions have come to
/// their end. A receiver gets a prefix of what was sent, an end is an end only if all came before it, and nobody
/// waits for ever. Says how many attempts were cut.
fn exchange(plan: Plan) -> u32 {
    let mut scene = Scene::new(plan.seed, plan.trouble);
    scene.pause = Duration::from_millis(10);
    let mut tunnel = Tunnel::new(&mut scene);
    scene.host(PROGRAMS);
    let stand = Stand {
        network: scene.network.clone(),
        most: 1 + plan.messages * 1_000,
    };
    let mut service = Service::new(&stand, (scene.host(SERVICE), PORT).into());
    let mut clients: Vec<_> = (0..CLIENTS)
        .map(|first| Client::new(&stand, first))
        .collect();
    let mut steps = 0;
    let mut calm_since = None;
    while clients.iter().any(|client| !client.is_done()) {
        steps += 1;
        if steps == 100 * plan.messages {
            scene.calm();
            tunnel.change_list(true);
            calm_since = Some(scene.network.now());
        }
        if let Some(since) = calm_since {
            // Those that failed before may fail once more, and are tried again.
            let waited = scene.network.now() - since;
            assert!(waited < 10 * QUIET, "somebody waits for ever");
        }
        match scene.below(8) {
            0 if !scene.is_stalled() => clients[scene.below(CLIENTS.into()) as usize].go_on(&scene),
            1 if !scene.is_stalled() => service.go_on(&scene),
            2 if scene.below(200) == 0 && scene.trouble.rotations > 0 => {
                scene.trouble.rotations -= 1;
                tunnel.change_list(false);
            }
            2 if scene.below(200) == 0 => tunnel.change_list(true),
            3..6 => drop(tunnel.go_on(&scene)),
            _ => scene.step(),
        }
    }
    let failures: u32 = clients.iter().map(Client::failures).sum();
    // Both ends stop, and nothing is left of what went through.
    scene.calm();
    drop((clients, service));
    for server in &mut tunnel.servers {
        server.world.stop();
    }
    while !tunnel.servers.is_empty() {
        if !tunnel.go_on(&scene) {
            scene.step();
        }
    }
    assert_eq!(scene.network.connections(), 0, "a connection is left");
    scene.end();
    failures
}

#[test]
fn streams_are_whole_or_told_to_be_cut() {
    let failures = Cell::new(0);
    check(&[], seeds(300), |plan| {
        failures.set(failures.get() + exchange(plan))
    });
    assert!(failures.get() > 0, "nothing was tried");
}

#[test]
fn nothing_is_lost_where_nothing_goes_wrong() {
    for seed in seeds(40) {
        let failures = exchange(Plan {
            trouble: Trouble::NONE,
            ..Plan::any(seed)
        });
        assert_eq!(failures, 0, "seed {seed}");
    }
}
