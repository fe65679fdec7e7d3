//! What the tests of the public behaviour share: one body runs over every transport and mechanism.

#[cfg(feature = "wss")]
pub(crate) mod authority;
pub(crate) mod primitives;
#[cfg(feature = "ws")]
pub(crate) mod silence;
#[cfg(feature = "ws")]
pub(crate) mod websockets;

use std::future::Future;
use std::net::TcpListener;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use sealwire::auth::{AllowAnyone, Decision, PlainClient};
use sealwire::blocking::Socket;
use sealwire::{Event, Generate as _, KeyPair, Monitor, Security, SocketBuilder, SocketType};

/// Nothing here takes that long unless it is broken.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// How the sockets of one test reach and protect each other.
#[derive(Clone)]
pub(crate) struct Path {
    pub(crate) transport: &'static str,
    pub(crate) keys: Option<KeyPair>,
}

impl Path {
    /// Every transport with every mechanism that makes sense on it.
    pub(crate) fn all() -> Vec<Path> {
        let mut paths = Vec::new();
        let websocket = cfg!(feature = "ws").then_some("ws");
        let ipv6 = has_ipv6().then_some("tcp6");
        for transport in ["tcp", "ipc", "abstract"]
            .into_iter()
            .chain(ipv6)
            .chain(websocket)
        {
            for keys in [None, Some(KeyPair::generate())] {
                paths.push(Path { transport, keys });
            }
        }
        paths.push(Path {
            transport: "inproc",
            keys: None,
        });
        paths
    }

    /// TCP with BLAKE3.
    pub(crate) fn encrypted() -> Path {
        Path {
            transport: "tcp",
            keys: Some(KeyPair::generate()),
        }
    }

    pub(crate) fn name(&self) -> String {
        let mechanism = if self.keys.is_some() {
            "blake3"
        } else {
            "null"
        };
        format!("{} {mechanism}", self.transport)
    }

    /// An endpoint to bind to that nobody else uses.
    pub(crate) fn endpoint(&self) -> String {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("sealwire-test-{}-{number}", std::process::id());
        match self.transport {
            "tcp" => "tcp://127.0.0.1:*".into(),
            "tcp6" => "tcp://[::1]:*".into(),
            "ipc" => format!("ipc://{}", std::env::temp_dir().join(name).display()),
            "abstract" => format!("ipc://@{name}"),
            "ws" => "ws://127.0.0.1:*/test".into(),
            "inproc" => format!("inproc://{name}"),
            other => unreachable!("no transport {other}"),
        }
    }

    /// Options of the side that has the key.
    pub(crate) fn server(&self, socket_type: SocketType) -> SocketBuilder {
        let security = match &self.keys {
            Some(keys) => Security::blake3_server(keys.clone(), AllowAnyone).into(),
            None => Security::plain_text(),
        };
        options(socket_type).security(security)
    }

    /// Options of the side that knows the key.
    pub(crate) fn client(&self, socket_type: SocketType) -> SocketBuilder {
        let security = match &self.keys {
            Some(keys) => Security::blake3_client(keys.public()).into(),
            None => Security::plain_text(),
        };
        options(socket_type).security(security)
    }

    /// A bound server and a connected client.
    pub(crate) fn pair(&self, server: SocketType, client: SocketType) -> (Socket, Socket) {
        self.link(self.server(server), self.client(client))
    }

    /// The same with options.
    pub(crate) fn link(&self, server: SocketBuilder, client: SocketBuilder) -> (Socket, Socket) {
        link(&self.endpoint(), server, client)
    }
}

/// A server that is bound there, and a client that connects to it.
pub(crate) fn link(
    endpoint: &str,
    server: SocketBuilder,
    client: SocketBuilder,
) -> (Socket, Socket) {
    let server = server.build_blocking().unwrap();
    let client = client.build_blocking().unwrap();
    client.connect(server.bind(endpoint).unwrap()).unwrap();
    (server, client)
}

/// Options under which a broken test ends.
pub(crate) fn options(socket_type: SocketType) -> SocketBuilder {
    Socket::builder(socket_type)
        .send_timeout(TIMEOUT)
        .receive_timeout(TIMEOUT)
        .reconnect(Duration::from_millis(10), Duration::from_millis(100))
}

/// Whether this machine has IPv6; says so where it has none.
pub(crate) fn has_ipv6() -> bool {
    let bound = TcpListener::bind("[::1]:0");
    if let Err(error) = &bound {
        println!("skipped: no IPv6 here: {error}");
    }
    bound.is_ok()
}

/// Waits until the condition holds.
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !condition() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        thread::yield_now();
    }
}

/// Waits for an event that fits.
pub(crate) fn await_event<T>(
    monitor: &Monitor,
    what: &str,
    mut fits: impl FnMut(&Event) -> Option<T>,
) -> T {
    let deadline = Instant::now() + TIMEOUT;
    let mut seen = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let Some(event) = monitor.wait_next_timeout(left) else {
            panic!("no event in time: {what}; seen: {seen:#?}")
        };
        if let Some(found) = fits(&event) {
            return found;
        }
        seen.push(event.to_string());
    }
}

/// The text of the frames of a message.
pub(crate) fn texts(message: &sealwire::Message) -> Vec<String> {
    message
        .frames()
        .iter()
        .map(|frame| String::from_utf8_lossy(frame).into_owned())
        .collect()
}

/// A pair of sockets' security for each mechanism, by name: the server's and its client's.
pub(crate) fn every_mechanism() -> Vec<(&'static str, Security, Security)> {
    let server = KeyPair::generate();
    let known = server.public();
    let check = |_: &PlainClient<'_>| Decision::allow_as("user");
    vec![
        ("NULL", Security::plain_text(), Security::plain_text()),
        (
            "BLAKE3",
            Security::blake3_server(server.clone(), AllowAnyone).into(),
            Security::blake3_client(known).into(),
        ),
        (
            "CURVE",
            Security::curve_server(server, AllowAnyone),
            Security::curve_client(known, KeyPair::generate()),
        ),
        (
            "PLAIN",
            Security::plain_server(check),
            Security::plain_client("user", "password"),
        ),
    ]
}

/// The smallest executor there is.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
