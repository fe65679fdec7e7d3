//! A server with BLAKE3ZMQ and CURVE on one endpoint: which clients get in, and who is asked about them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{Path, await_event, eventually, options};
use sealwire::auth::{AllowAnyone, AllowedKeys, Authenticator, Client, Decision};
use sealwire::blocking::Socket;
use sealwire::{
    Error, Event, FailureCause, Generate as _, KeyPair, Mechanism, Monitor, ProtocolError,
    Security, SocketType, Unusable,
};
use sealwire_zmtp::error::{Incompatible, Refusal};

/// A server of both, with keys and an authenticator for each.
struct Both {
    blake3: KeyPair,
    curve: KeyPair,
}

impl Both {
    fn new() -> Self {
        let (blake3, curve) = (KeyPair::generate(), KeyPair::generate());
        Both { blake3, curve }
    }

    fn server(&self, of_blake3: impl Authenticator, of_curve: impl Authenticator) -> Security {
        Security::blake3_server(self.blake3.clone(), of_blake3)
            .or_curve_server(self.curve.clone(), of_curve)
    }

    /// The clients of this server, with one pair of keys.
    fn clients(&self, keys: &KeyPair) -> [(Mechanism, Security); 2] {
        let blake3 = Security::blake3_client_with_keys(self.blake3.public(), keys.clone());
        let curve = Security::curve_client(self.curve.public(), keys.clone());
        [
            (Mechanism::Blake3, blake3.into()),
            (Mechanism::Curve, curve),
        ]
    }
}

fn socket(socket_type: SocketType, security: Security) -> Socket {
    let socket = options(socket_type).security(security);
    socket.linger(Duration::ZERO).build_blocking().unwrap()
}

fn protocol_error(monitor: &Monitor) -> ProtocolError {
    await_event(monitor, "a failed handshake", |event| match event {
        Event::Failed(failure) => match failure.cause() {
            FailureCause::Protocol(error) => Some(error.clone()),
            _ => None,
        },
        _ => None,
    })
}

#[test]
fn each_client_is_asked_about_by_the_authenticator_of_its_mechanism() {
    for transport in ["tcp", "ipc"] {
        let both = Both::new();
        let named = |name: &'static str| move |_: &Client<'_>| Decision::allow_as(name);
        let router = socket(
            SocketType::Router,
            both.server(named("BLAKE3"), named("CURVE")),
        );
        let path = Path {
            transport,
            keys: None,
        };
        let endpoint = router.bind(&*path.endpoint()).unwrap();
        let keys = KeyPair::generate();
        let dealers = both.clients(&keys).map(|(mechanism, security)| {
            let dealer = socket(SocketType::Dealer, security);
            dealer.connect(&endpoint).unwrap();
            dealer.send("question").unwrap();
            let mut question = router.recv().unwrap();
            let peer = question.peer().unwrap().clone();
            assert_eq!(peer.mechanism(), Some(mechanism));
            assert_eq!(peer.user_id(), Some(mechanism.name()));
            assert_eq!(peer.public_key(), Some(keys.public()));
            question.push_back("answer");
            router.send(question).unwrap();
            dealer
        });
        // Both are connected at the same time.
        for dealer in &dealers {
            assert_eq!(dealer.recv().unwrap().frames()[1], "answer");
        }
        assert_eq!(router.peers().len(), 2);
    }
}

#[test]
fn plain_text_is_refused_and_both_sides_see_why() {
    let both = Both::new();
    let server = both.server(AllowAnyone, AllowAnyone);
    for (named, security) in [
        (Mechanism::Null, Security::plain_text()),
        (Mechanism::Plain, Security::plain_client("user", "word")),
    ] {
        let pull = socket(SocketType::Pull, server.clone());
        let push = socket(SocketType::Push, security);
        let monitors = [pull.monitor(), push.monitor()];
        push.connect(pull.bind("tcp://127.0.0.1:0").unwrap())
            .unwrap();
        push.send("never heard").unwrap();
        let [at_server, at_client] = monitors.map(|monitor| protocol_error(&monitor));
        let mismatch = |ours: &[Mechanism], theirs: Mechanism| {
            let (ours, theirs) = (ours.into(), theirs.name().into());
            ProtocolError::from(Incompatible::MechanismMismatch { ours, theirs })
        };
        let mechanisms = [Mechanism::Blake3, Mechanism::Curve];
        assert_eq!(at_server, mismatch(&mechanisms, named));
        assert_eq!(at_client, mismatch(&[named], Mechanism::Blake3));
        assert_eq!(pull.counters().handshakes_completed, 0);
    }
}

