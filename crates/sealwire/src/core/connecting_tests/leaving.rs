//! Each socket type once it has left a peer.

use super::*;

/// Types that send to their peers in turn.
const IN_TURN: [SocketType; 6] = [
    SocketType::Push,
    SocketType::Dealer,
    SocketType::Scatter,
    SocketType::Client,
    SocketType::Pair,
    SocketType::Channel,
];

#[test]
fn a_peer_that_was_left_gets_what_was_sent_before_and_nothing_after() {
    for socket_type in IN_TURN {
        let scene = Scene::new(socket_type);
        let left = scene.connect("left");
        scene.send("before");
        scene.leave(&left);
        assert!(scene.would_block(), "{socket_type}");
        assert!(scene.socket.peers().is_empty());
        assert_eq!(scene.core().presence(), Presence::Nobody);
        let next = scene.connect("next");
        assert_eq!(scene.socket.peers().len(), 1);
        scene.send("after");
        scene.send("later");
        assert_eq!(left.taken(), ["before"], "{socket_type}");
        assert_eq!(next.taken(), ["after", "later"], "{socket_type}");
        // Its end changes nothing more.
        left.ends();
        scene.send("last");
        assert_eq!(next.taken(), ["last"], "{socket_type}");
        assert_eq!(scene.counters().dropped_unsent, 0);
    }
}

#[test]
fn messages_wait_for_a_peer_that_is_still_expected() {
    for socket_type in IN_TURN {
        let scene = Scene::new(socket_type);
        let left = scene.connect("left");
        let (endpoint, connector) = scene.expect("next");
        scene.send("before");
        scene.leave(&left);
        scene.send("after");
        let next = scene.attach(endpoint, connector).unwrap();
        assert_eq!(left.taken(), ["before"], "{socket_type}");
        assert_eq!(next.taken(), ["after"], "{socket_type}");
    }
}

/// As with any connection that is lost.
#[test]
fn what_a_peer_that_was_left_did_not_get_goes_to_the_next() {
    for socket_type in IN_TURN {
        let scene = Scene::new(socket_type);
        let left = scene.connect("left");
        scene.send("before");
        scene.leave(&left);
        assert_eq!(left.peer.account().held(Kind::Queued), 0);
        scene.core().accounts();
        assert!(left.peer.account().held(Kind::Queued) > 0);
        let next = scene.connect("next");
        let account = left.peer.clone();
        left.ends();
        assert_eq!(account.account().held(Kind::Queued), 0);
        scene.send("after");
        assert_eq!(next.taken(), ["before", "after"], "{socket_type}");
    }
}

#[test]
fn only_the_latest_message_waits_where_a_peer_that_was_left_did_not_get_the_one_before() {
    let scene = Scene::with(Socket::builder(SocketType::Push).conflate(true));
    let left = scene.connect("left");
    let (endpoint, connector) = scene.expect("next");
    scene.send("before");
    scene.leave(&left);
    scene.send("after");
    left.ends();
    assert_eq!(scene.core().backlog(), 1);
    assert_eq!(scene.counters().replaced, 1);
    let next = scene.attach(endpoint, connector).unwrap();
    assert_eq!(next.taken(), ["after"]);
}

#[test]
fn what_was_received_stays_and_what_comes_late_is_counted() {
    for socket_type in [
        SocketType::Pull,
        SocketType::Dealer,
        SocketType::Gather,
        SocketType::Client,
        SocketType::Pair,
        SocketType::Channel,
        SocketType::Sub,
        SocketType::XSub,
    ] {
        let scene = Scene::new(socket_type);
        let _ = scene.socket.subscribe("");
        let left = scene.connect("left");
        left.says(&["one"]);
        left.says(&["two"]);
        scene.leave(&left);
        left.says(&["late"]);
        assert_eq!(scene.received(), ["one", "two"], "{socket_type}");
        left.says(&["late"]);
        assert!(scene.received().is_empty(), "{socket_type}");
        let counters = scene.counters();
        let counted = (counters.messages_received, counters.dropped_at_receive);
        assert_eq!(counted, (2, 2), "{socket_type}");
        let next = scene.connect("next");
        left.ends();
        next.says(&["on"]);
        assert_eq!(scene.received(), ["on"], "{socket_type}");
    }
}

