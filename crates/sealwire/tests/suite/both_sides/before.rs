//! Failures before there is a connection of ZMTP.

use std::io::{self, Write as _};
use std::net::{Shutdown, TcpListener};
use std::thread;

use super::{NOTHING, told};
#[cfg(feature = "wss")]
use crate::support::authority::Authority;
use crate::support::{eventually, options};
use sealwire::options::SocksProxy;
#[cfg(feature = "ws")]
use sealwire::{Endpoint, blocking::Socket};
use sealwire::{Security, SocketBuilder, SocketType};
#[cfg(feature = "ws")]
use sealwire_relay::{Format, Relay, honest};

/// What a socket tells that connects there, where there is no other.
fn alone(client: SocketBuilder, endpoint: &str) -> [&'static str; 2] {
    let client = client.security(Security::plain_text());
    let client = client.build_blocking().unwrap();
    let monitor = client.monitor();
    client.connect(endpoint).unwrap();
    [told(&monitor), NOTHING]
}

pub(super) fn no_such_name() -> [&'static str; 2] {
    alone(options(SocketType::Push), "tcp://nowhere.invalid:7")
}

pub(super) fn nobody_listens() -> [&'static str; 2] {
    alone(options(SocketType::Push), "ipc:///nowhere/at/all")
}

pub(super) fn a_proxy_refuses() -> [&'static str; 2] {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        // None of the ways to log in.
        let _ = client.write_all(&[5, 0xff]);
        let _ = client.shutdown(Shutdown::Write);
        let _ = io::copy(&mut client, &mut io::sink());
    });
    let client = options(SocketType::Push).socks_proxy(SocksProxy::new("127.0.0.1", port));
    alone(client, "tcp://host.invalid:7")
}

/// A server with room for one client, which is there, and another one.
fn second(server: SocketBuilder) -> [&'static str; 2] {
    let server = server.build_blocking().unwrap();
    let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
    let [first, second] = [(); 2].map(|()| options(SocketType::Push).build_blocking().unwrap());
    first.connect(&endpoint).unwrap();
    eventually("the first is there", || server.peers().len() == 1);
    let monitors = [server.monitor(), second.monitor()];
    second.connect(&endpoint).unwrap();
    monitors.each_ref().map(told)
}

pub(super) fn a_listener_is_full() -> [&'static str; 2] {
    second(options(SocketType::Pull).max_connections(1))
}

pub(super) fn an_address_has_its_share() -> [&'static str; 2] {
    second(options(SocketType::Pull).max_connections_per_address(1))
}

#[cfg(feature = "wss")]
pub(super) fn a_certificate_is_not_believed() -> [&'static str; 2] {
    let [authority, other] = [(); 2].map(|()| Authority::new());
    let server = options(SocketType::Pull).tls_identity(authority.identity());
    let client = options(SocketType::Push).tls_trust(other.trust());
    let [server, client] = [server, client].map(|it| it.build_blocking().unwrap());
    let monitors = [server.monitor(), client.monitor()];
    let endpoint = server.bind("wss://127.0.0.1:*").unwrap();
    client.connect(endpoint).unwrap();
    monitors.each_ref().map(told)
}

/// Someone between a client and this server.
#[cfg(feature = "ws")]
pub(super) fn before_websocket(server: &Socket) -> Relay {
    let Endpoint::Ws { port, .. } = server.bind("ws://127.0.0.1:*").unwrap() else {
        panic!("no ws")
    };
    Relay::before(([127, 0, 0, 1], port).into(), Format::WebSocket)
}

#[cfg(feature = "ws")]
pub(super) fn a_host_is_not_allowed() -> [&'static str; 2] {
    let [server, client] = [SocketType::Pull, SocketType::Push].map(|socket_type| {
        let socket = options(socket_type).security(Security::plain_text());
        socket.build_blocking().unwrap()
    });
    let monitors = [server.monitor(), client.monitor()];
    let relay = before_websocket(&server);
    // To the relay's address it is the name of another host that the client asks for.
    let port = relay.address().port();
    client.connect(format!("ws://0.0.0.0:{port}")).unwrap();
    let _carried = relay.carry(honest(), honest());
    monitors.each_ref().map(told)
}
