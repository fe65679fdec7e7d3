//! Options that change on a socket in use.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::support::{Path, TIMEOUT, await_event, eventually, options};
use sealwire::auth::{AllowAnyone, AllowedKeysFile};
use sealwire::blocking::Socket;
use sealwire::options::OptionsError;
use sealwire::{
    Context, Endpoint, Error, Event, Generate as _, KeyPair, Message, PublicKey, Security,
    SocketBuilder, SocketType,
};

fn plain(socket_type: SocketType) -> SocketBuilder {
    options(socket_type).security(Security::plain_text())
}

fn change(socket: &Socket, with: impl FnOnce(SocketBuilder) -> SocketBuilder) {
    socket.reconfigure(with(socket.options().unwrap())).unwrap();
}

/// Within the process, and over a connection.
fn both() -> [Path; 2] {
    let mut all = Path::all();
    [all.pop().expect("there are some"), Path::encrypted()]
}

/// Fills the queues and the connection to the last message, and says how many those were.
fn fill(socket: &Socket) -> usize {
    let mut sent = 0;
    while socket.try_send("x").is_ok() {
        sent += 1;
    }
    sent
}

/// Each endpoint has the keys that its socket had then, also when its clients come again.
#[test]
fn endpoints_keep_the_keys_that_they_were_bound_with() {
    let keys = [KeyPair::generate(), KeyPair::generate()];
    let server = |keys: &KeyPair| Security::blake3_server(keys.clone(), AllowAnyone);
    let pull = options(SocketType::Pull).security(server(&keys[0]));
    let pull = pull.build_blocking().unwrap();
    let first = pull.bind("tcp://127.0.0.1:*").unwrap();
    change(&pull, |it| it.security(server(&keys[1])));
    let second = pull.bind("tcp://127.0.0.1:*").unwrap();
    let client = |endpoint: &Endpoint, key: PublicKey| {
        let push = options(SocketType::Push).security(Security::blake3_client(key));
        let push = push.linger(Duration::ZERO).build_blocking().unwrap();
        let monitor = push.monitor();
        push.connect(endpoint).unwrap();
        (push, monitor)
    };
    for (endpoint, right, wrong) in [(&first, 0, 1), (&second, 1, 0)] {
        let (push, _) = client(endpoint, keys[right].public());
        push.send("known").unwrap();
        assert_eq!(pull.recv().unwrap().as_bytes(), b"known");
        let (_push, monitor) = client(endpoint, keys[wrong].public());
        await_event(&monitor, "failed", |event| match event {
            Event::Failed(failure) if !failure.was_ready() => Some(()),
            _ => None,
        });
    }
}

#[test]
fn a_client_knows_a_key_for_each_server_and_keeps_it_when_it_connects_again() {
    let keys = [KeyPair::generate(), KeyPair::generate()];
    let server = |keys: &KeyPair, endpoint: &str| {
        let security = Security::blake3_server(keys.clone(), AllowAnyone);
        let rep = options(SocketType::Rep).security(security);
        let rep = rep.build_blocking().unwrap();
        let endpoint = rep.bind(endpoint).unwrap();
        (rep, endpoint)
    };
    let (one, first) = server(&keys[0], "tcp://127.0.0.1:*");
    let (_other, second) = server(&keys[1], "tcp://127.0.0.1:*");
    let client = |keys: &KeyPair| Security::blake3_client(keys.public());
    let dealer = options(SocketType::Dealer).security(client(&keys[0]));
    let dealer = dealer.build_blocking().unwrap();
    let monitor = dealer.monitor();
    dealer.connect(&first).unwrap();
    change(&dealer, |it| it.security(client(&keys[1])));
    dealer.connect(&second).unwrap();
    dealer.wait_connected(2).unwrap();
    one.close().unwrap();
    await_event(&monitor, "disconnected", |event| {
        matches!(event, Event::Disconnected { .. } | Event::Failed(_)).then_some(())
    });
    let _one = server(&keys[0], &first.to_string());
    dealer.wait_connected(2).unwrap();
}

