//! Failures in the handshake.

use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use super::told;
use crate::support::{eventually, options};
use sealwire::auth::{AllowAnyone, AllowedKeys, Client, Decision, Status, zap};
use sealwire::blocking::Socket;
use sealwire::{
    Context, Generate as _, KeyPair, Message, Monitor, Security, SocketBuilder, SocketType,
};
use sealwire_relay::{Act, Format, Relay, honest};

/// What both tell where a client connects to a server.
fn met(server: SocketBuilder, client: SocketBuilder) -> [&'static str; 2] {
    let [server, client] = [server, client].map(|it| it.build_blocking().unwrap());
    let monitors = [server.monitor(), client.monitor()];
    client
        .connect(server.bind("tcp://127.0.0.1:0").unwrap())
        .unwrap();
    monitors.each_ref().map(told)
}

fn pull(security: impl Into<Security>) -> SocketBuilder {
    options(SocketType::Pull).security(security)
}

fn push(security: impl Into<Security>) -> SocketBuilder {
    options(SocketType::Push).security(security)
}

/// What the server hears first is changed.
pub(super) fn not_zmtp() -> [&'static str; 2] {
    let server = pull(Security::plain_text()).build_blocking().unwrap();
    let client = push(Security::plain_text()).build_blocking().unwrap();
    let monitors = [server.monitor(), client.monitor()];
    let endpoint = server.bind("tcp://127.0.0.1:0").unwrap().to_string();
    let address = endpoint.trim_start_matches("tcp://").parse().unwrap();
    let relay = Relay::before(address, Format::Zmtp);
    client.connect(relay.endpoint()).unwrap();
    let garbles = Box::new(|_, unit: Vec<u8>| Act::forward(vec![b'G'; unit.len()]));
    let _carried = relay.carry(garbles, honest());
    monitors.each_ref().map(told)
}

pub(super) fn other_mechanisms() -> [&'static str; 2] {
    let keys = KeyPair::generate();
    met(
        pull(Security::blake3_server(keys, AllowAnyone)),
        push(Security::plain_text()),
    )
}

/// Under encryption the server knows first.
pub(super) fn other_types() -> [&'static str; 2] {
    let keys = KeyPair::generate();
    let client = Security::blake3_client(keys.public());
    met(
        pull(Security::blake3_server(keys, AllowAnyone)),
        options(SocketType::Dealer).security(client),
    )
}

pub(super) fn another_key() -> [&'static str; 2] {
    let [keys, others] = [(); 2].map(|()| KeyPair::generate());
    met(
        pull(Security::blake3_server(keys, AllowAnyone)),
        push(Security::blake3_client(others.public())),
    )
}

/// A server whose authenticator answers nobody while the other value lives, and what its clients need.
fn undecided() -> (SocketBuilder, Security, mpsc::Sender<()>) {
    let keys = KeyPair::generate();
    let client = Security::blake3_client(keys.public()).into();
    let (release, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let decide = move |_: &Client<'_>| gate.lock().unwrap().recv().is_ok();
    (pull(Security::blake3_server(keys, decide)), client, release)
}

pub(super) fn nobody_decides() -> [&'static str; 2] {
    let (server, client, _release) = undecided();
    met(
        server.handshake_timeout(Duration::from_millis(300)),
        push(client),
    )
}

pub(super) fn another_comes() -> [&'static str; 2] {
    let (server, security, _release) = undecided();
    let server = server.max_handshakes(1).max_handshakes_per_address(2);
    let server = server.build_blocking().unwrap();
    let clients = [(); 2].map(|()| push(security.clone()).build_blocking().unwrap());
    let monitors = [server.monitor(), clients[0].monitor()];
    let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
    clients[0].connect(&endpoint).unwrap();
    eventually("the first is accepted", || is_accepted(&monitors[0]));
    clients[1].connect(&endpoint).unwrap();
    monitors.each_ref().map(told)
}

fn is_accepted(monitor: &Monitor) -> bool {
    let event = monitor.try_next();
    matches!(event, Some(sealwire::Event::Accepted { .. }))
}

pub(super) fn not_allowed() -> [&'static str; 2] {
    let keys = KeyPair::generate();
    let client = Security::blake3_client(keys.public());
    let nobody = AllowedKeys::new();
    met(pull(Security::blake3_server(keys, nobody)), push(client))
}

pub(super) fn not_allowed_for_now() -> [&'static str; 2] {
    let keys = KeyPair::generate();
    let client = Security::curve_client(keys.public(), KeyPair::generate());
    let later = |_: &Client<'_>| Decision::refuse_as(Status::Temporary, "on Monday");
    met(pull(Security::curve_server(keys, later)), push(client))
}

/// A handler in the context that answers everything with this status.
fn by_zap(status: &'static str) -> [&'static str; 2] {
    let context = Context::new().unwrap();
    let handler = Socket::builder(SocketType::Rep).context(&context);
    let handler = handler.build_blocking().unwrap();
    handler.bind(zap::ENDPOINT).unwrap();
    thread::spawn(move || {
        while let Ok(request) = handler.recv() {
            let [version, number] = [0, 1].map(|at| request.frame(at).unwrap().to_vec());
            let answer = [version, number, status.into(), b"why".to_vec()];
            let nobody = [Vec::new(), Vec::new()];
            let answer = answer.into_iter().chain(nobody);
            if handler.send(Message::multipart(answer)).is_err() {
                return;
            }
        }
    });
    let keys = KeyPair::generate();
    let client = Security::curve_client(keys.public(), KeyPair::generate());
    let server = Security::curve_server(keys, AllowAnyone);
    met(pull(server).context(&context), push(client))
}

pub(super) fn refused_by_a_handler() -> [&'static str; 2] {
    by_zap("400")
}

pub(super) fn refused_by_a_handler_for_now() -> [&'static str; 2] {
    by_zap("300")
}

/// A server with a client, and another one.
fn second(server: SocketBuilder, client: impl Fn() -> SocketBuilder) -> [&'static str; 2] {
    let server = server.build_blocking().unwrap();
    let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
    let [first, second] = [(); 2].map(|()| client().build_blocking().unwrap());
    first.connect(&endpoint).unwrap();
    eventually("the first is there", || server.peers().len() == 1);
    let monitors = [server.monitor(), second.monitor()];
    second.connect(&endpoint).unwrap();
    monitors.each_ref().map(told)
}

pub(super) fn one_peer_only() -> [&'static str; 2] {
    let pair = || options(SocketType::Pair).security(Security::plain_text());
    second(pair(), pair)
}

pub(super) fn a_key_has_its_share() -> [&'static str; 2] {
    let [keys, one] = [(); 2].map(|()| KeyPair::generate());
    let client = Security::blake3_client_with_keys(keys.public(), one);
    let server = pull(Security::blake3_server(keys, AllowAnyone));
    second(server.max_connections_per_key(1), || push(client.clone()))
}
