//! ZAP: a handler in the process decides about peers, and what it says stays with them.

mod absent;

use std::cell::Cell;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::support::{await_event, options};
use sealwire::auth::{AllowAnyone, PasswordTable, zap};
use sealwire::blocking::Socket;
use sealwire::{
    Context, Event, FailureCause, Generate as _, KeyPair, Mechanism, Message, Peer, ProtocolError,
    Security, SocketType,
};
use sealwire_zmtp::error::CloseKind;

/// The two sides of each mechanism with keys, and of a server that has both.
fn keyed(server: &KeyPair, client: &KeyPair) -> [(Security, Security); 4] {
    let both = Security::blake3_server(server.clone(), AllowAnyone)
        .or_curve_server(server.clone(), AllowAnyone);
    [
        (
            both.clone(),
            Security::blake3_client_with_keys(server.public(), client.clone()).into(),
        ),
        (
            both,
            Security::curve_client(server.public(), client.clone()),
        ),
        (
            Security::blake3_server(server.clone(), AllowAnyone).into(),
            Security::blake3_client_with_keys(server.public(), client.clone()).into(),
        ),
        (
            Security::curve_server(server.clone(), AllowAnyone),
            Security::curve_client(server.public(), client.clone()),
        ),
    ]
}

/// The two sides of every mechanism.
fn every_mechanism() -> Vec<(Security, Security)> {
    let mut sides = vec![
        (Security::plain_text(), Security::plain_text()),
        (
            Security::plain_server(AllowAnyone),
            Security::plain_client("alice", "s3cret"),
        ),
    ];
    sides.extend(keyed(&KeyPair::generate(), &KeyPair::generate()));
    sides
}

/// A handler of this type that answers with what `answer` makes of each request; it ends with its
/// socket.
fn handler(
    context: &Context,
    socket_type: SocketType,
    mut answer: impl FnMut(&[Vec<u8>]) -> Vec<Vec<u8>> + Send + 'static,
) -> Socket {
    let socket = Socket::builder(socket_type).context(context);
    let socket = socket.build_blocking().unwrap();
    socket.bind(zap::ENDPOINT).unwrap();
    let serving = socket.clone();
    thread::spawn(move || {
        while let Ok(message) = serving.recv() {
            let frames: Vec<_> = message.frames().iter().map(|f| f.to_vec()).collect();
            // A ROUTER has the way back in front.
            let envelope = if socket_type == SocketType::Router {
                2
            } else {
                0
            };
            let mut reply = frames[..envelope].to_vec();
            reply.extend(answer(&frames[envelope..]));
            if serving.send(Message::multipart(reply)).is_err() {
                return;
            }
        }
    });
    socket
}

fn reply(request: &[Vec<u8>], status: &str, user: &str, metadata: &[u8]) -> Vec<Vec<u8>> {
    vec![
        request[0].clone(),
        request[1].clone(),
        status.into(),
        "the reason".into(),
        user.into(),
        metadata.into(),
    ]
}

fn refusal(event: &Event) -> Option<(u16, String)> {
    match event {
        Event::Failed(failure) => match failure.cause() {
            FailureCause::RefusedByZap { status, text, .. } => Some((*status, text.clone())),
            _ => None,
        },
        _ => None,
    }
}

/// Why the handler did not decide.
fn fault(event: &Event) -> Option<zap::Fault> {
    match event {
        Event::Failed(failure) => match failure.cause() {
            FailureCause::RefusedByZap { fault, .. } => *fault,
            _ => None,
        },
        _ => None,
    }
}

/// The word of the server, as the client hears it.
fn told(event: &Event) -> Option<String> {
    match event {
        Event::Failed(failure) => match failure.cause() {
            FailureCause::Protocol(ProtocolError::PeerRefused { reason, .. }) => {
                Some(reason.clone())
            }
            _ => None,
        },
        _ => None,
    }
}

/// The server has left the handshake silently.
fn closed(event: &Event) -> Option<()> {
    match event {
        Event::Failed(failure) => match failure.cause() {
            FailureCause::Protocol(ProtocolError::Closed(CloseKind::DuringHandshake(_))) => {
                Some(())
            }
            // What the client had just sent was not read any more.
            FailureCause::Transport(_) => Some(()),
            _ => None,
        },
        _ => None,
    }
}

/// Connects them and says what the PULL knows of the PUSH once a message has come.
fn greeted_by(pull: &Socket, push: &Socket) -> Arc<Peer> {
    push.connect(pull.bind("tcp://127.0.0.1:*").unwrap())
        .unwrap();
    push.send("hello").unwrap();
    pull.recv().unwrap().peer().unwrap().clone()
}

