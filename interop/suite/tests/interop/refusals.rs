//! Handshakes that must not succeed: each side says why, as far as it can know.

use std::time::Duration;

use interop::Side::{Ours, Theirs};
use interop::{
    LIBZMQ, Link, OMQ, OMQ_CODEC, Path, Program, Sides, Transport, await_event, await_failure,
    options,
};
use sealwire::auth::AllowedKeys;
use sealwire::{Event, Generate as _, KeyPair, ProtocolError, Security, SocketType};
use sealwire::{FailureCause, PeerAddress};

/// Time in which nothing more must happen.
const A_WHILE: Duration = Duration::from_millis(300);

const PULL: [&str; 4] = ["--type", "pull", "--recv", "1"];
const PUSH: [&str; 4] = ["--type", "push", "--send", "1"];

/// The first failure of a handshake, with what it says.
fn failed(link: &Link) -> (FailureCause, String) {
    let failure = await_failure(&link.monitor);
    assert!(!failure.was_ready(), "{failure}");
    assert!(matches!(failure.address(), PeerAddress::Tcp(_)));
    (failure.cause().clone(), failure.to_string())
}

/// Nobody on either side believes to be connected.
fn never_connects(mut link: Link) {
    assert!(link.ours.peers().is_empty());
    assert_eq!(link.ours.counters().handshakes_completed, 0);
    assert_eq!(link.peer.count("handshake"), 0);
    assert_eq!(link.peer.count("message"), 0);
}

/// The codec says what it failed for; omq-tokio says nothing and tries again.
fn sees_a_failure(link: &mut Link, program: Program, words: &str) {
    if program == OMQ_CODEC {
        let event = link.peer.event("handshake_failed");
        let reason = event["reason"].as_str().unwrap();
        assert!(reason.contains(words), "{reason}");
    } else {
        await_event(&link.monitor, "another attempt", |event| {
            matches!(event, Event::Accepted { .. }).then_some(())
        });
    }
}

fn keys(text: &[(&str, &str)]) -> Vec<String> {
    let mut arguments = vec!["--mechanism".to_string(), "blake3".into()];
    for (option, value) in text {
        arguments.extend([option, value].map(ToString::to_string));
    }
    arguments
}

#[test]
fn a_client_that_is_not_allowed() {
    let (server, client, other) = (
        KeyPair::generate(),
        KeyPair::generate(),
        KeyPair::generate(),
    );
    for program in [OMQ, OMQ_CODEC] {
        if !program.is_there() {
            continue;
        }
        let sides = Sides {
            ours: Security::blake3_server(server.clone(), AllowedKeys::new().allow(other.public()))
                .into(),
            theirs: keys(&[
                ("--server-key", &server.public().to_hex()),
                ("--secret-key", &client.secret().to_hex()),
            ]),
            their_key: None,
        };
        let path = Path::blake3(program, Ours, Ours);
        let mut link = path.open_with(options(SocketType::Pull), &PUSH, sides);
        let (cause, text) = failed(&link);
        let FailureCause::Protocol(ProtocolError::Refused(refusal)) = cause else {
            panic!("{text}")
        };
        sees_a_failure(&mut link, program, refusal.reason());
        never_connects(link);
    }
}

#[test]
fn our_client_is_not_allowed() {
    let (server, client, other) = (
        KeyPair::generate(),
        KeyPair::generate(),
        KeyPair::generate(),
    );
    for program in [OMQ, OMQ_CODEC] {
        if !program.is_there() {
            continue;
        }
        let mut theirs = keys(&[
            ("--secret-key", &server.secret().to_hex()),
            ("--allow", &other.public().to_hex()),
        ]);
        theirs.push("--server".into());
        let sides = Sides {
            ours: Security::blake3_client_with_keys(server.public(), client.clone()).into(),
            theirs,
            their_key: None,
        };
        let path = Path::blake3(program, Theirs, Theirs);
        let link = path.open_with(options(SocketType::Push), &PULL, sides);
        let (_, text) = failed(&link);
        // These servers close silently.
        assert!(text.contains("waiting for READY"), "{text}");
        await_event(&link.monitor, "another attempt", |event| {
            matches!(event, Event::Retrying { .. }).then_some(())
        });
        never_connects(link);
    }
}

