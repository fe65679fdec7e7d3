//! The command line all peers share.

use std::time::Duration;

use clap::{ArgGroup, Parser, ValueEnum};

/// Command line of a peer program.
#[derive(Debug, Parser)]
#[command(about = "A published peer, driven by a test", long_about = None)]
#[command(group = ArgGroup::new("place").required(true).args(["bind", "connect"]))]
pub struct Arguments {
    /// Socket type.
    #[arg(long = "type")]
    pub kind: Kind,
    /// Endpoint to bind; a TCP port of 0 takes a free one, which the `ready` event names.
    #[arg(long)]
    bind: Option<String>,
    /// Endpoint to connect to.
    #[arg(long)]
    connect: Option<String>,
    /// Security mechanism.
    #[arg(long, default_value = "null")]
    mechanism: Mechanism,
    /// Be the server of the mechanism; needs --secret-key.
    #[arg(long)]
    server: bool,
    /// Own long-term secret key, 64 hex digits; a client without one makes one up.
    #[arg(long, value_parser = parse_key, value_name = "HEX")]
    secret_key: Option<[u8; 32]>,
    /// Long-term public key of the server, 64 hex digits; for clients.
    #[arg(long, value_parser = parse_key, value_name = "HEX")]
    server_key: Option<[u8; 32]>,
    /// Public key of a client to let in; may be repeated; without it all are let in.
    #[arg(long, value_parser = parse_key, value_name = "HEX")]
    allow: Vec<[u8; 32]>,
    /// Routing id sent to peers.
    #[arg(long, default_value = "")]
    pub identity: String,
    /// Topic prefix to subscribe to; may be repeated; everything when absent.
    #[arg(long)]
    subscribe: Vec<String>,
    /// Text before the first part of each message sent.
    #[arg(long, default_value = "")]
    pub topic: String,
    /// Messages to send.
    #[arg(long, default_value_t = 0)]
    pub send: usize,
    /// Bytes of each part sent, topic apart. Of several, separated by commas, part p of message n
    /// has the one at n + p, counted round.
    #[arg(long, value_delimiter = ',', default_value = "16")]
    pub size: Vec<usize>,
    /// Parts of each message sent.
    #[arg(long, default_value_t = 1)]
    pub parts: usize,
    /// Messages to receive.
    #[arg(long, default_value_t = 0)]
    pub recv: usize,
    /// Give all subscriptions up once everything has been received.
    #[arg(long)]
    pub cancel: bool,
    /// Send every received message back; REP and ROUTER always do.
    #[arg(long)]
    echo: bool,
    /// Put an empty part before each message sent and take it off those received: a DEALER that
    /// talks to REP.
    #[arg(long)]
    pub delimiter: bool,
    /// Receive one message after each one sent, instead of --recv; REQ always does.
    #[arg(long)]
    lockstep: bool,
    /// Milliseconds between heartbeats; none when absent.
    #[arg(long)]
    heartbeat_ms: Option<u64>,
    /// Seconds after which the program gives up.
    #[arg(long, default_value_t = 30)]
    timeout_s: u64,
}

/// Socket type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "ZeroMQ's own names")]
pub enum Kind {
    Pair,
    Pub,
    Sub,
    Xpub,
    Xsub,
    Req,
    Rep,
    Dealer,
    Router,
    Push,
    Pull,
}

/// Security mechanism as named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mechanism {
    /// No security.
    Null,
    /// BLAKE3ZMQ.
    Blake3,
}

/// Where the socket goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// It listens on this endpoint.
    Bind(&'a str),
    /// It connects to this endpoint.
    Connect(&'a str),
}

/// The keys a socket is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Security {
    /// NULL.
    None,
    /// BLAKE3ZMQ server.
    Server {
        /// Own long-term secret key.
        secret_key: [u8; 32],
        /// Public keys of the clients that are let in; all when empty.
        allow: Vec<[u8; 32]>,
    },
    /// BLAKE3ZMQ client.
    Client {
        /// Own long-term secret key; one is made up when absent.
        secret_key: Option<[u8; 32]>,
        /// Long-term public key of the server.
        server_key: [u8; 32],
    },
}

impl Arguments {
    /// Where the socket goes.
    #[must_use]
    pub fn place(&self) -> Place<'_> {
        match (&self.bind, &self.connect) {
            (Some(endpoint), _) => Place::Bind(endpoint),
            (None, Some(endpoint)) => Place::Connect(endpoint),
            (None, None) => unreachable!("the command line demands one of them"),
        }
    }

    /// The keys to use.
    ///
    /// # Errors
    ///
    /// A key that the role needs is missing.
    pub fn security(&self) -> Result<Security, String> {
        match self.mechanism {
            Mechanism::Null => Ok(Security::None),
            Mechanism::Blake3 if self.server => Ok(Security::Server {
                secret_key: self
                    .secret_key
                    .ok_or("a BLAKE3ZMQ server needs --secret-key")?,
                allow: self.allow.clone(),
            }),
            Mechanism::Blake3 => Ok(Security::Client {
                secret_key: self.secret_key,
                server_key: self
                    .server_key
                    .ok_or("a BLAKE3ZMQ client needs --server-key")?,
            }),
        }
    }

    /// Topic prefixes a SUB or XSUB subscribes to.
    #[must_use]
    pub fn subscriptions(&self) -> Vec<&str> {
        match &self.subscribe[..] {
            [] => vec![""],
            topics => topics.iter().map(String::as_str).collect(),
        }
    }

    /// Whether received messages go back to where they came from.
    #[must_use]
    pub fn echoes(&self) -> bool {
        self.echo || matches!(self.kind, Kind::Rep | Kind::Router)
    }

    /// Whether each message sent is followed by one received.
    #[must_use]
    pub fn lockstep(&self) -> bool {
        self.lockstep || self.kind == Kind::Req
    }

    /// Time between heartbeats.
    #[must_use]
    pub fn heartbeat(&self) -> Option<Duration> {
        self.heartbeat_ms.map(Duration::from_millis)
    }

    /// Time the whole script may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_s)
    }
}

fn parse_key(text: &str) -> Result<[u8; 32], String> {
    let mut key = [0; 32];
    hex::decode_to_slice(text, &mut key).map_err(|error| format!("64 hex digits: {error}"))?;
    Ok(key)
}
