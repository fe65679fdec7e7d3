//! Calls: requests, one-way messages and answers.

#[path = "../../../../sealwire-rpc/tests/support/attacker.rs"]
#[expect(dead_code, reason = "tests of calls use the rest")]
mod attacker;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sealwire::account::{Account, Excess, Kind};
use sealwire::auth::AllowAnyone;
use sealwire::{Generate as _, KeyPair, Security};
use sealwire_rpc::{Client, Conn, Handler, Limits, OneWay, Request, Server, blocking};

use self::attacker::{Attacker, CANCEL, ONE_WAY, REQUEST, message};
use super::bystander::{eventually, within_bound};

/// The budgets, in bytes, and what one answer may add.
const BOUND: usize = 1 << 20;
const ANSWER: usize = 64 << 10;
/// Nothing here takes that long unless it is broken.
const LONG: Duration = Duration::from_secs(60);

/// Keeps what it is given, but for the bystander's requests. Those that begin with an `a` are
/// answered with much.
#[derive(Clone, Default)]
struct Hoarding {
    requests: Arc<Mutex<Vec<Request>>>,
    messages: Arc<Mutex<Vec<OneWay>>>,
}

impl Handler for Hoarding {
    fn request(&self, request: Request) {
        match request.body().first() {
            Some(b'b') => drop(request.reply(b"works")),
            Some(b'a') => drop(request.reply(&[7; ANSWER])),
            _ => self.requests.lock().unwrap().push(request),
        }
    }

    fn message(&self, message: OneWay) {
        self.messages.lock().unwrap().push(message);
    }
}

struct Scene {
    server: Server,
    bystander: blocking::Client,
    attacker: Attacker,
    attacked: Conn,
    handler: Hoarding,
}

impl Scene {
    fn new() -> Self {
        let keys = KeyPair::generate();
        let mut limits = Limits::default();
        limits.request_budget = BOUND as u32;
        limits.message_budget = BOUND as u32;
        limits.answer_budget = BOUND as u32;
        // No time limit ends anything here.
        (limits.read, limits.write, limits.request) = (LONG, LONG, Some(LONG));
        let handler = Hoarding::default();
        let server = Server::builder(Security::blake3_server(keys.clone(), AllowAnyone))
            .limits(limits)
            .handshake_limit(LONG)
            .build(handler.clone())
            .unwrap();
        let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
        let attacker = Attacker::greeted(keys.public(), &endpoint);
        eventually("the attacker is there", || server.connections().len() == 1);
        let attacked = server.connections().remove(0);
        let bystander = Client::builder(Security::blake3_client(keys.public()))
            .limits(limits)
            .dial_limit(LONG)
            .handshake_limit(LONG)
            .build(endpoint)
            .unwrap()
            .blocking();
        let scene = Scene {
            server,
            bystander,
            attacker,
            attacked,
            handler,
        };
        scene.works();
        scene
    }

    /// The bystander's calls are answered.
    fn works(&self) {
        for _ in 0..10 {
            assert_eq!(&self.bystander.request(b"bystander").unwrap()[..], b"works");
        }
    }

    fn account(&self) -> &Account {
        self.attacked.peer().account()
    }
}

/// A caller that takes requests back whose handlers do not let go is told that there is no room.
pub(crate) fn requests() {
    assert_eq!(Kind::Requests.excess(), Excess::Refused);
    let scene = Scene::new();
    let calls = (0..100_u32).flat_map(|n| {
        let number = 2 * n + 1;
        [
            message(REQUEST, number, &[7; 30_000]),
            message(CANCEL, number, b""),
        ]
    });
    assert!(scene.attacker.send(calls));
    eventually("refused", || scene.account().exceeded(Kind::Requests) >= 60);
    scene.works();
    within_bound(scene.account(), Kind::Requests, BOUND);
    assert!(scene.handler.requests.lock().unwrap().len() <= BOUND / 30_000);
    assert_eq!(scene.server.connections().len(), 2);
}

/// A peer that sends more messages than it was told to, in bytes, is disconnected.
pub(crate) fn unhandled() {
    assert_eq!(Kind::Unhandled.excess(), Excess::Disconnected);
    let scene = Scene::new();
    // In number that is far less than it may send.
    scene
        .attacker
        .send((0..100).map(|_| message(ONE_WAY, 0, &[7; 30_000])));
    eventually("disconnected", || scene.server.connections().len() == 1);
    scene.works();
    within_bound(scene.account(), Kind::Unhandled, BOUND);
    assert!(scene.account().exceeded(Kind::Unhandled) > 0);
    assert!(scene.handler.messages.lock().unwrap().len() <= BOUND / 30_000);
}

/// The requests of a caller that does not read its answers wait.
pub(crate) fn answers() {
    assert_eq!(Kind::Answers.excess(), Excess::Paused);
    let scene = Scene::new();
    const CALLS: u32 = 1_000;
    let calls = (0..CALLS).map(|n| message(REQUEST, 2 * n + 1, b"answers"));
    assert!(scene.attacker.send(calls));
    eventually("paused", || scene.account().exceeded(Kind::Answers) > 0);
    scene.works();
    // One answer may come on top, and what has just been handed to the socket counts there.
    within_bound(scene.account(), Kind::Answers, BOUND + 2 * ANSWER);
    // Nothing is lost: it reads its SETTINGS and each answer.
    for _ in 0..=CALLS {
        scene.attacker.read().unwrap();
        within_bound(scene.account(), Kind::Answers, BOUND + 2 * ANSWER);
    }
    scene.works();
}
