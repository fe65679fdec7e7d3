//! Wrong keys, wrong passwords, wrong mechanisms and no keys against libzmq: our monitor names each,
//! within a second, for every socket type, whichever side is bound.

use std::time::{Duration, Instant};

use interop::Side::{self, Ours, Theirs};
use interop::{
    LIBZMQ, Link, PAIRINGS, PYZMQ, Pairing, Path, Program, Sides, TIMEOUT, Transport,
    await_failure, options,
};
use sealwire::auth::{AllowAnyone, AllowedKeys, PasswordTable};
use sealwire::{
    FailureCause, Generate as _, KeyPair, Mechanism, ProtocolError, Security, SocketType,
};

/// From where the second side is started, or told to connect, to the error.
const PROMISE: Duration = Duration::from_secs(1);

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// A pair of sides that must not get along.
struct Case {
    what: String,
    ours: Security,
    theirs: Vec<String>,
    /// One of these must stand in what our monitor says.
    named: Vec<String>,
}

impl Case {
    fn new(what: &str, ours: Security, theirs: Vec<String>, named: &str) -> Self {
        Case {
            what: what.into(),
            ours,
            theirs,
            named: vec![named.into()],
        }
    }

    /// One attempt: how long it took until the error was there, and what it says.
    fn attempt(
        &self,
        program: Program,
        pairing: &Pairing,
        binds: Side,
    ) -> (Duration, FailureCause, String) {
        let sides = Sides {
            ours: self.ours.clone(),
            theirs: self.theirs.clone(),
            their_key: None,
        };
        let path = Path::null(program, Transport::Tcp, binds);
        let link = path.open_with(options(pairing.ours), &pairing.silent_script(), sides);
        let failure = await_failure(&link.monitor);
        let time = link.begun.elapsed();
        assert!(!failure.was_ready(), "{failure}");
        assert!(link.ours.peers().is_empty());
        assert_eq!(link.ours.counters().handshakes_completed, 0);
        never_got_a_message(link);
        (time, failure.cause().clone(), failure.to_string())
    }

    /// The error is named whenever it comes, and comes in time unless the machine stalls again and
    /// again.
    fn check(&self, program: Program, pairing: &Pairing, binds: Side) -> FailureCause {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let (time, cause, text) = self.attempt(program, pairing, binds);
            let case = format!(
                "{}, {}, {pairing:?}, bound: {binds:?}",
                self.what, program.what
            );
            let named = self.named.iter().any(|words| text.contains(words));
            assert!(named, "{case}: {text}");
            if time < PROMISE {
                return cause;
            }
            assert!(Instant::now() < deadline, "{case}: after {time:?}");
        }
    }

    /// Every pairing of socket types, whichever side is bound, against libzmq.
    fn check_all(&self, cause_is: impl Fn(&FailureCause)) {
        if !LIBZMQ.is_there() {
            return;
        }
        for pairing in &PAIRINGS {
            for binds in [Ours, Theirs] {
                cause_is(&self.check(LIBZMQ, pairing, binds));
            }
        }
    }
}

fn never_got_a_message(mut link: Link) {
    assert_eq!(link.ours.counters().messages_sent, 0);
    assert_eq!(link.peer.count("message"), 0);
}

// ---- keys and passwords -------------------------------------------------------------------------

fn three() -> [KeyPair; 3] {
    std::array::from_fn(|_| KeyPair::generate())
}

fn curve_client(own: &KeyPair, server: &KeyPair) -> Vec<String> {
    let (secret, server) = (own.secret().to_hex(), server.public().to_hex());
    let mechanism = ["--mechanism", "curve", "--secret-key", &secret];
    words(&[&mechanism[..], &["--server-key", &server]].concat())
}

fn curve_server(own: &KeyPair, allowed: &KeyPair) -> Vec<String> {
    let (secret, allowed) = (own.secret().to_hex(), allowed.public().to_hex());
    let mechanism = ["--mechanism", "curve", "--server", "--secret-key", &secret];
    words(&[&mechanism[..], &["--allow", &allowed]].concat())
}

fn plain(username: &str, password: &str) -> Vec<String> {
    let mechanism = ["--mechanism", "plain", "--username", username];
    words(&[&mechanism[..], &["--password", password]].concat())
}

fn plain_server(username: &str, password: &str) -> Vec<String> {
    let mut server = plain(username, password);
    server.push("--server".into());
    server
}

#[test]
fn a_wrong_server_key_is_named() {
    let [server, client, other] = three();
    let theirs_is_wrong = Case::new(
        "libzmq's client with another server's key",
        Security::curve_server(server.clone(), AllowAnyone),
        curve_client(&client, &other),
        "the client was given another server key",
    );
    let ours_is_wrong = Case::new(
        "our client with another server's key",
        Security::curve_client(other.public(), client.clone()),
        curve_server(&server, &client),
        "its key is probably not the one",
    );
    theirs_is_wrong.check_all(|_| {});
    ours_is_wrong.check_all(|_| {});
}