/// The authenticator of each endpoint is asked about its own clients, also when it changes its mind.
#[test]
fn a_key_that_one_endpoint_withdraws_stays_at_the_other() {
    let (keys, me) = (KeyPair::generate(), KeyPair::generate());
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let list = |at: usize| folders[at].path().join("me");
    let server = |at: usize| {
        std::fs::write(list(at), me.public().to_string()).unwrap();
        let allowed = AllowedKeysFile::open(folders[at].path()).unwrap();
        Security::blake3_server(keys.clone(), allowed)
    };
    // The first authenticator never changes its mind.
    let pull = options(SocketType::Pull)
        .security(Security::blake3_server(keys.clone(), AllowAnyone))
        .build_blocking()
        .unwrap();
    let clients = [0, 1].map(|at| {
        change(&pull, |it| it.security(server(at)));
        let endpoint = pull.bind("tcp://127.0.0.1:*").unwrap();
        let security = Security::blake3_client_with_keys(keys.public(), me.clone());
        let push = options(SocketType::Push).security(security);
        let push = push.linger(Duration::ZERO).build_blocking().unwrap();
        let monitor = push.monitor();
        push.connect(endpoint).unwrap();
        push.send("hello").unwrap();
        pull.recv().unwrap();
        (push, monitor)
    });
    std::fs::remove_file(list(0)).unwrap();
    await_event(&clients[0].1, "disconnected", |event| match event {
        Event::Failed(failure) if failure.was_ready() => Some(()),
        _ => None,
    });
    clients[1].0.send("still here").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"still here");
    assert_eq!(clients[1].0.counters().disconnects, 0);
}

#[test]
fn higher_marks_let_queued_peers_go_on() {
    for path in both() {
        let (pull, push) = path.link(
            path.server(SocketType::Pull).receive_high_water_mark(1),
            path.client(SocketType::Push).send_high_water_mark(1),
        );
        push.wait_connected(1).unwrap();
        let before = fill(&push);
        // The sender's queue takes more at once, the receiver's as its peer is read again.
        change(&push, |it| it.send_high_water_mark(before + 10));
        assert!(fill(&push) >= 9, "{}", path.name());
        let sent = pull.counters().messages_received;
        change(&pull, |it| it.receive_high_water_mark(0));
        eventually("the peer is read again", || {
            pull.counters().messages_received > sent
        });
    }
}

#[test]
fn a_sender_that_waits_goes_on_when_there_is_more_room() {
    for path in both() {
        let push = path.client(SocketType::Push).send_high_water_mark(1);
        let (_pull, push) = path.link(
            path.server(SocketType::Pull).receive_high_water_mark(1),
            push.send_timeout(Duration::MAX).linger(Duration::ZERO),
        );
        push.wait_connected(1).unwrap();
        let before = fill(&push);
        let (told, sent) = mpsc::channel();
        let sender = push.clone();
        thread::spawn(move || told.send(sender.send("waits").is_ok()));
        thread::sleep(Duration::from_millis(10));
        change(&push, |it| it.send_high_water_mark(before + 100));
        assert_eq!(sent.recv_timeout(TIMEOUT), Ok(true), "{}", path.name());
    }
}

#[test]
fn peers_that_come_later_have_the_new_marks() {
    let path = Path::all().pop().unwrap();
    let push = path.server(SocketType::Push).send_high_water_mark(1);
    let push = push.build_blocking().unwrap();
    let endpoint = push.bind(path.endpoint()).unwrap();
    change(&push, |it| it.send_high_water_mark(10));
    let pull = path.client(SocketType::Pull).receive_high_water_mark(1);
    let pull = pull.build_blocking().unwrap();
    pull.connect(endpoint).unwrap();
    push.wait_connected(1).unwrap();
    assert!(fill(&push) >= 10);
}

#[test]
fn what_waits_for_a_peer_has_the_new_limit_as_well() {
    let push = plain(SocketType::Push).send_high_water_mark(2);
    let push = push.linger(Duration::ZERO).build_blocking().unwrap();
    push.connect("tcp://127.0.0.1:1").unwrap();
    assert_eq!(fill(&push), 2);
    change(&push, |it| it.send_high_water_mark(5));
    assert_eq!(fill(&push), 3);
    change(&push, |it| it.send_high_water_mark(1));
    assert_eq!(fill(&push), 0);
}

