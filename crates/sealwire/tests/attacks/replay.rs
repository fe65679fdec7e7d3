//! Someone has recorded a connection and plays it again, or makes up what a server gave out.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sealwire::{Generate as _, KeyPair, ProtocolError};
use sealwire_zmtp::bytes::{BufMut as _, BytesMut};
use sealwire_zmtp::error::HandshakeError;
use sealwire_zmtp::mechanism::{Blake3Client, Blake3Server, CookieKeys, DataPhase};
use sealwire_zmtp::{Config, Connection, DefaultProvider, Entropy, MechanismConfig, SocketType};

use crate::forger::{self, Forger};
use crate::memory;
use crate::scene::{Scene, fault};
use crate::support::await_event;
use sealwire_relay::recording;

/// Both directions of a connection on which a message went there and back.
pub(crate) fn record(scene: &Scene) -> [Vec<Vec<u8>>; 2] {
    let copies = [(); 2].map(|()| Arc::<Mutex<Vec<Vec<u8>>>>::default());
    let client = scene.attacked_client(recording(&copies[0]), recording(&copies[1]));
    client.socket.send("pay once").unwrap();
    client.socket.recv().unwrap();
    copies.map(|copy| copy.lock().unwrap().clone())
}

#[test]
fn a_recorded_client_is_not_let_in_again() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let [client, _] = record(&scene);
    assert_eq!(client.len(), 4, "greeting, HELLO, INITIATE, message");

    // All at once, and step by step as the answers come.
    let mut at_once = forger::connect(scene.address);
    at_once.write_all(&client.concat()).unwrap();
    let address = at_once.local_addr().unwrap();
    assert_eq!(
        scene.fault_of(address),
        HandshakeError::CookieRejected.into()
    );

    let mut stepwise = forger::connect(scene.address);
    stepwise.write_all(&client[..2].concat()).unwrap();
    stepwise.read_exact(&mut [0; 64 + 226]).unwrap();
    stepwise.write_all(&client[2]).unwrap();
    let address = stepwise.local_addr().unwrap();
    assert_eq!(
        scene.fault_of(address),
        HandshakeError::CookieRejected.into()
    );

    assert_eq!(scene.received(), [["pay once"]], "and not twice");
}

/// The same HELLO is answered, since a server keeps no list of them, but never with the same key
/// and nonce: the padding of each greeting is fresh.
#[test]
fn the_same_hello_never_gets_the_same_answer() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let [client, _] = record(&scene);
    let mut answers = Vec::new();
    for _ in 0..3 {
        let mut stream = forger::connect(scene.address);
        stream.write_all(&client[..2].concat()).unwrap();
        let mut answer = [0; 64 + 226];
        stream.read_exact(&mut answer).unwrap();
        assert!(
            answers
                .iter()
                .all(|earlier: &[u8; 290]| earlier[1..9] != answer[1..9])
        );
        // Ciphertexts of the same key and nonce would share the blocks of equal plaintext.
        assert!(
            answers
                .iter()
                .all(|earlier: &[u8; 290]| earlier[74..] != answer[74..])
        );
        answers.push(answer);
    }
}

#[test]
fn a_recorded_server_is_not_believed() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let [_, server] = record(&scene);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (client, monitor) = scene.victim_of(&listener);
    client.send("not for a recording").unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    stream.write_all(&server.concat()).unwrap();
    let failure = await_event(&monitor, "a failed handshake", |event| match event {
        sealwire::Event::Failed(failure) => Some(failure.clone()),
        _ => None,
    });
    assert_eq!(fault(&failure), HandshakeError::WelcomeUnreadable.into());
    assert!(client.try_recv().is_err());
}

