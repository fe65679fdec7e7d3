//! The publishers and subscribers of zmq.rs (the crate `zeromq`) 0.7: NULL, ZMTP 3.0.
//!
//! Its subscribers send each SUBSCRIBE and each CANCEL to whom they are connected with, and to peers that come later
//! each topic once. Its publishers count what each subscriber sends, as RFC 37 has it.

use std::process::ExitCode;
use std::time::Instant;

use bytes::Bytes;
use clap::Parser;
use sealwire_interop_peers::{Arguments, Kind, Parts, PeerSocket, Place, Security, report, run};
use serde_json::json;
use tokio::runtime::Runtime;
use zeromq::{
    PubSocket, Socket as _, SocketRecv, SocketSend, SubSocket, XPubSocket, XSubSocket, ZmqMessage,
    ZmqResult,
};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.to_string()),
    };
    match runtime.block_on(open(&arguments)) {
        Ok(socket) => run(&arguments, &mut ZmqRsSocket { runtime, socket }),
        Err(reason) => fail(&reason),
    }
}

fn fail(reason: &str) -> ExitCode {
    report(&json!({ "event": "error", "reason": reason }));
    ExitCode::FAILURE
}

/// The socket types that this program has.
enum Socket {
    Pub(PubSocket),
    Sub(SubSocket),
    Xpub(XPubSocket),
    Xsub(XSubSocket),
}

async fn open(arguments: &Arguments) -> Result<Socket, String> {
    if arguments.security()? != Security::None {
        return Err("zmq.rs knows NULL only".into());
    }
    let mut socket = match arguments.kind {
        Kind::Pub => Socket::Pub(PubSocket::new()),
        Kind::Sub => Socket::Sub(SubSocket::new()),
        Kind::Xpub => Socket::Xpub(XPubSocket::new()),
        Kind::Xsub => Socket::Xsub(XSubSocket::new()),
        kind => {
            return Err(format!(
                "{kind:?}: this program publishes and subscribes only"
            ));
        }
    };
    let endpoint = match arguments.place() {
        Place::Bind(endpoint) => socket.bind(endpoint).await,
        Place::Connect(endpoint) => socket
            .connect(endpoint)
            .await
            .map(|()| endpoint.to_string()),
    };
    let endpoint = endpoint.map_err(|error| error.to_string())?;
    // Not before: to a peer that comes later each topic is told once.
    if matches!(arguments.kind, Kind::Sub | Kind::Xsub) {
        for topic in arguments.subscriptions() {
            let subscribed = socket.subscribe(topic).await;
            subscribed.map_err(|error| error.to_string())?;
        }
    }
    report(&json!({ "event": "ready", "endpoint": endpoint }));
    Ok(socket)
}

/// Calls the same method on the socket, whichever it is.
macro_rules! on_socket {
    ($self:expr, $socket:ident => $call:expr) => {
        match $self {
            Socket::Pub($socket) => $call,
            Socket::Sub($socket) => $call,
            Socket::Xpub($socket) => $call,
            Socket::Xsub($socket) => $call,
        }
    };
}

impl Socket {
    async fn bind(&mut self, endpoint: &str) -> ZmqResult<String> {
        Ok(on_socket!(self, socket => socket.bind(endpoint).await)?.to_string())
    }

    async fn connect(&mut self, endpoint: &str) -> ZmqResult<()> {
        on_socket!(self, socket => socket.connect(endpoint).await)
    }

    async fn subscribe(&mut self, topic: &str) -> ZmqResult<()> {
        match self {
            Socket::Sub(socket) => socket.subscribe(topic).await,
            Socket::Xsub(socket) => socket.subscribe(topic).await,
            Socket::Pub(_) | Socket::Xpub(_) => unreachable!("only subscribers are asked to"),
        }
    }

    async fn unsubscribe(&mut self, topic: &str) -> Result<(), String> {
        let left = match self {
            Socket::Sub(socket) => socket.unsubscribe(topic).await,
            Socket::Xsub(socket) => socket.unsubscribe(topic).await,
            Socket::Pub(_) | Socket::Xpub(_) => return Err("publishers do not subscribe".into()),
        };
        left.map_err(|error| error.to_string())
    }

    async fn send(&mut self, message: ZmqMessage) -> Result<(), String> {
        let sent = match self {
            Socket::Pub(socket) => socket.send(message).await,
            Socket::Xpub(socket) => socket.send(message).await,
            Socket::Sub(_) | Socket::Xsub(_) => return Err("subscribers do not send".into()),
        };
        sent.map_err(|error| error.to_string())
    }

    async fn recv(&mut self) -> Result<ZmqMessage, String> {
        let received = match self {
            Socket::Sub(socket) => socket.recv().await,
            Socket::Xpub(socket) => socket.recv().await,
            Socket::Xsub(socket) => socket.recv().await,
            Socket::Pub(_) => return Err("PUB does not receive".into()),
        };
        received.map_err(|error| error.to_string())
    }
}

/// A socket of zmq.rs, driven from outside its runtime.
struct ZmqRsSocket {
    runtime: Runtime,
    socket: Socket,
}

impl PeerSocket for ZmqRsSocket {
    fn send(&mut self, message: Parts, deadline: Instant) -> Result<(), String> {
        let frames: Vec<Bytes> = message.into_iter().map(Bytes::from).collect();
        let message = ZmqMessage::try_from(frames).map_err(|error| error.to_string())?;
        let sending =
            async { tokio::time::timeout_at(deadline.into(), self.socket.send(message)).await };
        let sent = self.runtime.block_on(sending);
        sent.unwrap_or_else(|_| Err("send: timed out".into()))
    }

    fn recv(&mut self, deadline: Instant) -> Result<Parts, String> {
        let receiving =
            async { tokio::time::timeout_at(deadline.into(), self.socket.recv()).await };
        let received = self.runtime.block_on(receiving);
        let message = received.unwrap_or_else(|_| Err("receive: timed out".into()))?;
        Ok(message.iter().map(|part| part.to_vec()).collect())
    }

    fn unsubscribe(&mut self, topic: &str) -> Result<(), String> {
        self.runtime.block_on(self.socket.unsubscribe(topic))
    }
}
