//! The codec of omq-proto 0.22.0 over one blocking TCP connection: NULL, and BLAKE3ZMQ with a
//! keystream that runs on from message to message.
//!
//! The codec speaks for one connection only, so the little that a socket adds is done here: the
//! empty delimiter of REQ and REP, the routing id of ROUTER, subscriptions.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use clap::Parser;
use omq_proto::proto::mechanism::blake3zmq::{CookieKeyring, crypto::x25519_basepoint};
use omq_proto::proto::{Command, Connection, ConnectionConfig, Event, Role};
use omq_proto::{
    Authenticator, Blake3ZmqKeypair, Blake3ZmqPublicKey, Blake3ZmqSecretKey, MechanismSetup,
    Message, SocketType, generated_identity,
};
use sealwire_interop_peers::{Arguments, Kind, Parts, PeerSocket, Place, Security, report, run};
use serde_json::json;

/// Pause before a refused connection is tried again.
const RETRY: Duration = Duration::from_millis(20);

/// Bytes read from the connection at once.
const READ_SIZE: usize = 64 * 1024;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match CodecSocket::open(&arguments) {
        Ok(mut socket) => run(&arguments, &mut socket),
        Err(reason) => {
            report(&json!({ "event": "error", "reason": reason }));
            ExitCode::FAILURE
        }
    }
}

/// One connection of the codec.
struct CodecSocket {
    kind: Kind,
    stream: TcpStream,
    codec: Connection,
    /// Messages in the form an application sees, subscriptions included.
    inbox: VecDeque<Parts>,
    /// Prefixes the peer has subscribed to; PUB and XPUB send what matches one of them.
    subscriptions: Vec<Vec<u8>>,
    /// What stood before the body of the request REP received last.
    envelope: Parts,
    /// What ROUTER puts before messages of this peer.
    routing_id: Vec<u8>,
    heartbeat: Option<Duration>,
}

impl CodecSocket {
    /// Connects and finishes the handshake.
    fn open(arguments: &Arguments) -> Result<Self, String> {
        let deadline = Instant::now() + arguments.timeout();
        let security = arguments.security()?;
        let (stream, listening) = match arguments.place() {
            Place::Bind(endpoint) => (accept(address(endpoint)?)?, true),
            Place::Connect(endpoint) => (connect(address(endpoint)?, deadline)?, false),
        };
        stream
            .set_nodelay(true)
            .and_then(|()| stream.set_write_timeout(Some(arguments.timeout())))
            .map_err(|error| error.to_string())?;
        // This codec, too, takes the as-server bit from the role it is given; here the role
        // follows the mechanism, so either side may listen.
        let role = match &security {
            Security::None if listening => Role::Server,
            Security::Server { .. } => Role::Server,
            Security::None | Security::Client { .. } => Role::Client,
        };
        let config = ConnectionConfig::new(role, socket_type(arguments.kind))
            .identity(Bytes::copy_from_slice(arguments.identity.as_bytes()))
            .mechanism(mechanism(security));
        let mut socket = Self {
            kind: arguments.kind,
            stream,
            codec: Connection::new(config),
            inbox: VecDeque::new(),
            subscriptions: Vec::new(),
            envelope: Parts::new(),
            routing_id: Vec::new(),
            heartbeat: arguments.heartbeat(),
        };
        socket.handshake(deadline).inspect_err(|reason| {
            report(&json!({ "event": "handshake_failed", "reason": reason }));
        })?;
        if matches!(socket.kind, Kind::Sub | Kind::Xsub) {
            for topic in arguments.subscriptions() {
                let topic = Bytes::copy_from_slice(topic.as_bytes());
                socket.command(&Command::Subscribe(topic))?;
            }
        }
        Ok(socket)
    }

    fn handshake(&mut self, deadline: Instant) -> Result<(), String> {
        while !self.codec.is_ready() {
            self.flush()?;
            self.read(deadline)?;
        }
        self.flush()
    }

