//! ZAP on either side: our handler decides about libzmq's sockets, libzmq's about ours, for every
//! socket type and mechanism.

use std::thread;
use std::time::Duration;

use interop::Side::{self, Ours, Theirs};
use interop::{
    FEW, LIBZMQ, PAIRINGS, PYZMQ, Pairing, Path, Program, Protection, Sides, await_failure, options,
};
use sealwire::auth::{AllowAnyone, zap};
use sealwire::blocking::Socket;
use sealwire::protocol::CloseKind;
use sealwire::{
    Context, FailureCause, Generate as _, KeyPair, Message, ProtocolError, Security, SocketType,
};

const PUSH: [&str; 4] = ["--type", "push", "--send", "1"];
/// After which we give up a peer that says nothing.
const SILENCE: Duration = Duration::from_secs(1);
const STATUSES: [(&str, u16); 3] = [("300", 300), ("400", 400), ("500", 500)];

/// Answers every request with this status, after comparing its mechanism and credentials; ends with
/// its socket.
fn handler(context: &Context, status: &'static str, expected: Vec<Vec<u8>>) -> Socket {
    let socket = Socket::builder(SocketType::Rep).context(context);
    let socket = socket.build_blocking().unwrap();
    socket.bind(zap::ENDPOINT).unwrap();
    let serving = socket.clone();
    thread::spawn(move || {
        while let Ok(request) = serving.recv() {
            let frames: Vec<_> = request.frames().iter().map(|f| f.to_vec()).collect();
            let status = if frames[5..] == expected {
                status
            } else {
                "500"
            };
            let user = if status == "200" { "alice" } else { "" };
            let id = &frames[1][..];
            let metadata = b"\x04Role\0\0\0\x05admin";
            let reply = [
                &b"1.0"[..],
                id,
                status.as_bytes(),
                b"as told",
                user.as_bytes(),
                metadata,
            ];
            if serving.send(Message::multipart(reply)).is_err() {
                return;
            }
        }
    });
    socket
}

/// Our servers of each mechanism, what the client is given, and what the handler must see.
fn mechanisms() -> [(Security, Vec<String>, Vec<Vec<u8>>); 3] {
    let (server, client) = (KeyPair::generate(), KeyPair::generate());
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
    let with_keys = words(&[
        "--mechanism",
        "curve",
        "--secret-key",
        &client.secret().to_hex(),
        "--server-key",
        &server.public().to_hex(),
    ]);
    let with_password = words(&["--mechanism", "plain", "--username", "u", "--password", "p"]);
    [
        (
            Security::curve_server(server, AllowAnyone),
            with_keys,
            vec![b"CURVE".to_vec(), client.public().as_bytes().to_vec()],
        ),
        (
            Security::plain_server(AllowAnyone),
            with_password,
            vec![b"PLAIN".to_vec(), b"u".to_vec(), b"p".to_vec()],
        ),
        (Security::plain_text(), Vec::new(), vec![b"NULL".to_vec()]),
    ]
}

fn each(status: &'static str, check: impl Fn(interop::Link)) {
    for program in [LIBZMQ, PYZMQ] {
        each_mechanism(program, &PUSH, status, &check);
    }
}

fn each_mechanism(
    program: Program,
    script: &[&str],
    status: &'static str,
    check: impl Fn(interop::Link),
) {
    if !program.is_there() {
        return;
    }
    for (ours, theirs, expected) in mechanisms() {
        let context = Context::new().unwrap();
        let _handler = handler(&context, status, expected);
        let path = Path::plain(program, Ours, Ours);
        let mut sides = path.protection.sides();
        (sides.ours, sides.theirs) = (ours, theirs);
        let socket = options(SocketType::Pull).context(&context).zap_domain("d");
        check(path.open_with(socket, script, sides));
    }
}

#[test]
fn who_is_allowed_has_the_name_and_metadata_of_the_handler() {
    each("200", |link| {
        let message = link.ours.recv().unwrap();
        let peer = message.peer().unwrap();
        assert_eq!(peer.user_id(), Some("alice"));
        assert_eq!(peer.vouched_metadata("Role"), Some(&b"admin"[..]));
        link.peer.finish();
    });
}

#[test]
fn who_is_refused_is_named_with_the_status() {
    for (status, number) in STATUSES {
        each(status, |link| {
            let failure = await_failure(&link.monitor);
            match failure.cause() {
                FailureCause::RefusedByZap { status, text, .. } => {
                    assert_eq!((*status, &text[..]), (number, "as told"));
                }
                _ => panic!("{failure}"),
            }
            assert_eq!(link.ours.counters().messages_received, 0);
            assert!(link.ours.peers().is_empty());
        });
    }
}

/// 400 and 500 are final, and libzmq's monitor has the number; with 300 it comes again.
#[test]
fn libzmq_hears_what_our_handler_said() {
    let watched = [&PUSH[..], &["--monitor"]].concat();
    for (status, number) in STATUSES {
        each_mechanism(LIBZMQ, &watched, status, |mut link| {
            if number == 300 {
                for _ in 0..3 {
                    let failure = await_failure(&link.monitor);
                    let cause = failure.cause();
                    assert!(
                        matches!(cause, FailureCause::RefusedByZap { .. }),
                        "{cause}"
                    );
                }
                assert_eq!(link.peer.count("handshake_refused"), 0);
            } else {
                assert_eq!(link.peer.event("handshake_refused")["value"], number);
            }
        });
    }
}

// ---- every socket type --------------------------------------------------------------------------

