//! What the tests share.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::time::{Duration, Instant};

use sealwire::auth::AllowAnyone;
use sealwire::{Endpoint, Generate as _, KeyPair, Security};
use sealwire_rpc::{Client, ClientBuilder, Handler, Request, Server, ServerBuilder, Status};

/// Nothing here takes that long unless it is broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Scene {
    pub(crate) keys: KeyPair,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Scene {
            keys: KeyPair::generate(),
        }
    }

    pub(crate) fn server(&self) -> ServerBuilder {
        Server::builder(Security::blake3_server(self.keys.clone(), AllowAnyone))
    }

    pub(crate) fn client(&self) -> ClientBuilder {
        Client::builder(Security::blake3_client(self.keys.public()))
    }

    /// A server that is bound and a client for it.
    pub(crate) fn pair(&self, handler: impl Handler) -> (Server, Client) {
        let server = self.server().build(handler).unwrap();
        let client = self.client().build(bind(&server)).unwrap();
        (server, client)
    }
}

pub(crate) fn bind(server: &Server) -> Endpoint {
    server.bind("tcp://127.0.0.1:0").unwrap()
}

/// Answers with the request.
pub(crate) fn echo(request: &Request) -> Result<sealwire_rpc::Body, Status> {
    Ok(request.body().clone())
}

/// Waits until the condition holds.
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::yield_now();
    }
}

/// No connection of either side has a call in its tables.
pub(crate) fn nothing_left(server: &Server, client: &Client) {
    let empty = |conns: Vec<sealwire_rpc::Conn>| conns.iter().all(|conn| conn.entries() == 0);
    eventually("tables are empty", || {
        empty(server.connections()) && empty(client.connections())
    });
}
