//! Two connections in memory, a clock that is a number, and a second provider.

pub(crate) mod forger;
mod handshake;
mod provider;
mod side;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sealwire_zmtp::error::Error;
use sealwire_zmtp::mechanism::plain::PlainCredentials;
use sealwire_zmtp::mechanism::{
    Blake3Client, Blake3Server, CookieKey, CookieKeys, CookieStore, CurveClient, CurveServer,
    DataPhase, FrameOrder, PlainClient,
};
use sealwire_zmtp::wire::frame::Header;
use sealwire_zmtp::{
    Config, DefaultProvider, Entropy, KeyPair, Mechanism, MechanismConfig, Provider, SecretKey,
    SocketType,
};

pub(crate) use self::handshake::{Leg, handshake, recorded};
pub(crate) use self::provider::{Counting, OtherProvider};
pub(crate) use self::side::{Pair, Side};

/// The start of every test's clock.
pub(crate) const START: Duration = Duration::from_secs(1_000);

/// Both providers, for tests that do not care which.
pub(crate) fn providers() -> [Arc<dyn Provider>; 2] {
    [Arc::new(DefaultProvider), Arc::new(OtherProvider)]
}

/// The crate's own provider.
pub(crate) fn provider() -> Arc<dyn Provider> {
    Arc::new(DefaultProvider)
}

/// Different bytes for each seed.
pub(crate) fn entropy(seed: u8) -> Entropy {
    Entropy::new(std::array::from_fn(|i| {
        (i * 3) as u8 ^ seed.wrapping_mul(97)
    }))
}

/// A key pair for each seed.
pub(crate) fn keys(seed: u8) -> KeyPair {
    KeyPair::from_secret(SecretKey::from_bytes([seed; 32]))
}

/// Cookie keys behind a lock, rotated by hand.
#[derive(Debug)]
pub(crate) struct Cookies {
    keys: Mutex<CookieKeys>,
    /// Whether transcripts are kept.
    remembers: bool,
}

impl Cookies {
    pub(crate) fn new(seed: u8) -> Arc<Self> {
        Self::with_memory(seed, true)
    }

    pub(crate) fn with_memory(seed: u8, remembers: bool) -> Arc<Self> {
        let keys = Mutex::new(CookieKeys::new([seed; 32]));
        Arc::new(Self { keys, remembers })
    }

    pub(crate) fn rotate(&self, seed: u8) {
        self.keys.lock().unwrap().rotate([seed; 32]);
    }
}

impl CookieStore for Cookies {
    fn issue(&self) -> (CookieKey, u64) {
        self.keys.issue()
    }

    fn candidates(&self) -> [Option<CookieKey>; 2] {
        self.keys.candidates()
    }

    fn remember(&self, connection: u64, transcript: [u8; 32]) {
        if self.remembers {
            self.keys.remember(connection, transcript);
        }
    }

    fn recall(&self, connection: u64) -> Option<[u8; 32]> {
        self.keys.recall(connection)
    }
}

/// A NULL socket of this type.
pub(crate) fn null(socket_type: SocketType) -> Config {
    Config::new(socket_type)
}

/// A NULL socket of this type that decides about its peers.
pub(crate) fn null_authorized(socket_type: SocketType) -> Config {
    let mut config = Config::new(socket_type);
    config.mechanism = MechanismConfig::null_authorized();
    config
}

/// The server's keys in [`client`] and [`server`].
pub(crate) const SERVER_SEED: u8 = 2;
/// The client's keys in [`client`].
pub(crate) const CLIENT_SEED: u8 = 1;

/// A BLAKE3 client with an identity.
pub(crate) fn client(socket_type: SocketType, data_phase: DataPhase) -> Config {
    let mut config = Config::new(socket_type);
    config.mechanism = MechanismConfig::from(Blake3Client {
        server_key: keys(SERVER_SEED).public(),
        keys: Some(keys(CLIENT_SEED)),
        data_phase,
    });
    config
}

/// The server that [`client`] is meant for.
pub(crate) fn server(
    socket_type: SocketType,
    data_phase: DataPhase,
    cookies: Arc<Cookies>,
) -> Config {
    let mut config = Config::new(socket_type);
    config.mechanism = MechanismConfig::from(Blake3Server {
        additional_keys: Vec::new(),
        keys: keys(SERVER_SEED),
        cookies,
        data_phase,
    });
    config
}

