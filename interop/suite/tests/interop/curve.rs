//! CURVE against libzmq: every pairing, either side server, either side bound; who is refused; and
//! certificates.

use std::process::Command;

use interop::Side::{Ours, Theirs};
use interop::{LIBZMQ, Link, PYZMQ, Path, SEALWIRE, Sides, await_failure, await_ready, options};
use sealwire::auth::{AllowAnyone, AllowedKeys};
use sealwire::{FailureCause, Generate as _, KeyPair, ProtocolError, Security, SocketType, keys};

use crate::{every_pairing, every_pairing_but_req};

const PULL: [&str; 4] = ["--type", "pull", "--recv", "1"];
const PUSH: [&str; 4] = ["--type", "push", "--send", "1"];

#[test]
fn libzmq_is_the_client_and_connects() {
    every_pairing(Path::curve(LIBZMQ, Ours, Ours));
}

#[test]
fn libzmq_is_the_client_and_binds() {
    every_pairing(Path::curve(LIBZMQ, Theirs, Ours));
}

#[test]
fn libzmq_is_the_server_and_connects() {
    every_pairing(Path::curve(LIBZMQ, Ours, Theirs));
}

#[test]
fn libzmq_is_the_server_and_binds() {
    every_pairing(Path::curve(LIBZMQ, Theirs, Theirs));
}

#[test]
fn pyzmq_is_the_client() {
    every_pairing(Path::curve(PYZMQ, Ours, Ours));
}

#[test]
fn pyzmq_is_the_server() {
    every_pairing_but_req(Path::curve(PYZMQ, Theirs, Theirs));
}