    fn command(&mut self, command: &Command) -> Result<(), String> {
        self.codec
            .send_command(command)
            .map_err(|error| error.to_string())?;
        self.flush()
    }

    /// Writes what the codec has queued.
    fn flush(&mut self) -> Result<(), String> {
        while self.codec.has_pending_transmit() {
            let bytes = self.codec.poll_transmit();
            self.stream
                .write_all(&bytes)
                .map_err(|error| format!("write: {error}"))?;
            self.codec.advance_transmit(bytes.len());
        }
        Ok(())
    }

    /// Reads once and takes in what has become whole; heartbeats go out while nothing comes.
    fn read(&mut self, deadline: Instant) -> Result<(), String> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err("timed out".into());
            }
            let pause = self
                .heartbeat
                .filter(|_| self.codec.is_ready())
                .unwrap_or(left);
            if self.read_within(pause.min(left))? {
                return Ok(());
            }
            if self.heartbeat.is_some() && self.codec.is_ready() {
                let ping = Command::Ping {
                    ttl_deciseconds: 0,
                    context: Bytes::new(),
                };
                self.command(&ping)?;
            }
        }
    }

    /// Reads once if something arrives within `pause`, and says whether it did.
    fn read_within(&mut self, pause: Duration) -> Result<bool, String> {
        let mut buffer = vec![0; READ_SIZE];
        self.stream
            .set_read_timeout(Some(pause))
            .map_err(|error| error.to_string())?;
        let len = match self.stream.read(&mut buffer) {
            Ok(0) => return Err("the peer closed the connection".into()),
            Ok(len) => len,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Ok(false);
            }
            Err(error) => return Err(format!("read: {error}")),
        };
        buffer.truncate(len);
        let accepted = self.codec.handle_input(buffer.into());
        // Also after a refusal: what it answered, or had to say before, goes out.
        self.flush()?;
        accepted.map_err(|error| error.to_string())?;
        self.take_in();
        Ok(true)
    }

    fn take_in(&mut self) {
        while let Some(event) = self.codec.poll_event() {
            match event {
                Event::HandshakeSucceeded {
                    peer_minor,
                    peer_properties,
                } => {
                    let identity = peer_properties.identity.clone();
                    report(&json!({
                        "event": "handshake",
                        "peer_type": peer_properties.socket_type.map(SocketType::as_str),
                        "peer_identity": hex::encode(identity.as_deref().unwrap_or(b"")),
                        "zmtp_minor": peer_minor,
                    }));
                    self.routing_id = identity.unwrap_or_else(|| generated_identity(1)).to_vec();
                }
                Event::Command(Command::Subscribe(topic)) => self.subscribe(1, &topic),
                Event::Command(Command::Cancel(topic)) => self.subscribe(0, &topic),
                Event::Command(other) => {
                    report(&json!({ "event": "command", "command": format!("{other:?}") }));
                }
                Event::Message(_) => unreachable!("messages have a queue of their own"),
            }
        }
        while let Some(message) = self.codec.poll_message() {
            let parts: Parts = message.iter().map(|part| part.to_vec()).collect();
            self.deliver(parts);
        }
    }

    fn subscribe(&mut self, first: u8, topic: &[u8]) {
        if first == 1 {
            self.subscriptions.push(topic.to_vec());
        } else if let Some(found) = self.subscriptions.iter().position(|known| known == topic) {
            self.subscriptions.remove(found);
        }
        if self.kind == Kind::Xpub {
            self.inbox.push_back(vec![[&[first], topic].concat()]);
        }
    }

    /// Gives a message from the wire the form an application sees.
    fn deliver(&mut self, mut parts: Parts) {
        match self.kind {
            Kind::Req | Kind::Rep => {
                let Some(delimiter) = parts.iter().position(Vec::is_empty) else {
                    report(&json!({ "event": "dropped", "reason": "no empty delimiter" }));
                    return;
                };
                let body = parts.split_off(delimiter + 1);
                self.envelope = parts;
                self.inbox.push_back(body);
            }
            Kind::Router => {
                parts.insert(0, self.routing_id.clone());
                self.inbox.push_back(parts);
            }
            // ZMTP 3.0 has no commands for subscriptions; they come as messages.
            Kind::Pub | Kind::Xpub => match &parts[..] {
                [part] if matches!(part.first(), Some(0 | 1)) => {
                    let (first, topic) = (part[0], part[1..].to_vec());
                    self.subscribe(first, &topic);
                }
                _ => self.inbox.push_back(parts),
            },
            _ => self.inbox.push_back(parts),
        }
    }

    /// Gives a message of the application the form it has on the wire; none if no peer wants it.
    fn wire_form(&mut self, mut message: Parts) -> Option<Parts> {
        match self.kind {
            Kind::Req => message.insert(0, Vec::new()),
            Kind::Rep => {
                message.splice(0..0, self.envelope.drain(..));
            }
            Kind::Router => {
                message.remove(0);
            }
            Kind::Pub | Kind::Xpub => {
                let wanted = self
                    .subscriptions
                    .iter()
                    .any(|topic| message[0].starts_with(topic));
                return wanted.then_some(message);
            }
            _ => {}
        }
        Some(message)
    }
}