#[test]
fn a_handler_sees_the_key_and_its_words_stay_with_the_peer() {
    let (server_keys, client_keys) = (KeyPair::generate(), KeyPair::generate());
    for (ours, theirs) in keyed(&server_keys, &client_keys) {
        for socket_type in [SocketType::Rep, SocketType::Router] {
            let context = Context::new().unwrap();
            let mechanism = theirs.mechanisms().next().unwrap();
            let expected = client_keys.public().as_bytes().to_vec();
            let _handler = handler(&context, socket_type, move |request| {
                assert_eq!(request.len(), 7);
                assert_eq!(request[0], b"1.0");
                assert_eq!(request[2], b"the domain");
                assert_eq!(request[3], b"127.0.0.1");
                assert_eq!(request[4], b"its name");
                assert_eq!(request[5], mechanism.name().as_bytes());
                assert_eq!(request[6], expected);
                reply(request, "200", "alice", b"\x04Role\0\0\0\x05admin")
            });
            let pull = options(SocketType::Pull)
                .context(&context)
                .security(ours.clone())
                .zap_domain("the domain")
                .build_blocking()
                .unwrap();
            let push = options(SocketType::Push)
                .security(theirs.clone())
                .routing_id("its name")
                .metadata("Role", "what it claims")
                .metadata("X-Other", "its own")
                .build_blocking()
                .unwrap();
            let peer = greeted_by(&pull, &push);
            assert_eq!(peer.public_key(), Some(client_keys.public()));
            assert_eq!(peer.user_id(), Some("alice"));
            assert_eq!(peer.metadata("role"), Some(&b"admin"[..]));
            assert_eq!(peer.vouched_metadata("Role"), Some(&b"admin"[..]));
            assert_eq!(peer.metadata("X-Other"), Some(&b"its own"[..]));
            assert_eq!(peer.vouched_metadata("X-Other"), None);
        }
    }
}

#[test]
fn a_handler_sees_username_and_password_and_its_words_stay_with_the_peer() {
    for socket_type in [SocketType::Rep, SocketType::Router] {
        let context = Context::new().unwrap();
        let _handler = handler(&context, socket_type, move |request| {
            assert_eq!(request.len(), 8);
            assert_eq!(request[2], b"the domain");
            // It says what it is called after it was let in.
            assert_eq!(request[4], b"");
            assert_eq!(request[5], b"PLAIN");
            assert_eq!(request[6..], [b"admin".to_vec(), b"s3cret".to_vec()]);
            reply(request, "200", "", b"\x04Role\0\0\0\x05admin")
        });
        let mut table = PasswordTable::new();
        table.insert("admin", "s3cret");
        let pull = options(SocketType::Pull)
            .context(&context)
            .security(Security::plain_server(table))
            .zap_domain("the domain")
            .build_blocking()
            .unwrap();
        let push = options(SocketType::Push)
            .security(Security::plain_client("admin", "s3cret"))
            .routing_id("its name")
            .metadata("Role", "what it claims")
            .build_blocking()
            .unwrap();
        let peer = greeted_by(&pull, &push);
        assert_eq!(peer.public_key(), None);
        // The handler gave no name, so the one of the table holds.
        assert_eq!(peer.user_id(), Some("admin"));
        assert_eq!(peer.metadata("Role"), Some(&b"admin"[..]));
        assert_eq!(peer.vouched_metadata("Role"), Some(&b"admin"[..]));
    }
}

#[test]
fn null_is_asked_about_with_a_domain_and_not_without() {
    for (domain, asked) in [("d", true), ("", false)] {
        let context = Context::new().unwrap();
        let _handler = handler(&context, SocketType::Rep, move |request| {
            assert!(asked, "an empty domain leaves NULL alone");
            assert_eq!((request.len(), &request[5][..]), (6, &b"NULL"[..]));
            // The client in question has said nothing yet.
            assert_eq!(request[4], b"");
            reply(request, "200", "bob", b"")
        });
        let pull = options(SocketType::Pull).context(&context);
        let pull = pull.zap_domain(domain).build_blocking().unwrap();
        let push = options(SocketType::Push).routing_id("its name");
        let push = push.build_blocking().unwrap();
        push.connect(pull.bind("tcp://127.0.0.1:*").unwrap())
            .unwrap();
        for number in 0..100 {
            push.send(number.to_string()).unwrap();
        }
        for number in 0..100 {
            let message = pull.recv().unwrap();
            assert_eq!(message.as_str(), Ok(&*number.to_string()));
            let user = message.peer().unwrap().user_id().map(String::from);
            assert_eq!(user.as_deref(), asked.then_some("bob"));
        }
    }
}

