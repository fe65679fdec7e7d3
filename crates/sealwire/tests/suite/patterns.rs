//! The socket types, over every transport and mechanism.

use std::time::Duration;

use crate::support::{self, Path, TIMEOUT, eventually, texts};
use sealwire::{Error, Message, MessageError, SocketType, StateError};

fn everywhere(test: impl Fn(&Path)) {
    for path in Path::all() {
        println!("over {}", path.name());
        test(&path);
    }
}

#[test]
fn pair_talks_both_ways() {
    everywhere(|path| {
        let (server, client) = path.pair(SocketType::Pair, SocketType::Pair);
        client.send("to the server").unwrap();
        assert_eq!(server.recv().unwrap().as_bytes(), b"to the server");
        server
            .send(Message::multipart(["to", "", "the client"]))
            .unwrap();
        assert_eq!(texts(&client.recv().unwrap()), ["to", "", "the client"]);
    });
}

#[test]
fn requests_and_answers_alternate() {
    everywhere(|path| {
        let (rep, req) = path.pair(SocketType::Rep, SocketType::Req);
        assert!(matches!(
            req.try_recv(),
            Err(Error::State(StateError::NothingAsked))
        ));
        assert!(matches!(
            rep.try_send("x").unwrap_err().error(),
            Error::State(StateError::NothingToAnswer)
        ));
        for round in 0..5 {
            req.send(format!("question {round}")).unwrap();
            let error = req.try_send("too early").unwrap_err();
            assert!(matches!(
                error.error(),
                Error::State(StateError::AnswerPending)
            ));
            assert_eq!(error.into_message().as_bytes(), b"too early");
            assert_eq!(
                rep.recv().unwrap().as_str(),
                Ok(&*format!("question {round}"))
            );
            assert!(matches!(
                rep.try_recv(),
                Err(Error::State(StateError::AnswerOwed))
            ));
            rep.send(Message::multipart(["answer", &round.to_string()]))
                .unwrap();
            assert_eq!(texts(&req.recv().unwrap()), ["answer", &round.to_string()]);
        }
    });
}

#[test]
fn router_names_its_peers() {
    everywhere(|path| {
        let router = path.server(SocketType::Router).build_blocking().unwrap();
        let endpoint = router.bind(path.endpoint()).unwrap();
        let named = path
            .client(SocketType::Dealer)
            .routing_id("alpha")
            .build_blocking()
            .unwrap();
        let unnamed = path.client(SocketType::Dealer).build_blocking().unwrap();
        named.connect(&endpoint).unwrap();
        unnamed.connect(&endpoint).unwrap();
        named.send("from alpha").unwrap();
        assert_eq!(texts(&router.recv().unwrap()), ["alpha", "from alpha"]);
        unnamed
            .send(Message::multipart(["", "in two frames"]))
            .unwrap();
        let mut message = router.recv().unwrap();
        let name = message.pop_front().unwrap();
        assert_eq!((name.len(), name[0]), (5, 0), "an invented name");
        let mut answer = Message::from("back");
        answer.push_front(name);
        router.send(answer).unwrap();
        router
            .send(Message::multipart(["alpha", "and", "to you"]))
            .unwrap();
        assert_eq!(texts(&unnamed.recv().unwrap()), ["back"]);
        assert_eq!(texts(&named.recv().unwrap()), ["and", "to you"]);
        // Nobody of that name: dropped and counted.
        router.send(Message::multipart(["omega", "lost"])).unwrap();
        assert_eq!(router.counters().dropped_at_send, 1);
    });
}

#[test]
fn a_mandatory_router_refuses_unknown_names() {
    let path = Path::encrypted();
    let router = path
        .server(SocketType::Router)
        .router_mandatory(true)
        .build_blocking()
        .unwrap();
    let error = router
        .send(Message::multipart(["omega", "body"]))
        .unwrap_err();
    assert!(matches!(error.error(), Error::Unroutable(name) if name == b"omega"));
    assert_eq!(texts(&error.into_message()), ["omega", "body"]);
}

#[test]
fn req_talks_to_router_and_dealer_to_rep() {
    everywhere(|path| {
        let (router, req) = path.pair(SocketType::Router, SocketType::Req);
        req.send("question").unwrap();
        let mut message = router.recv().unwrap();
        assert_eq!(texts(&message)[1..], ["", "question"]);
        let name = message.pop_front().unwrap();
        router
            .send(Message::multipart([name, "".into(), "answer".into()]))
            .unwrap();
        assert_eq!(req.recv().unwrap().as_bytes(), b"answer");

        let (rep, dealer) = path.pair(SocketType::Rep, SocketType::Dealer);
        dealer
            .send(Message::multipart(["hop", "", "question"]))
            .unwrap();
        assert_eq!(texts(&rep.recv().unwrap()), ["question"]);
        rep.send("answer").unwrap();
        assert_eq!(texts(&dealer.recv().unwrap()), ["hop", "", "answer"]);
    });
}