#[test]
fn time_limits_are_those_of_the_moment() {
    let pull = options(SocketType::Pull).build_blocking().unwrap();
    let limit = Duration::from_millis(1);
    change(&pull, |it| it.receive_timeout(limit));
    let Err(Error::TimedOut { limit: waited, .. }) = pull.recv() else {
        panic!("nothing was sent");
    };
    assert_eq!(waited, limit);
    let push = options(SocketType::Push).build_blocking().unwrap();
    change(&push, |it| it.send_timeout(limit));
    let unsent = Error::from(push.send("x").unwrap_err());
    assert!(matches!(unsent, Error::TimedOut { limit: waited, .. } if waited == limit));
}

/// Without the change, closing would take a hundred years.
#[test]
fn the_linger_time_is_that_at_the_end() {
    let push = plain(SocketType::Push).linger(Duration::MAX);
    let push = push.build_blocking().unwrap();
    push.connect("tcp://127.0.0.1:1").unwrap();
    push.send("x").unwrap();
    change(&push, |it| it.linger(Duration::ZERO));
    let (told, closed) = mpsc::channel();
    thread::spawn(move || told.send(push.close()));
    let closed = closed.recv_timeout(TIMEOUT).expect("it is closed");
    assert!(matches!(closed, Err(Error::Unsent(1))));
}

/// A message waits for the peer of an endpoint that was connected to before, not for those after.
#[test]
fn immediate_counts_for_later_endpoints() {
    let push = plain(SocketType::Push).linger(Duration::ZERO);
    let push = push.build_blocking().unwrap();
    change(&push, |it| it.immediate(true));
    push.connect("tcp://127.0.0.1:1").unwrap();
    assert_eq!(fill(&push), 0);
    change(&push, |it| it.immediate(false).send_high_water_mark(3));
    push.connect("tcp://127.0.0.1:2").unwrap();
    assert_eq!(fill(&push), 3);
}

#[test]
fn names_are_those_of_the_endpoint() {
    let router = plain(SocketType::Router).build_blocking().unwrap();
    let endpoint = router.bind("tcp://127.0.0.1:*").unwrap();
    let _dealer = connect_under_two_names(&endpoint.to_string());
    names_of_two_peers(&router);
}

#[test]
fn names_are_those_of_the_endpoint_within_the_process_too() {
    let endpoint = "inproc://reconfiguring-names";
    let _dealer = connect_under_two_names(endpoint);
    let router = plain(SocketType::Router).build_blocking().unwrap();
    router.bind(endpoint).unwrap();
    names_of_two_peers(&router);
}

fn connect_under_two_names(endpoint: &str) -> Socket {
    let dealer = plain(SocketType::Dealer).routing_id("before");
    let dealer = dealer.build_blocking().unwrap();
    dealer.connect(endpoint).unwrap();
    change(&dealer, |it| it.routing_id("after"));
    dealer.connect(endpoint).unwrap();
    dealer
}

fn names_of_two_peers(router: &Socket) {
    router.wait_connected(2).unwrap();
    let peers = router.peers();
    let mut names: Vec<_> = peers.iter().map(|it| it.routing_id()).collect();
    names.sort();
    assert_eq!(names, [&b"after"[..], b"before"]);
}

#[test]
fn a_second_value_for_a_property_replaces_the_first() {
    let router = plain(SocketType::Router).build_blocking().unwrap();
    let endpoint = router.bind("tcp://127.0.0.1:*").unwrap();
    let dealer = plain(SocketType::Dealer).metadata("X-Version", "1");
    let dealer = dealer.build_blocking().unwrap();
    change(&dealer, |it| it.metadata("x-version", "2"));
    dealer.connect(&endpoint).unwrap();
    dealer.send("hello").unwrap();
    let message = router.recv().unwrap();
    let peer = message.peer().unwrap();
    assert_eq!(peer.metadata("X-Version"), Some(&b"2"[..]));
}

#[test]
fn what_cannot_change_is_refused_and_nothing_changes() {
    let socket = plain(SocketType::XPub).build_blocking().unwrap();
    let refused = |options: SocketBuilder, name: &str| match socket.reconfigure(options) {
        Err(Error::Options(OptionsError::Fixed(option))) => assert_eq!(option, name),
        other => panic!("{name}: {other:?}"),
    };
    let now = || socket.options().unwrap();
    refused(now().spin(Duration::from_micros(1)), "spin");
    refused(now().context(&Context::new().unwrap()), "context");
    refused(plain(SocketType::Pub), "socket_type");
    #[cfg(unix)]
    refused(now().interruptible(true), "interruptible");
    #[cfg(unix)]
    refused(now().interrupted_when(|| false), "interruptible");
    // As when it is made.
    let zero = now()
        .handshake_timeout(Duration::ZERO)
        .linger(Duration::MAX);
    assert!(matches!(
        socket.reconfigure(zero),
        Err(Error::Options(OptionsError::Zero("handshake_timeout")))
    ));
    let same = now().context(&Context::global().unwrap());
    socket.reconfigure(same).unwrap();
}