#[test]
fn a_refusal_is_seen_on_both_sides() {
    for (ours, theirs) in every_mechanism() {
        for status in [300_u16, 400, 500] {
            let context = Context::new().unwrap();
            let _handler = handler(&context, SocketType::Rep, move |request| {
                reply(request, &status.to_string(), "", b"")
            });
            let pull = options(SocketType::Pull).security(ours.clone());
            let pull = pull.context(&context).zap_domain("d");
            let pull = pull.build_blocking().unwrap();
            let push = options(SocketType::Push).security(theirs.clone());
            let push = push.linger(Duration::ZERO).build_blocking().unwrap();
            let (at_server, at_client) = (pull.monitor(), push.monitor());
            push.connect(pull.bind("tcp://127.0.0.1:*").unwrap())
                .unwrap();
            push.send("never heard").unwrap();
            assert_eq!(
                await_event(&at_server, "refused", refusal),
                (status, "the reason".into())
            );
            if status == 300 && theirs.mechanisms().all(|one| one != Mechanism::Blake3) {
                await_event(&at_client, "closed", closed);
            } else {
                let told = await_event(&at_client, "told", told);
                assert_eq!(told, status.to_string(), "{ours:?}");
            }
            assert_eq!(pull.counters().messages_received, 0);
            assert!(pull.peers().is_empty());
        }
    }
}

#[test]
fn null_keeps_what_is_sent_before_the_handler_has_answered() {
    for connects in [false, true] {
        let context = Context::new().unwrap();
        let mut statuses = ["400", "300", "500", "200"].into_iter();
        let _handler = handler(&context, SocketType::Rep, move |request| {
            assert_eq!(
                (&request[3][..], &request[5][..]),
                (&b"127.0.0.1"[..], &b"NULL"[..])
            );
            reply(request, statuses.next().unwrap_or("500"), "bob", b"")
        });
        let decides = options(SocketType::Pull).context(&context).zap_domain("d");
        let pull = decides.build_blocking().unwrap();
        let push = options(SocketType::Push).build_blocking().unwrap();
        let monitors = [pull.monitor(), push.monitor()];
        let (binds, to) = if connects {
            (&push, &pull)
        } else {
            (&pull, &push)
        };
        to.connect(binds.bind("tcp://127.0.0.1:*").unwrap())
            .unwrap();
        for number in 0..100 {
            push.send(number.to_string()).unwrap();
        }
        for number in 0..100 {
            let message = pull.recv().unwrap();
            assert_eq!(message.as_str(), Ok(&*number.to_string()));
            assert_eq!(message.peer().unwrap().user_id(), Some("bob"));
        }
        // Neither side had a peer before.
        for monitor in monitors {
            let failures = Cell::new(0);
            await_event(&monitor, "a connection", |event| match event {
                Event::Failed(failure) => {
                    assert!(!failure.was_ready(), "{failure}");
                    failures.set(failures.get() + 1);
                    None
                }
                Event::Ready { .. } => Some(()),
                _ => None,
            });
            assert_eq!(failures.get(), 3);
        }
    }
}

#[test]
fn both_sides_of_null_may_ask() {
    let sides = [SocketType::Pull, SocketType::Push].map(|socket_type| {
        let context = Context::new().unwrap();
        let handler = handler(&context, SocketType::Router, |request| {
            reply(request, "200", "bob", b"")
        });
        let socket = options(socket_type).context(&context).zap_domain("d");
        (socket.build_blocking().unwrap(), handler)
    });
    let [(pull, _), (push, _)] = &sides;
    push.connect(pull.bind("tcp://127.0.0.1:*").unwrap())
        .unwrap();
    push.send("hello").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"hello");
    assert_eq!(push.peers()[0].user_id(), Some("bob"));
}

#[test]
fn the_authenticator_comes_first_and_both_must_agree() {
    let keys = KeyPair::generate();
    let nobody = |_: &sealwire::auth::Client<'_>| false;
    for (ours, theirs, reason) in [
        (
            Security::blake3_server(keys.clone(), nobody).into(),
            Security::blake3_client(keys.public()).into(),
            "this key is not allowed here",
        ),
        (
            Security::curve_server(keys.clone(), nobody),
            Security::curve_client(keys.public(), KeyPair::generate()),
            "400",
        ),
        (
            Security::plain_server(PasswordTable::new()),
            Security::plain_client("alice", "s3cret"),
            "400",
        ),
    ] {
        let context = Context::new().unwrap();
        let _handler = handler(&context, SocketType::Rep, |_| {
            panic!("who the authenticator refuses is not asked about")
        });
        let pull = options(SocketType::Pull).context(&context).security(ours);
        let pull = pull.zap_domain("d").build_blocking().unwrap();
        let push = options(SocketType::Push).security(theirs);
        let push = push.build_blocking().unwrap();
        let monitor = push.monitor();
        push.connect(pull.bind("tcp://127.0.0.1:*").unwrap())
            .unwrap();
        assert_eq!(await_event(&monitor, "told", told), reason);
    }
}
