//! One connection with its buffers, on a clock that is a number.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sealwire_zmtp::bytes::{Buf, BufMut, BytesMut};
use sealwire_zmtp::error::Error;
use sealwire_zmtp::limits::Limits;
use sealwire_zmtp::mechanism::plain::PlainCredentials;
use sealwire_zmtp::mechanism::{
    Blake3Client, Blake3Server, CookieKeys, CurveClient, CurveServer, DataPhase, FrameOrder,
    PlainClient,
};
use sealwire_zmtp::{
    Config, Connection, Entropy, Event, KeyPair, MechanismConfig, Provider, SecretKey, SocketType,
};

/// A connection, what it is still to be fed, and what it has said.
pub struct Endpoint {
    /// The connection itself.
    pub connection: Connection,
    /// What arrived and is not yet a whole frame.
    pub input: BytesMut,
    /// Everything it has said.
    pub events: Vec<Event>,
    /// Why it is over.
    pub error: Option<Error>,
    /// Its clock.
    pub now: Duration,
}

impl Endpoint {
    /// An endpoint with entropy made of `seed`.
    pub fn new(mut config: Config, provider: Arc<dyn Provider>, seed: u8) -> Self {
        config.limits = Limits {
            max_message_size: 100_000,
            max_frames: 100,
            max_command_size: 1000,
            ..Limits::default()
        };
        let entropy = Entropy::new(std::array::from_fn(|i| seed.wrapping_add(i as u8)));
        Self {
            connection: Connection::new(Arc::new(config), provider, entropy, Duration::ZERO),
            input: BytesMut::new(),
            events: Vec::new(),
            error: None,
            now: Duration::ZERO,
        }
    }

    /// Feeds bytes, lets everyone in, and checks what must always hold.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
        let result = self.connection.receive(&mut self.input, self.now);
        self.note(result);
        while let Some(event) = self.connection.poll_event() {
            let asked = matches!(event, Event::Authorize(_));
            self.events.push(event);
            if asked {
                let result = self.connection.authorize(Ok(None), self.now);
                self.note(result);
            }
        }
        assert!(self.connection.wanted() <= self.input.len().max(1 << 20));
        assert!(!(self.connection.is_ready() && self.error.is_some()));
    }

    /// Keeps the first error and checks that the same one is given from then on.
    pub fn note(&mut self, result: Result<(), Error>) {
        if let Err(error) = result {
            assert!(error.to_string().len() < 2000);
            assert_eq!(self.error.get_or_insert_with(|| error.clone()), &error);
        }
    }

    /// Everything it wants to send.
    pub fn output(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        loop {
            let mut transmit = self.connection.transmit();
            if !transmit.has_remaining() {
                return bytes;
            }
            bytes.put(&mut transmit);
        }
    }
}

fn server_keys(provider: &dyn Provider) -> KeyPair {
    KeyPair::with_provider(SecretKey::from_bytes([7; 32]), provider)
}

/// A NULL socket.
pub fn null(socket_type: SocketType) -> Config {
    Config::new(socket_type)
}

/// A NULL socket that decides about its peers.
pub fn null_authorized(socket_type: SocketType) -> Config {
    let mut config = Config::new(socket_type);
    config.mechanism = MechanismConfig::null_authorized();
    config
}

/// A BLAKE3 client of [`server`].
pub fn client(socket_type: SocketType, data_phase: DataPhase, provider: &dyn Provider) -> Config {
    let mut config = Config::new(socket_type);
    config.mechanism = MechanismConfig::from(Blake3Client {
        server_key: server_keys(provider).public(),
        keys: None,
        data_phase,
    });
    config
}

/// A BLAKE3 server.
pub fn server(socket_type: SocketType, data_phase: DataPhase, provider: &dyn Provider) -> Config {
    let mut config = Config::new(socket_type);
    config.mechanism = MechanismConfig::from(Blake3Server {
        additional_keys: Vec::new(),
        keys: server_keys(provider),
        cookies: Arc::new(Mutex::new(CookieKeys::new([9; 32]))),
        data_phase,
    });
    config
}

/// A CURVE client of [`curve_server`].
pub fn curve_client(socket_type: SocketType, provider: &dyn Provider) -> Config {
    let mut config = Config::new(socket_type);
    config.mechanism = MechanismConfig::from(CurveClient {
        server_key: server_keys(provider).public(),
        keys: None,
        frame_order: FrameOrder::default(),
    });
    config
}

/// A CURVE server.
pub fn curve_server(socket_type: SocketType, provider: &dyn Provider) -> Config {
    let mut config = Config::new(socket_type);
    config.mechanism = MechanismConfig::from(CurveServer {
        keys: server_keys(provider),
        additional_key: None,
        cookies: Arc::new(Mutex::new(CookieKeys::new([9; 32]))),
        frame_order: FrameOrder::default(),
    });
    config
}

/// A server of both [`client`] and [`curve_client`].
pub fn any_of(socket_type: SocketType, provider: &dyn Provider) -> Config {
    let cookies = || Arc::new(Mutex::new(CookieKeys::new([9; 32])));
    let blake3 = Blake3Server {
        additional_keys: Vec::new(),
        keys: server_keys(provider),
        cookies: cookies(),
        data_phase: DataPhase::default(),
    };
    let curve = CurveServer {
        keys: server_keys(provider),
        additional_key: None,
        cookies: cookies(),
        frame_order: FrameOrder::default(),
    };
    let mut config = Config::new(socket_type);
    config.mechanism = MechanismConfig::any_of(blake3, [curve.into()]);
    config
}

/// A PLAIN client.
pub fn plain_client(socket_type: SocketType) -> Config {
    let mut config = Config::new(socket_type);
    config.mechanism = MechanismConfig::from(PlainClient {
        credentials: PlainCredentials::new("user", "password"),
    });
    config
}

/// A PLAIN server.
pub fn plain_server(socket_type: SocketType) -> Config {
    let mut config = Config::new(socket_type);
    config.mechanism = MechanismConfig::plain_server();
    config
}