#[test]
fn a_socket_can_be_made_like_another_and_a_closed_one_takes_no_options() {
    let keys = KeyPair::generate();
    let pull = options(SocketType::Pull)
        .security(Security::blake3_server(keys.clone(), AllowAnyone))
        .receive_timeout(TIMEOUT);
    let pull = pull.build_blocking().unwrap();
    let another = pull.options().unwrap().build_blocking().unwrap();
    let push = options(SocketType::Push).security(Security::blake3_client(keys.public()));
    let push = push.build_blocking().unwrap();
    push.connect(another.bind("tcp://127.0.0.1:*").unwrap())
        .unwrap();
    push.send("x").unwrap();
    assert_eq!(another.recv().unwrap().as_bytes(), b"x");
    let handle = pull.clone();
    pull.close().unwrap();
    let refused = handle.reconfigure(handle.options().unwrap());
    assert!(matches!(refused, Err(Error::Closed)), "{refused:?}");
}

#[test]
fn a_router_begins_to_mind_unknown_names() {
    let router = plain(SocketType::Router).build_blocking().unwrap();
    router.bind("tcp://127.0.0.1:*").unwrap();
    router.send(Message::multipart(["nobody", "x"])).unwrap();
    change(&router, |it| it.router_mandatory(true));
    let refused = router.send(Message::multipart(["nobody", "x"]));
    assert!(matches!(
        refused.unwrap_err().error(),
        Error::Unroutable(name) if name == b"nobody"
    ));
    change(&router, |it| it.router_mandatory(false));
    router.send(Message::multipart(["nobody", "x"])).unwrap();
}

#[test]
fn a_request_under_way_keeps_its_form() {
    for path in both() {
        let (rep, req) = path.pair(SocketType::Rep, SocketType::Req);
        for numbered in [true, false, true] {
            req.send("asked before").unwrap();
            change(&req, |it| it.req_correlate(numbered).req_relaxed(numbered));
            assert_eq!(rep.recv().unwrap().as_bytes(), b"asked before");
            rep.send("answered").unwrap();
            assert_eq!(req.recv().unwrap().as_bytes(), b"answered");
        }
        // Relaxed now: the second takes the place of the first.
        req.send("first").unwrap();
        req.send("second").unwrap();
        change(&req, |it| it.req_relaxed(false));
        assert!(matches!(
            req.send("third").unwrap_err().error(),
            Error::State(_)
        ));
    }
}

/// One more client of a server.
fn another(path: &Path, server: &Socket, socket_type: SocketType) -> Socket {
    let client = path.client(socket_type).build_blocking().unwrap();
    client.connect(&server.bound_endpoints()[0]).unwrap();
    client
}