impl PeerSocket for CodecSocket {
    fn send(&mut self, message: Parts, _deadline: Instant) -> Result<(), String> {
        if self.kind == Kind::Pub {
            // Subscriptions are read here because PUB never receives.
            while self.read_within(Duration::from_millis(1))? {}
        }
        let Some(message) = self.wire_form(message) else {
            return Ok(());
        };
        let message = Message::multipart(message.into_iter().map(Bytes::from));
        self.codec
            .send_message(&message)
            .map_err(|error| error.to_string())?;
        self.flush()
    }

    fn recv(&mut self, deadline: Instant) -> Result<Parts, String> {
        loop {
            match self.inbox.pop_front() {
                Some(message) => return Ok(message),
                None => self.read(deadline)?,
            }
        }
    }

    fn unsubscribe(&mut self, topic: &str) -> Result<(), String> {
        self.command(&Command::Cancel(Bytes::copy_from_slice(topic.as_bytes())))
    }
}

/// The address in `tcp://address:port`.
fn address(endpoint: &str) -> Result<&str, String> {
    endpoint
        .strip_prefix("tcp://")
        .ok_or_else(|| format!("{endpoint}: only tcp:// is spoken here"))
}

/// Waits for the one connection this program serves.
fn accept(address: &str) -> Result<TcpStream, String> {
    let listener = TcpListener::bind(address).map_err(|error| format!("{address}: {error}"))?;
    let bound = listener.local_addr().map_err(|error| error.to_string())?;
    report(&json!({ "event": "ready", "endpoint": format!("tcp://{bound}") }));
    let (stream, _) = listener.accept().map_err(|error| error.to_string())?;
    Ok(stream)
}

/// Connects, waiting for a peer that does not listen yet.
fn connect(address: &str, deadline: Instant) -> Result<TcpStream, String> {
    report(&json!({ "event": "ready", "endpoint": format!("tcp://{address}") }));
    loop {
        match TcpStream::connect(address) {
            Ok(stream) => return Ok(stream),
            Err(error) if Instant::now() > deadline => return Err(format!("{address}: {error}")),
            Err(_) => std::thread::sleep(RETRY),
        }
    }
}

fn mechanism(security: Security) -> MechanismSetup {
    match security {
        Security::None => MechanismSetup::Null,
        Security::Server { secret_key, allow } => MechanismSetup::Blake3ZmqServer {
            our_keypair: keypair(secret_key),
            cookie_keyring: Arc::new(CookieKeyring::new()),
            authenticator: (!allow.is_empty())
                .then(|| Authenticator::new(move |peer| allow.contains(&peer.public_key))),
        },
        Security::Client {
            secret_key,
            server_key,
        } => MechanismSetup::Blake3ZmqClient {
            our_keypair: secret_key.map_or_else(Blake3ZmqKeypair::generate, keypair),
            server_public: Blake3ZmqPublicKey(server_key),
        },
    }
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