#[test]
fn a_refusal_is_told_in_the_words_of_the_clients_mechanism() {
    let both = Both::new();
    let nobody = || |_: &Client<'_>| Decision::refuse("nobody may");
    let pull = socket(SocketType::Pull, both.server(nobody(), nobody()));
    let endpoint = pull.bind("tcp://127.0.0.1:0").unwrap();
    for (mechanism, security) in both.clients(&KeyPair::generate()) {
        let at_server = pull.monitor();
        let push = socket(SocketType::Push, security);
        let at_client = push.monitor();
        push.connect(&endpoint).unwrap();
        let refused = ProtocolError::Refused(Refusal::new("nobody may"));
        assert_eq!(protocol_error(&at_server), refused);
        let told = ProtocolError::PeerRefused {
            reason: match mechanism {
                Mechanism::Blake3 => "nobody may".into(),
                _ => "400".into(),
            },
            verified: false,
        };
        assert_eq!(protocol_error(&at_client), told);
    }
}

/// Lets everybody in until it changes its mind, and counts how often it is asked.
#[derive(Clone, Default)]
struct Fickle(Arc<(AtomicU64, AtomicUsize)>);

impl Fickle {
    fn change(&self) {
        self.0.0.store(1, Ordering::SeqCst);
    }

    fn asked(&self) -> usize {
        self.0.1.load(Ordering::SeqCst)
    }
}

impl Authenticator for Fickle {
    fn authenticate(&self, _: &Client<'_>) -> Decision {
        self.0.1.fetch_add(1, Ordering::SeqCst);
        (self.0.0.load(Ordering::SeqCst) == 0).into()
    }

    fn revision(&self) -> Option<u64> {
        Some(self.0.0.load(Ordering::SeqCst))
    }
}

#[test]
fn an_authenticator_that_changes_its_mind_ends_its_own_clients_only() {
    let (both, keys) = (Both::new(), KeyPair::generate());
    let stands = Arc::new(AtomicUsize::new(0));
    let counted = stands.clone();
    let fixed = move |_: &Client<'_>| {
        counted.fetch_add(1, Ordering::SeqCst);
        true
    };
    let fickle = Fickle::default();
    let pull = socket(SocketType::Pull, both.server(fixed, fickle.clone()));
    let endpoint = pull.bind("tcp://127.0.0.1:0").unwrap();
    let pushes = both.clients(&keys).map(|(_, security)| {
        let push = socket(SocketType::Push, security);
        push.connect(&endpoint).unwrap();
        push.send("hello").unwrap();
        pull.recv().unwrap();
        push
    });
    let asked = fickle.asked();
    fickle.change();
    eventually("the CURVE client is refused", || {
        pull.counters().disconnects == 1
    });
    assert!(fickle.asked() > asked);
    pushes[0].send("still here").unwrap();
    let message = pull.recv().unwrap();
    assert_eq!(message.peer().unwrap().mechanism(), Some(Mechanism::Blake3));
    // The decisions of its authenticator did not change, so it was not asked again.
    assert_eq!(stands.load(Ordering::SeqCst), 1);
}

#[test]
fn only_an_endpoint_that_hears_its_clients_first_has_both() {
    let both = Both::new();
    let server = both.server(AllowAnyone, AllowedKeys::new());
    let mechanisms: Vec<_> = server.mechanisms().collect();
    assert_eq!(mechanisms, [Mechanism::Blake3, Mechanism::Curve]);
    let several = |refused: Result<(), Error>| {
        let error = refused.unwrap_err();
        let Error::UnusableEndpoint { reason, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(reason, Unusable::SeveralMechanisms);
        assert!(error.to_string().contains("tcp or ipc"), "{error}");
    };
    let pull = socket(SocketType::Pull, server);
    several(pull.connect("tcp://127.0.0.1:9"));
    several(pull.connect("ipc://@nobody"));
    #[cfg(feature = "ws")]
    several(pull.bind("ws://127.0.0.1:0/").map(|_| ()));
    // Nothing leaves the process, so there is nothing to choose.
    let context = sealwire::Context::new().unwrap();
    let [pull, push] = [SocketType::Pull, SocketType::Push].map(|socket_type| {
        let security = both.server(AllowAnyone, AllowAnyone);
        let socket = options(socket_type).context(&context).security(security);
        socket.build_blocking().unwrap()
    });
    pull.bind("inproc://both").unwrap();
    push.connect("inproc://both").unwrap();
    push.send("within").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"within");
}
