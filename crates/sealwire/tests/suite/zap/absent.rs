//! A handler that is not there, has left or gives no answer: who is let in, and what is said about it.

use std::time::Duration;

use super::{every_mechanism, fault, handler, keyed, refusal, reply};
use crate::support::{Path, TIMEOUT, await_event, options};
use sealwire::auth::{AllowAnyone, zap};
use sealwire::blocking::Socket;
use sealwire::{Context, Event, Generate as _, KeyPair, Security, SocketType};

#[test]
fn without_a_handler_nobody_is_let_in() {
    for (ours, theirs) in every_mechanism() {
        let context = Context::new().unwrap();
        let pull = options(SocketType::Pull).security(ours);
        let pull = pull.context(&context).zap_domain("d");
        let pull = pull.build_blocking().unwrap();
        let push = options(SocketType::Push).security(theirs);
        let push = push.linger(Duration::ZERO).build_blocking().unwrap();
        let monitor = pull.monitor();
        push.connect(pull.bind("tcp://127.0.0.1:*").unwrap())
            .unwrap();
        push.send("at last").unwrap();
        let (status, text) = await_event(&monitor, "refused", refusal);
        assert_eq!(status, 300);
        assert!(text.contains(zap::ENDPOINT), "{text}");
        // A handler that comes later is found.
        let _handler = handler(&context, SocketType::Rep, |request| {
            reply(request, "200", "", b"")
        });
        assert_eq!(pull.recv().unwrap().as_bytes(), b"at last");
    }
}

#[test]
fn a_handler_that_dies_or_is_silent_or_talks_nonsense_lets_nobody_in() {
    let path = Path::encrypted();
    let attempt =
        |limit: Duration, prepare: &dyn Fn(&Context) -> Socket, answer: &dyn Fn(&Socket)| {
            let context = Context::new().unwrap();
            let handler = prepare(&context);
            let pull = path.server(SocketType::Pull).context(&context);
            let pull = pull.zap_domain("d").zap_timeout(limit);
            let pull = pull.build_blocking().unwrap();
            let push = path.client(SocketType::Push).linger(Duration::ZERO);
            let push = push.build_blocking().unwrap();
            let monitor = pull.monitor();
            push.connect(pull.bind(path.endpoint()).unwrap()).unwrap();
            answer(&handler);
            await_event(&monitor, "refused", refusal)
        };
    let silent = |context: &Context| {
        let socket = options(SocketType::Rep).context(context);
        let socket = socket.build_blocking().unwrap();
        socket.bind(zap::ENDPOINT).unwrap();
        socket
    };
    let (status, text) = attempt(Duration::from_millis(50), &silent, &|_| {});
    assert!(status == 300 && text.contains("no answer within"), "{text}");
    let (status, text) = attempt(TIMEOUT, &silent, &|handler| {
        handler.recv().unwrap();
        handler.send("nonsense").unwrap();
    });
    assert!(status == 500, "{text}");
    let (status, _) = attempt(TIMEOUT, &silent, &|handler| {
        handler.recv().unwrap();
        handler.clone().close().unwrap();
    });
    assert_eq!(status, 300);
}

/// As with libzmq; and a handler that goes away does not open the door.
#[test]
fn a_handler_is_asked_without_a_domain_where_nobody_else_decides() {
    let both = keyed(&KeyPair::generate(), &KeyPair::generate());
    let plain = (
        Security::plain_server(AllowAnyone),
        Security::plain_client("alice", "s3cret"),
    );
    for (server, client) in both.into_iter().chain([plain]) {
        let context = Context::new().unwrap();
        let handler = handler(&context, SocketType::Rep, |request| {
            let status = if request[2].is_empty() { "400" } else { "200" };
            reply(request, status, "", b"")
        });
        let pull = options(SocketType::Pull).context(&context).security(server);
        let pull = pull.build_blocking().unwrap();
        let monitor = pull.monitor();
        let endpoint = pull.bind("tcp://127.0.0.1:*").unwrap();
        let connect = || {
            let push = options(SocketType::Push)
                .security(client.clone())
                .linger(Duration::ZERO);
            let push = push.build_blocking().unwrap();
            push.connect(&endpoint).unwrap();
            push
        };
        let first = connect();
        assert_eq!(await_event(&monitor, "refused", refusal).0, 400);
        first.close().unwrap();
        handler.close().unwrap();
        let _second = connect();
        let fault = await_event(&monitor, "unanswered", |event| {
            refusal(event).filter(|(status, _)| *status == 300)?;
            fault(event)
        });
        assert_eq!(fault, zap::Fault::Gone);
        assert!(pull.peers().is_empty());
    }
}

#[test]
fn a_server_that_lets_anyone_in_without_a_handler_says_so_once() {
    let keys = KeyPair::generate();
    let anyone = || -> Security { Security::blake3_server(keys.clone(), AllowAnyone).into() };
    let told = |context: &Context, security: Security, domain: Option<&str>| {
        let pull = options(SocketType::Pull)
            .context(context)
            .security(security);
        let pull = match domain {
            Some(domain) => pull.zap_domain(domain),
            None => pull,
        };
        let pull = pull.build_blocking().unwrap();
        let monitor = pull.monitor();
        // Within the process nobody is asked about anyone.
        let name = format!("inproc://{}", pull.socket_type());
        pull.bind(&*name).unwrap();
        pull.unbind(&*name).unwrap();
        let endpoint = pull.bind("tcp://127.0.0.1:*").unwrap();
        pull.bind("tcp://127.0.0.1:*").unwrap();
        pull.connect("tcp://127.0.0.1:9").unwrap();
        let events = std::iter::from_fn(|| monitor.try_next());
        let told = events.filter_map(|event| match event {
            Event::AnyoneAllowed { endpoint: told } => Some(told == endpoint),
            _ => None,
        });
        told.collect::<Vec<bool>>()
    };
    let context = Context::new().unwrap();
    assert_eq!(told(&context, anyone(), None), [true]);
    assert_eq!(
        told(&context, Security::plain_server(AllowAnyone), None),
        [true]
    );
    assert_eq!(told(&context, anyone(), Some("domain")), []);
    let decides = Security::blake3_server(keys.clone(), |_: &sealwire::auth::Client<'_>| true);
    assert_eq!(told(&context, decides.into(), None), []);
    assert_eq!(told(&context, Security::plain_text(), None), []);
    let _handler = handler(&context, SocketType::Rep, |request| {
        reply(request, "200", "", b"")
    });
    assert_eq!(told(&context, anyone(), None), []);
}