/// Else it would not be read, and might read nothing either.
#[test]
fn a_peer_that_was_left_while_its_queue_was_full_is_read_again() {
    let builder = Socket::builder(SocketType::Dealer).receive_high_water_mark(1);
    let scene = Scene::with(builder);
    let left = scene.connect("left");
    left.says(&["one"]);
    let core = scene.core();
    let mut source: VecDeque<_> = [Item::Message(Frames::from("two"))].into();
    assert!(core.deliver(left.pipe, &mut source).full);
    scene.leave(&left);
    assert_eq!(left.link.0.load(Ordering::Relaxed), 1);
    assert!(core.input_room(left.pipe).is_some());
    assert!(!core.deliver(left.pipe, &mut source).full);
    assert_eq!(scene.received(), ["one"]);
    assert_eq!(scene.counters().dropped_at_receive, 1);
}

#[test]
fn a_request_to_a_peer_that_is_left_is_lost_at_once() {
    let scene = Scene::new(SocketType::Req);
    let left = scene.connect("left");
    scene.send("first");
    scene.leave(&left);
    assert!(matches!(scene.receive(), Err(Error::RequestLost)));
    let next = scene.connect("next");
    scene.send("second");
    assert_eq!(left.taken(), ["/first"]);
    assert_eq!(next.taken(), ["/second"]);
    left.says(&["", "late"]);
    left.ends();
    next.says(&["", "answer"]);
    assert_eq!(scene.received(), ["answer"]);
}

/// The program was told that it may have been acted on.
#[test]
fn a_request_that_was_lost_goes_to_nobody_else() {
    let scene = Scene::new(SocketType::Req);
    let left = scene.connect("left");
    scene.send("first");
    scene.leave(&left);
    let next = scene.connect("next");
    left.ends();
    assert!(matches!(scene.receive(), Err(Error::RequestLost)));
    assert!(next.taken().is_empty());
    assert_eq!(scene.counters().dropped_unsent, 1);
}

#[test]
fn an_answer_that_came_before_is_read_after() {
    let scene = Scene::new(SocketType::Req);
    let left = scene.connect("left");
    scene.send("first");
    assert_eq!(left.taken(), ["/first"]);
    left.says(&["", "answer"]);
    scene.leave(&left);
    assert_eq!(scene.received(), ["answer"]);
}

#[test]
fn an_answer_to_a_peer_that_was_left_goes_nowhere() {
    let scene = Scene::new(SocketType::Rep);
    let (left, next) = (scene.connect("left"), scene.connect("next"));
    for request in ["one", "two"] {
        left.says(&["", request]);
    }
    assert_eq!(scene.receive().unwrap(), "one");
    scene.leave(&left);
    scene.send("answer");
    assert_eq!(scene.receive().unwrap(), "two");
    scene.send("answer");
    assert_eq!(scene.counters().dropped_at_send, 2);
    next.says(&["", "three"]);
    left.ends();
    assert_eq!(scene.receive().unwrap(), "three");
    scene.send("answer");
    assert_eq!(next.taken(), ["/answer"]);
}

/// It has room for the next as soon as it has left one.
#[test]
fn a_pair_keeps_its_next_peer_when_the_connection_to_the_one_before_ends() {
    for socket_type in [SocketType::Pair, SocketType::Channel] {
        let scene = Scene::new(socket_type);
        let left = scene.connect("left");
        scene.leave(&left);
        let _next = scene.connect("next");
        left.ends();
        let (endpoint, connector) = scene.expect("third");
        assert!(scene.attach(endpoint, connector).is_err(), "{socket_type}");
    }
}

