//! A peer with an allowed key that does what none should, over a socket of its own, while a
//! bystander goes on making calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::attacker::{Attacker, CANCEL, ONE_WAY, REQUEST, message, settings};
use crate::support::{self, Scene, TIMEOUT, bind, eventually, patient};
use sealwire::account::Kind;
use sealwire::{Endpoint, Frame, Security, SocketType};
use sealwire_rpc::handler::{Inline, Pool};
use sealwire_rpc::{CallOptions, Conn, Handler, OneWay, Request, Server, ServerBuilder, Status};

/// Bytes that what a handler answers may have beside the bound: one answer, in this file's tests.
const ANSWER: usize = 64 << 10;

/// Somebody who calls all the time. Each of its calls is answered.
struct Bystander {
    over: Arc<AtomicBool>,
    thread: JoinHandle<usize>,
    calls: Arc<AtomicUsize>,
}

impl Bystander {
    fn new(scene: &Scene, endpoint: Endpoint) -> Self {
        let client = scene.client().build(endpoint).unwrap().blocking();
        let (over, calls) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicUsize::new(0)),
        );
        let (ends, counter) = (over.clone(), calls.clone());
        let thread = thread::spawn(move || {
            let mut done = 0;
            while !ends.load(Ordering::SeqCst) {
                assert_eq!(&client.request(b"bystander").unwrap()[..], b"bystander");
                done = counter.fetch_add(1, Ordering::SeqCst) + 1;
            }
            done
        });
        Bystander {
            over,
            thread,
            calls,
        }
    }

    /// Waits for calls that begin after this.
    fn goes_on(&self) {
        let before = self.calls.load(Ordering::SeqCst);
        eventually("the bystander's calls", || {
            self.calls.load(Ordering::SeqCst) >= before + 3
        });
    }

    fn end(self) {
        self.goes_on();
        self.over.store(true, Ordering::SeqCst);
        assert!(self.thread.join().unwrap() > 0);
    }
}

fn scene(
    options: impl FnOnce(ServerBuilder) -> ServerBuilder,
    handler: impl Handler,
) -> (Scene, Server, Endpoint, Bystander) {
    let scene = Scene::new();
    let server = options(scene.server()).build(handler).unwrap();
    let endpoint = bind(&server);
    let bystander = Bystander::new(&scene, endpoint.clone());
    bystander.goes_on();
    (scene, server, endpoint, bystander)
}

/// Requests that begin with these bytes are answered with many.
fn large_answers(request: &Request) -> Result<Vec<u8>, Status> {
    match request.body().starts_with(b"large") {
        true => Ok(vec![7; ANSWER]),
        false => Ok(request.body().to_vec()),
    }
}

/// The connection that the bystander does not have.
fn other(server: &Server, known: &[Conn]) -> Conn {
    let routing_id = |conn: &Conn| conn.peer().connection_routing_id();
    let mut found = None;
    eventually("the attacker's connection", || {
        found = server.connections().into_iter().find(|conn| {
            known
                .iter()
                .all(|other| routing_id(other) != routing_id(conn))
        });
        found.is_some()
    });
    found.unwrap()
}

/// One that reads nothing does not notice it itself.
fn is_disconnected(server: &Server, known: &[Conn]) {
    eventually("it is disconnected", || {
        server.connections().len() == known.len()
    });
}

#[test]
fn answers_are_not_kept_without_bound_for_a_peer_that_does_not_read() {
    let largest = Arc::new(AtomicUsize::new(0));
    let mut limits = patient();
    limits.answer_budget = 1 << 20;
    limits.write = Duration::from_secs(2);
    let (seen, budget) = (largest.clone(), limits.answer_budget as usize);
    let handle = move |request: &Request| {
        let held = request.conn().peer().account().held(Kind::Answers);
        seen.fetch_max(held, Ordering::SeqCst);
        large_answers(request)
    };
    let (scene, server, endpoint, bystander) =
        scene(|server| server.limits(limits), Inline::new(handle));
    let known = server.connections();
    let attacker = Attacker::greeted(scene.keys.public(), &endpoint);
    let conn = other(&server, &known);
    let account = conn.peer().account();
    // 4,000 small requests for 250 MiB.
    attacker.send((0..4_000).map(|n| message(REQUEST, 2 * n + 1, b"large")));
    eventually("its requests wait", || server.counters().peers_paused > 0);
    bystander.goes_on();
    is_disconnected(&server, &known);
    largest.fetch_max(account.held(Kind::Answers), Ordering::SeqCst);
    let most = largest.load(Ordering::SeqCst);
    assert!(most <= budget + 2 * ANSWER, "{most} bytes held");
    assert!(account.exceeded(Kind::Answers) > 0);
    eventually("nothing is held any more", || {
        account.held(Kind::Answers) == 0 && account.held(Kind::Requests) == 0
    });
    bystander.end();
}