#[test]
fn push_spreads_work_and_pull_collects_it() {
    everywhere(|path| {
        let push = path.server(SocketType::Push).build_blocking().unwrap();
        let endpoint = push.bind(path.endpoint()).unwrap();
        let pulls: Vec<_> = (0..3)
            .map(|_| {
                let pull = path.client(SocketType::Pull).build_blocking().unwrap();
                pull.connect(&endpoint).unwrap();
                pull
            })
            .collect();
        eventually("all workers are there", || push.peers().len() == 3);
        for number in 0..30 {
            push.send(number.to_string()).unwrap();
        }
        for pull in &pulls {
            for _ in 0..10 {
                pull.recv().unwrap();
            }
            assert!(
                matches!(pull.try_recv(), Err(Error::WouldBlock)),
                "an equal share each"
            );
        }
        assert!(matches!(push.try_recv(), Err(Error::Unsupported(_))));
        assert!(matches!(
            pulls[0].try_send("x").unwrap_err().error(),
            Error::Unsupported(_)
        ));
    });
}

#[test]
fn pull_takes_from_its_peers_in_turn() {
    everywhere(|path| {
        let pull = path.server(SocketType::Pull).build_blocking().unwrap();
        let endpoint = pull.bind(path.endpoint()).unwrap();
        let pushes: Vec<_> = (0..2)
            .map(|_| {
                let push = path.client(SocketType::Push).build_blocking().unwrap();
                push.connect(&endpoint).unwrap();
                push
            })
            .collect();
        for (name, push) in ["a", "b"].iter().zip(&pushes) {
            for _ in 0..20 {
                push.send(*name).unwrap();
            }
        }
        // Within the process the rest waits with the senders.
        let arrived = if path.transport == "inproc" { 2 } else { 40 };
        eventually("all has arrived", || {
            pull.counters().messages_received == arrived
        });
        let names: Vec<_> = (0..40)
            .map(|_| texts(&pull.recv().unwrap())[0].clone())
            .collect();
        let turns = names.windows(2).filter(|two| two[0] != two[1]).count();
        assert_eq!(turns, 39, "one each in turn: {names:?}");
    });
}

#[test]
fn subscribers_get_what_they_asked_for() {
    everywhere(|path| {
        let publisher = path.server(SocketType::XPub).build_blocking().unwrap();
        let endpoint = publisher.bind(path.endpoint()).unwrap();
        let subscribe = |topics: &[&str]| {
            let subscriber = path.client(SocketType::Sub).build_blocking().unwrap();
            topics
                .iter()
                .for_each(|topic| subscriber.subscribe(topic).unwrap());
            subscriber.connect(&endpoint).unwrap();
            subscriber
        };
        let weather = subscribe(&["weather"]);
        assert_eq!(publisher.recv().unwrap().as_bytes(), b"\x01weather");
        let all = subscribe(&[""]);
        assert_eq!(publisher.recv().unwrap().as_bytes(), b"\x01");
        publisher
            .send(Message::multipart(["news", "nothing new"]))
            .unwrap();
        publisher
            .send(Message::multipart(["weather", "rain"]))
            .unwrap();
        assert_eq!(texts(&weather.recv().unwrap()), ["weather", "rain"]);
        assert_eq!(texts(&all.recv().unwrap()), ["news", "nothing new"]);
        assert_eq!(texts(&all.recv().unwrap()), ["weather", "rain"]);

        weather.unsubscribe("weather").unwrap();
        assert_eq!(publisher.recv().unwrap().as_bytes(), b"\x00weather");
        assert!(
            weather.unsubscribe("weather").is_err(),
            "it was taken back already"
        );
        drop(all);
        assert_eq!(
            publisher.recv().unwrap().as_bytes(),
            b"\x00",
            "leaving takes topics back"
        );
        assert!(matches!(
            weather.send("x").unwrap_err().error(),
            Error::Unsupported(_)
        ));
    });
}

#[test]
fn xsub_subscribes_by_message_and_speaks_upstream() {
    everywhere(|path| {
        let (xpub, xsub) = path.pair(SocketType::XPub, SocketType::XSub);
        eventually("connected", || xsub.peers().len() == 1);
        xsub.send(b"\x01topic").unwrap();
        assert_eq!(xpub.recv().unwrap().as_bytes(), b"\x01topic");
        xpub.send("topic and more").unwrap();
        assert_eq!(xsub.recv().unwrap().as_bytes(), b"topic and more");
        xsub.send("upstream").unwrap();
        assert_eq!(xpub.recv().unwrap().as_bytes(), b"upstream");
        xsub.send(b"\x00topic").unwrap();
        assert_eq!(xpub.recv().unwrap().as_bytes(), b"\x00topic");
    });
}