#[test]
fn a_wrong_client_key_is_named() {
    let [server, client, other] = three();
    let refused_by_us = Case::new(
        "libzmq's client with a key that is not allowed",
        Security::curve_server(server.clone(), AllowedKeys::new().allow(other.public())),
        curve_client(&client, &server),
        "this key is not allowed here",
    );
    let refused_by_libzmq = Case::new(
        "our client with a key that is not allowed",
        Security::curve_client(server.public(), client),
        curve_server(&server, &other),
        "refuses this key",
    );
    refused_by_us.check_all(assert_refused_here);
    refused_by_libzmq.check_all(|cause| assert_status(cause, "400"));
}

fn assert_refused_here(cause: &FailureCause) {
    let refused = matches!(cause, FailureCause::Protocol(ProtocolError::Refused(_)));
    assert!(refused, "{cause}");
}

fn assert_status(cause: &FailureCause, status: &str) {
    let FailureCause::Protocol(ProtocolError::PeerRefused { reason, .. }) = cause else {
        panic!("{cause}")
    };
    assert_eq!(reason, status);
}

#[test]
fn a_wrong_password_is_named() {
    let mut table = PasswordTable::new();
    table.insert("admin", "secret");
    let refused_by_us = Case::new(
        "libzmq's client with a wrong password",
        Security::plain_server(table),
        plain("admin", "guess"),
        "refused",
    );
    let refused_by_libzmq = Case::new(
        "our client with a wrong password",
        Security::plain_client("admin", "guess"),
        plain_server("admin", "secret"),
        "refuse",
    );
    refused_by_us.check_all(assert_refused_here);
    refused_by_libzmq.check_all(|cause| assert_status(cause, "400"));
}

// ---- mechanisms ---------------------------------------------------------------------------------

/// Every mechanism and role of ours with every other mechanism and role of libzmq's: a wrong
/// mechanism, and, where one of the two is NULL, no key.
fn mismatches() -> Vec<Case> {
    let [server, client, _] = three();
    let ours = [
        Security::plain_text(),
        Security::plain_client("a", "b"),
        Security::plain_server(AllowAnyone),
        Security::curve_client(server.public(), client.clone()),
        Security::curve_server(server.clone(), AllowAnyone),
        Security::blake3_client_with_keys(server.public(), client.clone()).into(),
        Security::blake3_server(server.clone(), AllowAnyone).into(),
    ];
    let theirs = [
        ("NULL", "peer", Vec::new()),
        ("PLAIN", "client", plain("a", "b")),
        ("PLAIN", "server", plain_server("a", "b")),
        ("CURVE", "client", curve_client(&client, &server)),
        ("CURVE", "server", curve_server(&server, &client)),
    ];
    let mut cases = Vec::new();
    for ours in &ours {
        for (mechanism, role, theirs) in &theirs {
            let our_mechanism = ours.mechanisms().map(Mechanism::name).collect::<String>();
            if our_mechanism != *mechanism {
                let what = format!("{our_mechanism} here, {mechanism} {role} there");
                let named =
                    format!("the peer uses the mechanism {mechanism}, this side {our_mechanism}");
                let mut case = Case::new(&what, ours.clone(), theirs.clone(), &named);
                // libzmq may close before the whole of its greeting has reached us.
                case.named.push("may use another mechanism".into());
                cases.push(case);
            }
        }
    }
    cases
}

#[test]
fn another_mechanism_and_no_key_are_named_with_libzmq() {
    let cases = mismatches();
    assert_eq!(cases.len(), 4 + 2 * 3 + 2 * 3 + 2 * 5);
    cases.iter().for_each(|case| case.check_all(|_| {}));
}

#[test]
fn a_server_with_two_mechanisms_names_both_to_a_client_with_neither() {
    if !LIBZMQ.is_there() {
        return;
    }
    let [server, ..] = three();
    let ours =
        Security::blake3_server(server.clone(), AllowAnyone).or_curve_server(server, AllowAnyone);
    for (mechanism, theirs) in [("NULL", Vec::new()), ("PLAIN", plain("a", "b"))] {
        let what = format!("BLAKE3 and CURVE here, {mechanism} there");
        let named = format!("the peer uses the mechanism {mechanism}, this side BLAKE3 or CURVE");
        let case = Case::new(&what, ours.clone(), theirs, &named);
        for pairing in &PAIRINGS {
            case.check(LIBZMQ, pairing, Ours);
        }
    }
}

#[test]
fn another_mechanism_and_no_key_are_named_with_pyzmq() {
    if PYZMQ.is_there() {
        // Python takes long to start: where it connects, that is most of the second.
        for case in mismatches() {
            let pairing = Pairing::of(SocketType::Push, SocketType::Pull);
            case.check(PYZMQ, &pairing, Theirs);
        }
    }
}