#[test]
fn requests_that_waited_are_answered_once_their_peer_reads() {
    let mut limits = patient();
    limits.answer_budget = 1 << 20;
    let (scene, server, endpoint, bystander) =
        scene(|server| server.limits(limits), Inline::new(large_answers));
    let attacker = Attacker::greeted(scene.keys.public(), &endpoint);
    const CALLS: u32 = 1_000;
    attacker.send((0..CALLS).map(|n| message(REQUEST, 2 * n + 1, b"large")));
    eventually("its requests wait", || server.counters().peers_paused > 0);
    // SETTINGS and the answers, in their order.
    assert_eq!(attacker.read().unwrap().as_bytes()[0], 1);
    for n in 0..CALLS {
        let answer = attacker.read().unwrap();
        assert_eq!(answer.as_bytes()[..6], *message(5, 2 * n + 1, b""));
        assert_eq!(answer.size(), 6 + ANSWER);
    }
    bystander.end();
}

#[test]
fn cancelling_while_nothing_is_read_keeps_nothing() {
    let mut limits = patient();
    limits.answer_budget = 256 << 10;
    limits.max_calls = 16;
    let (scene, server, endpoint, bystander) =
        scene(|server| server.limits(limits), Inline::new(large_answers));
    let known = server.connections();
    let attacker = Attacker::greeted(scene.keys.public(), &endpoint);
    let conn = other(&server, &known);
    let mut sent = 0_u32;
    // What handlers answer and what the protocol answers by itself have a bound each. While some of it
    // is offered to the socket, which has no room, as much may come beside it.
    let answers = limits.answer_budget as usize + ANSWER;
    let control = limits.answer_budget as usize + 512 * 16;
    let most = 2 * (answers + control);
    // Each pair costs it 20 bytes and this side an error.
    while attacker.send((sent..sent + 100).flat_map(|n| {
        let number = 2 * n + 1;
        [
            message(REQUEST, number, b"large"),
            message(CANCEL, number, b""),
        ]
    })) {
        sent += 100;
        let held = conn.peer().account().held(Kind::Answers);
        assert!(held <= most, "{held} bytes held");
    }
    is_disconnected(&server, &known);
    assert!(server.counters().violations > 0);
    bystander.end();
}

#[test]
fn an_empty_message_is_a_violation_and_starts_nothing_anew() {
    let (scene, server, endpoint, bystander) = scene(|server| server, Inline::new(large_answers));
    let known = server.connections();
    let attacker = Attacker::greeted(scene.keys.public(), &endpoint);
    let conn = other(&server, &known);
    attacker.send([Frame::new(), settings(1).into(), message(REQUEST, 1, b"")]);
    is_disconnected(&server, &known);
    assert!(!conn.is_open());
    assert_eq!(server.counters().violations, 1);
    assert_eq!(server.counters().connections, 2);
    bystander.end();
}

/// Keeps what it is given.
#[derive(Clone, Default)]
struct Hoarding {
    requests: Arc<std::sync::Mutex<Vec<Request>>>,
    messages: Arc<std::sync::Mutex<Vec<OneWay>>>,
}

impl Handler for Hoarding {
    fn request(&self, request: Request) {
        if request.body().starts_with(b"bystander") {
            let body = request.body().to_vec();
            return drop(request.reply(&body));
        }
        self.requests.lock().unwrap().push(request);
    }

    fn message(&self, message: OneWay) {
        self.messages.lock().unwrap().push(message);
    }
}

#[test]
fn requests_and_messages_are_bounded_in_bytes() {
    for (kind, account_kind) in [(REQUEST, Kind::Requests), (ONE_WAY, Kind::Unhandled)] {
        let mut limits = patient();
        limits.request_budget = 1 << 20;
        limits.message_budget = 1 << 20;
        let hoarding = Hoarding::default();
        let (scene, server, endpoint, bystander) =
            scene(|server| server.limits(limits), hoarding.clone());
        let known = server.connections();
        let attacker = Attacker::greeted(scene.keys.public(), &endpoint);
        let conn = other(&server, &known);
        let number = |n: u32| if kind == REQUEST { 2 * n + 1 } else { 0 };
        // Far fewer than the windows of 4,096 and 1,024.
        attacker.send((0..100).map(|n| message(kind, number(n), &[7; 100_000])));
        is_disconnected(&server, &known);
        let requests = hoarding.requests.lock().unwrap();
        let messages = hoarding.messages.lock().unwrap();
        let sizes = requests.iter().map(|request| request.body().len());
        let held: usize = sizes
            .chain(messages.iter().map(|message| message.body().len()))
            .sum();
        assert!((900_000..=1 << 20).contains(&held), "{held} bytes held");
        assert!(conn.peer().account().held(account_kind) <= 1 << 20);
        assert!(conn.peer().account().exceeded(account_kind) > 0);
        bystander.end();
    }
}