#[test]
fn a_router_knows_a_peer_no_more_once_it_has_left_it() {
    let builder = Socket::builder(SocketType::Router);
    let builder = builder.router_mandatory(true).router_notify(false, true);
    let scene = Scene::with(builder);
    let left = scene.connect("a");
    left.says(&["before"]);
    scene.leave(&left);
    let sent = scene.sends(&["inproc://a", "after"]);
    assert!(matches!(sent, Err(Error::Unroutable(_))), "{sent:?}");
    assert!(left.taken().is_empty());
    assert_eq!(scene.received(), ["inproc://a/before", "inproc://a/"]);
    // The same again.
    let next = scene.connect("a");
    left.says(&["late"]);
    left.ends();
    assert!(scene.received().is_empty(), "told of once");
    scene.sends(&["inproc://a", "again"]).unwrap();
    assert_eq!(next.taken(), ["again"]);
}

#[test]
fn a_server_knows_a_connection_no_more_once_it_has_left_it() {
    for socket_type in [SocketType::Server, SocketType::Peer] {
        let builder = Socket::builder(socket_type).connection_events(true);
        let scene = Scene::with(builder.omit_routing_id(true));
        let left = scene.connect("left");
        left.says(&["before"]);
        scene.leave(&left);
        let connector = scene.next.get();
        let routing_id = left.peer.connection_routing_id();
        let payloads = &mut VecDeque::from(["more".into()]);
        let sent = scene.core().try_send_many_to(routing_id, payloads);
        assert!(matches!(sent, Err(Error::Unroutable(_))), "{sent:?}");
        let ended = scene.core().disconnect_peer(routing_id, "enough");
        assert!(matches!(ended, Err(Error::Unroutable(_))), "{ended:?}");
        let again = scene.core().routing_id_of_connector(connector);
        assert!(matches!(again, Err(Error::GaveUp)), "{again:?}");
        left.says(&["late"]);
        left.ends();
        // It came, it said something, it is gone.
        assert_eq!(scene.received(), ["", "before", ""], "{socket_type}");
    }
}

#[test]
fn a_stream_knows_a_connection_no_more_once_it_has_left_it() {
    let scene = Scene::new(SocketType::Stream);
    let left = scene.connect("left");
    let name = "\0\0\0\0\0";
    scene.sends(&[name, "before"]).unwrap();
    scene.leave(&left);
    let sent = scene.sends(&[name, "after"]);
    assert!(matches!(sent, Err(Error::Unroutable(_))), "{sent:?}");
    left.says(&["late"]);
    assert_eq!(left.taken(), ["before"]);
    left.ends();
    // It came and is gone.
    let told = format!("{name}/");
    assert_eq!(scene.received(), [&*told, &told]);
}

#[test]
fn a_subscriber_that_was_left_gets_nothing_and_misses_nothing() {
    for socket_type in [SocketType::Pub, SocketType::XPub] {
        let scene = Scene::new(socket_type);
        let (left, other) = (scene.connect("left"), scene.connect("other"));
        left.subscribes("a");
        other.subscribes("a");
        scene.send("a1");
        scene.leave(&left);
        assert!(scene.core().subscribed(b"a", 1).unwrap().is_some());
        assert!(scene.core().subscribed(b"a", 2).unwrap().is_none());
        scene.send("a2");
        left.subscribes("a");
        scene.send("a3");
        assert_eq!(left.taken(), ["a1"], "{socket_type}");
        assert_eq!(other.taken(), ["a1", "a2", "a3"], "{socket_type}");
        assert_eq!(scene.counters().dropped_at_send, 0);
        let told = scene.socket.try_recv();
        if socket_type == SocketType::XPub {
            assert_eq!(told.unwrap().as_bytes(), b"\x01a");
            scene.leave(&other);
            let told = scene.socket.try_recv().unwrap();
            assert_eq!(told.as_bytes(), b"\0a");
            left.ends();
            other.ends();
            assert!(matches!(scene.socket.try_recv(), Err(Error::WouldBlock)));
        }
    }
}

