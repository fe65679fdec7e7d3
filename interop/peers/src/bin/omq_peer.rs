//! Sockets of omq-tokio 0.13.0: NULL, and BLAKE3ZMQ with a nonce for each message.
//!
//! This implementation sets the greeting's as-server bit when it binds, whatever its role in the
//! mechanism, so a BLAKE3ZMQ server should bind and a client connect.

use std::process::ExitCode;
use std::time::Instant;

use bytes::Bytes;
use clap::Parser;
use omq_tokio::proto::mechanism::blake3zmq::crypto::x25519_basepoint;
use omq_tokio::{
    Blake3ZmqKeypair, Blake3ZmqPublicKey, Blake3ZmqSecretKey, Endpoint, Message, MonitorEvent,
    MonitorStream, Options, Socket, SocketType,
};
use sealwire_interop_peers::{Arguments, Kind, Parts, PeerSocket, Place, Security, report, run};
use serde_json::json;
use tokio::runtime::Runtime;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.to_string()),
    };
    let socket = match runtime.block_on(open(&arguments)) {
        Ok(socket) => socket,
        Err(reason) => return fail(&reason),
    };
    let mut peer = OmqSocket { runtime, socket };
    let exit = run(&arguments, &mut peer);
    let OmqSocket { runtime, socket } = peer;
    match runtime.block_on(socket.close()) {
        Ok(()) => exit,
        Err(error) => fail(&error.to_string()),
    }
}

fn fail(reason: &str) -> ExitCode {
    report(&json!({ "event": "error", "reason": reason }));
    ExitCode::FAILURE
}

async fn open(arguments: &Arguments) -> Result<Socket, String> {
    // No linger: this version lingers for the whole period even when nothing is left to send.
    let mut options = Options::new()
        .unbounded_send()
        .unbounded_recv()
        .identity(Bytes::copy_from_slice(arguments.identity.as_bytes()));
    if let Some(interval) = arguments.heartbeat() {
        // Its own default, one interval, gives up on a quiet peer before the first PING.
        options = options
            .heartbeat_interval(interval)
            .heartbeat_timeout(3 * interval);
    }
    options = match arguments.security()? {
        Security::None => options,
        Security::Server { secret_key, allow } => {
            let options = options.blake3zmq_server(keypair(secret_key));
            if allow.is_empty() {
                options
            } else {
                options.authenticator(move |peer| allow.contains(&peer.public_key))
            }
        }
        Security::Client {
            secret_key,
            server_key,
        } => {
            let own = secret_key.map_or_else(Blake3ZmqKeypair::generate, keypair);
            options.blake3zmq_client(own, Blake3ZmqPublicKey(server_key))
        }
    };

    let socket = Socket::new(socket_type(arguments.kind), options);
    tokio::spawn(report_events(socket.monitor()));
    if matches!(arguments.kind, Kind::Sub | Kind::Xsub) {
        for topic in arguments.subscriptions() {
            let topic = Bytes::copy_from_slice(topic.as_bytes());
            socket
                .subscribe(topic)
                .await
                .map_err(|error| error.to_string())?;
        }
    }
    let parse = |text: &str| text.parse::<Endpoint>().map_err(|error| error.to_string());
    let endpoint = match arguments.place() {
        Place::Bind(endpoint) => socket.bind(parse(endpoint)?).await,
        Place::Connect(endpoint) => {
            let endpoint = parse(endpoint)?;
            socket.connect(endpoint.clone()).await.map(|()| endpoint)
        }
    };
    let endpoint = endpoint.map_err(|error| error.to_string())?;
    report(&json!({ "event": "ready", "endpoint": endpoint.to_string() }));
    Ok(socket)
}

fn keypair(secret: [u8; 32]) -> Blake3ZmqKeypair {
    Blake3ZmqKeypair {
        public: Blake3ZmqPublicKey(x25519_basepoint(&secret)),
        secret: Blake3ZmqSecretKey(secret),
    }
}

fn socket_type(kind: Kind) -> SocketType {
    match kind {
        Kind::Pair => SocketType::Pair,
        Kind::Pub => SocketType::Pub,
        Kind::Sub => SocketType::Sub,
        Kind::Xpub => SocketType::XPub,
        Kind::Xsub => SocketType::XSub,
        Kind::Req => SocketType::Req,
        Kind::Rep => SocketType::Rep,
        Kind::Dealer => SocketType::Dealer,
        Kind::Router => SocketType::Router,
        Kind::Push => SocketType::Push,
        Kind::Pull => SocketType::Pull,
    }
}

/// Prints what happens to connections; a handshake that fails has no event in this version.
async fn report_events(mut events: MonitorStream) {
    while let Ok(event) = events.recv().await {
        match event {
            MonitorEvent::HandshakeSucceeded { peer, .. } => {
                let identity = peer.peer_identity.unwrap_or_default();
                report(&json!({
                    "event": "handshake",
                    "peer_type": peer.peer_properties.socket_type.map(SocketType::as_str),
                    "peer_identity": hex::encode(identity),
                    "zmtp_minor": peer.zmtp_version.1,
                }));
            }
            MonitorEvent::Accepted { .. } => report(&json!({ "event": "accepted" })),
            MonitorEvent::Connected { .. } => report(&json!({ "event": "connected" })),
            MonitorEvent::ConnectDelayed { attempt, .. } => {
                report(&json!({ "event": "retry", "attempt": attempt }));
            }
            MonitorEvent::Disconnected { reason, .. } => {
                report(&json!({ "event": "disconnected", "reason": format!("{reason:?}") }));
            }
            _ => {}
        }
    }
}

/// A socket of omq-tokio, driven from outside its runtime.
struct OmqSocket {
    runtime: Runtime,
    socket: Socket,
}

impl PeerSocket for OmqSocket {
    fn send(&mut self, message: Parts, deadline: Instant) -> Result<(), String> {
        let message = Message::multipart(message.into_iter().map(Bytes::from));
        self.wait(deadline, "send", self.socket.send(message))
    }

    fn recv(&mut self, deadline: Instant) -> Result<Parts, String> {
        let message = self.wait(deadline, "receive", self.socket.recv())?;
        Ok(message.iter().map(|part| part.to_vec()).collect())
    }

    fn unsubscribe(&mut self, topic: &str) -> Result<(), String> {
        let topic = Bytes::copy_from_slice(topic.as_bytes());
        self.runtime
            .block_on(self.socket.unsubscribe(topic))
            .map_err(|error| error.to_string())
    }
}

impl OmqSocket {
    fn wait<T>(
        &self,
        deadline: Instant,
        what: &str,
        operation: impl Future<Output = omq_tokio::Result<T>>,
    ) -> Result<T, String> {
        let operation = async { tokio::time::timeout_at(deadline.into(), operation).await };
        match self.runtime.block_on(operation) {
            Ok(result) => result.map_err(|error| format!("{what}: {error}")),
            Err(_) => Err(format!("{what}: timed out")),
        }
    }
}
