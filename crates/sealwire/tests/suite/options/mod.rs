//! Options of single socket types.

mod connections;
mod refused;

use std::time::Duration;

use crate::support::{Path, eventually, options, texts};
use sealwire::blocking::Socket;
use sealwire::options::{OptionsError, ReconnectStop};
use sealwire::{Error, Message, SocketType, StateError};

fn plain(transport: &'static str) -> Path {
    Path {
        transport,
        keys: None,
    }
}

/// Within the process, and over a connection.
fn both() -> [Path; 2] {
    [plain("inproc"), Path::encrypted()]
}

#[test]
fn an_option_of_another_socket_type_is_refused() {
    let refused = |builder: sealwire::SocketBuilder, name: &str| match builder.build_blocking() {
        Err(Error::Options(OptionsError::NotApplicable {
            option,
            socket_type,
        })) => {
            assert_eq!((option, socket_type), (name, SocketType::Rep));
        }
        other => panic!("{name}: {other:?}"),
    };
    let rep = || Socket::builder(SocketType::Rep);
    refused(rep().req_correlate(true), "req_correlate");
    refused(rep().req_relaxed(true), "req_relaxed");
    refused(rep().probe_router(true), "probe_router");
    refused(rep().router_mandatory(true), "router_mandatory");
    refused(rep().router_handover(true), "router_handover");
    refused(rep().router_notify(true, false), "router_notify");
    refused(rep().router_notify(false, true), "router_notify");
    refused(rep().xpub_verbose(true), "xpub_verbose");
    refused(rep().xpub_verboser(true), "xpub_verboser");
    refused(rep().xpub_manual(true), "xpub_manual");
    refused(rep().xpub_no_drop(true), "xpub_no_drop");
    refused(rep().xpub_welcome_message("hi"), "xpub_welcome_message");
    refused(rep().invert_matching(true), "invert_matching");
    refused(rep().conflate(true), "conflate");
    refused(rep().hello_message("hi"), "hello_message");
    refused(rep().disconnect_message("bye"), "disconnect_message");
    refused(rep().hiccup_message("hic"), "hiccup_message");
    refused(rep().connection_events(true), "connection_events");
}

#[test]
fn a_correlated_request_takes_only_its_own_answer() {
    for path in both() {
        let router = path.server(SocketType::Router).build_blocking().unwrap();
        let req = path
            .client(SocketType::Req)
            .req_correlate(true)
            .build_blocking()
            .unwrap();
        req.connect(router.bind(path.endpoint()).unwrap()).unwrap();
        req.send("question").unwrap();
        let request = router.recv().unwrap();
        let frames = request.frames();
        assert_eq!((frames.len(), frames[1].len(), frames[2].len()), (4, 4, 0));
        let answer = |number: &[u8], body: &str| {
            let mut answer = Message::multipart([&frames[0][..], number, b"", body.as_bytes()]);
            answer.push_back("end");
            router.send(answer).unwrap();
        };
        answer(b"????", "of another request");
        router
            .send(Message::multipart([&frames[0][..], b"", b"unnumbered"]))
            .unwrap();
        answer(&frames[1], "right");
        assert_eq!(texts(&req.recv().unwrap()), ["right", "end"]);
        assert_eq!(req.counters().dropped_at_receive, 2);
        // The next one has another number.
        req.send("another").unwrap();
        assert_ne!(router.recv().unwrap().frames()[1], frames[1]);
    }
}

#[test]
fn a_relaxed_req_may_ask_again_and_gets_the_new_answer() {
    for path in both() {
        let router = path.server(SocketType::Router).build_blocking().unwrap();
        let req = path.client(SocketType::Req);
        let req = req.req_correlate(true).req_relaxed(true);
        let req = req.build_blocking().unwrap();
        req.connect(router.bind(path.endpoint()).unwrap()).unwrap();
        let mut requests = Vec::new();
        for question in ["first", "second"] {
            req.send(question).unwrap();
            requests.push(router.recv().unwrap());
        }
        for request in requests {
            router.send(request).unwrap();
        }
        assert_eq!(req.recv().unwrap().as_bytes(), b"second");
        assert!(matches!(
            req.try_recv(),
            Err(Error::State(StateError::NothingAsked))
        ));
        // An answer that is there already gives way as well.
        req.send("third").unwrap();
        router.send(router.recv().unwrap()).unwrap();
        eventually("the third answer", || req.counters().messages_received == 2);
        req.send("fourth").unwrap();
        router.send(router.recv().unwrap()).unwrap();
        assert_eq!(req.recv().unwrap().as_bytes(), b"fourth");
        assert_eq!(req.counters().replaced, 1);
    }
}

