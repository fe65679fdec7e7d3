//! BLAKE3: who gets in, what both sides know afterwards, and how a failure explains itself.

use std::sync::Arc;

use sealwire_zmtp::connection::{Event, Warning};
use sealwire_zmtp::error::{Blame, CloseKind, Error, HandshakeError, Incompatible, Refusal, Step};
use sealwire_zmtp::mechanism::{Blake3Client, Claim, DataPhase};
use sealwire_zmtp::{Config, Frames, Mechanism, MechanismConfig, Provider, SocketType};

use crate::support::{
    CLIENT_SEED, Cookies, Counting, Pair, SERVER_SEED, Side, assert_each_knows_the_others_key,
    client, keys, provider, providers, recorded, server, told,
};

const PHASE: DataPhase = DataPhase::PerMessageNonces;

fn pair(provider: &Arc<dyn Provider>) -> Pair {
    Pair::new(
        client(SocketType::Dealer, PHASE),
        server(SocketType::Router, PHASE, Cookies::new(1)),
        provider,
    )
}

fn anonymous() -> Config {
    let mut config = Config::new(SocketType::Dealer);
    config.mechanism = MechanismConfig::from(Blake3Client {
        server_key: keys(SERVER_SEED).public(),
        keys: None,
        data_phase: PHASE,
    });
    config
}

#[test]
fn both_sides_know_the_others_key() {
    for provider in providers() {
        let mut pair = pair(&provider);
        pair.b.decision = Some(Ok(Some("alice".into())));
        pair.settle();
        assert_each_knows_the_others_key(&pair, Mechanism::Blake3);
        assert!(matches!(pair.a.events[..], [Event::Ready(_)]));
        assert!(matches!(
            pair.b.events[..],
            [Event::Authorize(_), Event::Ready(_)]
        ));
    }
}

#[test]
fn a_server_that_remembers_multiplies_twice_less() {
    for (remembers, multiplications) in [(true, 8), (false, 10)] {
        let counting = Counting::new(provider());
        let provider: Arc<dyn Provider> = counting.clone();
        let cookies = Cookies::with_memory(1, remembers);
        let mut pair = Pair::ready(
            client(SocketType::Dealer, PHASE),
            server(SocketType::Router, PHASE, cookies),
            &provider,
        );
        assert_eq!(counting.multiplications(), multiplications);
        pair.a.send("to the server");
        pair.settle();
        assert_eq!(pair.b.messages(), [Frames::from("to the server")]);
    }
}

#[test]
fn providers_understand_each_other() {
    let [ours, other] = providers();
    for (a, b) in [(&ours, &other), (&other, &ours)] {
        let mut pair = pair(a);
        let config = server(SocketType::Router, PHASE, Cookies::new(1));
        pair.b = Side::new(config, b.clone(), 2);
        pair.settle();
        pair.a.send("to the server");
        pair.b.send("to the client");
        pair.settle();
        assert_eq!(pair.b.messages(), [Frames::from("to the server")]);
        assert_eq!(pair.a.messages(), [Frames::from("to the client")]);
    }
}

#[test]
fn a_client_without_a_key_gets_one_for_the_connection_and_looks_the_same() {
    let run = |config: Config, seed: u8| {
        let mut client = Side::new(config, provider(), seed);
        let config = server(SocketType::Router, PHASE, Cookies::new(1));
        let mut server = Side::new(config, provider(), 9);
        let sizes = recorded(&mut client, &mut server).map(|leg| leg.len());
        (server.connection.peer().unwrap().public_key, sizes)
    };
    let (first, sizes) = run(anonymous(), 1);
    let (second, _) = run(anonymous(), 3);
    let (named, named_sizes) = run(client(SocketType::Dealer, PHASE), 1);
    assert!(first != second && first != named && first.is_some());
    assert_eq!(sizes, named_sizes);
}

#[test]
fn nothing_goes_out_until_the_authenticator_answers() {
    let mut pair = pair(&provider());
    pair.b.decision = None;
    pair.settle();
    let [Event::Authorize(Claim::Key(credentials))] = &pair.b.events[..] else {
        panic!("{:?}", pair.b.events);
    };
    assert_eq!(credentials.public_key, keys(CLIENT_SEED).public());
    assert_eq!(credentials.socket_type, SocketType::Dealer);
    assert!(!pair.a.connection.is_ready() && !pair.b.connection.is_ready());
    assert!(pair.b.connection.send("early".into()).is_err());
    pair.b.connection.authorize(Ok(None), pair.b.now).unwrap();
    // A second answer changes nothing.
    pair.b
        .connection
        .authorize(Err(Refusal::new("too late")), pair.b.now)
        .unwrap();
    pair.settle();
    assert!(pair.a.connection.is_ready() && pair.b.connection.is_ready());
}

