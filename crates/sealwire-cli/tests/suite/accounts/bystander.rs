//! The socket that is attacked, and a peer of it that does no harm and must be served all the time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sealwire::account::{Account, Kind};
use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::{
    Endpoint, Generate as _, KeyPair, Message, Peer, Security, SocketBuilder, SocketType,
};

/// Nothing here takes that long unless it is broken.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);
/// Round trips before, during and after an attack.
pub(crate) const ROUND_TRIPS: u32 = 50;

/// The keys of the side that is attacked.
pub(crate) struct Server(KeyPair);

impl Server {
    pub(crate) fn new() -> Self {
        Server(KeyPair::generate())
    }

    pub(crate) fn socket(&self, socket_type: SocketType) -> SocketBuilder {
        options(socket_type).security(Security::blake3_server(self.0.clone(), AllowAnyone))
    }

    /// A ROUTER that is to be attacked, where it listens, and a bystander that it serves.
    pub(crate) fn router(
        &self,
        change: impl FnOnce(SocketBuilder) -> SocketBuilder,
    ) -> (Socket, Endpoint, Bystander) {
        let router = change(self.socket(SocketType::Router));
        let router = router.build_blocking().unwrap();
        let endpoint = router.bind("tcp://127.0.0.1:0").unwrap();
        let mut bystander = self.bystander(&endpoint);
        bystander.works(|| drop(answer_the_bystander(&router)));
        (router, endpoint, bystander)
    }

    /// A peer with a key of its own.
    pub(crate) fn peer(&self, socket_type: SocketType) -> SocketBuilder {
        self.peer_with(socket_type, KeyPair::generate())
    }

    pub(crate) fn peer_with(&self, socket_type: SocketType, keys: KeyPair) -> SocketBuilder {
        options(socket_type).security(Security::blake3_client_with_keys(self.0.public(), keys))
    }

    pub(crate) fn bystander(&self, endpoint: &Endpoint) -> Bystander {
        let socket = self.peer(SocketType::Dealer).routing_id("bystander");
        let socket = socket.build_blocking().unwrap();
        socket.connect(endpoint.clone()).unwrap();
        Bystander { socket, count: 0 }
    }
}

/// Without encryption, over the loopback.
pub(crate) fn options(socket_type: SocketType) -> SocketBuilder {
    Socket::builder(socket_type)
        .send_timeout(LIMIT)
        .receive_timeout(LIMIT)
        .linger(Duration::ZERO)
}

/// A DEALER that sends numbers and wants each of them back.
pub(crate) struct Bystander {
    socket: Socket,
    count: u32,
}

impl Bystander {
    /// Sends and receives; `serve` is called in between, and has the server answer.
    pub(crate) fn works(&mut self, mut serve: impl FnMut()) {
        for _ in 0..ROUND_TRIPS {
            self.count += 1;
            let number = self.count.to_be_bytes();
            self.socket.send(&number).unwrap();
            serve();
            assert_eq!(self.socket.recv().unwrap().as_bytes(), number);
        }
    }
}

/// Receives until a message of the bystander has come, and sends it back. Returns what came of others
/// before it.
pub(crate) fn answer_the_bystander(router: &Socket) -> Vec<Message> {
    let mut others = Vec::new();
    loop {
        let message = router.recv().unwrap();
        if message.frame(0) == Some(b"bystander") {
            router.send(message).unwrap();
            return others;
        }
        others.push(message);
    }
}

/// What the socket holds for the peer with this routing id.
pub(crate) fn peer_named(socket: &Socket, routing_id: &str) -> Arc<Peer> {
    let mut accounts = socket.accounts().into_iter();
    accounts
        .find(|peer| peer.routing_id() == routing_id.as_bytes())
        .expect("it is there")
}

/// Asserts that no more than `bound` is held now.
#[track_caller]
pub(crate) fn within_bound(account: &Account, kind: Kind, bound: usize) {
    let held = account.held(kind);
    assert!(held <= bound, "{kind:?}: {held} held, {bound} allowed");
}

/// Ends an attack, also where an assertion fails meanwhile.
pub(crate) struct Ending<'a>(pub(crate) &'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Waits until the condition holds.
#[track_caller]
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !condition() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::yield_now();
    }
}