#[test]
fn a_publisher_waits_for_no_subscriber_that_it_has_left() {
    let builder = Socket::builder(SocketType::XPub).send_high_water_mark(1);
    let scene = Scene::with(builder.xpub_no_drop(true));
    let left = scene.connect("left");
    left.subscribes("");
    scene.send("one");
    assert!(scene.would_block());
    scene.leave(&left);
    scene.send("two");
    assert_eq!(left.taken(), ["one"]);
}

#[test]
fn a_publisher_that_was_left_is_asked_for_nothing_more() {
    let scene = Scene::new(SocketType::XSub);
    let left = scene.connect("left");
    scene.socket.subscribe("a").unwrap();
    scene.leave(&left);
    scene.socket.subscribe("b").unwrap();
    scene.send("to all");
    assert_eq!(left.taken(), ["+a"]);
    let next = scene.connect("next");
    scene.send("to all");
    assert!(left.taken().is_empty());
    assert_eq!(next.taken(), ["+a", "+b", "to all"]);
    assert_eq!(scene.counters().dropped_at_send, 0);
}

#[test]
fn a_member_that_was_left_gets_nothing_more() {
    let scene = Scene::new(SocketType::Radio);
    let (left, other) = (scene.connect("left"), scene.connect("other"));
    left.subscribes("group");
    other.subscribes("group");
    scene.sends(&["group", "one"]).unwrap();
    scene.leave(&left);
    assert!(scene.core().subscribed(b"group", 2).unwrap().is_none());
    left.subscribes("group");
    scene.sends(&["group", "two"]).unwrap();
    assert_eq!(left.taken(), ["group/one"]);
    assert_eq!(other.taken(), ["group/one", "group/two"]);
    assert_eq!(scene.counters().dropped_at_send, 0);
}

#[test]
fn a_group_is_joined_nowhere_that_was_left() {
    let scene = Scene::new(SocketType::Dish);
    let left = scene.connect("left");
    scene.socket.join("a").unwrap();
    scene.leave(&left);
    scene.socket.join("b").unwrap();
    left.says(&["a", "late"]);
    assert_eq!(left.taken(), ["+a"]);
    assert!(scene.received().is_empty());
    assert_eq!(scene.counters().dropped_at_receive, 1);
}

/// As libzmq, that is: natively it stays to be read.
#[test]
fn as_libzmq_what_a_peer_had_sent_goes_with_it() {
    let as_libzmq = |socket_type| {
        let builder = crate::embed::as_libzmq(Socket::builder(socket_type), false);
        Scene::with(builder)
    };
    for socket_type in [SocketType::Pull, SocketType::Dealer, SocketType::Router] {
        for (scene, forgets) in [
            (as_libzmq(socket_type), true),
            (Scene::new(socket_type), false),
        ] {
            let (left, stays) = (scene.connect("left"), scene.connect("stays"));
            for text in ["first", "second", "third"] {
                left.says(&[text]);
            }
            let taken = [scene.socket.try_recv(), scene.socket.try_recv()].map(Result::unwrap);
            let [_, second] = taken;
            scene.core().give_back([second].into());
            stays.says(&["stays"]);
            scene.leave(&left);
            let received = scene.received();
            let wanted: &[&str] = match forgets {
                true => &["stays"],
                false => &["second", "third", "stays"],
            };
            assert_eq!(received.len(), wanted.len(), "{socket_type}: {received:?}");
            let pairs = received.iter().zip(wanted);
            assert!(pairs.into_iter().all(|(it, wanted)| it.ends_with(wanted)));
            assert_eq!(scene.counters().dropped_unread, if forgets { 2 } else { 0 });
            assert!(!scene.core().check_ready().receive, "{socket_type}");
            // Its slot is another's.
            left.ends();
            scene.connect("next").says(&["later"]);
            assert!(scene.received()[0].ends_with("later"));
        }
    }
    let scene = as_libzmq(SocketType::Req);
    let left = scene.connect("left");
    scene.send("question");
    left.says(&["", "answer"]);
    scene.leave(&left);
    // Nobody is told that it was lost.
    assert!(scene.received().is_empty() && !scene.core().check_ready().receive);
    assert!(!scene.core().check_ready().send);
}
