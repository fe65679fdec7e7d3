//! The keys of a server and 50 clients are replaced while they talk: every message is accounted for, and nobody is
//! turned away.
//!
//! ```text
//!   both keys of the server are good ─▶ each client changes its own and the server's ─▶ the old one is withdrawn
//! ```

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::{With, protect};
use crate::support::{TIMEOUT, eventually, options};
use sealwire::auth::{AllowedKeys, Authenticator, Client, Decision};
use sealwire::blocking::Socket;
use sealwire::options::Withdrawn;
use sealwire::{
    CurveServer, Endpoint, Error, Event, Generate as _, KeyPair, Monitor, Security, SocketType,
};

const CLIENTS: usize = 50;
/// Longer than what is on its way takes on any machine: it is cut off then.
const LINGER: Duration = Duration::from_secs(60 * 60);
/// Bytes of a message: so few of them fit into the buffers of the system that all have soon arrived.
const SIZE: usize = 4_096;

/// The keys of one server and its clients.
struct Keys {
    server: KeyPair,
    clients: Vec<KeyPair>,
}

impl Keys {
    fn new() -> Self {
        Keys {
            server: KeyPair::generate(),
            clients: (0..CLIENTS).map(|_| KeyPair::generate()).collect(),
        }
    }

    fn of_client(&self, with: With, client: usize) -> Security {
        with.client(&self.server, &self.clients[client])
    }
}

/// A server with the keys of all these, who lets their clients in and no others.
fn server(with: With, keys: &[&Keys]) -> Security {
    let clients = keys.iter().flat_map(|keys| &keys.clients);
    let allowed = clients.fold(AllowedKeys::new(), |all, keys| all.allow(keys.public()));
    let authenticator = move |client: &Client<'_>| -> Decision { allowed.authenticate(client) };
    let first = keys[0].server.clone();
    match (with, keys.get(1)) {
        (With::Blake3, None) => Security::blake3_server(first, authenticator).into(),
        (With::Blake3, Some(second)) => Security::blake3_server(first, authenticator)
            .with_additional_keys(second.server.clone())
            .into(),
        (With::Curve, second) => {
            let server = CurveServer::new(first, authenticator);
            let second = second.map(|keys| keys.server.clone());
            match second {
                Some(keys) => server.with_additional_key(keys).into(),
                None => server.into(),
            }
        }
    }
}

/// A bound socket and its clients, with the first keys.
struct Scene {
    with: With,
    keys: [Keys; 3],
    server: Socket,
    endpoint: Endpoint,
    clients: Vec<Socket>,
    monitors: Vec<Monitor>,
}

impl Scene {
    fn new(with: With, of_server: SocketType, of_clients: SocketType) -> Self {
        let keys = [(); 3].map(|()| Keys::new());
        let few = |socket_type| {
            let options = options(socket_type).linger(LINGER);
            options.send_high_water_mark(10).receive_high_water_mark(10)
        };
        let socket = few(of_server).security(server(with, &[&keys[0]]));
        let socket = socket.build_blocking().unwrap();
        let mut monitors = vec![socket.monitor()];
        let endpoint = socket.bind("tcp://127.0.0.1:*").unwrap();
        let clients = (0..CLIENTS).map(|at| {
            let client = few(of_clients).security(keys[0].of_client(with, at));
            let client = client.build_blocking().unwrap();
            monitors.push(client.monitor());
            client.connect(&endpoint).unwrap();
            client
        });
        let clients: Vec<_> = clients.collect();
        socket.wait_connected(CLIENTS).unwrap();
        Scene {
            with,
            keys,
            server: socket,
            endpoint,
            clients,
            monitors,
        }
    }

    /// Replaces all keys once, the `number`th time.
    fn rotate(&self, number: usize) {
        let (Scene { with, endpoint, .. }, [old, new]) =
            (self, [&self.keys[number], &self.keys[number + 1]]);
        let of_server = |keys: &[&Keys]| {
            let security = server(*with, keys);
            protect(&self.server, endpoint, Withdrawn::End, security);
        };
        of_server(&[old, new]);
        for (at, client) in self.clients.iter().enumerate() {
            let security = new.of_client(*with, at);
            // Every other one waits until its connection ends by itself.
            let withdrawn = match at % 2 {
                0 => Withdrawn::End,
                _ => Withdrawn::Stay,
            };
            protect(client, endpoint, withdrawn, security);
        }
        of_server(&[new]);
        eventually("all are there with their new keys", || {
            let peers = self.server.peers();
            let here: HashSet<_> = peers.iter().filter_map(|it| it.public_key()).collect();
            let under = |it: &Arc<sealwire::Peer>| it.local_key() == Some(new.server.public());
            let all = new.clients.iter().all(|it| here.contains(&it.public()));
            thread::sleep(Duration::from_millis(1));
            all && peers.iter().all(under)
        });
    }