#[test]
fn a_client_with_another_servers_key() {
    let (server, other) = (KeyPair::generate(), KeyPair::generate());
    for program in [OMQ, OMQ_CODEC] {
        if !program.is_there() {
            continue;
        }
        let sides = Sides {
            ours: Security::blake3_server(server.clone(), sealwire::auth::AllowAnyone).into(),
            theirs: keys(&[("--server-key", &other.public().to_hex())]),
            their_key: None,
        };
        let path = Path::blake3(program, Ours, Ours);
        let mut link = path.open_with(options(SocketType::Pull), &PUSH, sides);
        let (_, text) = failed(&link);
        assert!(
            text.contains("the client was given another server key"),
            "{text}"
        );
        sees_a_failure(&mut link, program, "closed");
        never_connects(link);
    }
}

#[test]
fn our_client_has_another_servers_key() {
    let (server, other) = (KeyPair::generate(), KeyPair::generate());
    for program in [OMQ, OMQ_CODEC] {
        if !program.is_there() {
            continue;
        }
        let mut theirs = keys(&[("--secret-key", &server.secret().to_hex())]);
        theirs.push("--server".into());
        let sides = Sides {
            ours: Security::blake3_client(other.public()).into(),
            theirs,
            their_key: None,
        };
        let path = Path::blake3(program, Theirs, Theirs);
        let link = path.open_with(options(SocketType::Push), &PULL, sides);
        let (_, text) = failed(&link);
        assert!(text.contains("its key is probably not the one"), "{text}");
        never_connects(link);
    }
}

#[test]
fn mechanisms_that_differ() {
    let path = Path::null(LIBZMQ, Transport::Tcp, Ours);
    if path.program.is_there() {
        let mut sides = path.protection.sides();
        sides.ours =
            Security::blake3_server(KeyPair::generate(), sealwire::auth::AllowAnyone).into();
        let link = path.open_with(options(SocketType::Pull), &PUSH, sides);
        let (_, text) = failed(&link);
        // It closes once it has read our greeting, before it has sent the whole of its own.
        let expected = "may use another mechanism";
        assert!(text.contains(expected), "{text}");
        never_connects(link);
    }
    for program in [OMQ, OMQ_CODEC] {
        let path = Path::blake3(program, Ours, Ours);
        if path.program.is_there() {
            let mut sides = path.protection.sides();
            sides.ours = Security::plain_text();
            let link = path.open_with(options(SocketType::Pull), &PUSH, sides);
            let (_, text) = failed(&link);
            // It may close before the whole of its greeting has reached us.
            let expected = [
                "the peer uses the mechanism BLAKE3, this side NULL",
                "may use another mechanism",
            ];
            assert!(expected.iter().any(|words| text.contains(words)), "{text}");
            never_connects(link);
        }
    }
}

#[test]
fn two_servers_of_the_mechanism() {
    // omq-tokio calls itself server whenever it binds, although it is the client here.
    let path = Path::blake3(OMQ, Theirs, Ours);
    if path.program.is_there() {
        let link = path.open(options(SocketType::Pull), &PUSH);
        let (_, text) = failed(&link);
        assert!(text.contains("both sides are servers"), "{text}");
        never_connects(link);
    }
}

#[test]
fn socket_types_that_do_not_fit() {
    for path in [
        Path::null(LIBZMQ, Transport::Tcp, Ours),
        Path::blake3(OMQ, Ours, Ours),
        Path::blake3(OMQ_CODEC, Ours, Ours),
    ] {
        if path.program.is_there() {
            let link = path.open(options(SocketType::Rep), &PUSH);
            let (_, text) = failed(&link);
            assert!(
                text.contains("a REP socket cannot be connected to a PUSH"),
                "{text}"
            );
            assert!(link.ours.recv_timeout(A_WHILE).is_err());
        }
    }
}
