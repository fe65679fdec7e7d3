//! What the tests share.

use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use sealwire::auth::AllowAnyone;
use sealwire::{Endpoint, Generate as _, KeyPair, Security};
use sealwire_rpc::{
    Client, ClientBuilder, Handler, Limits, Request, Server, ServerBuilder, Status,
};

/// Nothing here takes that long unless it is broken.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// Limits that end nothing which works, however busy the machine is.
pub(crate) fn patient() -> Limits {
    let mut limits = Limits::default();
    limits.request = Some(10 * TIMEOUT);
    limits.write = TIMEOUT;
    limits.read = TIMEOUT;
    limits
}

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
            .limits(patient())
            .handshake_limit(TIMEOUT)
    }

    pub(crate) fn client(&self) -> ClientBuilder {
        Client::builder(Security::blake3_client(self.keys.public()))
            .limits(patient())
            .dial_limit(TIMEOUT)
            .handshake_limit(TIMEOUT)
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

/// An endpoint where nobody listens, and where nobody else can while the value beside it lives.
pub(crate) fn nobody() -> (Endpoint, impl Sized) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    // The port of a connection is taken, and not listened on.
    let endpoint = format!("tcp://{}", stream.local_addr().unwrap());
    (endpoint.parse().unwrap(), (listener, stream))
}

/// Answers with the request.
pub(crate) fn echo(request: &Request) -> Result<sealwire_rpc::Body, Status> {
    Ok(request.body().clone())
}

/// Waits until the condition holds.
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
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
