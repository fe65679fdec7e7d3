//! How often a handshake allocates, from [`Connection::new`] to both sides being ready.
//!
//! | what, on both sides together | NULL | PLAIN | CURVE | BLAKE3 |
//! |---|---|---|---|---|
//! | the trace of the handshake | 2 | 2 | 2 | 2 |
//! | output: the list of segments, and a buffer | 4 | 4 | 4 | 4 |
//! | the buffer grows where the peer's greeting came before the own one was written | 1 | 1 | 3 | 3 |
//! | frames of commands, each sealed where it lies | 2 | 4 | 4 | 4 |
//! | the list of events | 2 | 2 | 2 | 2 |
//! | the peer's metadata: a list, and a value | 4 | 4 | 4 | 4 |
//! | `PeerInfo` | 2 | 2 | 2 | 2 |
//! | what the authenticator is shown: a box; name and password, or a copy of the metadata | | 3 | 3 | 3 |
//! | a client that waits for WELCOME, a server that waits for HELLO, or for the decision | | | 3 | 3 |
//! | what is in INITIATE and in READY, opened | | | 2 | 2 |
//! | ciphers, one for each direction | | | | 4 |
//!
//! Hashes, derived keys, boxes, cookies and vouches take none. Each further property of the metadata
//! takes one for its value and, but for `Identity`, one for its name. The input is the caller's.
//!
//! A binary of its own: its allocator counts.

#[path = "../../sealwire/tests/support/counting.rs"]
#[expect(dead_code, reason = "this counts allocations, not bytes")]
mod counting;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use counting::allocations_of;
use sealwire_zmtp::bytes::{Buf as _, BufMut as _, BytesMut};
use sealwire_zmtp::mechanism::CookieKeys;
use sealwire_zmtp::mechanism::plain::PlainCredentials;
use sealwire_zmtp::mechanism::{
    Blake3Client, Blake3Server, CurveClient, CurveServer, DataPhase, FrameOrder, PlainClient,
};
use sealwire_zmtp::{
    Config, Connection, DefaultProvider, Entropy, Event, KeyPair, MechanismConfig, Provider,
    SecretKey, SocketType,
};

struct Side {
    connection: Connection,
    /// What came, in memory that is there before the connection.
    input: BytesMut,
}

impl Side {
    fn new(config: &Arc<Config>, provider: &Arc<dyn Provider>, seed: u8, input: BytesMut) -> Self {
        let entropy = Entropy::new([seed; Entropy::SIZE]);
        let (config, provider) = (config.clone(), provider.clone());
        let connection = Connection::new(config, provider, entropy, Duration::ZERO);
        Self { connection, input }
    }

    /// Takes what the other side has to say, and lets it in. Gives whether it said anything.
    fn hear(&mut self, other: &mut Self) -> bool {
        let mut transmit = other.connection.transmit();
        let said = transmit.has_remaining();
        self.input.put(&mut transmit);
        let connection = &mut self.connection;
        connection.receive(&mut self.input, Duration::ZERO).unwrap();
        while let Some(event) = connection.poll_event() {
            match event {
                Event::Authorize(_) => {
                    connection.authorize(Ok(None), Duration::ZERO).unwrap();
                }
                Event::Ready(_) => {}
                other => panic!("{other:?} in a handshake"),
            }
        }
        said
    }
}

fn handshake(client: &Arc<Config>, server: &Arc<Config>, provider: &Arc<dyn Provider>) -> u64 {
    let [to_client, to_server] = [(); 2].map(|()| BytesMut::with_capacity(4_096));
    // Freeing is not counted, and neither are the buffers.
    let mut sides = None;
    allocations_of(|| {
        let mut client = Side::new(client, provider, 1, to_client);
        let mut server = Side::new(server, provider, 2, to_server);
        while client.hear(&mut server) | server.hear(&mut client) {}
        assert!(client.connection.is_ready() && server.connection.is_ready());
        sides = Some([client, server]);
    })
}

fn config(socket_type: SocketType, mechanism: MechanismConfig) -> Arc<Config> {
    let mut config = Config::new(socket_type);
    config.mechanism = mechanism;
    Arc::new(config)
}

fn keys(seed: u8) -> KeyPair {
    KeyPair::from_secret(SecretKey::from_bytes([seed; 32]))
}

/// One test, so that nothing else allocates meanwhile.
#[test]
fn a_handshake_allocates_what_the_connection_keeps_and_little_else() {
    let server_key = keys(2).public();
    let cookies = Arc::new(Mutex::new(CookieKeys::new([9; 32])));
    let data_phase = DataPhase::PerMessageNonces;
    let cases = [
        ("NULL", MechanismConfig::null(), MechanismConfig::null(), 17),
        (
            "PLAIN",
            MechanismConfig::from(PlainClient {
                credentials: PlainCredentials::new("admin", "s3cret"),
            }),
            MechanismConfig::plain_server(),
            22,
        ),
        (
            "CURVE",
            MechanismConfig::from(CurveClient {
                server_key,
                keys: Some(keys(1)),
                frame_order: FrameOrder::default(),
            }),
            MechanismConfig::from(CurveServer {
                keys: keys(2),
                additional_key: None,
                cookies: cookies.clone(),
                frame_order: FrameOrder::default(),
            }),
            31,
        ),
        (
            "BLAKE3",
            MechanismConfig::from(Blake3Client {
                server_key,
                keys: Some(keys(1)),
                data_phase,
            }),
            MechanismConfig::from(Blake3Server {
                keys: keys(2),
                additional_keys: Vec::new(),
                cookies: cookies.clone(),
                data_phase,
            }),
            35,
        ),
    ];
    let provider: Arc<dyn Provider> = Arc::new(DefaultProvider);
    for (name, client, server, allowed) in cases {
        let client = config(SocketType::Dealer, client);
        let server = config(SocketType::Router, server);
        // The first handshake of a server makes room for the transcripts of 256.
        handshake(&client, &server, &provider);
        // The test harness has a thread of its own, which allocates now and then.
        let counts = (0..10).map(|_| handshake(&client, &server, &provider));
        let count = counts.min().expect("there were ten");
        println!("{name}: {count} allocations");
        assert!(count <= allowed, "{name}: {count}, allowed are {allowed}");
    }
}