/// A connection takes one INITIATE: the second is not a message either.
#[test]
fn initiate_is_taken_once() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let server = scene.server_keys.public();
    let mut forger = Forger::connect(scene.address);
    let welcome = forger.welcome(&server);
    let metadata = forger::metadata("DEALER");
    let initiate = forger.initiate(&scene.victim_keys, &welcome, &server, &metadata);
    let frame = forger.initiate_frame(&initiate);
    forger.write(&frame);
    forger.read();
    forger.write(&frame);
    let expected = ProtocolError::FrameNotVerified {
        index: 0,
        first: true,
    };
    assert_eq!(scene.fault_of(forger.address()), expected);

    // Nor may it come before the answer to the first one.
    let mut forger = Forger::connect(scene.address);
    let welcome = forger.welcome(&server);
    let initiate = forger.initiate(&scene.victim_keys, &welcome, &server, &metadata);
    let frame = forger.initiate_frame(&initiate);
    forger.write(&[&frame[..], &frame].concat());
    assert_eq!(
        scene.fault_of(forger.address()),
        HandshakeError::UnexpectedData.into()
    );
    assert!(scene.received().is_empty());
}

#[test]
fn cookies_that_were_not_given_to_this_connection() {
    let _shared = memory::shared();
    let scene = Scene::new();
    let server = scene.server_keys.public();
    let metadata = forger::metadata("DEALER");
    let of_another = Forger::connect(scene.address).welcome(&server).cookie;
    let own_with_a_bit_flipped = |mut cookie: Vec<u8>, bit: usize| {
        cookie[bit / 8] ^= 1 << (bit % 8);
        cookie
    };
    let cookies: [&dyn Fn(Vec<u8>) -> Vec<u8>; 5] = [
        &|_| vec![0; 152],
        &|_| vec![0xa5; 152],
        &|_| of_another.clone(),
        &|own| own_with_a_bit_flipped(own, 0),
        &|own| own_with_a_bit_flipped(own, 152 * 8 - 1),
    ];
    for forge in cookies {
        let mut forger = Forger::connect(scene.address);
        let welcome = forger.welcome(&server);
        let mut initiate = forger.initiate(&scene.victim_keys, &welcome, &server, &metadata);
        initiate.cookie = forge(welcome.cookie);
        let frame = forger.initiate_frame(&initiate);
        forger.write(&frame);
        assert_eq!(
            scene.fault_of(forger.address()),
            HandshakeError::CookieRejected.into()
        );
    }
}

/// Between WELCOME and INITIATE the keys are replaced once (good) or twice (too late).
#[test]
fn a_cookie_expires() {
    for (rotations, expected) in [
        (0, None),
        (1, None),
        (2, Some(HandshakeError::CookieRejected)),
    ] {
        let (server_keys, client_keys) = (KeyPair::generate(), KeyPair::generate());
        // Keys in the hands of the test, so that no 30 seconds have to pass.
        let store = Arc::new(Mutex::new(CookieKeys::new([1; 32])));
        let data_phase = DataPhase::default();
        let client = MechanismConfig::from(Blake3Client {
            server_key: server_keys.public(),
            keys: Some(client_keys),
            data_phase,
        });
        let server = MechanismConfig::from(Blake3Server {
            additional_keys: Vec::new(),
            keys: server_keys,
            cookies: store.clone(),
            data_phase,
        });
        let connection = |mechanism, seed| {
            let config = Config {
                mechanism,
                ..Config::new(SocketType::Pair)
            };
            let entropy = Entropy::new([seed; Entropy::SIZE]);
            Connection::new(
                config.into(),
                Arc::new(DefaultProvider),
                entropy,
                Duration::ZERO,
            )
        };
        let (mut client, mut server) = (connection(client, 7), connection(server, 8));
        let (mut to_server, mut to_client) = (BytesMut::new(), BytesMut::new());
        // Greetings; HELLO; WELCOME.
        for _ in 0..2 {
            carry(&mut client, &mut to_server);
            carry(&mut server, &mut to_client);
            server.receive(&mut to_server, Duration::ZERO).unwrap();
            client.receive(&mut to_client, Duration::ZERO).unwrap();
        }
        carry(&mut server, &mut to_client);
        client.receive(&mut to_client, Duration::ZERO).unwrap();
        for round in 0..rotations {
            store.lock().unwrap().rotate([round + 2; 32]);
        }
        carry(&mut client, &mut to_server);
        assert!(!to_server.is_empty(), "INITIATE");
        let outcome = server.receive(&mut to_server, Duration::ZERO);
        assert_eq!(
            outcome.err(),
            expected.map(ProtocolError::from),
            "{rotations}"
        );
    }
}

fn carry(from: &mut Connection, to: &mut BytesMut) {
    to.put(&mut from.transmit());
}