#[test]
fn an_answer_without_a_question_does_nothing() {
    let mut pair = pair(&provider());
    pair.b
        .connection
        .authorize(Ok(Some("nobody".into())), pair.b.now)
        .unwrap();
    pair.a
        .connection
        .authorize(Err(Refusal::new("no")), pair.a.now)
        .unwrap();
    pair.settle();
    assert!(pair.a.connection.is_ready());
    assert_eq!(pair.b.connection.peer().unwrap().user_id, None);
}

#[test]
fn a_refused_client_hears_the_reason() {
    let mut pair = pair(&provider());
    pair.b.decision = Some(Err(Refusal::new("key not in the list")));
    pair.settle();
    assert_eq!(
        pair.b.error,
        Some(Error::Refused(Refusal::new("key not in the list")))
    );
    let error = pair.a.error.unwrap();
    assert_eq!(Some(&error), told("key not in the list").as_ref());
    assert!(
        !pair
            .b
            .events
            .iter()
            .any(|event| matches!(event, Event::Ready(_)))
    );
}

#[test]
fn a_wrong_server_key_explains_itself_on_both_sides() {
    let mut pair = pair(&provider());
    let mut config = Config::new(SocketType::Dealer);
    config.mechanism = MechanismConfig::from(Blake3Client {
        server_key: keys(77).public(),
        keys: None,
        data_phase: PHASE,
    });
    pair.a = Side::new(config, provider(), 1);
    pair.settle();
    assert_eq!(
        pair.b.error,
        Some(Error::Handshake(HandshakeError::HelloUnreadable))
    );
    assert_eq!(
        pair.b.connection.pending_bytes(),
        0,
        "HELLO is not answered"
    );
    let error = pair.a.connection.end_of_stream();
    assert_eq!(
        error,
        Error::Closed(CloseKind::DuringHandshake(Step::Welcome))
    );
    assert!(
        error
            .to_string()
            .contains("key is probably not the one configured")
    );
}

#[test]
fn socket_types_that_do_not_fit_are_named_before_anyone_is_asked() {
    let mut pair = Pair::new(
        client(SocketType::Pub, PHASE),
        server(SocketType::Router, PHASE, Cookies::new(1)),
        &provider(),
    );
    pair.settle();
    let types = Incompatible::SocketTypes {
        ours: SocketType::Router,
        theirs: SocketType::Pub,
    };
    assert_eq!(pair.b.error, Some(Error::Incompatible(types)));
    assert_eq!(pair.b.events, []);
    assert_eq!(pair.a.error, told("the socket types cannot be connected"));
}

#[test]
fn data_phases_that_differ_show_at_the_first_frame() {
    let weak = DataPhase::ContinuousKeystreamUnauthenticatedOrder;
    for (a, b) in [(PHASE, weak), (weak, PHASE)] {
        let mut pair = Pair::ready(
            client(SocketType::Dealer, a),
            server(SocketType::Router, b, Cookies::new(1)),
            &provider(),
        );
        pair.a.send("hello?");
        pair.settle();
        let error = pair.b.error.clone().unwrap();
        assert_eq!(
            error,
            Error::FrameNotVerified {
                index: 0,
                first: true
            }
        );
        assert!(error.to_string().contains("data phase"));
        assert_eq!(error.blame(), Blame::Network);
        assert_eq!(pair.b.messages(), []);
    }
}

#[test]
fn the_weak_data_phase_warns_and_the_default_does_not() {
    let weak = DataPhase::ContinuousKeystreamUnauthenticatedOrder;
    for (phase, warns) in [(PHASE, false), (weak, true)] {
        let mut pair = Pair::new(
            client(SocketType::Dealer, phase),
            server(SocketType::Router, phase, Cookies::new(1)),
            &provider(),
        );
        pair.settle();
        for side in [&pair.a, &pair.b] {
            let warned = side
                .events
                .contains(&Event::Warning(Warning::UnauthenticatedOrder));
            assert_eq!(warned, warns);
        }
    }
    assert_eq!(DataPhase::default(), PHASE);
}

#[test]
fn an_error_after_the_handshake_is_verified() {
    let mut pair = Pair::ready(
        client(SocketType::Dealer, PHASE),
        {
            let mut config = server(SocketType::Router, PHASE, Cookies::new(1));
            config.limits.max_message_size = 10;
            config
        },
        &provider(),
    );
    pair.a.send(vec![0; 11]);
    pair.settle();
    assert_eq!(pair.b.error, Some(Error::MessageTooLarge { limit: 10 }));
    let reason = "message larger than the receiver's limit".into();
    assert_eq!(
        pair.a.error,
        Some(Error::PeerRefused {
            reason,
            verified: true
        })
    );
}

#[test]
fn debug_shows_no_key() {
    let mut pair = pair(&provider());
    pair.settle();
    let text = format!("{:?} {:?}", pair.a.connection, pair.b.connection);
    for seed in [CLIENT_SEED, SERVER_SEED] {
        assert!(!text.contains(keys(seed).secret().to_z85().as_str()));
        assert!(!text.contains(keys(seed).secret().to_hex().as_str()));
    }
}