#[test]
fn subscriptions_are_told_again_after_a_reconnection() {
    let path = Path::encrypted();
    let subscriber = path.client(SocketType::Sub).build_blocking().unwrap();
    subscriber.subscribe("t").unwrap();
    let publisher = path.server(SocketType::XPub).build_blocking().unwrap();
    let endpoint = publisher.bind(path.endpoint()).unwrap();
    subscriber.connect(&endpoint).unwrap();
    assert_eq!(publisher.recv().unwrap().as_bytes(), b"\x01t");
    publisher.close().unwrap();
    let publisher = path.server(SocketType::XPub).build_blocking().unwrap();
    publisher.bind(&endpoint).unwrap();
    assert_eq!(publisher.recv().unwrap().as_bytes(), b"\x01t");
    publisher.send("t again").unwrap();
    assert_eq!(subscriber.recv().unwrap().as_bytes(), b"t again");
}

#[test]
fn bind_and_connect_come_in_any_order() {
    everywhere(|path| {
        // A port that is free now, for those transports that have ports.
        let probe = path.server(SocketType::Pull).build_blocking().unwrap();
        let endpoint = probe.bind(path.endpoint()).unwrap();
        probe.close().unwrap();

        let push = path.client(SocketType::Push).build_blocking().unwrap();
        push.connect(&endpoint).unwrap();
        push.send("sent before anybody was there").unwrap();
        let pull = path.server(SocketType::Pull).build_blocking().unwrap();
        pull.bind(&endpoint).unwrap();
        assert_eq!(
            pull.recv().unwrap().as_bytes(),
            b"sent before anybody was there"
        );
    });
}

#[test]
fn one_socket_connects_to_several_endpoints() {
    everywhere(|path| {
        let push = path.client(SocketType::Push).build_blocking().unwrap();
        let pulls: Vec<_> = (0..2)
            .map(|_| {
                let pull = path.server(SocketType::Pull).build_blocking().unwrap();
                push.connect(pull.bind(path.endpoint()).unwrap()).unwrap();
                pull
            })
            .collect();
        eventually("both are there", || push.peers().len() == 2);
        push.send("one").unwrap();
        push.send("two").unwrap();
        pulls
            .iter()
            .for_each(|pull| assert_eq!(pull.recv().unwrap().size(), 3));
    });
}

#[test]
fn a_request_whose_server_dies_is_reported_lost() {
    everywhere(|path| {
        let (rep, req) = path.pair(SocketType::Rep, SocketType::Req);
        req.send("question").unwrap();
        rep.recv().unwrap();
        rep.close().unwrap();
        assert!(matches!(req.recv(), Err(Error::RequestLost)));
        // The socket is ready for the next one: it may wait for a server again.
        assert!(matches!(
            req.try_recv(),
            Err(Error::State(StateError::NothingAsked))
        ));
    });
}

#[test]
fn pair_turns_a_second_peer_away() {
    everywhere(|path| {
        let (server, first) = path.pair(SocketType::Pair, SocketType::Pair);
        eventually("the first is there", || server.peers().len() == 1);
        let second = path.client(SocketType::Pair).build_blocking().unwrap();
        let monitor = second.monitor();
        second.connect(server.bound_endpoints().remove(0)).unwrap();
        let failure = support::await_event(&monitor, "turned away", |event| match event {
            sealwire::Event::Failed(failure) => Some(failure.to_string()),
            _ => None,
        });
        assert!(failure.contains("has a peer already"), "{failure}");
        first.send("still here").unwrap();
        assert_eq!(server.recv().unwrap().as_bytes(), b"still here");
    });
}

#[test]
fn an_empty_message_has_a_frame() {
    let path = Path::encrypted();
    let (server, client) = path.pair(SocketType::Pair, SocketType::Pair);
    let nothing = Message::multipart(Vec::<&str>::new());
    assert!(matches!(
        client.send(nothing).unwrap_err().error(),
        Error::Message(MessageError::Empty)
    ));
    client.send("").unwrap();
    let message = server.recv().unwrap();
    assert_eq!((message.len(), message.size()), (1, 0));
}

#[test]
fn large_and_many_framed_messages_arrive_whole() {
    everywhere(|path| {
        let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
        for size in [0, 1, 70, 71, 255, 256, 65_472, 65_536, 1 << 20, 10_000_000] {
            let body: Vec<u8> = (0..size).map(|index| (index % 251) as u8).collect();
            push.send(body.clone()).unwrap();
            assert_eq!(pull.recv().unwrap().as_bytes(), body, "{size} bytes");
        }
        let frames: Vec<String> = (0..1_000).map(|number| "x".repeat(number % 300)).collect();
        push.send(Message::multipart(frames.clone())).unwrap();
        assert_eq!(texts(&pull.recv().unwrap()), frames);
    });
}

#[test]
fn waiting_has_a_limit_and_says_why() {
    let path = Path::encrypted();
    let push = path.client(SocketType::Push).build_blocking().unwrap();
    let limit = Duration::from_millis(50);
    let error = push.send_timeout("nobody", limit).unwrap_err();
    assert!(matches!(error.error(), Error::TimedOut { .. }), "{error}");

    let pull = path.server(SocketType::Pull).build_blocking().unwrap();
    assert!(matches!(
        pull.recv_timeout(limit),
        Err(Error::TimedOut {
            last_failure: None,
            ..
        })
    ));
    assert!(TIMEOUT > limit);
}