#[test]
fn a_client_keeps_to_the_bytes_that_the_server_allows() {
    let mut limits = patient();
    limits.request_budget = 300_000;
    limits.message_budget = 300_000;
    let scene = Scene::new();
    let pool = Pool::with_messages(2, 4_096, support::echo, |_| ()).unwrap();
    let server = scene.server().limits(limits).build(pool).unwrap();
    let client = scene.client().build(bind(&server)).unwrap().blocking();
    let conn = client.conn().unwrap();
    let body = vec![7; 100_000];
    for _ in 0..50 {
        let calls: Vec<_> = (0..2)
            .map(|_| conn.start(&body, CallOptions::default()).unwrap())
            .collect();
        conn.send(&body).unwrap();
        for call in calls {
            assert_eq!(call.wait().unwrap()[..], body);
        }
    }
    // More at once than the budget: they wait for each other, and none is turned away.
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let (client, body) = (client.clone(), body.clone());
            thread::spawn(move || {
                for _ in 0..20 {
                    assert_eq!(client.request(&body).unwrap()[..], body);
                    client.send(&body).unwrap();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let counters = server.counters();
    assert_eq!((counters.violations, counters.requests_refused), (0, 0));
}

#[test]
fn connections_that_say_nothing_are_bounded_in_number_and_in_time() {
    let (scene, server, endpoint, bystander) = scene(
        |server| server.max_connections(64).handshake_limit(10 * TIMEOUT),
        Inline::new(large_answers),
    );
    // A quarter of the places. Time ends none of them in this test.
    let silent: Vec<_> = (0..16)
        .map(|_| Attacker::silent(scene.keys.public(), &endpoint))
        .collect();
    assert!(silent.iter().all(|attacker| !attacker.is_gone()));
    let one_more = Attacker::silent(scene.keys.public(), &endpoint);
    eventually("the oldest gives way", || silent[0].is_gone());
    assert!(!one_more.is_gone());
    eventually("it is counted", || {
        server.counters().connections_silent == 1
    });
    bystander.end();
}

#[test]
fn a_connection_that_says_nothing_is_ended_in_time() {
    let (scene, server, endpoint, bystander) = scene(
        |server| server.handshake_limit(Duration::from_secs(3)),
        Inline::new(large_answers),
    );
    let silent = Attacker::silent(scene.keys.public(), &endpoint);
    eventually("it is ended", || silent.is_gone());
    eventually("it is counted", || {
        server.counters().connections_silent == 1
    });
    bystander.end();
}

#[test]
fn a_greeting_is_bounded() {
    let (scene, server, endpoint, bystander) = scene(|server| server, Inline::new(large_answers));
    let attacker = Attacker::silent(scene.keys.public(), &endpoint);
    let mut greeting = settings(1);
    greeting.resize(greeting.len() + (64 << 10) + 1, 7);
    attacker.send([greeting.into()]);
    eventually("it is disconnected", || attacker.is_gone());
    assert_eq!(server.counters().violations, 1);
    let client = scene.client().hello(vec![7; (64 << 10) + 1]);
    assert!(client.build(endpoint).is_err());
    bystander.end();
}

#[test]
fn calls_that_a_server_never_answers_do_not_hold_their_connection_for_ever() {
    // A server by hand: it takes the connection, and answers nothing.
    let scene = Scene::new();
    let socket = sealwire::Socket::builder(SocketType::Peer)
        .security(Security::blake3_server(
            scene.keys.clone(),
            sealwire::auth::AllowAnyone,
        ))
        .omit_routing_id(true)
        .hello_message({
            let mut settings = settings(1 << 20);
            // Eight calls.
            settings[7..11].copy_from_slice(&8_u32.to_be_bytes());
            settings
        })
        .build()
        .unwrap();
    let endpoint = socket.bind("tcp://127.0.0.1:0").unwrap();
    let mut limits = patient();
    limits.read = Duration::from_secs(3);
    limits.write = Duration::from_millis(10);
    limits.request = Some(Duration::from_millis(10));
    let client = scene.client().limits(limits).build(endpoint).unwrap();
    let conn = client.blocking().conn().unwrap();
    eventually("the connection is given up", || {
        let _ = conn.request(b"");
        client.connections().is_empty()
    });
    assert_eq!(client.counters().violations, 1);
    drop(socket);
}