/// What an XPUB reads, up to a message that the subscriber sends after its subscriptions.
fn told(xpub: &Socket, subscriber: &Socket) -> Vec<String> {
    subscriber.wait_connected(1).unwrap();
    subscriber.send("end").unwrap();
    let mut told = Vec::new();
    loop {
        let message = xpub.recv().unwrap();
        match message.as_bytes() {
            b"end" => return told,
            [1, topic @ ..] => told.push(format!("+{}", String::from_utf8_lossy(topic))),
            [0, topic @ ..] => told.push(format!("-{}", String::from_utf8_lossy(topic))),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_publisher_begins_and_ceases_to_be_told_of_everything() {
    for path in both() {
        let (xpub, one) = path.pair(SocketType::XPub, SocketType::XSub);
        let two = another(&path, &xpub, SocketType::XSub);
        one.subscribe("A").unwrap();
        assert_eq!(told(&xpub, &one), ["+A"]);
        two.subscribe("A").unwrap();
        two.subscribe("B").unwrap();
        assert_eq!(told(&xpub, &two), ["+B"]);
        change(&xpub, |it| it.xpub_verboser(true));
        one.subscribe("B").unwrap();
        one.unsubscribe("A").unwrap();
        assert_eq!(told(&xpub, &one), ["+B", "-A"]);
        two.unsubscribe("A").unwrap();
        assert_eq!(told(&xpub, &two), ["-A"]);
        // Not read before it changes back: both have it, and are told of once.
        for subscriber in [&one, &two] {
            subscriber.subscribe("C").unwrap();
        }
        xpub.wait_subscribed("C", 2).unwrap();
        change(&xpub, |it| it.xpub_verboser(false));
        two.unsubscribe("C").unwrap();
        two.unsubscribe("B").unwrap();
        assert_eq!(told(&xpub, &two), ["+C"]);
        one.unsubscribe("B").unwrap();
        one.unsubscribe("C").unwrap();
        assert_eq!(told(&xpub, &one), ["-B", "-C"]);
    }
}

#[test]
fn a_publisher_begins_to_grant_by_hand() {
    for path in both() {
        let (xpub, xsub) = path.pair(SocketType::XPub, SocketType::XSub);
        xsub.subscribe("before").unwrap();
        assert_eq!(told(&xpub, &xsub), ["+before"]);
        change(&xpub, |it| it.xpub_manual(true));
        xsub.subscribe("asked").unwrap();
        assert_eq!(told(&xpub, &xsub), ["+asked"]);
        for topic in ["asked", "before"] {
            xpub.send(topic).unwrap();
        }
        assert_eq!(xsub.recv().unwrap().as_bytes(), b"before");
        xpub.subscribe("asked").unwrap();
        xpub.send("asked").unwrap();
        assert_eq!(xsub.recv().unwrap().as_bytes(), b"asked");
        // What it had before it may leave, and the application says what that means.
        xsub.unsubscribe("before").unwrap();
        assert_eq!(told(&xpub, &xsub), ["-before"]);
        xpub.unsubscribe("before").unwrap();
        for topic in ["before", "asked"] {
            xpub.send(topic).unwrap();
        }
        assert_eq!(xsub.recv().unwrap().as_bytes(), b"asked");
    }
}

#[test]
fn messages_for_peers_are_those_of_the_moment() {
    for path in both() {
        let (xpub, first) = path.pair(SocketType::XPub, SocketType::Sub);
        xpub.wait_connected(1).unwrap();
        change(&xpub, |it| it.xpub_welcome_message("welcome"));
        first.subscribe("").unwrap();
        xpub.wait_subscribed("", 1).unwrap();
        let second = path.client(SocketType::Sub).build_blocking().unwrap();
        // Before it connects: what comes first is not to be filtered out.
        second.subscribe("").unwrap();
        second.connect(&xpub.bound_endpoints()[0]).unwrap();
        assert_eq!(second.recv().unwrap().as_bytes(), b"welcome");
        xpub.wait_subscribed("", 2).unwrap();
        xpub.send("news").unwrap();
        for subscriber in [&first, &second] {
            assert_eq!(subscriber.recv().unwrap().as_bytes(), b"news");
        }
    }
}

#[test]
fn a_queue_holds_the_latest_message_from_the_next_endpoint_on() {
    let push = plain(SocketType::Push).linger(Duration::ZERO);
    let push = push.build_blocking().unwrap();
    let (one, two) = (plain(SocketType::Pull), plain(SocketType::Pull));
    let (one, two) = (one.build_blocking().unwrap(), two.build_blocking().unwrap());
    let endpoint = push.bind("inproc://reconfiguring-conflate").unwrap();
    one.connect(&endpoint).unwrap();
    push.wait_connected(1).unwrap();
    change(&one, |it| it.conflate(true));
    change(&two, |it| it.conflate(true));
    two.connect(&endpoint).unwrap();
    push.wait_connected(2).unwrap();
    for number in 0..8 {
        push.send(number.to_string()).unwrap();
    }
    let all = |pull: &Socket| {
        let next = || pull.try_recv().ok();
        let texts = std::iter::from_fn(next).map(|it| it.as_str().unwrap().to_owned());
        texts.collect::<Vec<_>>()
    };
    let (of_one, of_two) = (all(&one), all(&two));
    assert_eq!(of_one.len(), 4, "{of_one:?}");
    assert_eq!(of_two.len(), 1, "{of_two:?}");
    assert!(of_two[0] == "6" || of_two[0] == "7", "{of_two:?}");
}
