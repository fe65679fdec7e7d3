//! Our servers with a ZAP handler, and libzmq's clients of CURVE and PLAIN.

use std::thread;

use interop::Side::Ours;
use interop::{LIBZMQ, PYZMQ, Path, Program, await_failure, options};
use sealwire::auth::{AllowAnyone, zap};
use sealwire::blocking::Socket;
use sealwire::{Context, FailureCause, Generate as _, KeyPair, Message, Security, SocketType};

const PUSH: [&str; 4] = ["--type", "push", "--send", "1"];

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

/// Our servers of both mechanisms, what the client is given, and what the handler must see.
fn mechanisms() -> [(Security, Vec<String>, Vec<Vec<u8>>); 2] {
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
    ]
}

fn each(status: &'static str, check: impl Fn(interop::Link)) {
    let both = |program: Program| mechanisms().map(|mechanism| (program, mechanism));
    for (program, (ours, theirs, expected)) in [LIBZMQ, PYZMQ].into_iter().flat_map(both) {
        if !program.is_there() {
            continue;
        }
        let context = Context::new().unwrap();
        let _handler = handler(&context, status, expected);
        let path = Path::plain(program, Ours, Ours);
        let mut sides = path.protection.sides();
        (sides.ours, sides.theirs) = (ours, theirs);
        let socket = options(SocketType::Pull).context(&context).zap_domain("d");
        check(path.open_with(socket, &PUSH, sides));
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
    for (status, number) in [("300", 300), ("400", 400), ("500", 500)] {
        each(status, |link| {
            let failure = await_failure(&link.monitor);
            match failure.cause() {
                FailureCause::RefusedByZap { status, text } => {
                    assert_eq!((*status, &text[..]), (number, "as told"));
                }
                _ => panic!("{failure}"),
            }
            assert_eq!(link.ours.counters().messages_received, 0);
            assert!(link.ours.peers().is_empty());
        });
    }
}