#[test]
fn a_probe_tells_a_router_who_is_there() {
    for path in both() {
        let router = path.server(SocketType::Router).build_blocking().unwrap();
        let dealer = path
            .client(SocketType::Dealer)
            .routing_id("prober")
            .probe_router(true)
            .build_blocking()
            .unwrap();
        dealer
            .connect(router.bind(path.endpoint()).unwrap())
            .unwrap();
        assert_eq!(texts(&router.recv().unwrap()), ["prober", ""]);
        router
            .send(Message::multipart(["prober", "hello"]))
            .unwrap();
        assert_eq!(dealer.recv().unwrap().as_bytes(), b"hello");
    }
}

#[test]
fn a_router_can_be_told_of_comings_and_goings() {
    for path in both() {
        let router = path
            .server(SocketType::Router)
            .router_notify(true, true)
            .build_blocking()
            .unwrap();
        let dealer = path
            .client(SocketType::Dealer)
            .routing_id("guest")
            .build_blocking()
            .unwrap();
        dealer
            .connect(router.bind(path.endpoint()).unwrap())
            .unwrap();
        assert_eq!(texts(&router.recv().unwrap()), ["guest", ""]);
        dealer.send("body").unwrap();
        assert_eq!(texts(&router.recv().unwrap()), ["guest", "body"]);
        dealer.close().unwrap();
        assert_eq!(texts(&router.recv().unwrap()), ["guest", ""]);
    }
}

#[test]
fn a_router_hands_a_name_over_when_it_is_told_to() {
    for path in both() {
        let router = path
            .server(SocketType::Router)
            .router_handover(true)
            .build_blocking()
            .unwrap();
        let endpoint = router.bind(path.endpoint()).unwrap();
        let join = || {
            let dealer = path.client(SocketType::Dealer).routing_id("name");
            let dealer = dealer.reconnect_stop(ReconnectStop::ALWAYS);
            let dealer = dealer.build_blocking().unwrap();
            dealer.connect(&endpoint).unwrap();
            dealer.send("here").unwrap();
            assert_eq!(texts(&router.recv().unwrap()), ["name", "here"]);
            dealer
        };
        let old = join();
        let new = join();
        router
            .send(Message::multipart(["name", "for the new"]))
            .unwrap();
        assert_eq!(new.recv().unwrap().as_bytes(), b"for the new");
        eventually("the old one is gone", || old.peers().is_empty());
    }
}

fn subscriber(path: &Path, endpoint: &sealwire::Endpoint, topic: &str) -> Socket {
    let socket = path.client(SocketType::Sub).build_blocking().unwrap();
    socket.subscribe(topic).unwrap();
    socket.connect(endpoint).unwrap();
    socket
}

#[test]
fn a_verbose_xpub_reads_repeated_subscriptions_and_a_verboser_one_cancellations_too() {
    for path in both() {
        for verboser in [false, true] {
            let xpub = path.server(SocketType::XPub);
            let xpub = xpub.xpub_verbose(true).xpub_verboser(verboser);
            let xpub = xpub.build_blocking().unwrap();
            let endpoint = xpub.bind(path.endpoint()).unwrap();
            let first = subscriber(&path, &endpoint, "t");
            assert_eq!(xpub.recv().unwrap().as_bytes(), b"\x01t");
            let second = subscriber(&path, &endpoint, "t");
            assert_eq!(xpub.recv().unwrap().as_bytes(), b"\x01t");
            first.unsubscribe("t").unwrap();
            first.subscribe("u").unwrap();
            if verboser {
                assert_eq!(xpub.recv().unwrap().as_bytes(), b"\x00t");
            }
            assert_eq!(xpub.recv().unwrap().as_bytes(), b"\x01u");
            second.close().unwrap();
            assert_eq!(xpub.recv().unwrap().as_bytes(), b"\x00t");
        }
    }
}

/// A subscription that one peer cancels, another may make right after. One that was cancelled before it was
/// read leaves nothing to read.
#[test]
fn an_xpub_reads_what_has_changed_since_it_last_read() {
    for path in both() {
        let xpub = path.server(SocketType::XPub).build_blocking().unwrap();
        let endpoint = xpub.bind(path.endpoint()).unwrap();
        let arrived = |count| {
            eventually("what was sent", || {
                xpub.counters().messages_received == count
            })
        };
        let first = subscriber(&path, &endpoint, "t");
        assert_eq!(xpub.recv().unwrap().as_bytes(), b"\x01t");
        first.unsubscribe("t").unwrap();
        arrived(2);
        let second = subscriber(&path, &endpoint, "t");
        second.subscribe("u").unwrap();
        arrived(3);
        second.close().unwrap();
        eventually("the second is gone", || xpub.peers().len() == 1);
        let _third = subscriber(&path, &endpoint, "v");
        arrived(4);
        for expected in [b"\x00t", b"\x01v"] {
            assert_eq!(xpub.recv().unwrap().as_bytes(), expected);
        }
        assert!(matches!(xpub.try_recv(), Err(Error::WouldBlock)));
    }
}