/// A CURVE client with an identity.
pub(crate) fn curve_client(socket_type: SocketType) -> Config {
    let mut config = Config::new(socket_type);
    config.mechanism = MechanismConfig::from(CurveClient {
        server_key: keys(SERVER_SEED).public(),
        keys: Some(keys(CLIENT_SEED)),
        frame_order: FrameOrder::default(),
    });
    config
}

/// The server that [`curve_client`] is meant for.
pub(crate) fn curve_server(socket_type: SocketType, cookies: Arc<Cookies>) -> Config {
    let mut config = Config::new(socket_type);
    config.mechanism = MechanismConfig::from(CurveServer {
        keys: keys(SERVER_SEED),
        additional_key: None,
        cookies,
        frame_order: FrameOrder::default(),
    });
    config
}

/// The server of both [`client`] and [`curve_client`].
pub(crate) fn any_of(socket_type: SocketType, cookies: Arc<Cookies>) -> Config {
    let blake3 = Blake3Server {
        additional_keys: Vec::new(),
        keys: keys(SERVER_SEED),
        cookies: cookies.clone(),
        data_phase: DataPhase::default(),
    };
    let curve = CurveServer {
        keys: keys(SERVER_SEED),
        additional_key: None,
        cookies,
        frame_order: FrameOrder::default(),
    };
    let mut config = Config::new(socket_type);
    config.mechanism = MechanismConfig::any_of(blake3, [curve.into()]);
    config
}

/// A PLAIN client that shows `admin` and `s3cret`.
pub(crate) fn plain_client(socket_type: SocketType) -> Config {
    let mut config = Config::new(socket_type);
    config.mechanism = MechanismConfig::from(PlainClient {
        credentials: PlainCredentials::new("admin", "s3cret"),
    });
    config
}

/// A PLAIN server.
pub(crate) fn plain_server(socket_type: SocketType) -> Config {
    let mut config = Config::new(socket_type);
    config.mechanism = MechanismConfig::plain_server();
    config
}

/// A client and a server, or two NULL sides: every way that a DEALER and a ROUTER can be protected.
pub(crate) fn protections() -> [(Config, Config); 8] {
    use DataPhase::{ContinuousKeystreamUnauthenticatedOrder, PerMessageNonces};
    use SocketType::{Dealer, Router};
    let blake3 = |phase| {
        (
            client(Dealer, phase),
            server(Router, phase, Cookies::new(9)),
        )
    };
    [
        (null(Dealer), null(Router)),
        (null_authorized(Dealer), null_authorized(Router)),
        blake3(PerMessageNonces),
        blake3(ContinuousKeystreamUnauthenticatedOrder),
        (curve_client(Dealer), curve_server(Router, Cookies::new(9))),
        (plain_client(Dealer), plain_server(Router)),
        (
            client(Dealer, PerMessageNonces),
            any_of(Router, Cookies::new(9)),
        ),
        (curve_client(Dealer), any_of(Router, Cookies::new(9))),
    ]
}

/// Cuts whole frames apart.
pub(crate) fn frames(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let header = Header::parse(bytes).unwrap().unwrap();
        let (frame, rest) = bytes.split_at(header.size() + header.body_len as usize);
        frames.push(frame.to_vec());
        bytes = rest;
    }
    frames
}

/// A frame with this body.
pub(crate) fn frame(flags: u8, body: &[u8]) -> Vec<u8> {
    [&Header::new(flags, body.len()).encode()[..], body].concat()
}

/// What a peer hears that was refused for this reason, before anything is authenticated.
pub(crate) fn told(reason: &str) -> Option<Error> {
    Some(Error::PeerRefused {
        reason: reason.into(),
        verified: false,
    })
}

/// The client is a DEALER that was let in as "alice".
pub(crate) fn assert_each_knows_the_others_key(pair: &Pair, mechanism: Mechanism) {
    let seen_by_client = pair.a.connection.peer().unwrap();
    let seen_by_server = pair.b.connection.peer().unwrap();
    assert_eq!(seen_by_client.public_key, Some(keys(SERVER_SEED).public()));
    assert_eq!(seen_by_server.public_key, Some(keys(CLIENT_SEED).public()));
    assert_eq!(seen_by_client.local_key, seen_by_server.public_key);
    assert_eq!(seen_by_server.local_key, seen_by_client.public_key);
    assert_eq!(seen_by_server.user_id.as_deref(), Some("alice"));
    assert_eq!(seen_by_server.mechanism, mechanism);
    assert_eq!(seen_by_server.socket_type, SocketType::Dealer);
}