    /// No handshake failed, and no connection but for its key.
    fn nobody_was_turned_away(&self) {
        for monitor in &self.monitors {
            while let Some(event) = monitor.try_next() {
                let Event::Failed(failure) = &event else {
                    continue;
                };
                let cause = failure.cause().name();
                assert!(cause == "key_withdrawn", "{:?}: {failure:?}", self.with);
            }
        }
        let all = self.clients.iter().chain([&self.server]);
        assert!(all.clone().all(|it| it.counters().handshakes_failed == 0));
    }
}

/// Ends the threads of a test also where that fails.
struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Messages arrive once each, though their senders never pause.
#[test]
fn what_is_sent_one_way_arrives_once() {
    for with in With::BOTH {
        let scene = Scene::new(with, SocketType::Pull, SocketType::Push);
        let stop = AtomicBool::new(false);
        let arrived = Arc::new(Mutex::new(HashSet::new()));
        let (received, sent) = (AtomicU64::new(0), AtomicU64::new(0));
        let (sending, receiving) = (&AtomicU64::new(CLIENTS as u64), &received);
        thread::scope(|scope| {
            let stops = Stops(&stop);
            for (at, client) in scene.clients.iter().enumerate() {
                let (stop, sent) = (&stop, &sent);
                scope.spawn(move || {
                    let mut number = 0_u64;
                    while !stop.load(Ordering::SeqCst) {
                        let text = format!("{:SIZE$}", format!("{at} {number}"));
                        client.send(text).unwrap();
                        number += 1;
                    }
                    sent.fetch_add(number, Ordering::SeqCst);
                    sending.fetch_sub(1, Ordering::SeqCst);
                });
            }
            let (server, arrived, sent) = (&scene.server, arrived.clone(), &sent);
            scope.spawn(move || {
                loop {
                    let over = sending.load(Ordering::SeqCst) == 0;
                    let all = sent.load(Ordering::SeqCst);
                    if over && receiving.load(Ordering::SeqCst) == all {
                        break;
                    }
                    let limit = if over {
                        TIMEOUT
                    } else {
                        Duration::from_millis(20)
                    };
                    let message = match server.recv_timeout(limit) {
                        Ok(message) => message,
                        Err(Error::TimedOut { .. }) if over => break,
                        Err(Error::TimedOut { .. }) => continue,
                        Err(error) => panic!("{error}"),
                    };
                    let text = String::from_utf8_lossy(message.as_bytes());
                    let text = text.trim_end().to_owned();
                    assert!(arrived.lock().unwrap().insert(text), "it came twice");
                    receiving.fetch_add(1, Ordering::SeqCst);
                }
            });
            let moved = || received.load(Ordering::SeqCst);
            for number in 0..2 {
                let before = moved();
                scene.rotate(number);
                eventually("messages flow", || moved() > before + CLIENTS as u64);
            }
            drop(stops);
        });
        let (sent, received) = (sent.into_inner(), received.into_inner());
        assert_eq!(sent, received, "{with:?}");
        scene.nobody_was_turned_away();
        let unsent = |it: &Socket| it.counters().dropped_unsent;
        assert_eq!(scene.clients.iter().map(unsent).sum::<u64>(), 0);
    }
}

/// Each request is answered, and one that was under way while its connection ended is asked again.
#[test]
fn every_request_is_answered() {
    for with in With::BOTH {
        let scene = Scene::new(with, SocketType::Router, SocketType::Dealer);
        let (stop, ended) = (AtomicBool::new(false), AtomicBool::new(false));
        let answers = AtomicU64::new(0);
        thread::scope(|scope| {
            let (stops, ends) = (Stops(&stop), Stops(&ended));
            let asking: Vec<_> = scene
                .clients
                .iter()
                .map(|client| {
                    let (stop, answers) = (&stop, &answers);
                    scope.spawn(move || {
                        let mut number = 0_u64;
                        while !stop.load(Ordering::SeqCst) {
                            number += 1;
                            ask(client, number);
                            answers.fetch_add(1, Ordering::SeqCst);
                        }
                    })
                })
                .collect();
            let (server, ended) = (&scene.server, &ended);
            scope.spawn(move || {
                while !ended.load(Ordering::SeqCst) {
                    match server.recv_timeout(Duration::from_millis(20)) {
                        Ok(request) => server.send(request).unwrap(),
                        Err(Error::TimedOut { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
            for number in 0..2 {
                let before = answers.load(Ordering::SeqCst);
                scene.rotate(number);
                eventually("answers come", || {
                    answers.load(Ordering::SeqCst) > before + CLIENTS as u64
                });
            }
            drop(stops);
            asking.into_iter().for_each(|it| it.join().unwrap());
            drop(ends);
        });
        scene.nobody_was_turned_away();
    }
}

/// Asks until there is an answer to this request.
fn ask(client: &Socket, number: u64) {
    let text = number.to_string();
    for _ in 0..600 {
        client.send(text.as_str()).unwrap();
        loop {
            match client.recv_timeout(Duration::from_millis(200)) {
                Ok(answer) if answer.as_bytes() == text.as_bytes() => return,
                // To one that was asked twice.
                Ok(_) => {}
                Err(Error::TimedOut { .. }) => break,
                Err(error) => panic!("{error}"),
            }
        }
    }
    panic!("request {number} was not answered");
}