fn arguments(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// The first failure, which must not be one of an established connection.
fn failed(link: &Link) -> (FailureCause, String) {
    let failure = await_failure(&link.monitor);
    assert!(!failure.was_ready(), "{failure}");
    assert!(link.ours.peers().is_empty());
    (failure.cause().clone(), failure.to_string())
}

#[test]
fn certificates_that_we_wrote_are_read_by_pyzmq() {
    if !PYZMQ.is_there() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (server, client) = (KeyPair::generate(), KeyPair::generate());
    let write = |name: &str, pair: &KeyPair| {
        let stem = folder.path().join(name);
        let (public, secret) = keys::write_czmq_certificate(stem, pair).unwrap();
        [public, secret].map(|path| path.display().to_string())
    };
    let [server_public, server_secret] = write("server", &server);
    let [_, client_secret] = write("client", &client);

    let theirs = arguments(&[
        "--mechanism",
        "curve",
        "--certificate",
        &client_secret,
        "--server-certificate",
        &server_public,
    ]);
    let allowed = AllowedKeys::new().allow(client.public());
    let sides = Sides {
        ours: Security::curve_server(server.clone(), allowed),
        theirs,
        their_key: Some(client.public()),
    };
    let path = Path::curve(PYZMQ, Ours, Ours);
    let link = path.open_with(options(SocketType::Pull), &PUSH, sides);
    let received = link.ours.recv().unwrap();
    assert_eq!(received.peer().unwrap().public_key(), Some(client.public()));
    link.peer.finish();

    let allowed = folder.path().join("allowed");
    std::fs::create_dir(&allowed).unwrap();
    keys::write_czmq_certificate(allowed.join("client"), &client).unwrap();
    let theirs = arguments(&[
        "--mechanism",
        "curve",
        "--server",
        "--certificate",
        &server_secret,
        "--allow-certificates",
        &allowed.display().to_string(),
    ]);
    let sides = Sides {
        ours: Security::curve_client(server.public(), client),
        theirs,
        their_key: Some(server.public()),
    };
    let path = Path::curve(PYZMQ, Theirs, Theirs);
    let link = path.open_with(options(SocketType::Push), &PULL, sides);
    await_ready(&link.monitor);
    link.ours.send("x").unwrap();
    link.peer.finish();
}

#[test]
fn certificates_of_the_program_are_read_by_pyzmq() {
    if !PYZMQ.is_there() || !SEALWIRE.is_there() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let keygen = |name: &str| {
        let stem = folder.path().join(name);
        let made = Command::new(SEALWIRE.path())
            .args(["keygen", "--czmq", "--out"])
            .arg(&stem)
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        ["key", "key_secret"].map(|extension| stem.with_extension(extension))
    };
    let [server_public, server_secret] = keygen("server");
    let [client_public, client_secret] = keygen("client");
    let theirs = arguments(&[
        "--mechanism",
        "curve",
        "--certificate",
        &client_secret.display().to_string(),
        "--server-certificate",
        &server_public.display().to_string(),
    ]);
    let client = keys::read_public_key(client_public).unwrap();
    let sides = Sides {
        ours: Security::curve_server(
            keys::read_key_pair(server_secret).unwrap(),
            AllowedKeys::new().allow(client),
        ),
        theirs,
        their_key: Some(client),
    };
    let link = Path::curve(PYZMQ, Ours, Ours).open_with(options(SocketType::Pull), &PUSH, sides);
    let received = link.ours.recv().unwrap();
    assert_eq!(received.peer().unwrap().public_key(), Some(client));
    link.peer.finish();
}

#[test]
fn a_client_with_another_servers_key_is_named() {
    let (server, client, other) = (
        KeyPair::generate(),
        KeyPair::generate(),
        KeyPair::generate(),
    );
    let secret = client.secret().to_hex();
    let sides = Sides {
        ours: Security::curve_server(server, AllowAnyone),
        theirs: arguments(&[
            "--mechanism",
            "curve",
            "--secret-key",
            &secret,
            "--server-key",
            &other.public().to_hex(),
        ]),
        their_key: None,
    };
    let path = Path::curve(LIBZMQ, Ours, Ours);
    if path.program.is_there() {
        let link = path.open_with(options(SocketType::Pull), &PUSH, sides);
        let (_, text) = failed(&link);
        let expected = "the client was given another server key";
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn our_client_with_another_servers_key_is_told_so() {
    let (server, client, other) = (
        KeyPair::generate(),
        KeyPair::generate(),
        KeyPair::generate(),
    );
    let secret = server.secret().to_hex();
    let sides = Sides {
        ours: Security::curve_client(other.public(), client),
        theirs: arguments(&["--mechanism", "curve", "--server", "--secret-key", &secret]),
        their_key: None,
    };
    let path = Path::curve(LIBZMQ, Theirs, Theirs);
    if path.program.is_there() {
        let link = path.open_with(options(SocketType::Push), &PULL, sides);
        let (_, text) = failed(&link);
        assert!(text.contains("its key is probably not the one"), "{text}");
    }
}

#[test]
fn a_refusal_of_libzmq_is_named() {
    let (server, client, other) = (
        KeyPair::generate(),
        KeyPair::generate(),
        KeyPair::generate(),
    );
    let secret = server.secret().to_hex();
    let sides = Sides {
        ours: Security::curve_client(server.public(), client),
        theirs: arguments(&[
            "--mechanism",
            "curve",
            "--server",
            "--secret-key",
            &secret,
            "--allow",
            &other.public().to_hex(),
        ]),
        their_key: None,
    };
    let path = Path::curve(LIBZMQ, Theirs, Theirs);
    if path.program.is_there() {
        let link = path.open_with(options(SocketType::Push), &PULL, sides);
        let (cause, text) = failed(&link);
        let FailureCause::Protocol(ProtocolError::PeerRefused { reason, .. }) = cause else {
            panic!("{text}")
        };
        assert_eq!(reason, "400");
        assert!(text.contains("refuses this key"), "{text}");
    }
}

#[test]
fn a_key_that_is_not_allowed_is_refused() {
    let (server, client) = (KeyPair::generate(), KeyPair::generate());
    let secret = client.secret().to_hex();
    let sides = Sides {
        ours: Security::curve_server(server.clone(), AllowedKeys::new()),
        theirs: arguments(&[
            "--mechanism",
            "curve",
            "--secret-key",
            &secret,
            "--server-key",
            &server.public().to_hex(),
        ]),
        their_key: None,
    };
    let path = Path::curve(LIBZMQ, Ours, Ours);
    if path.program.is_there() {
        let link = path.open_with(options(SocketType::Pull), &PUSH, sides);
        let (cause, text) = failed(&link);
        let refused = matches!(cause, FailureCause::Protocol(ProtocolError::Refused(_)));
        assert!(refused, "{text}");
    }
}

/// libzmq has these options while we have this security; what our side says must have one of the
/// words in it. libzmq may close before the whole of its greeting has reached us.
fn mismatch(ours: Security, theirs: &[&str], expected: &str) {
    for (script, socket_type) in [(PUSH, SocketType::Pull), (PULL, SocketType::Push)] {
        let path = Path::null(LIBZMQ, interop::Transport::Tcp, Ours);
        if !path.program.is_there() {
            return;
        }
        let sides = Sides {
            ours: ours.clone(),
            theirs: arguments(theirs),
            their_key: None,
        };
        let link = path.open_with(options(socket_type), &script, sides);
        let (_, text) = failed(&link);
        let expected = [expected, "may use another mechanism"];
        assert!(expected.iter().any(|words| text.contains(words)), "{text}");
    }
}

#[test]
fn no_key_is_named() {
    let keys = KeyPair::generate();
    let client = Security::curve_client(keys.public(), KeyPair::generate());
    let server = Security::curve_server(keys, AllowAnyone);
    let expected = "the peer uses the mechanism NULL, this side CURVE";
    mismatch(server, &[], expected);
    mismatch(client, &[], expected);
}

#[test]
fn a_password_instead_of_a_key_is_named() {
    let keys = KeyPair::generate();
    let theirs = ["--mechanism", "plain", "--username", "a", "--password", "b"];
    let expected = "the peer uses the mechanism PLAIN, this side CURVE";
    mismatch(Security::curve_server(keys, AllowAnyone), &theirs, expected);
}

#[test]
fn a_key_where_none_is_expected_is_named() {
    let (server, client) = (KeyPair::generate(), KeyPair::generate());
    let theirs = [
        "--mechanism",
        "curve",
        "--secret-key",
        &client.secret().to_hex(),
        "--server-key",
        &server.public().to_hex(),
    ];
    for ours in [
        Security::null(),
        Security::blake3_server(server, AllowAnyone),
        Security::plain_server(AllowAnyone),
    ] {
        let expected = format!(
            "the peer uses the mechanism CURVE, this side {}",
            ours.mechanism()
        );
        mismatch(ours, &theirs, &expected);
    }
}