/// What a client of libzmq is given for our server of each mechanism; the handler decides alone.
fn asked_about(protection: Protection) -> (Sides, Vec<Vec<u8>>) {
    let mut sides = protection.sides();
    let credentials = match protection {
        Protection::Curve { .. } => {
            let key = sides.their_key.expect("a client with a key");
            vec![b"CURVE".to_vec(), key.as_bytes().to_vec()]
        }
        Protection::Plain { .. } => {
            sides.ours = Security::plain_server(AllowAnyone);
            let value = |option| {
                let at = sides.theirs.iter().position(|word| word == option);
                sides.theirs[at.expect("it is given") + 1]
                    .clone()
                    .into_bytes()
            };
            vec![b"PLAIN".to_vec(), value("--username"), value("--password")]
        }
        _ => vec![b"NULL".to_vec()],
    };
    (sides, credentials)
}

/// The three mechanisms with this side as the server; under NULL that is who asks its handler.
fn served_by(server: Side) -> [Protection; 3] {
    [
        Protection::Null,
        Protection::Plain { server },
        Protection::Curve { server },
    ]
}

fn path(binds: Side, protection: Protection) -> Path {
    Path::tcp(LIBZMQ, binds, protection)
}

/// libzmq's socket with a handler that gives this status to a client with the expected credentials.
fn asking_theirs(protection: Protection, status: &str) -> Sides {
    let mut sides = protection.sides();
    sides.theirs.extend(["--zap".into(), status.into()]);
    sides
}

#[test]
fn every_socket_type_passes_our_handler() {
    if !LIBZMQ.is_there() {
        return;
    }
    for protection in served_by(Ours) {
        for pairing in PAIRINGS {
            let context = Context::new().unwrap();
            let (sides, expected) = asked_about(protection);
            let _handler = handler(&context, "200", expected);
            path(Ours, protection).exchange_with(pairing, &FEW, sides, |ours| {
                ours.context(&context).zap_domain("d")
            });
        }
    }
}

#[test]
fn every_socket_type_passes_libzmqs_handler() {
    if !LIBZMQ.is_there() {
        return;
    }
    for protection in served_by(Theirs) {
        for pairing in PAIRINGS {
            let sides = asking_theirs(protection, "200");
            path(Theirs, protection).exchange_with(pairing, &FEW, sides, |ours| ours);
        }
    }
}

#[test]
fn every_socket_type_is_refused_by_our_handler() {
    if !LIBZMQ.is_there() {
        return;
    }
    for protection in served_by(Ours) {
        for pairing in &PAIRINGS {
            let context = Context::new().unwrap();
            let (sides, expected) = asked_about(protection);
            let _handler = handler(&context, "400", expected);
            let ours = options(pairing.ours).context(&context).zap_domain("d");
            let link = path(Ours, protection).open_with(ours, &pairing.silent_script(), sides);
            let failure = await_failure(&link.monitor);
            let cause = failure.cause().to_string();
            let refused = "refused by ZAP: 400 as told";
            assert_eq!(cause, refused, "{protection:?}, {pairing:?}");
            assert_eq!(link.ours.counters().handshakes_completed, 0);
            assert!(link.ours.peers().is_empty());
        }
    }
}

#[test]
fn every_socket_type_is_refused_by_libzmqs_handler() {
    if !LIBZMQ.is_there() {
        return;
    }
    for protection in served_by(Theirs) {
        for pairing in &PAIRINGS {
            assert_refused(protection, pairing, "400");
        }
    }
}

#[test]
fn what_libzmqs_handler_says_is_named() {
    if !LIBZMQ.is_there() {
        return;
    }
    let pairing = Pairing::of(SocketType::Push, SocketType::Pull);
    for protection in served_by(Theirs) {
        for status in ["400", "500"] {
            assert_refused(protection, &pairing, status);
        }
    }
}

/// Our socket is told no by libzmq's handler, and says so.
fn assert_refused(protection: Protection, pairing: &Pairing, status: &str) {
    for binds in [Ours, Theirs] {
        let sides = asking_theirs(protection, status);
        let ours = options(pairing.ours);
        let link = path(binds, protection).open_with(ours, &pairing.silent_script(), sides);
        let failure = await_failure(&link.monitor);
        let case = format!("{protection:?}, {pairing:?}, {status}: {failure}");
        match failure.cause() {
            FailureCause::Protocol(ProtocolError::PeerRefused { reason, .. }) => {
                assert_eq!(reason, status, "{case}");
            }
            _ => panic!("{case}"),
        }
        assert!(!failure.was_ready(), "{case}");
        assert_eq!(link.ours.counters().handshakes_completed, 0, "{case}");
    }
}

/// With 300 libzmq says nothing more and keeps the connection until somebody's handshake timeout; it
/// closes only when something of ours comes after the answer, as READY may. We come again.
#[test]
fn a_handler_of_libzmq_that_cannot_decide_now_is_asked_again() {
    if !LIBZMQ.is_there() {
        return;
    }
    let pairing = Pairing::of(SocketType::Push, SocketType::Pull);
    for protection in served_by(Theirs) {
        let sides = asking_theirs(protection, "300");
        let ours = options(pairing.ours).handshake_timeout(SILENCE);
        let link = path(Theirs, protection).open_with(ours, &pairing.silent_script(), sides);
        for _ in 0..2 {
            let failure = await_failure(&link.monitor);
            let FailureCause::Protocol(cause) = failure.cause() else {
                panic!("{failure}")
            };
            let expected = matches!(
                cause,
                ProtocolError::HandshakeTimeout { .. }
                    | ProtocolError::Closed(CloseKind::DuringHandshake(_))
            );
            assert!(expected, "{protection:?}: {failure}");
        }
        assert_eq!(link.ours.counters().handshakes_completed, 0);
    }
}