#[test]
fn a_manual_xpub_grants_what_it_likes() {
    for path in both() {
        let xpub = path.server(SocketType::XPub).xpub_manual(true);
        let xpub = xpub.build_blocking().unwrap();
        assert!(matches!(
            xpub.subscribe("early"),
            Err(Error::State(StateError::NoSubscriber))
        ));
        let endpoint = xpub.bind(path.endpoint()).unwrap();
        let sub = subscriber(&path, &endpoint, "");
        assert_eq!(xpub.recv().unwrap().as_bytes(), b"\x01");
        xpub.send("nothing granted yet").unwrap();
        xpub.subscribe("granted").unwrap();
        xpub.send("other").unwrap();
        xpub.send("granted: yes").unwrap();
        assert_eq!(sub.recv().unwrap().as_bytes(), b"granted: yes");
        xpub.unsubscribe("granted").unwrap();
        xpub.subscribe("more").unwrap();
        xpub.send("granted: no").unwrap();
        xpub.send("more").unwrap();
        assert_eq!(sub.recv().unwrap().as_bytes(), b"more");
        sub.close().unwrap();
        assert_eq!(xpub.recv().unwrap().as_bytes(), b"\x00");
    }
}

#[test]
fn a_publisher_that_does_not_drop_waits_for_the_slowest() {
    for path in both() {
        let xpub = path.server(SocketType::XPub).xpub_no_drop(true);
        let xpub = xpub.send_high_water_mark(5).build_blocking().unwrap();
        let sub = path.client(SocketType::Sub).receive_high_water_mark(5);
        let sub = sub.build_blocking().unwrap();
        sub.subscribe("").unwrap();
        sub.connect(xpub.bind(path.endpoint()).unwrap()).unwrap();
        xpub.recv().unwrap();
        let mut sent = 0_u32;
        let body = |number: u32| {
            let mut body = vec![0; 64 << 10];
            body[..4].copy_from_slice(&number.to_be_bytes());
            body
        };
        while xpub
            .send_timeout(body(sent), Duration::from_millis(100))
            .is_ok()
        {
            sent += 1;
            assert!(sent < 2_000, "{}: it must fill up", path.name());
        }
        for number in 0..sent {
            assert_eq!(sub.recv().unwrap().as_bytes()[..4], number.to_be_bytes());
        }
        assert_eq!(xpub.counters().dropped_at_send, 0);
    }
}

#[test]
fn a_welcome_message_reaches_who_subscribed_to_it() {
    for path in both() {
        let xpub = path
            .server(SocketType::XPub)
            .xpub_welcome_message("welcome");
        let xpub = xpub.build_blocking().unwrap();
        let endpoint = xpub.bind(path.endpoint()).unwrap();
        let sub = subscriber(&path, &endpoint, "wel");
        assert_eq!(sub.recv().unwrap().as_bytes(), b"welcome");
    }
}

#[test]
fn inverted_matching_gives_what_was_not_asked_for() {
    for path in both() {
        let xpub = path.server(SocketType::XPub).invert_matching(true);
        let xpub = xpub.build_blocking().unwrap();
        let sub = path.client(SocketType::Sub).invert_matching(true);
        let sub = sub.build_blocking().unwrap();
        sub.subscribe("dull").unwrap();
        sub.connect(xpub.bind(path.endpoint()).unwrap()).unwrap();
        assert_eq!(xpub.recv().unwrap().as_bytes(), b"\x01dull");
        xpub.send("dull news").unwrap();
        xpub.send("good news").unwrap();
        assert_eq!(sub.recv().unwrap().as_bytes(), b"good news");
        assert_eq!(sub.counters().messages_received, 1);
    }
}

#[test]
fn a_conflating_socket_keeps_the_latest_message() {
    for path in both() {
        let pull = path.server(SocketType::Pull).conflate(true);
        let pull = pull.build_blocking().unwrap();
        let push = path.client(SocketType::Push).build_blocking().unwrap();
        push.connect(pull.bind(path.endpoint()).unwrap()).unwrap();
        for number in 0..5_000 {
            push.send(number.to_string()).unwrap();
        }
        eventually("all arrived", || pull.counters().messages_received == 5_000);
        assert_eq!(pull.recv().unwrap().as_bytes(), b"4999");
        assert!(matches!(pull.try_recv(), Err(Error::WouldBlock)));
        assert_eq!(pull.counters().replaced, 4_999);
    }
    // The sending side, before anyone is there.
    let push = options(SocketType::Push).conflate(true).build_blocking();
    let (push, endpoint) = (push.unwrap(), plain("inproc").endpoint());
    push.connect(&*endpoint).unwrap();
    for number in 0..5_000 {
        push.send(number.to_string()).unwrap();
    }
    assert_eq!(push.counters().replaced, 4_999);
    let pull = options(SocketType::Pull).build_blocking().unwrap();
    pull.bind(&*endpoint).unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"4999");
}
